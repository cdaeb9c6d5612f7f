// Kernels that a compiler made, against the same computation on the host.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// Repeatable values without a pattern.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33);
  }
  float Float() {  // [-1, 1)
    return static_cast<float>(Next() % 65536) / 32768.0f - 1.0f;
  }
  std::vector<float> Floats(size_t n) {
    std::vector<float> values(n);
    for (float& v : values) v = Float();
    return values;
  }

 private:
  uint64_t state_;
};

uint16_t Bfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float FromBfloat(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

TEST(Programs, VectorAddStopsAtItsLength) {
  TestDevice device("programs");
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

TEST(Programs, ReductionThroughLdsUnderEveryOrder) {
  TestDevice device("programs");
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

TEST(Programs, NaiveAttention) {
  TestDevice device("programs");
  Noise noise(2);
  const int queries = 128, keys = 75, dim = 32;
  const std::vector<float> q = noise.Floats(queries * dim);
  const std::vector<float> k = noise.Floats(keys * dim);
  const std::vector<float> v = noise.Floats(keys * dim);
  const float scale = 0.7f;
  const uint64_t out = device.Upload(std::vector<float>(queries * dim));
  device.RunClean("attention", Shape(2, 64),
                  Kernarg()
                      .Add(out)
                      .Add(device.Upload(q))
                      .Add(device.Upload(k))
                      .Add(device.Upload(v))
                      .Add(keys)
                      .Add(scale));
  const std::vector<float> got = device.Download<float>(out, queries * dim);
  for (int i = 0; i < queries; ++i) {
    std::vector<double> p(keys);
    double sum = 0;
    for (int j = 0; j < keys; ++j) {
      double s = 0;
      for (int d = 0; d < dim; ++d)
        s += double{q[i * dim + d]} * k[j * dim + d];
      p[j] = std::exp(s * scale);
      sum += p[j];
    }
    for (int d = 0; d < dim; ++d) {
      double want = 0;
      for (int j = 0; j < keys; ++j) want += p[j] * v[j * dim + d];
      ASSERT_NEAR(got[i * dim + d], want / sum, 2e-6) << i << " " << d;
    }
  }
}

void CheckGemm(const std::string& kernel, int tile) {
  TestDevice device("programs");
  Noise noise(3);
  const int m = 96, n = 64, k = 128;
  std::vector<uint16_t> a(m * k), b(n * k);
  for (uint16_t& x : a) x = Bfloat(noise.Float());
  for (uint16_t& x : b) x = Bfloat(noise.Float());
  const uint64_t c = device.Upload(std::vector<float>(m * n));
  LaunchShape shape = Shape(static_cast<uint32_t>(n / tile), 64);
  shape.grid[1] = static_cast<uint32_t>(m / tile);
  device.RunClean(kernel, shape,
                  Kernarg()
                      .Add(c)
                      .Add(device.Upload(a))
                      .Add(device.Upload(b))
                      .Add(n)
                      .Add(k));
  const std::vector<float> got = device.Download<float>(c, m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int e = 0; e < k; ++e) {
        want += double{FromBfloat(a[i * k + e])} * FromBfloat(b[j * k + e]);
      }
      ASSERT_NEAR(got[i * n + j], want, 1e-5) << i << " " << j;
    }
  }
}
TEST(Programs, MatrixProduct16) { CheckGemm("gemm16", 16); }
TEST(Programs, MatrixProduct32) { CheckGemm("gemm32", 32); }

TEST(Programs, PrivateArrayInScratch) {
  TestDevice device("programs");
  ASSERT_GT(device.code().FindKernel("private_array")->private_bytes, 0u);
  std::vector<int32_t> in(256);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i) - 9;
  const uint64_t out = device.Upload(std::vector<int32_t>(in.size()));
  device.RunClean("private_array", Shape(2, 128),
                  Kernarg().Add(out).Add(device.Upload(in)).Add(13));
  const std::vector<int32_t> got = device.Download<int32_t>(out, in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    uint32_t sum = 0;
    for (uint32_t j = 0; j < 13; ++j) {
      sum = sum * 3 + static_cast<uint32_t>(in[i]) * j;
    }
    ASSERT_EQ(static_cast<uint32_t>(got[i]), sum) << i;
  }
}

TEST(Programs, IntegerDivision) {
  TestDevice device("programs");
  Noise noise(4);
  std::vector<int32_t> a(256), b(256);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int32_t>(noise.Next() << 1 ^ noise.Next());
    b[i] = static_cast<int32_t>(noise.Next() >> noise.Next() % 31) - 3;
    if (b[i] == 0 || b[i] == -1) b[i] = 7;
  }
  const int64_t divisor = -123456789;
  const uint64_t out = device.Upload(std::vector<int32_t>(512));
  const uint64_t wide = device.Upload(std::vector<int64_t>(256));
  device.RunClean("divide", Shape(1, 256),
                  Kernarg()
                      .Add(out)
                      .Add(device.Upload(a))
                      .Add(device.Upload(b))
                      .Add(wide)
                      .Add(divisor));
  const auto got = device.Download<int32_t>(out, 512);
  const auto got_wide = device.Download<int64_t>(wide, 256);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(got[2 * i], a[i] / b[i]) << a[i] << " / " << b[i];
    ASSERT_EQ(got[2 * i + 1], a[i] % b[i]) << a[i] << " % " << b[i];
    ASSERT_EQ(got_wide[i], (int64_t{a[i]} * (1 << 20)) / divisor) << a[i];
  }
}

TEST(Programs, ConstantTableAndCall) {
  TestDevice device("programs");
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

TEST(Programs, DivergentLoops) {
  TestDevice device("programs");
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

TEST(Programs, AtomicsOnMemoryAndLds) {
  TestDevice device("programs");
  Noise noise(5);
  std::vector<uint8_t> in(1111);
  for (uint8_t& x : in) x = static_cast<uint8_t>(noise.Next());
  const uint64_t bins = device.Upload(std::vector<uint32_t>(16));
  const uint64_t lds_bins = device.Upload(std::vector<uint32_t>(16));
  const uint64_t sum = device.Upload(std::vector<float>(1));
  device.RunClean("histogram", Shape(5, 256),
                  Kernarg()
                      .Add(bins)
                      .Add(lds_bins)
                      .Add(sum)
                      .Add(device.Upload(in))
                      .Add(static_cast<int>(in.size())));
  std::vector<uint32_t> want(16);
  for (uint8_t x : in) ++want[x & 15];
  EXPECT_EQ(device.Download<uint32_t>(bins, 16), want);
  EXPECT_EQ(device.Download<uint32_t>(lds_bins, 16), want);
  EXPECT_EQ(device.Download<float>(sum, 1)[0], 1111.0f);
}

TEST(Programs, FlatPointerToLdsAndToMemory) {
  TestDevice device("programs");
  for (int use_lds : {0, 1}) {
    const uint64_t out = device.Upload(std::vector<int32_t>(128));
    const uint64_t other = device.Upload(std::vector<int32_t>(64));
    device.RunClean("flat_pointer", Shape(1, 64),
                    Kernarg().Add(out).Add(other).Add(use_lds));
    const auto got = device.Download<int32_t>(out, 128);
    const auto memory = device.Download<int32_t>(other, 64);
    for (int t = 0; t < 64; ++t) {
      ASSERT_EQ(got[t], (63 - t) * (use_lds ? 7 : 11));
      ASSERT_EQ(got[64 + t], use_lds ? -t : 7 * t);
      ASSERT_EQ(memory[t], use_lds ? 11 * t : -t);
    }
  }
}

TEST(Programs, ThreeDimensions) {
  TestDevice device("programs");
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

TEST(Programs, DynamicLds) {
  TestDevice device("programs");
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

TEST(Programs, ResultsDoNotDependOnThreads) {
  for (int threads : {1, 3}) {
    TestDevice device("programs");
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

}  // namespace
}  // namespace zyfa::emu
