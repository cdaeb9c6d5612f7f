// Transposes through LDS with the reads that transpose. `rows` x 16 elements,
// packed; out is 16 x `rows`, where rows behind the last are not written.
#include "zyfa/emu/testdata/matrix.h"

template <class T>
using InLds = __attribute__((address_space(3))) T;

// A wave copies 64 rows of `bytes` into LDS, `pitch` apart, zeros behind the
// last row.
__device__ inline void Fill(uint8* tile, int pitch, const uint8* in, int bytes,
                            int rows) {
  const int row = int(BlockX() * 64 + ThreadX());
  for (int i = 0; i < bytes; ++i) {
    tile[int(ThreadX()) * pitch + i] = row < rows ? in[row * bytes + i] : 0;
  }
  Barrier();
}

// Four blocks of 16 lanes read 4 rows x 16 columns each: 16 rows a step.
KERNEL __launch_bounds__(64)
    transpose16(uint16* out, const uint16* in, int rows) {
  __shared__ __attribute__((aligned(16))) uint8 tile[64 * 32];
  Fill(tile, 32, (const uint8*)in, 32, rows);
  const int lane = int(ThreadX()), source = lane % 16;
  for (int step = 0; step < 4; ++step) {
    const int row0 = 16 * step + 4 * (lane / 16);
    const auto* at = tile + 32 * (row0 + source / 4) + 8 * (source % 4);
    const Vec<short, 4> column = __builtin_amdgcn_ds_read_tr16_b64_v4i16(
        (InLds<Vec<short, 4>>*)(InLds<uint8>*)at);
    for (int r = 0; r < 4; ++r) {
      const int row = int(BlockX()) * 64 + row0 + r;
      if (row < rows) out[lane % 16 * rows + row] = uint16(column[r]);
    }
  }
}

// 8 rows x 16 columns a block: 32 rows a step.
KERNEL __launch_bounds__(64) transpose8(uint8* out, const uint8* in, int rows) {
  __shared__ __attribute__((aligned(16))) uint8 tile[64 * 16];
  Fill(tile, 16, in, 16, rows);
  const int lane = int(ThreadX()), source = lane % 16;
  for (int step = 0; step < 2; ++step) {
    const int row0 = 32 * step + 8 * (lane / 16);
    const auto* at = tile + 16 * (row0 + source / 2) + 8 * (source % 2);
    const auto column =
        __builtin_bit_cast(uint64, __builtin_amdgcn_ds_read_tr8_b64_v2i32(
                                       (InLds<Vec<int, 2>>*)(InLds<uint8>*)at));
    for (int r = 0; r < 8; ++r) {
      const int row = int(BlockX()) * 64 + row0 + r;
      if (row < rows) out[lane % 16 * rows + row] = uint8(column >> 8 * r);
    }
  }
}

// 16 rows x 16 columns a block. Out is one byte an element.
KERNEL __launch_bounds__(64) transpose4(uint8* out, const uint8* in, int rows) {
  __shared__ __attribute__((aligned(16))) uint8 tile[64 * 8];
  Fill(tile, 8, in, 8, rows);
  const int lane = int(ThreadX());
  const auto column = __builtin_bit_cast(
      uint64, __builtin_amdgcn_ds_read_tr4_b64_v2i32(
                  (InLds<Vec<int, 2>>*)(InLds<uint8>*)(tile + 8 * lane)));
  for (int r = 0; r < 16; ++r) {
    const int row = int(BlockX()) * 64 + 16 * (lane / 16) + r;
    if (row < rows) out[lane % 16 * rows + row] = column >> 4 * r & 15;
  }
}

KERNEL __launch_bounds__(64) transpose6(uint8* out, const uint8* in, int rows) {
  __shared__ __attribute__((aligned(16))) uint8 tile[64 * 16];
  Fill(tile, 16, in, 12, rows);
  const int lane = int(ThreadX());
  const Vec<int, 3> column = __builtin_amdgcn_ds_read_tr6_b96_v3i32(
      (InLds<Vec<int, 3>>*)(InLds<uint8>*)(tile + 16 * lane));
  for (int r = 0; r < 16; ++r) {
    const int bit = 6 * r;
    uint64 pair = uint32(column[bit / 32]);
    if (bit / 32 < 2) pair |= uint64(uint32(column[bit / 32 + 1])) << 32;
    const int row = int(BlockX()) * 64 + 16 * (lane / 16) + r;
    if (row < rows) out[lane % 16 * rows + row] = pair >> bit % 32 & 63;
  }
}
