#ifndef ZYFA_EMU_VECTOR_MATRIX_SUM_H_
#define ZYFA_EMU_VECTOR_MATRIX_SUM_H_

#if defined(ZYFA_VECTOR_AVX2) && defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

// How a matrix instruction adds up under MatrixModel::kExact; modelled_sum.h
// has the other models.
//
// The order and the inner width of the hardware's sums are not documented. Here
// the products are exact, C and the products are added in double in the order
// of k, and the sum is rounded once to float32, to nearest even; MODE's
// rounding and denormal bits play no part. An implementation offers
//   AddProducts    the sum of one block of a dense product, in place
//   AddSparse      one compressed element of A times a row of B, in place
//   Round          the finished sum as float32 bits
struct ExactThenRound {
  // sum[i][j] += sum over k of a[k][i] * b[k][j]; sum holds C on entry.
  template <int kRows, int kDepth>
  static void AddProducts(const double* a, const double* b, double* sum);

  template <int kColumns>
  static void AddSparse(double a, const double* b, double* sum) {
    for (int j = 0; j < kColumns; ++j) sum[j] += a * b[j];
  }

  // An overflow becomes the largest number with MODE.FP16_OVFL, else Inf.
  static uint32_t Round(double sum, bool clamp_overflow) {
    const float rounded = static_cast<float>(sum);
    const uint32_t bits = std::bit_cast<uint32_t>(rounded);
    const bool over = (bits & 0x7fffffff) == 0x7f800000;
    const uint32_t clamped =
        over && clamp_overflow ? (bits & 0x80000000) | 0x7f7fffff : bits;
    return rounded != rounded ? 0x7fc00000 : clamped;
  }
};

using MatrixSum = ExactThenRound;

// Float32 products are a chain of fused multiply-adds in the order of k: one
// step of it, sum[i][j] = fma(a[i], b[j], sum[i][j]) in float32.
template <int kRows>
inline void FmaChain(const float* a, const float* b, double* sum) {
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kRows; ++j) {
      const auto c = static_cast<float>(sum[i * kRows + j]);
      sum[i * kRows + j] = std::fma(a[i], b[j], c);
    }
  }
}

#if defined(ZYFA_VECTOR_AVX2) && defined(__x86_64__)
// Four doubles. The products are exact, so a fused sum has the same bits as the
// separate one below.
struct DoubleVector {
  static constexpr int kWidth = 4;
  __m256d value;
  static DoubleVector Load(const double* p) { return {_mm256_loadu_pd(p)}; }
  static DoubleVector Broadcast(double x) { return {_mm256_set1_pd(x)}; }
  void Store(double* p) const { _mm256_storeu_pd(p, value); }
  void AddProduct(DoubleVector a, DoubleVector b) {
    value = _mm256_fmadd_pd(a.value, b.value, value);
  }
};
#else
struct DoubleVector {
  static constexpr int kWidth = 2;
  double value[2];
  static DoubleVector Load(const double* p) { return {{p[0], p[1]}}; }
  static DoubleVector Broadcast(double x) { return {{x, x}}; }
  void Store(double* p) const {
    p[0] = value[0];
    p[1] = value[1];
  }
  void AddProduct(DoubleVector a, DoubleVector b) {
    value[0] += a.value[0] * b.value[0];
    value[1] += a.value[1] * b.value[1];
  }
};
#endif

template <int kRows, int kDepth>
inline void ExactThenRound::AddProducts(const double* a, const double* b,
                                        double* sum) {
  using V = DoubleVector;
  constexpr int kTile = 4;  // rows at once; two vectors of columns
  constexpr int kPair = kRows >= 2 * V::kWidth ? 2 : 1;
  static_assert(kRows % kTile == 0 && kRows % (kPair * V::kWidth) == 0);
  for (int i = 0; i < kRows; i += kTile) {
    for (int j = 0; j < kRows; j += kPair * V::kWidth) {
      V tile[kTile][kPair];
      for (int r = 0; r < kTile; ++r) {
        for (int p = 0; p < kPair; ++p) {
          tile[r][p] = V::Load(sum + (i + r) * kRows + j + p * V::kWidth);
        }
      }
      for (int k = 0; k < kDepth; ++k) {
        V columns[kPair];
        for (int p = 0; p < kPair; ++p) {
          columns[p] = V::Load(b + k * kRows + j + p * V::kWidth);
        }
        for (int r = 0; r < kTile; ++r) {
          const V row = V::Broadcast(a[k * kRows + i + r]);
          for (int p = 0; p < kPair; ++p)
            tile[r][p].AddProduct(row, columns[p]);
        }
      }
      for (int r = 0; r < kTile; ++r) {
        for (int p = 0; p < kPair; ++p) {
          tile[r][p].Store(sum + (i + r) * kRows + j + p * V::kWidth);
        }
      }
    }
  }
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_MATRIX_SUM_H_
