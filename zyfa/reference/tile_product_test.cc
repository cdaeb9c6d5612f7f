#include "zyfa/reference/tile_product.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::reference {
namespace {

template <typename T>
class TileProductTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TileProductTest, Types);

// Bit for bit the plain triple loop, whatever the number of rows.
TYPED_TEST(TileProductTest, EqualsTheTripleLoop) {
  std::mt19937 random(1);
  std::normal_distribution<TypeParam> normal;
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8}) {
    for (int64_t depth : {0, 1, 5, 64}) {
      for (int64_t columns : {16, 48}) {
        const int64_t a_stride = depth + 1;
        const int64_t b_stride = columns + 5;
        const int64_t c_stride = columns + 2;
        // One more row of B than is to be read, full of NaN.
        std::vector<TypeParam> a(rows * a_stride), b((depth + 1) * b_stride),
            c(rows * c_stride);
        for (auto* m : {&a, &b, &c}) {
          for (TypeParam& x : *m) x = normal(random);
        }
        for (int64_t j = 0; j < b_stride; ++j) {
          b[depth * b_stride + j] = std::nan("");
        }
        std::vector<TypeParam> expected = c;
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            for (int64_t k = 0; k < depth; ++k) {
              // Two statements, so that nothing is fused.
              volatile TypeParam product =
                  a[i * a_stride + k] * b[k * b_stride + j];
              expected[i * c_stride + j] += product;
            }
          }
        }
        AddTileProduct(rows, depth, columns, a.data(), a_stride, b.data(),
                       b_stride, c.data(), c_stride);
        EXPECT_EQ(c, expected) << rows << " " << depth << " " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace zyfa::reference
