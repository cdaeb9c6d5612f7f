// C = A B^T of 8, 6 and 4-bit floats with a power-of-two scale for every 32
// elements along k (OCP MX), a tile a wave. k is a multiple of 32; elements and
// 6-bit or 4-bit ones are packed, lowest bits first.
#include "zyfa/emu/testdata/matrix.h"

// cbsz and blgp of the instructions.
enum Format { kFp8, kBf8, kFp6, kBf6, kFp4 };
constexpr int kBytesOf32[] = {32, 32, 24, 24, 16};

// A lane's share of 32 rows x 64 or 16 rows x 128, as dwords. Six and four
// bits: one block of 32. Eight bits: half of each of two blocks.
template <int kRows, int kFormat>
__device__ inline Vec<int, 8> LoadOperand(const uint8* matrix, int rows,
                                          int depth, int first_row, int kk) {
  constexpr int kDepth = 2048 / kRows;
  const int lane = int(ThreadX());
  const int row = first_row + lane % kRows, group = lane / kRows;
  const uint8* line = matrix + row * (depth / 32) * kBytesOf32[kFormat];
  Vec<int, 8> v = {};
  for (int d = 0; d < kBytesOf32[kFormat] / 4; ++d) {
    int k, byte;  // of the dword in its line
    if (kBytesOf32[kFormat] == 32) {
      k = kk + kDepth / 2 * (d / 4) + 16 * group + d % 4 * 4;
      byte = k;
    } else {
      k = kk + 32 * group;
      byte = k / 32 * kBytesOf32[kFormat] + 4 * d;
    }
    if (row < rows && k < depth) v[d] = *(const int*)(line + byte);
  }
  return v;
}
// The scale that the lane hands in: of its row and block number lane / kRows.
template <int kRows>
__device__ inline int LoadScale(const uint8* scales, int rows, int depth,
                                int first_row, int kk) {
  const int lane = int(ThreadX());
  const int row = first_row + lane % kRows, block = kk / 32 + lane / kRows;
  return row < rows && block < depth / 32 ? scales[row * (depth / 32) + block]
                                          : 127;
}

template <int kRows>
__device__ inline void Store(float* c, Vec<float, kRows * kRows / 64> acc,
                             int m, int n, int row0, int column0) {
  for (int r = 0; r < kRows * kRows / 64; ++r) {
    const Place p = ResultPlace<kRows>(int(ThreadX()), r);
    const int row = row0 + p.row, column = column0 + p.column;
    if (row < m && column < n) c[row * n + column] = acc[r];
  }
}

template <int kRows, int kA, int kB, bool kScaled>
__device__ inline void Gemm(float* c, const uint8* a, const uint8* b,
                            const uint8* scale_a, const uint8* scale_b, int m,
                            int n, int k) {
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * kRows;
  const int column0 = int(BlockX()) * kRows;
  Vec<float, kRows * kRows / 64> acc = {};
  for (int kk = 0; kk < k; kk += 2048 / kRows) {
    const Vec<int, 8> va = LoadOperand<kRows, kA>(a, m, k, row0, kk);
    const Vec<int, 8> vb = LoadOperand<kRows, kB>(b, n, k, column0, kk);
    int sa = 0, sb = 0;  // both 0: the instruction without scales
    if constexpr (kScaled) {
      sa = LoadScale<kRows>(scale_a, m, k, row0, kk);
      sb = LoadScale<kRows>(scale_b, n, k, column0, kk);
    }
    if constexpr (kRows == 32) {
      acc = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(va, vb, acc, kA, kB,
                                                            0, sa, 0, sb);
    } else {
      acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(va, vb, acc, kA,
                                                             kB, 0, sa, 0, sb);
    }
  }
  Store<kRows>(c, acc, m, n, row0, column0);
}

#define GEMM(name, rows, a_format, b_format, scaled)                        \
  KERNEL __launch_bounds__(64)                                              \
      name(float* c, const uint8* a, const uint8* b, const uint8* scale_a,  \
           const uint8* scale_b, int m, int n, int k) {                     \
    Gemm<rows, a_format, b_format, scaled>(c, a, b, scale_a, scale_b, m, n, \
                                           k);                              \
  }
#define BOTH_SHAPES(names, a, b)         \
  GEMM(scaled32_##names, 32, a, b, true) \
  GEMM(scaled16_##names, 16, a, b, true) \
  GEMM(plain32_##names, 32, a, b, false) \
  GEMM(plain16_##names, 16, a, b, false)
#define ALL_B(name, a)             \
  BOTH_SHAPES(name##_fp8, a, kFp8) \
  BOTH_SHAPES(name##_bf8, a, kBf8) \
  BOTH_SHAPES(name##_fp6, a, kFp6) \
  BOTH_SHAPES(name##_bf6, a, kBf6) \
  BOTH_SHAPES(name##_fp4, a, kFp4)
ALL_B(fp8, kFp8)
ALL_B(bf8, kBf8)
ALL_B(fp6, kFp6)
ALL_B(bf6, kBf6)
ALL_B(fp4, kFp4)

// The scales of four steps in one register, each step picking its byte; k is a
// multiple of 256. FP8 by FP4.
template <int kStep>
__device__ inline Vec<float, 16> Step(const uint8* a, const uint8* b, int m,
                                      int n, int k, int row0, int column0,
                                      int kk, int sa, int sb,
                                      Vec<float, 16> acc) {
  const int at = kk + 64 * kStep;
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
      LoadOperand<32, kFp8>(a, m, k, row0, at),
      LoadOperand<32, kFp4>(b, n, k, column0, at), acc, kFp8, kFp4, kStep, sa,
      3 - kStep, sb);
}
KERNEL __launch_bounds__(64)
    scale_bytes_fp8_fp4(float* c, const uint8* a, const uint8* b,
                        const uint8* scale_a, const uint8* scale_b, int m,
                        int n, int k) {
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * 32;
  const int column0 = int(BlockX()) * 32;
  Vec<float, 16> acc = {};
  for (int kk = 0; kk < k; kk += 256) {
    int sa = 0, sb = 0;
    for (int step = 0; step < 4; ++step) {
      sa |= LoadScale<32>(scale_a, m, k, row0, kk + 64 * step) << 8 * step;
      sb |= LoadScale<32>(scale_b, n, k, column0, kk + 64 * step)
            << 8 * (3 - step);
    }
    acc = Step<0>(a, b, m, n, k, row0, column0, kk, sa, sb, acc);
    acc = Step<1>(a, b, m, n, k, row0, column0, kk, sa, sb, acc);
    acc = Step<2>(a, b, m, n, k, row0, column0, kk, sa, sb, acc);
    acc = Step<3>(a, b, m, n, k, row0, column0, kk, sa, sb, acc);
  }
  Store<32>(c, acc, m, n, row0, column0);
}
