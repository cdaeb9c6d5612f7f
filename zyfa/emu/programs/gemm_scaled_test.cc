// Products of 8, 6 and 4-bit floats with block scales, all pairs of formats.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"
#include "zyfa/numerics/e8m0.h"

namespace zyfa::emu {
namespace {

constexpr Format kFormats[] = {Format::kFp8, Format::kBf8, Format::kFp6,
                               Format::kBf6, Format::kFp4};

// One power of two for each row and 32 columns.
struct Scales {
  Scales(int rows, int blocks_in_row, bool one, uint64_t seed)
      : blocks(blocks_in_row) {
    Noise noise(seed);
    for (int i = 0; i < rows * blocks; ++i) {
      codes.push_back(
          static_cast<uint8_t>(one ? 127 : noise.Between(119, 134)));
    }
  }
  double at(int row, int k) const {
    return numerics::E8m0{codes[static_cast<size_t>(row * blocks + k / 32)]}
        .ToFloat();
  }
  int blocks;
  std::vector<uint8_t> codes;
};

void Check(TestDevice& device, const std::string& kernel, Format format_a,
           Format format_b, int tile, bool scaled, int m, int n, int k) {
  const Matrix a = RandomMatrix(format_a, m, k, 21);
  const Matrix b = RandomMatrix(format_b, n, k, 22);
  const Scales scale_a(m, k / 32, !scaled, 23), scale_b(n, k / 32, !scaled, 24);
  const auto count = static_cast<size_t>(m * n);
  const uint64_t c = device.Upload(std::vector<float>(count));
  LaunchShape launch = Shape(static_cast<uint32_t>((n + tile - 1) / tile), 64);
  launch.grid[1] = static_cast<uint32_t>((m + tile - 1) / tile);
  device.RunClean(kernel, launch,
                  Kernarg()
                      .Add(c)
                      .Add(device.Upload(a.bytes))
                      .Add(device.Upload(b.bytes))
                      .Add(device.Upload(scale_a.codes))
                      .Add(device.Upload(scale_b.codes))
                      .Add(m)
                      .Add(n)
                      .Add(k));
  const std::vector<float> got = device.Download<float>(c, count);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0, magnitude = 0;
      for (int e = 0; e < k; ++e) {
        const double term =
            a.at(i, e) * scale_a.at(i, e) * b.at(j, e) * scale_b.at(j, e);
        want += term;
        magnitude += std::fabs(term);
      }
      ASSERT_NEAR(got[static_cast<size_t>(i * n + j)], want, 1e-6 * magnitude)
          << kernel << " " << m << "x" << n << "x" << k << " row " << i
          << " column " << j;
    }
  }
}

class GemmScaled : public testing::TestWithParam<std::string> {};

TEST_P(GemmScaled, EveryPairOfFormats) {
  TestDevice device(GetParam());
  for (int tile : {32, 16}) {
    for (Format a : kFormats) {
      for (Format b : kFormats) {
        const std::string names =
            std::to_string(tile) + "_" + NameOf(a) + "_" + NameOf(b);
        for (bool scaled : {true, false}) {
          const std::string kernel = (scaled ? "scaled" : "plain") + names;
          // One whole tile; and rows, columns and blocks of k left over.
          Check(device, kernel, a, b, tile, scaled, tile, tile, 2048 / tile);
          Check(device, kernel, a, b, tile, scaled, tile + 1, 5,
                2048 / tile + 32);
        }
      }
    }
  }
}

TEST_P(GemmScaled, ScaleBytesOfOneRegister) {
  TestDevice device(GetParam());
  for (int k : {256, 768}) {
    Check(device, "scale_bytes_fp8_fp4", Format::kFp8, Format::kFp4, 32, true,
          37, 40, k);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, GemmScaled,
                         testing::ValuesIn(BothLevels("gemm_scaled")));

}  // namespace
}  // namespace zyfa::emu
