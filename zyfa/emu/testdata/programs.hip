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
