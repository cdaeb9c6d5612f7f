// Products whose A keeps two of every four values.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

template <class Out>
void Check(TestDevice& device, const std::string& kernel, Format format_a,
           Format format_b, int tile, int m, int n, int k) {
  const Matrix values = RandomMatrix(format_a, m, k / 2, 31);
  const Matrix b = RandomMatrix(format_b, n, k, 32);
  Noise noise(33);
  // For each pair two different places among four, in order.
  std::vector<uint8_t> indices(static_cast<size_t>(m * k / 8));
  Matrix a;
  a.rows = m;
  a.columns = k;
  a.values.resize(static_cast<size_t>(m * k));
  for (int i = 0; i < m; ++i) {
    for (int pair = 0; pair < k / 4; ++pair) {
      const int first = noise.Between(0, 2);
      const int second = noise.Between(first + 1, 3);
      indices[static_cast<size_t>(i * (k / 8) + pair / 2)] |=
          static_cast<uint8_t>((first | second << 2) << 4 * (pair % 2));
      const auto at = static_cast<size_t>(i * k + 4 * pair);
      a.values[at + static_cast<size_t>(first)] = values.at(i, 2 * pair);
      a.values[at + static_cast<size_t>(second)] = values.at(i, 2 * pair + 1);
    }
  }
  const auto count = static_cast<size_t>(m * n);
  std::vector<Out> start(count);
  for (Out& x : start) x = static_cast<Out>(noise.Between(-9, 9));
  const uint64_t c = device.Upload(start);
  LaunchShape launch = Shape(static_cast<uint32_t>((n + tile - 1) / tile), 64);
  launch.grid[1] = static_cast<uint32_t>((m + tile - 1) / tile);
  device.RunClean(kernel, launch,
                  Kernarg()
                      .Add(c)
                      .Add(device.Upload(values.bytes))
                      .Add(device.Upload(indices))
                      .Add(device.Upload(b.bytes))
                      .Add(m)
                      .Add(n)
                      .Add(k));
  const std::vector<Out> got = device.Download<Out>(c, count);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      const Product want = RowTimesRow(a, i, b, j);
      const auto at = static_cast<size_t>(i * n + j);
      ASSERT_NEAR(static_cast<double>(got[at]),
                  static_cast<double>(start[at]) + want.value,
                  format_a == Format::kI8 ? 0 : 1e-6 * (9 + want.magnitude))
          << kernel << " " << m << "x" << n << "x" << k << " row " << i
          << " column " << j;
    }
  }
}

// The forms of 32 rows with depth32 and half of it, and of 16 with twice that.
template <class Out>
void CheckShapes(TestDevice& device, const std::string& names, Format a,
                 Format b, int depth32) {
  for (int rows : {32, 16}) {
    const int full = depth32 * 32 / rows;
    for (int depth : {full, full / 2}) {
      const std::string r = std::to_string(rows);
      const std::string kernel =
          names + "_" + r + "x" + r + "x" + std::to_string(depth);
      Check<Out>(device, kernel, a, b, rows, rows, rows, depth);
      Check<Out>(device, kernel, a, b, rows, rows + 3, 7, 3 * depth);
    }
  }
}

class GemmSparse : public testing::TestWithParam<std::string> {};

TEST_P(GemmSparse, Halves) {
  TestDevice device(GetParam());
  CheckShapes<float>(device, "f16", Format::kF16, Format::kF16, 32);
  CheckShapes<float>(device, "bf16", Format::kBf16, Format::kBf16, 32);
}
TEST_P(GemmSparse, Int8) {
  TestDevice device(GetParam());
  CheckShapes<int32_t>(device, "i8", Format::kI8, Format::kI8, 64);
}
TEST_P(GemmSparse, Float8) {
  TestDevice device(GetParam());
  for (Format a : {Format::kFp8, Format::kBf8}) {
    for (Format b : {Format::kFp8, Format::kBf8}) {
      CheckShapes<float>(device, NameOf(a) + "_" + NameOf(b), a, b, 64);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, GemmSparse,
                         testing::ValuesIn(BothLevels("gemm_sparse")));

}  // namespace
}  // namespace zyfa::emu
