// C = A B^T by work-groups of four waves, tiles in LDS in two buffers: one is
// filled while the other is used.
#include "zyfa/emu/testdata/matrix.h"

using Half = _Float16;
using Bf16 = __bf16;
using F32x16 = Vec<float, 16>;

template <class T>
using InLds = __attribute__((address_space(3))) T;

__device__ inline void StoreTile(float* c, const F32x16& acc, int m, int n,
                                 int row0, int column0) {
  for (int r = 0; r < 16; ++r) {
    const Place p = ResultPlace<32>(int(ThreadX() % 64), r);
    const int row = row0 + p.row, column = column0 + p.column;
    if (row < m && column < n) c[row * n + column] = acc[r];
  }
}

// Tiles of 128 x 128, a quarter a wave, through registers. k is a multiple of
// 8, everything else may be anything.
constexpr int kDepth = 32, kPitch = kDepth + 8;

struct Panel {
  Vec<Bf16, 8> part[2];
};
__device__ inline Panel LoadPanel(const Bf16* from, int rows, int k, int row0,
                                  int kk) {
  Panel panel;
  for (int i = 0; i < 2; ++i) {
    const int part = int(ThreadX()) + 256 * i;
    const int row = row0 + part / 4, at = kk + part % 4 * 8;
    panel.part[i] = row < rows && at < k
                        ? *(const Vec<Bf16, 8>*)(from + row * k + at)
                        : Vec<Bf16, 8>{};
  }
  return panel;
}
__device__ inline void StorePanel(const Panel& panel, Bf16* to) {
  for (int i = 0; i < 2; ++i) {
    const int part = int(ThreadX()) + 256 * i;
    *(Vec<Bf16, 8>*)(to + part / 4 * kPitch + part % 4 * 8) = panel.part[i];
  }
}

KERNEL __launch_bounds__(256)
    tiled_bf16(float* c, const Bf16* a, const Bf16* b, int m, int n, int k) {
  __shared__ Bf16 tile_a[2][128 * kPitch], tile_b[2][128 * kPitch];
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * 128;
  const int column0 = int(BlockX()) * 128;
  const int wave = int(ThreadX()) / 64, lane = int(ThreadX()) % 64;
  const int wave_row = wave / 2 * 64, wave_column = wave % 2 * 64;
  F32x16 acc[2][2] = {};
  StorePanel(LoadPanel(a, m, k, row0, 0), tile_a[0]);
  StorePanel(LoadPanel(b, n, k, column0, 0), tile_b[0]);
  Barrier();
  int buffer = 0;
  for (int kk = 0; kk < k; kk += kDepth, buffer ^= 1) {
    const bool more = kk + kDepth < k;
    Panel next_a, next_b;
    if (more) {
      next_a = LoadPanel(a, m, k, row0, kk + kDepth);
      next_b = LoadPanel(b, n, k, column0, kk + kDepth);
    }
    for (int step = 0; step < kDepth; step += 16) {
      const int at = lane % 32 * kPitch + step + 8 * (lane / 32);
      Vec<Bf16, 8> va[2], vb[2];
      for (int i = 0; i < 2; ++i) {
        va[i] = *(const Vec<Bf16, 8>*)(tile_a[buffer] +
                                       (wave_row + 32 * i) * kPitch + at);
        vb[i] = *(const Vec<Bf16, 8>*)(tile_b[buffer] +
                                       (wave_column + 32 * i) * kPitch + at);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          acc[i][j] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(
              va[i], vb[j], acc[i][j], 0, 0, 0);
        }
      }
    }
    if (more) {
      StorePanel(next_a, tile_a[buffer ^ 1]);
      StorePanel(next_b, tile_b[buffer ^ 1]);
    }
    Barrier();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      StoreTile(c, acc[i][j], m, n, row0 + wave_row + 32 * i,
                column0 + wave_column + 32 * j);
    }
  }
}

// Waits for the wave's own loads into LDS, then for everybody's.
__device__ inline void WaitForLds() {
  __builtin_amdgcn_s_waitcnt(0x0f70);  // vmcnt(0)
  Barrier();
}

// Tiles of 64 x 64, straight from memory into LDS, 16 bytes a lane; k is a
// multiple of 32. Rows that do not exist repeat the last.
__device__ inline void FetchHalves(const Half* from, int rows, int k, int row0,
                                   int kk, Half* to) {
  const int wave = int(ThreadX()) / 64, lane = int(ThreadX()) % 64;
  const int row = row0 + 16 * wave + lane / 4;
  const Half* at = from + (row < rows ? row : rows - 1) * k + kk + lane % 4 * 8;
  __builtin_amdgcn_global_load_lds(
      (__attribute__((address_space(1))) void*)at,
      (InLds<void>*)(InLds<Half>*)(to + 16 * 32 * wave), 16, 0, 0);
}

KERNEL __launch_bounds__(256)
    global_to_lds_f16(float* c, const Half* a, const Half* b, int m, int n,
                      int k) {
  __shared__ __attribute__((aligned(16))) Half tile_a[2][64 * 32],
      tile_b[2][64 * 32];
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * 64;
  const int column0 = int(BlockX()) * 64;
  const int wave = int(ThreadX()) / 64, lane = int(ThreadX()) % 64;
  F32x16 acc = {};
  FetchHalves(a, m, k, row0, 0, tile_a[0]);
  FetchHalves(b, n, k, column0, 0, tile_b[0]);
  int buffer = 0;
  for (int kk = 0; kk < k; kk += 32, buffer ^= 1) {
    WaitForLds();
    if (kk + 32 < k) {
      FetchHalves(a, m, k, row0, kk + 32, tile_a[buffer ^ 1]);
      FetchHalves(b, n, k, column0, kk + 32, tile_b[buffer ^ 1]);
    }
    for (int step = 0; step < 32; step += 16) {
      const int at = lane % 32 * 32 + step + 8 * (lane / 32);
      const auto va =
          *(const Vec<Half, 8>*)(tile_a[buffer] + wave / 2 * 32 * 32 + at);
      const auto vb =
          *(const Vec<Half, 8>*)(tile_b[buffer] + wave % 2 * 32 * 32 + at);
      acc = __builtin_amdgcn_mfma_f32_32x32x16_f16(va, vb, acc, 0, 0, 0);
    }
  }
  StoreTile(c, acc, m, n, row0 + wave / 2 * 32, column0 + wave % 2 * 32);
}

// The same with FP8 through buffers, which give zeros behind the end; k is a
// multiple of 64.
KERNEL __launch_bounds__(256)
    buffer_to_lds_fp8(float* c, const uint8* a, const uint8* b, int m, int n,
                      int k) {
  __shared__ __attribute__((aligned(16))) uint8 tile_a[2][64 * 64],
      tile_b[2][64 * 64];
  const auto memory_a =
      __builtin_amdgcn_make_buffer_rsrc((void*)a, 0, m * k, 0x00020000);
  const auto memory_b =
      __builtin_amdgcn_make_buffer_rsrc((void*)b, 0, n * k, 0x00020000);
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * 64;
  const int column0 = int(BlockX()) * 64;
  const int wave = int(ThreadX()) / 64, lane = int(ThreadX()) % 64;
  const int line = (16 * wave + lane / 4) * k + lane % 4 * 16;
  const auto fetch = [&](int kk, int to) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(
        memory_a, (InLds<void>*)(InLds<uint8>*)(tile_a[to] + 1024 * wave), 16,
        row0 * k + line, kk, 0, 0);
    __builtin_amdgcn_raw_ptr_buffer_load_lds(
        memory_b, (InLds<void>*)(InLds<uint8>*)(tile_b[to] + 1024 * wave), 16,
        column0 * k + line, kk, 0, 0);
  };
  F32x16 acc = {};
  fetch(0, 0);
  int buffer = 0;
  for (int kk = 0; kk < k; kk += 64, buffer ^= 1) {
    WaitForLds();
    if (kk + 64 < k) fetch(kk + 64, buffer ^ 1);
    for (int step = 0; step < 64; step += 16) {
      const int at = lane % 32 * 64 + step + 8 * (lane / 32);
      const long va = *(const long*)(tile_a[buffer] + wave / 2 * 32 * 64 + at);
      const long vb = *(const long*)(tile_b[buffer] + wave % 2 * 32 * 64 + at);
      acc = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(va, vb, acc, 0, 0, 0);
    }
  }
  StoreTile(c, acc, m, n, row0 + wave / 2 * 32, column0 + wave % 2 * 32);
}

// Dwords into LDS, a quarter of the width.
KERNEL __launch_bounds__(64)
    copy_through_lds(uint32* out, const uint32* in, uint32 bytes) {
  __shared__ uint32 tile[128];
  const auto memory =
      __builtin_amdgcn_make_buffer_rsrc((void*)in, 0, int(bytes), 0x00020000);
  const int at = int(BlockX() * 512 + ThreadX() * 4);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(
      memory, (InLds<void>*)(InLds<uint32>*)tile, 4, at, 0, 0, 0);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(
      memory, (InLds<void>*)(InLds<uint32>*)tile, 4, at, 0, 256, 0);
  WaitForLds();
  const uint32 t = ThreadX();
  out[BlockX() * 128 + 2 * t] = tile[127 - 2 * t];
  out[BlockX() * 128 + 2 * t + 1] = tile[126 - 2 * t];
}
