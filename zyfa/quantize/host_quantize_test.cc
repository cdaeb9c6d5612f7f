#include "zyfa/quantize/host_quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/random.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using numerics::E4m3;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<Bf16> Gaussian(const QuantizeExtent& e, uint64_t seed,
                           float mean = 0) {
  std::vector<float> x(static_cast<size_t>(e.elements()));
  numerics::FillGaussian(seed, 0, x);
  std::vector<Bf16> out;
  for (const float v : x) out.push_back(Bf16::FromFloat(v + mean));
  return out;
}

// What codes and descale stand for, of a tensor with one scale.
std::vector<double> Values(const QuantizedTensor& t) {
  std::vector<double> out;
  for (const E4m3 code : t.codes) {
    out.push_back(double{code.ToFloat()} * double{t.descales.at(0)});
  }
  return out;
}

double Dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The rotation is the matrix with (-1)^popcount(i & j) / sqrt(n) in blocks of
// 128 and 64 channels: each basis vector gives a column of it.
TEST(HostQuantizeTest, RotationIsTheHadamardMatrix) {
  for (const int64_t head_dim : {128, 192}) {
    const QuantizeExtent e = {1, head_dim, 1, head_dim};
    std::vector<Bf16> x(static_cast<size_t>(e.elements()));
    for (int64_t i = 0; i < head_dim; ++i) {
      x[static_cast<size_t>(i * head_dim + i)] = Bf16::FromFloat(1);
    }
    const auto got =
        QuantizeOnHost({ScaleGranularity::kToken, std::nullopt, true}, e, x);
    ASSERT_TRUE(got.ok()) << got.status();
    for (int64_t i = 0; i < head_dim; ++i) {
      const int64_t first = i < 128 ? 0 : 128;
      const int64_t n = i < 128 ? 128 : 64;
      const double size = 1 / std::sqrt(static_cast<double>(n));
      // All magnitudes are the same, so all codes are +-448.
      EXPECT_NEAR(got->descales[static_cast<size_t>(i)] * 448, size, 1e-7);
      for (int64_t j = 0; j < head_dim; ++j) {
        const bool inside = j >= first && j < first + n;
        const int parity =
            std::popcount(static_cast<uint64_t>((i - first) & (j - first)));
        const float want = !inside ? 0.0f : parity % 2 == 0 ? 448.0f : -448.0f;
        ASSERT_EQ(got->codes[static_cast<size_t>(i * head_dim + j)].ToFloat(),
                  want)
            << i << " " << j;
      }
    }
  }
}

// q . k of rotated and rounded Q and K is that of the inputs, up to what e4m3
// rounds; without a rotation of one of them it is something else.
TEST(HostQuantizeTest, RotationKeepsProducts) {
  for (const int64_t head_dim : {128, 192}) {
    const QuantizeExtent e = {1, 64, 1, head_dim};
    const std::vector<Bf16> q = Gaussian(e, 1);
    const std::vector<Bf16> k = Gaussian(e, 2);
    const auto error = [&](bool rotate_q, bool rotate_k) {
      QuantizeOptions options;
      options.rotate = rotate_q;
      const auto a = QuantizeOnHost(options, e, q);
      options.rotate = rotate_k;
      const auto b = QuantizeOnHost(options, e, k);
      EXPECT_TRUE(a.ok() && b.ok());
      const std::vector<double> qv = Values(*a), kv = Values(*b);
      double off = 0, all = 0;
      for (int64_t i = 0; i < e.seqlen; ++i) {
        for (int64_t j = 0; j < e.seqlen; ++j) {
          double want = 0;
          for (int64_t c = 0; c < head_dim; ++c) {
            want += double{q[static_cast<size_t>(i * head_dim + c)].ToFloat()} *
                    double{k[static_cast<size_t>(j * head_dim + c)].ToFloat()};
          }
          const double got =
              Dot(&qv[static_cast<size_t>(i * head_dim)],
                  &kv[static_cast<size_t>(j * head_dim)], head_dim);
          off += (got - want) * (got - want);
          all += want * want;
        }
      }
      return std::sqrt(off / all);
    };
    EXPECT_LT(error(true, true), 0.05);
    EXPECT_LT(error(false, false), 0.05);
    EXPECT_GT(error(true, false), 0.5);
  }
}

TEST(HostQuantizeTest, MeanIsSubtracted) {
  const QuantizeExtent e = {2, 700, 3, 128};
  const std::vector<Bf16> k = Gaussian(e, 3, 2.0f);
  QuantizeOptions options;
  options.subtract_mean = true;
  const auto got = QuantizeOnHost(options, e, k);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->mean.size(), 2u * 3 * 128);
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t h = 0; h < e.heads; ++h) {
      for (int64_t c = 0; c < e.head_dim; ++c) {
        double sum = 0;
        for (int64_t s = 0; s < e.seqlen; ++s) {
          const int64_t i = ((b * e.seqlen + s) * e.heads + h) * e.head_dim + c;
          sum += double{k[static_cast<size_t>(i)].ToFloat()};
        }
        const double want = sum / 700;
        const double mean =
            got->mean[static_cast<size_t>((b * e.heads + h) * 128 + c)];
        ASSERT_NEAR(mean, want, 1e-6);
      }
    }
  }
  const std::vector<double> values = Values(*got);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / 128;
    const size_t head = row % 3 + 3 * (row / 3 / 700);
    const double want =
        double{k[i].ToFloat()} - double{got->mean[head * 128 + i % 128]};
    // Half a step of e4m3: 2^-4 of the number, or of the smallest normal one.
    ASSERT_NEAR(values[i], want,
                std::max(std::fabs(want) * 0.0626,
                         double{got->descales[0]} * 0x1p-10 * 1.001));
  }
}

// softmax_scale * q . mean by the formula, for all heads.
TEST(HostQuantizeTest, LseCorrection) {
  for (const int64_t head_dim : {128, 192}) {
    const QuantizeExtent e = {2, 5, 6, head_dim};
    const std::vector<Bf16> q = Gaussian(e, 4);
    std::vector<float> mean(static_cast<size_t>(2 * 3 * head_dim));
    numerics::FillGaussian(5, 0, mean);
    const auto got = LseCorrectionOnHost(e, q, 3, mean, 0.25f);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_EQ(got->size(), 2u * 6 * 5);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t h = 0; h < 6; ++h) {
        for (int64_t s = 0; s < 5; ++s) {
          double want = 0;
          for (int64_t c = 0; c < head_dim; ++c) {
            want +=
                double{
                    q[static_cast<size_t>(((b * 5 + s) * 6 + h) * head_dim + c)]
                        .ToFloat()} *
                double{
                    mean[static_cast<size_t>((b * 3 + h / 2) * head_dim + c)]};
          }
          ASSERT_NEAR((*got)[static_cast<size_t>((b * 6 + h) * 5 + s)],
                      0.25 * want, 1e-5);
        }
      }
    }
  }
}

// The largest magnitude meets 448 or, of units, lies in its upper binade.
TEST(HostQuantizeTest, Scales) {
  const QuantizeExtent e = {2, 9, 3, 128};
  const std::vector<Bf16> x = Gaussian(e, 6);
  const float unit = FoldSoftmaxScale(1 / std::sqrt(128.0f))->unit;
  const struct {
    ScaleGranularity granularity;
    size_t count;
  } kCounts[] = {{ScaleGranularity::kTensor, 1},
                 {ScaleGranularity::kHead, 3},
                 {ScaleGranularity::kBatchHead, 6},
                 {ScaleGranularity::kToken, 54}};
  for (const auto& g : kCounts) {
    const auto full = QuantizeOnHost({g.granularity, std::nullopt}, e, x);
    const auto powers = QuantizeOnHost({g.granularity, unit}, e, x);
    ASSERT_TRUE(full.ok() && powers.ok());
    ASSERT_EQ(full->descales.size(), g.count);
    ASSERT_EQ(powers->descales.size(), g.count);
    std::vector<float> largest(g.count, 0.0f), full_code(g.count, 0.0f),
        power_code(g.count, 0.0f);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t head = i / 128 % 3, seq = i / 384 % 9, batch = i / 3456;
      const size_t scale = g.count == 1   ? 0
                           : g.count == 3 ? head
                           : g.count == 6 ? batch * 3 + head
                                          : (batch * 3 + head) * 9 + seq;
      largest[scale] = std::max(largest[scale], std::fabs(x[i].ToFloat()));
      full_code[scale] =
          std::max(full_code[scale], std::fabs(full->codes[i].ToFloat()));
      power_code[scale] =
          std::max(power_code[scale], std::fabs(powers->codes[i].ToFloat()));
    }
    for (size_t i = 0; i < g.count; ++i) {
      EXPECT_EQ(full_code[i], 448.0f);
      EXPECT_NEAR(full->descales[i] * 448 / largest[i], 1, 1e-6);
      EXPECT_GE(power_code[i], 224.0f);
      const float power = powers->descales[i] / unit;
      EXPECT_EQ(power, std::exp2(std::round(std::log2(power))));
      EXPECT_LE(largest[i], 448 * powers->descales[i] * (1 + 0x1p-22f));
      EXPECT_GT(largest[i], 224 * powers->descales[i] * (1 - 0x1p-22f));
    }
  }
}

// What the kernels compute for n / x from any reciprocal within one unit of the
// last place.
float KernelQuotient(float n, float x, float reciprocal) {
  float r = reciprocal;
  r = std::fma(std::fma(-x, r, 1.0f), r, r);
  const float quotient = n * r;
  return std::fma(std::fma(-x, quotient, n), r, quotient);
}

// It is the quotient that the host has, for every mantissa: 448 / x of e4m3,
// 255 / x and 127 / x of int8, and 1 / x of the integers up to 255 too.
TEST(HostQuantizeTest, KernelsQuotientIsRoundedCorrectly) {
  const auto check = [](float n, float x) {
    const auto nearest = static_cast<float>(1.0 / double{x});
    for (const uint32_t off : {~0u, 0u, 1u}) {
      const float r =
          std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) + off);
      if (KernelQuotient(n, x, r) != n / x) return false;
    }
    return true;
  };
  for (const float n : {448.0f, 255.0f, 127.0f}) {
    for (uint32_t i = 0; i < 1u << 23; ++i) {
      const float x = std::bit_cast<float>(0x3f800000u + i);
      ASSERT_TRUE(check(n, x)) << n << " / " << x;
    }
  }
  for (int m = 1; m <= 255; ++m) {
    ASSERT_TRUE(check(1.0f, std::ldexp(static_cast<float>(m), -std::ilogb(m))))
        << m;
  }
  // Of 1 / x one mantissa is not: the kernels have no such quotient.
  EXPECT_FALSE(check(1.0f, 0x1.fffffep0f));
}

// What a serving stack does: tokens by themselves, with what a pass over all of
// them has measured, get codes that do not depend on each other; those of that
// pass but for a rounding of the multiplier.
TEST(HostQuantizeTest, CalibratedTokensStandAlone) {
  const QuantizeExtent e = {1, 50, 3, 192};
  const std::vector<Bf16> x = Gaussian(e, 8, 1.0f);
  const QuantizeOptions options = {ScaleGranularity::kHead, std::nullopt, true,
                                   true};
  const auto all = QuantizeOnHost(options, e, x);
  ASSERT_TRUE(all.ok()) << all.status();
  const QuantizeCalibration calibration = {all->descales, all->mean};
  const auto calibrated = QuantizeOnHost(options, e, x, calibration);
  ASSERT_TRUE(calibrated.ok()) << calibrated.status();
  EXPECT_EQ(calibrated->descales, all->descales);
  EXPECT_EQ(calibrated->mean, all->mean);
  int different = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    different += calibrated->codes[i] != all->codes[i] ? 1 : 0;
  }
  EXPECT_LT(different, 10);
  QuantizeExtent one = e;
  one.seqlen = 1;
  for (size_t s = 0; s < 50; ++s) {
    const auto got = QuantizeOnHost(
        options, one, absl::MakeConstSpan(x).subspan(s * 576, 576),
        calibration);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(
        std::equal(got->codes.begin(), got->codes.end(),
                   calibrated->codes.begin() + static_cast<int64_t>(s) * 576));
  }
}

TEST(HostQuantizeTest, CalibratedTokensSaturate) {
  std::vector<Bf16> x(128, Bf16::FromFloat(1));
  x[1] = Bf16::FromFloat(2 * 448);
  x[2] = Bf16::FromFloat(-2 * 500);
  x[3] = Bf16{0x7f7f};
  const std::vector<float> descale = {2.0f};
  const auto got =
      QuantizeOnHost({}, {1, 1, 1, 128}, x, QuantizeCalibration{descale, {}});
  ASSERT_TRUE(got.ok()) << got.status();
  const float want[] = {0.5f, 448, -448, 448};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got->codes[i].ToFloat(), want[i]);
}

TEST(HostQuantizeTest, Refusals) {
  const QuantizeExtent e = {1, 4, 2, 128};
  std::vector<Bf16> x = Gaussian(e, 7);
  x[(1 * 2 + 1) * 128 + 5] =
      Bf16::FromFloat(std::numeric_limits<float>::infinity());
  absl::Status status = QuantizeOnHost({}, e, x).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("input[batch 0, token 1, head 1, channel 5]"),
                    HasSubstr("inf"), HasSubstr("allowed: finite")));
  x[(1 * 2 + 1) * 128 + 5] =
      Bf16::FromFloat(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(std::string(QuantizeOnHost({}, e, x).status().message()),
              HasSubstr("is nan"));
  for (Bf16& v : x) v = Bf16::FromFloat(3e38f);
  EXPECT_TRUE(QuantizeOnHost({}, e, x).ok());
  QuantizeOptions options;
  options.rotate = true;
  EXPECT_THAT(std::string(QuantizeOnHost(options, e, x).status().message()),
              HasSubstr("rotation"));
  options = {};
  options.unit = 2.0f;
  EXPECT_THAT(std::string(QuantizeOnHost(options, e, x).status().message()),
              AllOf(HasSubstr("options.unit is 2"), HasSubstr("less than 2")));
  options = {};
  options.granularity = static_cast<ScaleGranularity>(7);
  EXPECT_THAT(std::string(QuantizeOnHost(options, e, x).status().message()),
              AllOf(HasSubstr("options.granularity is 7"),
                    HasSubstr("allowed: kTensor, kHead")));
  x.pop_back();
  EXPECT_THAT(std::string(QuantizeOnHost({}, e, x).status().message()),
              AllOf(HasSubstr("1023"), HasSubstr("1024")));
  constexpr int64_t kMany = int64_t{1} << 40;
  EXPECT_THAT(
      std::string(
          QuantizeOnHost({}, {kMany, kMany, kMany, 128}, x).status().message()),
      AllOf(HasSubstr("seqlen is 1099511627776"), HasSubstr("rows")));
  EXPECT_THAT(
      std::string(QuantizeOnHost({}, {1, -1, 1, 128}, x).status().message()),
      HasSubstr("seqlen is -1"));
  EXPECT_THAT(
      std::string(QuantizeOnHost({}, {1, 1, 1, 64}, {}).status().message()),
      AllOf(HasSubstr("head_dim is 64"), HasSubstr("128, 192")));
  EXPECT_THAT(std::string(LseCorrectionOnHost({1, 0, 4, 128}, {}, 3, {}, 1.0f)
                              .status()
                              .message()),
              AllOf(HasSubstr("heads_kv is 3"), HasSubstr("divisors")));
  for (const float scale : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(
        std::string(LseCorrectionOnHost({1, 0, 4, 128}, {}, 4, {}, scale)
                        .status()
                        .message()),
        AllOf(HasSubstr("softmax_scale is "), HasSubstr("finite")));
  }
  x.push_back(Bf16::FromFloat(1));
  const std::vector<float> descale = {1.0f}, wrong = {0.0f};
  const auto calibrated = [&](const QuantizeOptions& o,
                              const std::vector<float>& d) {
    return std::string(
        QuantizeOnHost(o, e, x, QuantizeCalibration{d, {}}).status().message());
  };
  EXPECT_EQ(calibrated({}, descale), "");
  EXPECT_THAT(calibrated({}, wrong),
              AllOf(HasSubstr("calibration.descales[0] is 0"),
                    HasSubstr("allowed: from 2^-110 up, below 2^122")));
  EXPECT_THAT(calibrated({ScaleGranularity::kToken}, descale),
              AllOf(HasSubstr("options.granularity is kToken"),
                    HasSubstr("allowed: with a calibration")));
  EXPECT_THAT(calibrated({ScaleGranularity::kTensor, 1.5f}, descale),
              AllOf(HasSubstr("options.unit is 1.5"),
                    HasSubstr("allowed: none with a calibration")));
  // Means and scales of no tokens.
  EXPECT_THAT(
      std::string(
          QuantizeOnHost({}, {kMany, 0, kMany, 128}, {}).status().message()),
      AllOf(HasSubstr("batch is 1099511627776"), HasSubstr("heads")));
}

// No number of KV heads divides none, so what is said of them must not matter.
TEST(HostQuantizeTest, NoHeadsNeedNoCorrection) {
  for (const int64_t heads_kv : {INT64_MIN, int64_t{0}, INT64_MAX}) {
    const auto got =
        LseCorrectionOnHost({3, 5, 0, 128}, {}, heads_kv, {}, 1.0f);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->empty());
  }
}

}  // namespace
}  // namespace zyfa
