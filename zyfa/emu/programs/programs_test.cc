// Kernels that a compiler made, against the same computation on the host.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class Programs : public testing::TestWithParam<std::string> {};

TEST_P(Programs, VectorAddStopsAtItsLength) {
  TestDevice device(GetParam());
  Noise noise(1);
  const int n = 1000;
  const std::vector<float> a = noise.Floats(n), b = noise.Floats(n);
  const uint64_t out = device.Upload(std::vector<float>(n, -7.0f));
  const RunReport report = device.RunClean(
      "vector_add", Shape(4, 256),
      Kernarg().Add(out).Add(device.Upload(a)).Add(device.Upload(b)).Add(n));
  const std::vector<float> got = device.Download<float>(out, n);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a[i] + b[i]) << i;
  EXPECT_EQ(report.waves, 16u);
  EXPECT_EQ(report.global_bytes_written, 4u * n);
}

TEST_P(Programs, ReductionThroughLdsUnderEveryOrder) {
  TestDevice device(GetParam());
  std::vector<float> in(5000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17);
  const uint64_t in_address = device.Upload(in);
  for (const RunOptions& options : AllSchedules(StrictOptions())) {
    const uint64_t out = device.Upload(std::vector<float>(3));
    device.RunClean("reduce", Shape(3, 256),
                    Kernarg().Add(out).Add(in_address).Add(5000), options);
    std::vector<float> want(3);
    for (size_t i = 0; i < in.size(); ++i) want[i / 256 % 3] += in[i];
    EXPECT_EQ(device.Download<float>(out, 3), want) << ScheduleName(options);
  }
}

TEST_P(Programs, ConstantTableAndCall) {
  TestDevice device(GetParam());
  const uint64_t out = device.Upload(std::vector<int32_t>(128));
  device.RunClean("table_and_call", Shape(2, 64), Kernarg().Add(out).Add(9));
  const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto got = device.Download<int32_t>(out, 128);
  for (int i = 0; i < 128; ++i) {
    uint32_t x = static_cast<uint32_t>(i);
    for (uint32_t j = 0; j < 9; ++j) {
      x = x * 31 + static_cast<uint32_t>(table[(x + j) & 7] ^ 0x55);
    }
    ASSERT_EQ(static_cast<uint32_t>(got[i]), x) << i;
  }
}

TEST_P(Programs, DivergentLoops) {
  TestDevice device(GetParam());
  std::vector<int32_t> in(192);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(3 * i + 1);
  const uint64_t out = device.Upload(std::vector<int32_t>(in.size()));
  device.RunClean("collatz", Shape(1, 192),
                  Kernarg().Add(out).Add(device.Upload(in)));
  const auto got = device.Download<int32_t>(out, in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    int steps = 0;
    for (uint32_t x = static_cast<uint32_t>(in[i]); x > 1; ++steps) {
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    }
    ASSERT_EQ(got[i], steps) << in[i];
  }
}

TEST_P(Programs, ThreeDimensions) {
  TestDevice device(GetParam());
  LaunchShape shape;
  const uint32_t grid[3] = {3, 2, 2}, items[3] = {5, 3, 7};  // 105 items
  std::copy_n(grid, 3, shape.grid);
  std::copy_n(items, 3, shape.workgroup);
  const uint64_t out = device.Upload(std::vector<uint32_t>(12 * 105 + 1));
  device.RunClean("geometry", shape, Kernarg().Add(out));
  const auto got = device.Download<uint32_t>(out, 12 * 105 + 1);
  for (uint32_t i = 0; i < 12 * 105; ++i) {
    ASSERT_EQ(got[i], i / 105 << 16 | i % 105);
  }
  EXPECT_EQ(got.back(), 0u);
}

TEST_P(Programs, DynamicLds) {
  TestDevice device(GetParam());
  LaunchShape shape = Shape(1, 256);
  shape.dynamic_lds_bytes = 1024;
  const uint64_t out = device.Upload(std::vector<uint32_t>(256));
  device.RunClean("dynamic_lds", shape, Kernarg().Add(out));
  const auto got = device.Download<uint32_t>(out, 256);
  for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(got[i], 255 - i);
  // Without the allocation the accesses are out of range.
  shape.dynamic_lds_bytes = 1020;
  auto report = device.Run("dynamic_lds", shape, Kernarg().Add(out));
  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(report->has_errors());
  EXPECT_EQ(report->findings[0].rule, "lds-out-of-range");
  EXPECT_EQ(report->findings[0].lane, 0);
}

TEST_P(Programs, ResultsDoNotDependOnThreads) {
  for (int threads : {1, 3}) {
    TestDevice device(GetParam());
    Noise noise(6);
    const int n = 4096;
    const std::vector<float> a = noise.Floats(n);
    // The output is one group short: the same finding whatever runs first.
    const uint64_t out = device.Upload(std::vector<float>(n - 1000));
    const uint64_t in = device.Upload(a);
    RunOptions options;
    options.threads = threads;
    auto report =
        device.Run("vector_add", Shape(16, 256),
                   Kernarg().Add(out).Add(in).Add(in).Add(n), options);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(report->findings.size(), 1u);
    EXPECT_EQ(report->findings[0].workgroup[0], 12u);  // element 3096
    EXPECT_EQ(report->findings[0].wave, 0);
    EXPECT_EQ(report->findings[0].lane, 24);
    EXPECT_EQ(report->findings[0].rule, "out-of-range");
    EXPECT_EQ(report->waves, 13u * 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Programs,
                         testing::ValuesIn(BothLevels("programs")));

}  // namespace
}  // namespace zyfa::emu
