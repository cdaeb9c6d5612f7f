// Ordinary kernels, as a compiler turns them into gfx950 code.
#include "zyfa/emu/testdata/device.h"

KERNEL vector_add(float* out, const float* a, const float* b, int n) {
  const int i = int(BlockX() * BlockDimX() + ThreadX());
  if (i < n) out[i] = a[i] + b[i];
}

// One sum per work-group of 256, through LDS.
KERNEL reduce(float* out, const float* in, int n) {
  __shared__ float part[256];
  const uint32 t = ThreadX();
  float sum = 0;
  for (uint32 i = BlockX() * 256 + t; i < uint32(n);
       i += __builtin_amdgcn_grid_size_x()) {
    sum += in[i];
  }
  part[t] = sum;
  for (uint32 step = 128; step > 0; step /= 2) {
    Barrier();
    if (t < step) part[t] += part[t + step];
  }
  if (t == 0) out[BlockX()] = part[0];
}

// One query a lane; head dim 32, softmax in one pass.
KERNEL attention(float* out, const float* q, const float* k, const float* v,
                 int keys, float scale) {
  constexpr int kDim = 32;
  const uint32 row = BlockX() * BlockDimX() + ThreadX();
  float query[kDim], acc[kDim];
  for (int d = 0; d < kDim; ++d) {
    query[d] = q[row * kDim + d] * scale;
    acc[d] = 0;
  }
  float top = -1e30f, sum = 0;
  for (int key = 0; key < keys; ++key) {
    float s = 0;
    for (int d = 0; d < kDim; ++d) s += query[d] * k[key * kDim + d];
    const float new_top = s > top ? s : top;
    const float rescale =
        __builtin_amdgcn_exp2f((top - new_top) * 1.44269504f);
    const float p = __builtin_amdgcn_exp2f((s - new_top) * 1.44269504f);
    sum = sum * rescale + p;
    for (int d = 0; d < kDim; ++d) {
      acc[d] = acc[d] * rescale + p * v[key * kDim + d];
    }
    top = new_top;
  }
  const float inverse = __builtin_amdgcn_rcpf(sum);
  for (int d = 0; d < kDim; ++d) out[row * kDim + d] = acc[d] * inverse;
}

using Bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using F32x4 = float __attribute__((ext_vector_type(4)));
using F32x16 = float __attribute__((ext_vector_type(16)));

// C[M][N] = A[M][K] B[N][K]^T, one 16x16 tile a wave. The built-in's operands
// hold 8 consecutive k of row (lane % 16) from 8 * (lane / 16) on.
KERNEL gemm16(float* c, const __bf16* a, const __bf16* b, int n, int k) {
  const uint32 lane = ThreadX();
  const uint32 row0 = __builtin_amdgcn_workgroup_id_y() * 16;
  const uint32 col0 = BlockX() * 16;
  F32x4 acc = {0, 0, 0, 0};
  for (int kk = 0; kk < k; kk += 32) {
    const uint32 at = uint32(kk) + 8 * (lane / 16);
    const Bf16x8 av =
        *(const Bf16x8*)(a + (row0 + lane % 16) * uint32(k) + at);
    const Bf16x8 bv =
        *(const Bf16x8*)(b + (col0 + lane % 16) * uint32(k) + at);
    acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(av, bv, acc, 0, 0, 0);
  }
  for (uint32 r = 0; r < 4; ++r) {
    c[(row0 + 4 * (lane / 16) + r) * uint32(n) + col0 + lane % 16] = acc[r];
  }
}

KERNEL gemm32(float* c, const __bf16* a, const __bf16* b, int n, int k) {
  const uint32 lane = ThreadX();
  const uint32 row0 = __builtin_amdgcn_workgroup_id_y() * 32;
  const uint32 col0 = BlockX() * 32;
  F32x16 acc = {};
  for (int kk = 0; kk < k; kk += 16) {
    const uint32 at = uint32(kk) + 8 * (lane / 32);
    const Bf16x8 av =
        *(const Bf16x8*)(a + (row0 + lane % 32) * uint32(k) + at);
    const Bf16x8 bv =
        *(const Bf16x8*)(b + (col0 + lane % 32) * uint32(k) + at);
    acc = __builtin_amdgcn_mfma_f32_32x32x16_bf16(av, bv, acc, 0, 0, 0);
  }
  for (uint32 r = 0; r < 16; ++r) {
    const uint32 row = row0 + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
    c[row * uint32(n) + col0 + lane % 32] = acc[r];
  }
}

// A private array that must lie in memory, hence scratch; n <= 16.
KERNEL private_array(int* out, const int* in, int n) {
  volatile int stack[16];
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  for (int j = 0; j < n; ++j) stack[(j * 5 + int(i)) & 15] = in[i] * j;
  int sum = 0;
  for (int j = 0; j < n; ++j) sum = sum * 3 + stack[(j * 5 + int(i)) & 15];
  out[i] = sum;
}

// Integer division has no instruction: a long sequence of vector code.
KERNEL divide(int* out, const int* a, const int* b, int64* wide, int64 d) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  out[2 * i] = a[i] / b[i];
  out[2 * i + 1] = a[i] % b[i];
  wide[i] = (int64(a[i]) << 20) / d;
}

__constant__ const int kTable[8] = {3, 1, 4, 1, 5, 9, 2, 6};

__attribute__((noinline)) __device__ int Scramble(int x, int y) {
  return x * 31 + (y ^ 0x55);
}

// Constants beside the code and a call of a function.
KERNEL table_and_call(int* out, int n) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  int x = int(i);
  for (int j = 0; j < n; ++j) x = Scramble(x, kTable[(x + j) & 7]);
  out[i] = x;
}

// Divergent loops: lanes leave one by one.
KERNEL collatz(int* out, const int* in) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  int steps = 0;
  for (uint32 x = uint32(in[i]); x > 1; ++steps) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  }
  out[i] = steps;
}

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
    __hip_atomic_fetch_add(sum, 1.0f, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
  }
  Barrier();
  if (t < 16) {
    __atomic_fetch_add(&lds_bins[t], local[t], __ATOMIC_RELAXED);
  }
}

// A pointer that is LDS or global memory: FLAT instructions.
KERNEL flat_pointer(int* out, int* other, int use_lds) {
  __shared__ int local[64];
  const uint32 t = ThreadX();
  local[t] = int(t) * 7;
  other[t] = int(t) * 11;
  Barrier();
  int* p = use_lds ? (int*)local : other;
  asm volatile("" : "+v"(p));
  out[t] = p[63 - t];
  p[t] = -int(t);
  Barrier();
  out[64 + t] = local[t];
}

KERNEL geometry(uint32* out) {
  const uint32 item = __builtin_amdgcn_workitem_id_x() +
                      __builtin_amdgcn_workgroup_size_x() *
                          (__builtin_amdgcn_workitem_id_y() +
                           __builtin_amdgcn_workgroup_size_y() *
                               __builtin_amdgcn_workitem_id_z());
  const uint32 group = __builtin_amdgcn_workgroup_id_x() +
                       3 * (__builtin_amdgcn_workgroup_id_y() +
                            2 * __builtin_amdgcn_workgroup_id_z());
  const uint32 items = __builtin_amdgcn_workgroup_size_x() *
                       __builtin_amdgcn_workgroup_size_y() *
                       __builtin_amdgcn_workgroup_size_z();
  out[group * items + item] = group << 16 | item;
}

KERNEL dynamic_lds(uint32* out) {
  extern __shared__ uint32 dynamic[];
  const uint32 t = ThreadX();
  dynamic[BlockDimX() - 1 - t] = t;
  Barrier();
  out[t] = dynamic[t];
}
