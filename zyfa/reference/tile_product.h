#ifndef ZYFA_REFERENCE_TILE_PRODUCT_H_
#define ZYFA_REFERENCE_TILE_PRODUCT_H_

#include <cstdint>

namespace zyfa::reference {

// Columns of a tile are handled in multiples of this.
inline constexpr int64_t kColumnBlock = 16;
// Rows that the fast path takes together.
inline constexpr int64_t kRowBlock = 4;

// c[i][j] += sum_k a[i][k] * b[k][j], all row-major; `columns` is a multiple of
// kColumnBlock. Each element is one chain of multiplications and additions (not
// fused), k ascending, starting from c. So its bits depend neither on the
// number of rows given at once nor on the machine. b may hold anything, NaN
// included, in rows from `depth` on: they are not read.
void AddTileProduct(int64_t rows, int64_t depth, int64_t columns,
                    const double* a, int64_t a_stride, const double* b,
                    int64_t b_stride, double* c, int64_t c_stride);
void AddTileProduct(int64_t rows, int64_t depth, int64_t columns,
                    const float* a, int64_t a_stride, const float* b,
                    int64_t b_stride, float* c, int64_t c_stride);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_TILE_PRODUCT_H_
