#include "zyfa/reference/tile_product.h"

#include <cstring>

namespace zyfa::reference {
namespace {

#if defined(__x86_64__)
#define ZYFA_HAVE_AVX2_PATH 1
#endif

// 32 bytes of T: one AVX register, or two of what every x86-64 has.
template <typename T>
struct Vec {
  typedef T Type __attribute__((vector_size(32)));
  static constexpr int64_t kLanes = 32 / sizeof(T);
};

// kRows x (kVectors * lanes) elements of C in registers. Inlined into callers
// that are compiled for different instruction sets.
template <typename T, int kRows, int kVectors>
[[gnu::always_inline]] inline void Block(int64_t depth, const T* a,
                                         int64_t a_stride, const T* b,
                                         int64_t b_stride, T* c,
                                         int64_t c_stride) {
  using V = typename Vec<T>::Type;
  constexpr int64_t kLanes = Vec<T>::kLanes;
  V sum[kRows][kVectors];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      std::memcpy(&sum[i][j], c + i * c_stride + j * kLanes, sizeof(V));
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    V row[kVectors];
    for (int j = 0; j < kVectors; ++j) {
      std::memcpy(&row[j], b + k * b_stride + j * kLanes, sizeof(V));
    }
    for (int i = 0; i < kRows; ++i) {
      const T x = a[i * a_stride + k];
      for (int j = 0; j < kVectors; ++j) sum[i][j] += x * row[j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      std::memcpy(c + i * c_stride + j * kLanes, &sum[i][j], sizeof(V));
    }
  }
}

template <typename T>
[[gnu::always_inline]] inline void Product(int64_t rows, int64_t depth,
                                           int64_t columns, const T* a,
                                           int64_t a_stride, const T* b,
                                           int64_t b_stride, T* c,
                                           int64_t c_stride) {
  static_assert(kRowBlock == 4);
  constexpr int64_t kLanes = Vec<T>::kLanes;
  static_assert(kColumnBlock % (2 * kLanes) == 0);
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    for (int64_t j = 0; j < columns; j += 2 * kLanes) {
      Block<T, 4, 2>(depth, a + i * a_stride, a_stride, b + j, b_stride,
                     c + i * c_stride + j, c_stride);
    }
  }
  for (; i < rows; ++i) {
    for (int64_t j = 0; j < columns; j += kColumnBlock) {
      Block<T, 1, kColumnBlock / kLanes>(depth, a + i * a_stride, a_stride,
                                         b + j, b_stride, c + i * c_stride + j,
                                         c_stride);
    }
  }
}

#if ZYFA_HAVE_AVX2_PATH
template <typename T>
[[gnu::target("avx2")]] void ProductAvx2(int64_t rows, int64_t depth,
                                         int64_t columns, const T* a,
                                         int64_t a_stride, const T* b,
                                         int64_t b_stride, T* c,
                                         int64_t c_stride) {
  Product(rows, depth, columns, a, a_stride, b, b_stride, c, c_stride);
}
#endif

template <typename T>
void Dispatch(int64_t rows, int64_t depth, int64_t columns, const T* a,
              int64_t a_stride, const T* b, int64_t b_stride, T* c,
              int64_t c_stride) {
#if ZYFA_HAVE_AVX2_PATH
  if (__builtin_cpu_supports("avx2")) {
    ProductAvx2(rows, depth, columns, a, a_stride, b, b_stride, c, c_stride);
    return;
  }
#endif
  Product(rows, depth, columns, a, a_stride, b, b_stride, c, c_stride);
}

}  // namespace

void AddTileProduct(int64_t rows, int64_t depth, int64_t columns,
                    const double* a, int64_t a_stride, const double* b,
                    int64_t b_stride, double* c, int64_t c_stride) {
  Dispatch(rows, depth, columns, a, a_stride, b, b_stride, c, c_stride);
}

void AddTileProduct(int64_t rows, int64_t depth, int64_t columns,
                    const float* a, int64_t a_stride, const float* b,
                    int64_t b_stride, float* c, int64_t c_stride) {
  Dispatch(rows, depth, columns, a, a_stride, b, b_stride, c, c_stride);
}

}  // namespace zyfa::reference
