// C = A B^T with every dense matrix instruction, a tile a wave. Each size may
// be anything: rows, columns and k beyond the matrices are zeros.
#include "zyfa/emu/testdata/matrix.h"

using Half = _Float16;
using Bf16 = __bf16;
using Int8 = signed char;

// kIn: element of A and B; kOperand: what the built-in takes for a lane's
// share.
template <class In, class Operand, class Out, int kRows, int kDepth,
          int kBlocks>
struct Shape {
  using InType = In;
  using OutType = Out;
  using OperandType = Operand;
  static constexpr int kRowCount = kRows, kDepthCount = kDepth;
  static constexpr int kBlockCount = kBlocks;
  static constexpr int kElements = kRows * kDepth * kBlocks / 64;
  static constexpr int kResults = kRows * kRows * kBlocks / 64;
  using Result = Vec<Out, kResults>;
};

template <class S>
__device__ inline typename S::OperandType LoadOperand(
    const typename S::InType* matrix, int rows, int depth, int batches,
    int first_batch, int first_row, int kk) {
  const int lane = int(ThreadX());
  const int group = lane / S::kRowCount;
  const int batch = first_batch + group % S::kBlockCount;
  const int row = first_row + lane % S::kRowCount;
  const int k0 = kk + S::kElements * (group / S::kBlockCount);
  Vec<typename S::InType, S::kElements> v;
  for (int e = 0; e < S::kElements; ++e) {
    const bool inside = batch < batches && row < rows && k0 + e < depth;
    v[e] = inside ? matrix[(batch * rows + row) * depth + k0 + e]
                  : typename S::InType(0);
  }
  return __builtin_bit_cast(typename S::OperandType, v);
}

template <class S, class Multiply>
__device__ inline void Gemm(typename S::OutType* c, const typename S::InType* a,
                            const typename S::InType* b, int m, int n, int k,
                            int batches, Multiply multiply) {
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * S::kRowCount;
  const int column0 = int(BlockX()) * S::kRowCount;
  const int batch0 = int(__builtin_amdgcn_workgroup_id_z()) * S::kBlockCount;
  typename S::Result acc = {};
  for (int kk = 0; kk < k; kk += S::kDepthCount) {
    acc = multiply(LoadOperand<S>(a, m, k, batches, batch0, row0, kk),
                   LoadOperand<S>(b, n, k, batches, batch0, column0, kk), acc);
  }
  for (int r = 0; r < S::kResults; ++r) {
    Place p;
    if constexpr (sizeof(typename S::OutType) == 8) {
      p = ResultPlaceF64<S::kRowCount>(int(ThreadX()), r);
    } else {
      p = ResultPlace<S::kRowCount>(int(ThreadX()), r);
    }
    const int batch = batch0 + p.block;
    const int row = row0 + p.row, column = column0 + p.column;
    if (batch < batches && row < m && column < n) {
      if constexpr (S::kResults == 1) {
        c[(batch * m + row) * n + column] = acc[0];
      } else {
        c[(batch * m + row) * n + column] = acc[r];
      }
    }
  }
}

#define GEMM(name, In, Operand, Out, rows, depth, blocks, builtin)           \
  KERNEL __launch_bounds__(64) name(Out* c, const In* a, const In* b, int m, \
                                    int n, int k, int batches) {             \
    using S = Shape<In, Operand, Out, rows, depth, blocks>;                  \
    Gemm<S>(c, a, b, m, n, k, batches,                                       \
            [](Operand x, Operand y, typename S::Result z) {                 \
              return typename S::Result(builtin(x, y, z, 0, 0, 0));          \
            });                                                              \
  }
#define MFMA(rest) __builtin_amdgcn_mfma_##rest

using Halves4 = Vec<Half, 4>;
using Halves8 = Vec<Half, 8>;
using Bf16s8 = Vec<Bf16, 8>;
using Shorts4 = Vec<short, 4>;
using Dwords4 = Vec<int, 4>;

GEMM(f16_32x32x16, Half, Halves8, float, 32, 16, 1, MFMA(f32_32x32x16_f16))
GEMM(f16_16x16x32, Half, Halves8, float, 16, 32, 1, MFMA(f32_16x16x32_f16))
GEMM(f16_32x32x8, Half, Halves4, float, 32, 8, 1, MFMA(f32_32x32x8f16))
GEMM(f16_16x16x16, Half, Halves4, float, 16, 16, 1, MFMA(f32_16x16x16f16))
GEMM(f16_32x32x4_2b, Half, Halves4, float, 32, 4, 2, MFMA(f32_32x32x4f16))
GEMM(f16_16x16x4_4b, Half, Halves4, float, 16, 4, 4, MFMA(f32_16x16x4f16))
GEMM(f16_4x4x4_16b, Half, Halves4, float, 4, 4, 16, MFMA(f32_4x4x4f16))

GEMM(bf16_32x32x16, Bf16, Bf16s8, float, 32, 16, 1, MFMA(f32_32x32x16_bf16))
GEMM(bf16_16x16x32, Bf16, Bf16s8, float, 16, 32, 1, MFMA(f32_16x16x32_bf16))
GEMM(bf16_32x32x8, Bf16, Shorts4, float, 32, 8, 1, MFMA(f32_32x32x8bf16_1k))
GEMM(bf16_16x16x16, Bf16, Shorts4, float, 16, 16, 1, MFMA(f32_16x16x16bf16_1k))
GEMM(bf16_32x32x4_2b, Bf16, Shorts4, float, 32, 4, 2, MFMA(f32_32x32x4bf16_1k))
GEMM(bf16_16x16x4_4b, Bf16, Shorts4, float, 16, 4, 4, MFMA(f32_16x16x4bf16_1k))
GEMM(bf16_4x4x4_16b, Bf16, Shorts4, float, 4, 4, 16, MFMA(f32_4x4x4bf16_1k))

GEMM(f32_32x32x2, float, float, float, 32, 2, 1, MFMA(f32_32x32x2f32))
GEMM(f32_16x16x4, float, float, float, 16, 4, 1, MFMA(f32_16x16x4f32))
GEMM(f32_32x32x1_2b, float, float, float, 32, 1, 2, MFMA(f32_32x32x1f32))
GEMM(f32_16x16x1_4b, float, float, float, 16, 1, 4, MFMA(f32_16x16x1f32))
GEMM(f32_4x4x1_16b, float, float, float, 4, 1, 16, MFMA(f32_4x4x1f32))

GEMM(i8_32x32x32, Int8, Dwords4, int, 32, 32, 1, MFMA(i32_32x32x32_i8))
GEMM(i8_16x16x64, Int8, Dwords4, int, 16, 64, 1, MFMA(i32_16x16x64_i8))
GEMM(i8_32x32x16, Int8, long, int, 32, 16, 1, MFMA(i32_32x32x16_i8))
GEMM(i8_16x16x32, Int8, long, int, 16, 32, 1, MFMA(i32_16x16x32_i8))
GEMM(i8_32x32x4_2b, Int8, int, int, 32, 4, 2, MFMA(i32_32x32x4i8))
GEMM(i8_16x16x4_4b, Int8, int, int, 16, 4, 4, MFMA(i32_16x16x4i8))
GEMM(i8_4x4x4_16b, Int8, int, int, 4, 4, 16, MFMA(i32_4x4x4i8))

GEMM(f64_16x16x4, double, double, double, 16, 4, 1, MFMA(f64_16x16x4f64))
// One double a lane: no vector.
KERNEL __launch_bounds__(64)
    f64_4x4x4_4b(double* c, const double* a, const double* b, int m, int n,
                 int k, int batches) {
  using S = Shape<double, double, double, 4, 4, 4>;
  Gemm<S>(c, a, b, m, n, k, batches, [](double x, double y, S::Result z) {
    return S::Result(__builtin_amdgcn_mfma_f64_4x4x4f64(x, y, z[0], 0, 0, 0));
  });
}

#define BYTES(a, b)                                       \
  GEMM(a##_##b##_32x32x16, uint8, long, float, 32, 16, 1, \
       MFMA(f32_32x32x16_##a##_##b))                      \
  GEMM(a##_##b##_16x16x32, uint8, long, float, 16, 32, 1, \
       MFMA(f32_16x16x32_##a##_##b))
BYTES(fp8, fp8)
BYTES(fp8, bf8)
BYTES(bf8, fp8)
BYTES(bf8, bf8)

// Sixteen products with the same A: block 5's, by cbsz and abid.
KERNEL __launch_bounds__(64)
    f32_4x4x1_one_a(float* c, const float* a, const float* b) {
  const uint32 lane = ThreadX();
  Vec<float, 4> acc = {1, 2, 3, 4};
  acc = __builtin_amdgcn_mfma_f32_4x4x1f32(a[lane], b[lane], acc, 4, 5, 0);
  for (uint32 r = 0; r < 4; ++r) c[4 * lane + r] = acc[r];
}
// Lanes of B in another order, by blgp.
template <int kBlgp>
__device__ inline void RotatedB(float* c, float a, float b) {
  Vec<float, 4> acc = {};
  acc = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, acc, 0, 0, kBlgp);
  for (uint32 r = 0; r < 4; ++r) c[256 * kBlgp + 4 * ThreadX() + r] = acc[r];
}
KERNEL __launch_bounds__(64)
    f32_16x16x4_blgp(float* c, const float* a, const float* b) {
  const float x = a[ThreadX()], y = b[ThreadX()];
  RotatedB<0>(c, x, y);
  RotatedB<1>(c, x, y);
  RotatedB<2>(c, x, y);
  RotatedB<3>(c, x, y);
  RotatedB<4>(c, x, y);
  RotatedB<5>(c, x, y);
  RotatedB<6>(c, x, y);
  RotatedB<7>(c, x, y);
}
