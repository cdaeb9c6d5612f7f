// Pointers of every kind: scratch, flat ones, narrow and unaligned accesses,
// calls through pointers.
#include "zyfa/emu/testdata/matrix.h"

// A private array that must lie in memory, hence scratch; n <= 16.
KERNEL private_array(int* out, const int* in, int n) {
  volatile int stack[16];
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  for (int j = 0; j < n; ++j) stack[(j * 5 + int(i)) & 15] = in[i] * j;
  int sum = 0;
  for (int j = 0; j < n; ++j) sum = sum * 3 + stack[(j * 5 + int(i)) & 15];
  out[i] = sum;
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

// A pointer that is memory, LDS or scratch, lane by lane.
KERNEL __launch_bounds__(64)
    three_kinds(int* out, int* memory, const int* kinds) {
  __shared__ int local[64];
  volatile int stack[8];
  const uint32 t = ThreadX();
  local[t] = int(t) + 1000;
  for (int j = 0; j < 8; ++j) stack[(j + int(t)) & 7] = int(t) * 8 + j + 2000;
  Barrier();
  volatile int* p = kinds[t] == 0   ? (volatile int*)&memory[t]
                    : kinds[t] == 1 ? (volatile int*)&local[t]
                                    : &stack[(3 + t) & 7];
  asm volatile("" : "+v"(p));
  const int before = *p;
  *p = before * 3;
  Barrier();
  out[4 * t] = before;
  out[4 * t + 1] = memory[t];
  out[4 * t + 2] = local[t];
  out[4 * t + 3] = stack[(3 + t) & 7];
}

// Atomic operations through a flat pointer.
KERNEL __launch_bounds__(64)
    flat_atomics(int* out, float* sums, int* memory, int use_lds) {
  __shared__ int local[4];
  __shared__ float local_sum[1];
  const uint32 t = ThreadX();
  if (t < 4) local[t] = 0;
  if (t == 0) local_sum[0] = 0;
  Barrier();
  int* p = use_lds ? (int*)local : memory;
  float* f = use_lds ? (float*)local_sum : sums;
  asm volatile("" : "+v"(p), "+v"(f));
  out[t] = __hip_atomic_fetch_add(&p[t % 4], 1, __ATOMIC_RELAXED,
                                  __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(&p[3], int(t) * 10, __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_AGENT);
  __builtin_amdgcn_flat_atomic_fadd_f32(f, 0.5f * float(t));
  Barrier();
  if (t < 4) out[64 + t] = local[t];
  if (t == 0) sums[1] = local_sum[0];
}

// Every width, out of LDS and memory, and what does not fit a dword evenly.
struct __attribute__((packed)) Odd {
  uint8 a;
  uint32 b;
  uint16 c;
  uint64 d;
};
KERNEL __launch_bounds__(64)
    widths(int64* out, const uint8* in, Odd* odd, uint8* bytes) {
  __shared__ __attribute__((aligned(16))) uint8 local[64 * 48];
  const uint32 t = ThreadX();
  for (int i = 0; i < 3; ++i) {
    *(Vec<int, 4>*)(local + t * 48 + 16 * i) =
        *(const Vec<int, 4>*)(in + t * 48 + 16 * i);
  }
  Barrier();
  const uint8* from = local + (63 - t) * 48;
  int64 sum = 0;
  sum = sum * 3 + *(const signed char*)(from);
  sum = sum * 3 + *(const uint8*)(from + 1);
  sum = sum * 3 + *(const short*)(from + 2);
  sum = sum * 3 + *(const uint16*)(from + 4);
  sum = sum * 3 + *(const int*)(from + 8);
  sum = sum * 3 + *(const int64*)(from + 16);
  const auto three = *(const Vec<int, 3>*)(from + 32);
  sum = sum * 3 + three[0] + three[1] * int64(5) + three[2] * int64(7);
  const uint8* other = in + t * 48;
  sum = sum * 3 + *(const signed char*)(other + 5);
  sum = sum * 3 + *(const short*)(other + 6);
  sum = sum * 3 + *(const uint16*)(other + 10);
  out[t] = sum;
  odd[t].a = uint8(t);
  odd[t].b = uint32(sum);
  odd[t].c = uint16(sum >> 8);
  odd[t].d = uint64(sum) * 3;
  bytes[3 * t] = uint8(sum);
  bytes[3 * t + 1] = uint8(sum >> 16);
  *(uint16*)(bytes + 256 + 2 * t) = uint16(sum >> 24);
}

// Recursion and calls through a table.
__attribute__((noinline)) __device__ int Twice(int x) { return 2 * x + 1; }
__attribute__((noinline)) __device__ int Square(int x) { return x * x; }
__attribute__((noinline)) __device__ int Depth(int x) {
  if (x <= 0) return 1;
  volatile int keep = x;
  return Depth(x - 1) * 3 + keep;
}
KERNEL __launch_bounds__(64) calls(int* out, int which, int depth) {
  int (*f)(int) = which ? Twice : Square;
  asm volatile("" : "+s"(f));
  out[ThreadX()] = f(int(ThreadX()) - 9) + Depth(depth);
}
