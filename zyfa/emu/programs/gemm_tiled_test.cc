// Products by work-groups of several waves with tiles in LDS, some brought
// there by loads that bypass the registers.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// Under every order of waves and landing moment: the same bits.
void Check(TestDevice& device, const std::string& kernel, Format format,
           int tile, int m, int n, int k) {
  const Matrix a = RandomMatrix(format, m, k, 41);
  const Matrix b = RandomMatrix(format, n, k, 42);
  const uint64_t a_address = device.Upload(a.bytes);
  const uint64_t b_address = device.Upload(b.bytes);
  const auto count = static_cast<size_t>(m * n);
  LaunchShape launch = Shape(static_cast<uint32_t>((n + tile - 1) / tile), 256);
  launch.grid[1] = static_cast<uint32_t>((m + tile - 1) / tile);
  std::vector<float> first;
  for (const RunOptions& options : AllSchedules(StrictOptions())) {
    const uint64_t c = device.Upload(std::vector<float>(count));
    device.RunClean(
        kernel, launch,
        Kernarg().Add(c).Add(a_address).Add(b_address).Add(m).Add(n).Add(k),
        options);
    const std::vector<float> got = device.Download<float>(c, count);
    if (!first.empty()) {
      EXPECT_EQ(got, first) << kernel << " " << ScheduleName(options);
      continue;
    }
    first = got;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const Product want = RowTimesRow(a, i, b, j);
        ASSERT_NEAR(got[static_cast<size_t>(i * n + j)], want.value,
                    1e-6 * want.magnitude)
            << kernel << " " << m << "x" << n << "x" << k << " row " << i
            << " column " << j;
      }
    }
  }
}

class GemmTiled : public testing::TestWithParam<std::string> {};

TEST_P(GemmTiled, DoubleBuffered) {
  TestDevice device(GetParam());
  Check(device, "tiled_bf16", Format::kBf16, 128, 128, 128, 96);
  Check(device, "tiled_bf16", Format::kBf16, 128, 130, 67, 40);
  Check(device, "tiled_bf16", Format::kBf16, 128, 5, 3, 8);
}
TEST_P(GemmTiled, GlobalLoadsIntoLds) {
  TestDevice device(GetParam());
  Check(device, "global_to_lds_f16", Format::kF16, 64, 64, 64, 96);
  Check(device, "global_to_lds_f16", Format::kF16, 64, 70, 30, 64);
  Check(device, "global_to_lds_f16", Format::kF16, 64, 1, 65, 32);
}
TEST_P(GemmTiled, BufferLoadsIntoLds) {
  TestDevice device(GetParam());
  Check(device, "buffer_to_lds_fp8", Format::kFp8, 64, 64, 64, 192);
  Check(device, "buffer_to_lds_fp8", Format::kFp8, 64, 70, 30, 64);
}
TEST_P(GemmTiled, CopyThroughLds) {
  TestDevice device(GetParam());
  for (uint32_t n : {128u, 200u, 1u}) {
    std::vector<uint32_t> in(n);
    for (uint32_t i = 0; i < n; ++i) in[i] = 1000 + i;
    const uint64_t out = device.Upload(std::vector<uint32_t>(256));
    device.RunClean("copy_through_lds", Shape(2, 64),
                    Kernarg().Add(out).Add(device.Upload(in)).Add(4 * n));
    const auto got = device.Download<uint32_t>(out, 256);
    for (uint32_t i = 0; i < 256; ++i) {
      const uint32_t from = i / 128 * 128 + 127 - i % 128;
      ASSERT_EQ(got[i], from < n ? in[from] : 0) << i << " of " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, GemmTiled,
                         testing::ValuesIn(BothLevels("gemm_tiled")));

}  // namespace
}  // namespace zyfa::emu
