// Atomic operations on memory and LDS.
#include "zyfa/emu/testdata/matrix.h"

template <class T>
using InGlobal = __attribute__((address_space(1))) T;
template <class T>
using InLds = __attribute__((address_space(3))) T;

#define AGENT __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
#define GROUP __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP

KERNEL histogram(uint32* bins, uint32* lds_bins, float* sum, const uint8* in,
                 int n) {
  __shared__ uint32 local[16];
  const uint32 t = ThreadX();
  if (t < 16) local[t] = 0;
  Barrier();
  const uint32 i = BlockX() * BlockDimX() + t;
  if (i < uint32(n)) {
    __atomic_fetch_add(&bins[in[i] & 15], 1u, __ATOMIC_RELAXED);
    __atomic_fetch_add(&local[in[i] & 15], 1u, __ATOMIC_RELAXED);
    __hip_atomic_fetch_add(sum, 1.0f, AGENT);
  }
  Barrier();
  if (t < 16) {
    __atomic_fetch_add(&lds_bins[t], local[t], __ATOMIC_RELAXED);
  }
}

// Every integer operation, on cells[0 .. 11]; what they were goes to `seen` for
// the additions, where each value is seen once.
template <class T>
__device__ inline void Integers(T* cells, T* seen, T x, uint32 i) {
  seen[i] = __hip_atomic_fetch_add(&cells[0], T(1), AGENT);
  __hip_atomic_fetch_sub(&cells[1], x, AGENT);
  __hip_atomic_fetch_and(&cells[2], x, AGENT);
  __hip_atomic_fetch_or(&cells[3], x, AGENT);
  __hip_atomic_fetch_xor(&cells[4], x, AGENT);
  __hip_atomic_fetch_min(&cells[5], x, AGENT);
  __hip_atomic_fetch_max(&cells[6], x, AGENT);
  if (x % 5 == 0) __hip_atomic_exchange(&cells[7], x, AGENT);
  // Multiply, which has no instruction: compare and swap until it holds.
  T old = __hip_atomic_load(&cells[8], AGENT);
  while (!__hip_atomic_compare_exchange_strong(
      &cells[8], &old, old * (2 * x + 1), __ATOMIC_RELAXED, __ATOMIC_RELAXED,
      __HIP_MEMORY_SCOPE_AGENT)) {
  }
}
KERNEL integer_atomics(int* i32, uint32* u32, int64* i64, uint64* u64,
                       int* seen32, int64* seen64, const int* in) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  Integers(i32, seen32, in[i], i);
  Integers(u32, (uint32*)seen32 + 1024, uint32(in[i]), i);
  Integers(i64, seen64, int64(in[i]) * 0x10001, i);
  Integers(u64, (uint64*)seen64 + 1024, uint64(in[i]) * 0x10001, i);
  __builtin_amdgcn_atomic_inc32(&u32[9], 100u, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32(&u32[10], 100u, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_inc64((unsigned long*)&u64[9], 100ull,
                                __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec64((unsigned long*)&u64[10], 100ull,
                                __ATOMIC_RELAXED, "agent");
}

// The same in LDS, one work-group.
template <class T>
__device__ inline void LdsIntegers(T* cells, T* seen, T x) {
  const uint32 t = ThreadX();
  seen[t] = __hip_atomic_fetch_add(&cells[0], T(1), GROUP);
  __hip_atomic_fetch_sub(&cells[1], x, GROUP);
  __hip_atomic_fetch_and(&cells[2], x, GROUP);
  __hip_atomic_fetch_or(&cells[3], x, GROUP);
  __hip_atomic_fetch_xor(&cells[4], x, GROUP);
  __hip_atomic_fetch_min(&cells[5], x, GROUP);
  __hip_atomic_fetch_max(&cells[6], x, GROUP);
  if (x % 5 == 0) __hip_atomic_exchange(&cells[7], x, GROUP);
  T old = __hip_atomic_load(&cells[8], GROUP);
  while (!__hip_atomic_compare_exchange_strong(
      &cells[8], &old, old * (2 * x + 1), __ATOMIC_RELAXED, __ATOMIC_RELAXED,
      __HIP_MEMORY_SCOPE_WORKGROUP)) {
  }
}
KERNEL __launch_bounds__(256)
    lds_integer_atomics(int* i32, uint32* u32, int64* i64, uint64* u64,
                        int* seen32, int64* seen64, const int* in) {
  __shared__ int a[11];
  __shared__ uint32 b[11];
  __shared__ int64 c[11];
  __shared__ uint64 d[11];
  const uint32 t = ThreadX();
  if (t < 11) a[t] = i32[t], b[t] = u32[t], c[t] = i64[t], d[t] = u64[t];
  Barrier();
  LdsIntegers(a, seen32, in[t]);
  LdsIntegers(b, (uint32*)seen32 + 1024, uint32(in[t]));
  LdsIntegers(c, seen64, int64(in[t]) * 0x10001);
  LdsIntegers(d, (uint64*)seen64 + 1024, uint64(in[t]) * 0x10001);
  __builtin_amdgcn_atomic_inc32(&b[9], 100u, __ATOMIC_RELAXED, "workgroup");
  __builtin_amdgcn_atomic_dec32(&b[10], 100u, __ATOMIC_RELAXED, "workgroup");
  __builtin_amdgcn_atomic_inc64((unsigned long*)&d[9], 100ull, __ATOMIC_RELAXED,
                                "workgroup");
  __builtin_amdgcn_atomic_dec64((unsigned long*)&d[10], 100ull,
                                __ATOMIC_RELAXED, "workgroup");
  Barrier();
  if (t < 11) i32[t] = a[t], u32[t] = b[t], i64[t] = c[t], u64[t] = d[t];
}

// Sums of small whole numbers, exact in every order.
KERNEL float_atomics(float* f32, double* f64, Vec<_Float16, 2>* f16,
                     Vec<short, 2>* bf16, const float* in) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  const float x = in[i];
  const uint32 cell = i % 7;
  __builtin_amdgcn_global_atomic_fadd_f32((InGlobal<float>*)&f32[cell], x);
  __builtin_amdgcn_global_atomic_fadd_f64((InGlobal<double>*)&f64[cell], x);
  __builtin_amdgcn_global_atomic_fmin_f64((InGlobal<double>*)&f64[7], x);
  __builtin_amdgcn_global_atomic_fmax_f64((InGlobal<double>*)&f64[8], x);
  __builtin_amdgcn_global_atomic_fadd_v2f16(
      (InGlobal<Vec<_Float16, 2>>*)&f16[cell],
      Vec<_Float16, 2>{_Float16(x), _Float16(-x)});
  const Vec<__bf16, 2> pair = {__bf16(x), __bf16(-x)};
  __builtin_amdgcn_global_atomic_fadd_v2bf16(
      (InGlobal<Vec<short, 2>>*)&bf16[cell],
      __builtin_bit_cast(Vec<short, 2>, pair));
}
KERNEL __launch_bounds__(256)
    lds_float_atomics(float* f32, double* f64, Vec<_Float16, 2>* f16,
                      Vec<short, 2>* bf16, const float* in) {
  __shared__ float a[8];
  __shared__ double b[9];
  __shared__ Vec<_Float16, 2> c[7];
  __shared__ Vec<short, 2> d[7];
  const uint32 t = ThreadX();
  if (t < 7) a[t] = 0, c[t] = {}, d[t] = {};
  if (t < 9) b[t] = 0;
  if (t == 0) a[7] = 0;
  Barrier();
  const float x = in[t];
  const uint32 cell = t % 7;
  __builtin_amdgcn_ds_atomic_fadd_f32((InLds<float>*)&a[cell], x);
  __builtin_amdgcn_ds_atomic_fadd_f64((InLds<double>*)&b[cell], x);
  __hip_atomic_fetch_min(&b[7], double(x), GROUP);
  __hip_atomic_fetch_max(&b[8], double(x), GROUP);
  __hip_atomic_fetch_max(&a[7], x, GROUP);
  __builtin_amdgcn_ds_atomic_fadd_v2f16(
      (InLds<Vec<_Float16, 2>>*)&c[cell],
      Vec<_Float16, 2>{_Float16(x), _Float16(-x)});
  const Vec<__bf16, 2> pair = {__bf16(x), __bf16(-x)};
  __builtin_amdgcn_ds_atomic_fadd_v2bf16(
      (InLds<Vec<short, 2>>*)&d[cell], __builtin_bit_cast(Vec<short, 2>, pair));
  Barrier();
  if (t < 7) f32[t] = a[t], f16[t] = c[t], bf16[t] = d[t];
  if (t < 9) f64[t] = b[t];
  if (t == 0) f32[7] = a[7];
}

// Through a buffer; what lies behind its end is dropped.
KERNEL buffer_atomics(int* sums, float* floats, int bytes, const int* in) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  const auto ints =
      __builtin_amdgcn_make_buffer_rsrc(sums, 0, bytes, 0x00020000);
  const auto reals =
      __builtin_amdgcn_make_buffer_rsrc(floats, 0, bytes, 0x00020000);
  __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(in[i], ints, int(i % 16) * 4,
                                                 0, 0);
  __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(float(in[i]), reals,
                                                  int(i % 16) * 4, 0, 0);
}
