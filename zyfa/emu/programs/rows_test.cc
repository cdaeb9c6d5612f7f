// Softmax, normalisation and the largest value of rows of any length.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

constexpr size_t kRows = 3;
constexpr size_t kLengths[] = {1, 63, 256, 300, 1000};

class Rows : public testing::TestWithParam<std::string> {};

TEST_P(Rows, Softmax) {
  TestDevice device(GetParam());
  for (size_t n : kLengths) {
    Noise noise(n);
    std::vector<float> in = noise.Floats(kRows * n);
    for (float& x : in) x *= 20;
    const uint64_t address = device.Upload(in);
    std::vector<float> first;
    for (const RunOptions& options : AllSchedules(StrictOptions())) {
      const uint64_t out = device.Upload(std::vector<float>(kRows * n));
      device.RunClean(
          "softmax", Shape(kRows, 256),
          Kernarg().Add(out).Add(address).Add(static_cast<int32_t>(n)),
          options);
      const auto got = device.Download<float>(out, kRows * n);
      if (!first.empty()) {
        EXPECT_EQ(got, first) << ScheduleName(options);
        continue;
      }
      first = got;
      for (size_t row = 0; row < kRows; ++row) {
        double top = -1e30, sum = 0;
        for (size_t i = 0; i < n; ++i) {
          top = std::max(top, double{in[row * n + i]});
        }
        for (size_t i = 0; i < n; ++i) sum += std::exp(in[row * n + i] - top);
        for (size_t i = 0; i < n; ++i) {
          const double want = std::exp(in[row * n + i] - top) / sum;
          ASSERT_NEAR(got[row * n + i], want, 2e-6 * want) << n << " " << i;
        }
      }
    }
  }
}

TEST_P(Rows, LayerNorm) {
  TestDevice device(GetParam());
  for (size_t n : kLengths) {
    Noise noise(n + 1);
    const Matrix in = RandomMatrix(Format::kBf16, static_cast<int>(kRows),
                                   static_cast<int>(n), n);
    const std::vector<float> gain = noise.Floats(n), bias = noise.Floats(n);
    const uint64_t out = device.Upload(std::vector<uint16_t>(kRows * n));
    device.RunClean("layernorm", Shape(kRows, 256),
                    Kernarg()
                        .Add(out)
                        .Add(device.Upload(in.bytes))
                        .Add(device.Upload(gain))
                        .Add(device.Upload(bias))
                        .Add(static_cast<int32_t>(n))
                        .Add(1e-3f));
    const auto got = device.Download<uint16_t>(out, kRows * n);
    for (size_t row = 0; row < kRows; ++row) {
      double mean = 0, variance = 0;
      const double* x = in.values.data() + row * n;
      for (size_t i = 0; i < n; ++i) mean += x[i] / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i) {
        variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
      }
      for (size_t i = 0; i < n; ++i) {
        const double want =
            (x[i] - mean) / std::sqrt(variance + 1e-3f) * gain[i] + bias[i];
        ASSERT_NEAR(ValueOf(Format::kBf16, got[row * n + i]), want,
                    std::fabs(want) / 256 + 1e-5)
            << n << " " << i;
      }
    }
  }
}

TEST_P(Rows, ArgMax) {
  TestDevice device(GetParam());
  for (size_t n : kLengths) {
    Noise noise(n + 2);
    std::vector<float> in(kRows * n);
    // Few values: the largest comes several times.
    for (float& x : in) x = static_cast<float>(noise.Between(-9, 9));
    const uint64_t out = device.Upload(std::vector<int32_t>(kRows));
    device.RunClean(
        "argmax", Shape(kRows, 256),
        Kernarg().Add(out).Add(device.Upload(in)).Add(static_cast<int>(n)));
    const auto got = device.Download<int32_t>(out, kRows);
    for (size_t row = 0; row < kRows; ++row) {
      const auto first = in.begin() + static_cast<long>(row * n);
      const auto best = std::max_element(first, first + static_cast<long>(n));
      EXPECT_EQ(got[row], best - first) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Rows, testing::ValuesIn(BothLevels("rows")));

}  // namespace
}  // namespace zyfa::emu
