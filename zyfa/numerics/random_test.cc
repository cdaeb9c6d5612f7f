#include "zyfa/numerics/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/philox.h"

namespace zyfa::numerics {
namespace {

using ::testing::ElementsAre;

// Known answers that the authors of Philox publish (Random123, kat_vectors).
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  constexpr uint32_t kOnes = 0xffffffffu;
  EXPECT_THAT(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(Philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                         {0xa4093822u, 0x299f31d0u}),
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(RandomTest, WordsArePhiloxOfSeedStreamAndIndex) {
  EXPECT_EQ(RandomWords(0x299f31d0a4093822u, 0x0370734413198a2eu,
                        0x85a308d3243f6a88u),
            Philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                       {0xa4093822u, 0x299f31d0u}));
}

constexpr int kSamples = 1000000;

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};
template <typename T>
Moments MomentsOf(const std::vector<T>& values) {
  Moments m;
  const double n = static_cast<double>(values.size());
  for (double x : values) m.mean += x / n;
  for (double x : values) m.variance += (x - m.mean) * (x - m.mean) / n;
  for (double x : values) {
    const double z = (x - m.mean) / std::sqrt(m.variance);
    m.skewness += z * z * z / n;
    m.kurtosis += z * z * z * z / n;
  }
  return m;
}

// Largest distance of the empirical distribution from `cdf`; below
// 1.95 / sqrt(n) with probability 0.999.
template <typename T, typename Cdf>
double KolmogorovSmirnov(std::vector<T> values, Cdf cdf) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double f = cdf(values[i]);
    worst = std::max({worst, f - i / n, (i + 1) / n - f});
  }
  return worst;
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Bounds of five standard errors.
void ExpectStandardNormal(const Moments& m) {
  EXPECT_NEAR(m.mean, 0.0, 5e-3);
  EXPECT_NEAR(m.variance, 1.0, 5 * std::sqrt(2.0) * 1e-3);
  EXPECT_NEAR(m.skewness, 0.0, 5 * std::sqrt(6.0) * 1e-3);
  EXPECT_NEAR(m.kurtosis, 3.0, 5 * std::sqrt(24.0) * 1e-3);
}

TEST(RandomTest, GaussianIsGaussian) {
  std::vector<float> values(kSamples);
  FillGaussian(7, 0, values);
  ExpectStandardNormal(MomentsOf(values));
  EXPECT_LT(KolmogorovSmirnov(values, NormalCdf), 1.95e-3);

  RandomSequence sequence(7, 1);
  std::vector<double> more(kSamples);
  for (double& x : more) x = sequence.Gaussian();
  ExpectStandardNormal(MomentsOf(more));
  EXPECT_LT(KolmogorovSmirnov(more, NormalCdf), 1.95e-3);
}

// The transform in the terms of the C library, from the raw words.
TEST(RandomTest, GaussianIsBoxMuller) {
  std::vector<float> values(4000);
  FillGaussian(9, 2, values);
  for (size_t i = 0; i < values.size(); i += 4) {
    const auto words = RandomWords(9, 2, i / 4);
    for (int pair = 0; pair < 2; ++pair) {
      const double radius =
          std::sqrt(-2.0 * std::log((words[2 * pair] + 1.0) / 0x1p32));
      const double angle = 2.0 * M_PI * words[2 * pair + 1] / 0x1p32;
      EXPECT_FLOAT_EQ(values[i + 2 * pair], radius * std::cos(angle));
      EXPECT_FLOAT_EQ(values[i + 2 * pair + 1], radius * std::sin(angle));
    }
  }
}

TEST(RandomTest, MeanAndDeviation) {
  std::vector<float> unit(1001);
  std::vector<float> other(1001);
  FillGaussian(3, 4, unit);
  FillGaussian(3, 4, other, -2.0, 0.5);
  for (int i = 0; i < 1001; ++i) {
    EXPECT_NEAR(other[i], -2.0 + 0.5 * unit[i], 1e-6);
  }
}

TEST(RandomTest, UniformIsUniform) {
  std::vector<float> values(kSamples);
  FillUniform(7, 0, values, -3.0, 5.0);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -3.0f);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 5.0f);
  EXPECT_LT(KolmogorovSmirnov(values, [](double x) { return (x + 3) / 8; }),
            1.95e-3);

  RandomSequence sequence(7, 1);
  std::vector<double> more(kSamples);
  for (double& x : more) x = sequence.Uniform();
  EXPECT_GT(*std::min_element(more.begin(), more.end()), 0.0);
  EXPECT_LT(*std::max_element(more.begin(), more.end()), 1.0);
  EXPECT_LT(KolmogorovSmirnov(more, [](double x) { return x; }), 1.95e-3);
}

TEST(RandomTest, IndexIsUniform) {
  RandomSequence sequence(7, 2);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) {
    const int64_t index = sequence.Index(7);
    ASSERT_GE(index, 0);
    ASSERT_LT(index, 7);
    ++counts[index];
  }
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(RandomTest, LongerArraysStartWithShorterOnes) {
  std::vector<float> longest(41);
  FillGaussian(5, 6, longest);
  for (size_t size = 0; size <= longest.size(); ++size) {
    std::vector<float> values(size);
    FillGaussian(5, 6, values);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), longest.begin()));
  }
}

TEST(RandomTest, SeedsStreamsAndNeighboursAreUncorrelated) {
  const int n = 100000;
  std::vector<float> base(n);
  FillGaussian(1, 0, base);
  const auto correlation = [&](const std::vector<float>& other, int shift) {
    double sum = 0;
    for (int i = 0; i + shift < n; ++i) sum += base[i] * other[i + shift];
    return sum / n;
  };
  const double bound = 5 / std::sqrt(n);
  for (uint64_t seed : {uint64_t{0}, uint64_t{2}, uint64_t{1} << 32}) {
    std::vector<float> other(n);
    FillGaussian(seed, 0, other);
    EXPECT_NEAR(correlation(other, 0), 0.0, bound);
  }
  for (uint64_t stream : {uint64_t{1}, uint64_t{1} << 32}) {
    std::vector<float> other(n);
    FillGaussian(1, stream, other);
    EXPECT_NEAR(correlation(other, 0), 0.0, bound);
  }
  for (int shift = 1; shift <= 8; ++shift) {
    EXPECT_NEAR(correlation(base, shift), 0.0, bound);
  }
}

}  // namespace
}  // namespace zyfa::numerics
