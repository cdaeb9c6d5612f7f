#include "zyfa/quantize/host_int8.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/random.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr ScaleGranularity kGranularities[] = {ScaleGranularity::kTensor,
                                               ScaleGranularity::kHead,
                                               ScaleGranularity::kBatchHead};
// float32 roundings of a formula.
constexpr double kFew = 0x1p-21;

// Tokens and heads of `binades` sizes.
std::vector<Bf16> Uneven(const QuantizeExtent& e, uint64_t seed, float mean = 0,
                         int binades = 11) {
  std::vector<float> x(static_cast<size_t>(e.elements()));
  numerics::FillGaussian(seed, 0, x);
  std::vector<Bf16> out;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = i / static_cast<size_t>(e.head_dim);
    const int n = static_cast<int>(row * 7 % 11) % binades;
    out.push_back(Bf16::FromFloat(std::ldexp(x[i] + mean, n - binades / 2)));
  }
  return out;
}

size_t At(int64_t i) { return static_cast<size_t>(i); }

double Magnitude(Bf16 x) { return std::fabs(double{x.ToFloat()}); }

// Visits (batch, token, head, index of the first element).
void ForEachRow(
    const QuantizeExtent& e,
    const std::function<void(int64_t, int64_t, int64_t, int64_t)>& visit) {
  for (int64_t i = 0; i < e.batch * e.seqlen * e.heads; ++i) {
    visit(i / e.heads / e.seqlen, i / e.heads % e.seqlen, i % e.heads,
          i * e.head_dim);
  }
}

size_t ScaleAt(ScaleGranularity g, int64_t heads, int64_t b, int64_t h) {
  if (g == ScaleGranularity::kTensor) return 0;
  return At(g == ScaleGranularity::kHead ? h : b * heads + h);
}

size_t Count(ScaleGranularity g, int64_t batch, int64_t heads) {
  if (g == ScaleGranularity::kTensor) return 1;
  return At(g == ScaleGranularity::kHead ? heads : batch * heads);
}

size_t TokenAt(const QuantizeExtent& e, int64_t b, int64_t s, int64_t h) {
  return At((b * e.heads + h) * e.seqlen + s);
}

// What codes stand for.
std::vector<double> KeyValues(const Int8Keys& keys, const QuantizeExtent& e,
                              ScaleGranularity g) {
  std::vector<double> out(keys.codes.size());
  ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, int64_t at) {
    double step = keys.descales[ScaleAt(g, e.heads, b, h)];
    if (!keys.multipliers.empty()) {
      step *= keys.multipliers[TokenAt(e, b, s, h)] / 255.0;
    }
    for (int64_t c = 0; c < e.head_dim; ++c) {
      out[At(at + c)] = keys.codes[At(at + c)] * step;
    }
  });
  return out;
}

TEST(HostInt8Test, KeysAreWithinHalfAStep) {
  for (const int64_t head_dim : {128, 192}) {
    const QuantizeExtent e = {2, 9, 3, head_dim};
    const std::vector<Bf16> x = Uneven(e, 1);
    for (const ScaleGranularity g : kGranularities) {
      const auto got = QuantizeKeysInt8OnHost({g, false, false, false}, e, x);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_TRUE(got->multipliers.empty() && got->mean.empty());
      const size_t count = Count(g, e.batch, e.heads);
      ASSERT_EQ(got->descales.size(), count);
      std::vector<double> largest(count, 0.0);
      std::vector<int> largest_code(count, 0);
      const std::vector<double> values = KeyValues(*got, e, g);
      ForEachRow(e, [&](int64_t b, int64_t, int64_t h, int64_t at) {
        const size_t scale = ScaleAt(g, e.heads, b, h);
        for (int64_t c = at; c < at + head_dim; ++c) {
          largest[scale] = std::max(largest[scale], Magnitude(x[At(c)]));
          largest_code[scale] =
              std::max(largest_code[scale], std::abs(int{got->codes[At(c)]}));
          ASSERT_NEAR(values[At(c)], double{x[At(c)].ToFloat()},
                      double{got->descales[scale]} * (.5 + 127 * kFew));
        }
      });
      for (size_t i = 0; i < count; ++i) {
        EXPECT_NEAR(got->descales[i] * 127 / largest[i], 1, kFew);
        EXPECT_EQ(largest_code[i], 127);
      }
    }
  }
}

TEST(HostInt8Test, TokenMultipliersAreTheSmallest) {
  for (const int64_t head_dim : {128, 192}) {
    const QuantizeExtent e = {2, 40, 3, head_dim};
    std::vector<Bf16> x = Uneven(e, 2);
    // A token of zeros, of one that is next to nothing.
    std::fill_n(x.begin(), head_dim, Bf16{0});
    std::fill_n(x.begin() + head_dim * 3, head_dim, Bf16{1});
    for (const ScaleGranularity g : kGranularities) {
      const auto got = QuantizeKeysInt8OnHost({g, true, false, false}, e, x);
      const auto shift = QuantizeKeysInt8OnHost({g, false, false, false}, e, x);
      ASSERT_TRUE(got.ok() && shift.ok()) << got.status();
      EXPECT_EQ(got->descales, shift->descales);
      ASSERT_EQ(got->multipliers.size(), At(e.batch * e.heads * e.seqlen));
      std::vector<uint32_t> most(got->descales.size(), 0);
      const std::vector<double> values = KeyValues(*got, e, g);
      ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, int64_t at) {
        const size_t scale = ScaleAt(g, e.heads, b, h);
        const double descale = got->descales[scale];
        const uint32_t m = got->multipliers[TokenAt(e, b, s, h)];
        most[scale] = std::max(most[scale], m);
        ASSERT_TRUE(m >= 1 && m <= 255) << m;
        double largest = 0;
        for (int64_t c = at; c < at + head_dim; ++c) {
          largest = std::max(largest, Magnitude(x[At(c)]));
          ASSERT_LE(std::abs(int{got->codes[At(c)]}), 127);
          ASSERT_NEAR(values[At(c)], double{x[At(c)].ToFloat()},
                      descale * m / 255 * (.5 + 127 * kFew));
        }
        ASSERT_LE(largest, 127 * descale * m / 255 * (1 + kFew));
        if (m > 1) {
          ASSERT_GT(largest, 127 * descale * (m - 1) / 255 * (1 - kFew));
        }
      });
      // The largest token has the shift form's step.
      for (const uint32_t m : most) EXPECT_EQ(m, 255u);
    }
  }
}

// q . k of rotated Q and K is that of the inputs; without a rotation of one of
// them it is something else. So are the numbers that the codes count: 2^-s of
// 1/8 binade, whatever the softmax scale and the heads.
TEST(HostInt8Test, ScoresCountEighthsOfBinades) {
  for (const int64_t head_dim : {128, 192}) {
    const QuantizeExtent eq = {2, 20, 4, head_dim}, ek = {2, 30, 2, head_dim};
    const std::vector<Bf16> q = Uneven(eq, 3, 0, 3);
    const std::vector<Bf16> k = Uneven(ek, 4, 0, 3);
    const auto error = [&](ScaleGranularity g, bool multipliers, float scale,
                           bool rotate_q, bool rotate_k) {
      const auto keys =
          QuantizeKeysInt8OnHost({g, multipliers, rotate_k, false}, ek, k);
      EXPECT_TRUE(keys.ok()) << keys.status();
      const auto queries = QuantizeQueriesInt8OnHost(
          {rotate_q, scale, 2, multipliers, g}, eq, q, keys->descales);
      EXPECT_TRUE(queries.ok()) << queries.status();
      double off = 0, all = 0;
      ForEachRow(eq, [&](int64_t b, int64_t i, int64_t h, int64_t row) {
        const int64_t key_head = h / 2;
        const int shift = queries->shifts[TokenAt(eq, b, i, h)];
        EXPECT_LE(shift, 20);
        double row_off = 0, row_all = 0;
        for (int64_t j = 0; j < ek.seqlen; ++j) {
          const int64_t at = ((b * ek.seqlen + j) * 2 + key_head) * head_dim;
          int32_t score = 0;
          double want = 0;
          for (int64_t c = 0; c < head_dim; ++c) {
            score += queries->codes[At(row + c)] * keys->codes[At(at + c)];
            want += double{q[At(row + c)].ToFloat()} *
                    double{k[At(at + c)].ToFloat()};
          }
          if (multipliers) {
            score *= static_cast<int32_t>(
                keys->multipliers[TokenAt(ek, b, j, key_head)]);
          }
          want *= std::numbers::log2e * double{scale};
          const double got = std::ldexp(score, -shift - 3);
          row_off += (got - want) * (got - want);
          row_all += want * want;
        }
        off += row_off / row_all;
        ++all;
      });
      return std::sqrt(off / all);
    };
    for (const ScaleGranularity g : kGranularities) {
      for (const bool multipliers : {false, true}) {
        for (const float scale : {0.088f, -0.3f, 0.02f}) {
          for (const bool rotate : {false, true}) {
            EXPECT_LT(error(g, multipliers, scale, rotate, rotate), .03)
                << static_cast<int>(g) << " " << multipliers << " " << scale;
          }
          EXPECT_GT(error(g, multipliers, scale, true, false), .5);
        }
      }
    }
  }
}

TEST(HostInt8Test, MeanIsSubtracted) {
  const QuantizeExtent e = {2, 300, 3, 128};
  std::vector<float> gaussian(At(e.elements()));
  numerics::FillGaussian(5, 0, gaussian);
  std::vector<Bf16> x;
  for (const float g : gaussian) x.push_back(Bf16::FromFloat(g + 2));
  const auto got = QuantizeKeysInt8OnHost(
      {ScaleGranularity::kHead, true, false, true}, e, x);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->mean.size(), 2u * 3 * 128);
  std::vector<double> mean(got->mean.size(), 0.0);
  ForEachRow(e, [&](int64_t b, int64_t, int64_t h, int64_t at) {
    for (int64_t c = 0; c < 128; ++c) {
      mean[At((b * 3 + h) * 128 + c)] += double{x[At(at + c)].ToFloat()} / 300;
    }
  });
  for (size_t i = 0; i < mean.size(); ++i) {
    ASSERT_NEAR(double{got->mean[i]}, mean[i], 1e-6);
  }
  const std::vector<double> values =
      KeyValues(*got, e, ScaleGranularity::kHead);
  ForEachRow(e, [&](int64_t b, int64_t, int64_t h, int64_t at) {
    for (int64_t c = 0; c < 128; ++c) {
      ASSERT_NEAR(
          values[At(at + c)],
          double{x[At(at + c)].ToFloat()} - mean[At((b * 3 + h) * 128 + c)],
          double{got->descales[At(h)]} * .501);
    }
  });
}

// What a serving stack does: tokens by themselves, with what a pass over all of
// them has measured, get the codes of that pass.
TEST(HostInt8Test, CalibratedTokensStandAlone) {
  const QuantizeExtent e = {1, 50, 3, 192};
  const std::vector<Bf16> x = Uneven(e, 6, 1.0f);
  for (const bool multipliers : {false, true}) {
    const KeyInt8Options options = {ScaleGranularity::kHead, multipliers, true,
                                    true};
    const auto all = QuantizeKeysInt8OnHost(options, e, x);
    ASSERT_TRUE(all.ok()) << all.status();
    QuantizeExtent one = e;
    one.seqlen = 1;
    for (int64_t s = 0; s < e.seqlen; ++s) {
      const auto token = absl::MakeConstSpan(x).subspan(At(s * one.elements()),
                                                        At(one.elements()));
      const auto got = QuantizeKeysInt8OnHost(
          options, one, token, QuantizeCalibration{all->descales, all->mean});
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(got->descales, all->descales);
      EXPECT_EQ(got->mean, all->mean);
      ASSERT_TRUE(std::equal(got->codes.begin(), got->codes.end(),
                             all->codes.begin() + s * one.elements()));
      for (int64_t h = 0; multipliers && h < e.heads; ++h) {
        ASSERT_EQ(got->multipliers[At(h)],
                  all->multipliers[TokenAt(e, 0, s, h)]);
      }
    }
  }
}

TEST(HostInt8Test, CalibratedTokensSaturate) {
  const QuantizeExtent e = {1, 2, 1, 128};
  const float largest = Bf16{0x7f7f}.ToFloat();
  std::vector<Bf16> x(256, Bf16::FromFloat(1));
  x[1] = Bf16::FromFloat(126.5f);
  x[2] = Bf16::FromFloat(-127.5f);
  x[3] = Bf16::FromFloat(200);
  x[4] = Bf16::FromFloat(-largest);
  x[5] = Bf16::FromFloat(largest);
  const std::vector<float> descale = {1.0f};
  for (const bool multipliers : {false, true}) {
    const auto got =
        QuantizeKeysInt8OnHost({ScaleGranularity::kHead, multipliers}, e, x,
                               QuantizeCalibration{descale, {}});
    ASSERT_TRUE(got.ok()) << got.status();
    const int want[] = {1, 126, -127, 127, -127, 127};
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(int{got->codes[i]}, want[i]) << i;
    if (!multipliers) continue;
    // Magnitude 1: m is 255 / 127 rounded up, codes are 1 * 255 / m.
    EXPECT_EQ(got->multipliers, (std::vector<uint32_t>{255, 3}));
    EXPECT_EQ(int{got->codes[128]}, 85);
  }
}

// The shift is the largest that fits and codes are x * g * 2^s, for every size
// of numbers, softmax scales and descales; in long double, which has the
// exponents.
TEST(HostInt8Test, ShiftsAreTheLargest) {
  const float kLargest = Bf16{0x7f7f}.ToFloat();
  const float kDenormal = Bf16{0x0001}.ToFloat();
  const float kSizes[] = {0,     kDenormal, 1e-38f, 1e-30f,        1e-3f,   1,
                          1.99f, 700,       1e20f,  kLargest / 16, kLargest};
  const float kScales[] = {0.088388346f, -0.088388346f, 1,      1e-20f, -1e-38f,
                           1e-44f,       1e20f,         -3e38f, 0,      -0.0f};
  const float kDescales[] = {0x1p-110f, 1e-9f, 0.02f,
                             1,         1e10f, 0x1.fffffep121f};
  const QuantizeExtent e = {1, 11, 1, 128};
  std::vector<float> gaussian(At(e.elements()));
  numerics::FillGaussian(7, 0, gaussian);
  std::vector<Bf16> x;
  for (size_t i = 0; i < gaussian.size(); ++i) {
    const float g = std::clamp(gaussian[i] / 4, -1.0f, 1.0f);
    x.push_back(Bf16::FromFloat(g * kSizes[i / 128]));
  }
  int shifts_seen[21] = {}, smaller = 0;
  for (const float softmax_scale : kScales) {
    for (const float descale : kDescales) {
      for (const bool multipliers : {false, true}) {
        const auto got = QuantizeQueriesInt8OnHost(
            {false, softmax_scale, 1, multipliers}, e, x, {descale});
        ASSERT_TRUE(got.ok()) << got.status();
        const long double g = 8.0L * std::numbers::log2e_v<long double> *
                              softmax_scale * descale / (multipliers ? 255 : 1);
        for (size_t row = 0; row < 11; ++row) {
          double largest = 0;
          for (size_t c = 0; c < 128; ++c) {
            largest = std::max(largest, Magnitude(x[row * 128 + c]));
          }
          const int shift = got->shifts[row];
          ASSERT_LE(shift, 20);
          const long double top = std::ldexp(std::fabs(g) * largest, shift);
          ++shifts_seen[shift];
          long double factor = std::ldexp(g, shift);
          if (shift > 0 || top <= 127.49L) {
            ASSERT_LE(top, 127.49L * (1 + 0x1p-21L));
            if (shift < 20) {
              ASSERT_GT(2 * top, 127.49L * (1 - 0x1p-21L));
            }
          } else {
            ++smaller;
            factor = (g < 0 ? -127.0L : 127.0L) / largest;
          }
          for (size_t c = 0; c < 128; ++c) {
            const int code = got->codes[row * 128 + c];
            ASSERT_LE(std::abs(code), 127);
            const float v = x[row * 128 + c].ToFloat();
            ASSERT_NEAR(code, static_cast<double>(v * factor), .5 + 127 * kFew)
                << v << " " << softmax_scale << " " << descale << " " << shift;
          }
        }
      }
    }
  }
  EXPECT_GT(smaller, 100);
  EXPECT_GT(shifts_seen[20], 100);
  EXPECT_LT(std::count(shifts_seen, shifts_seen + 21, 0), 9);
}

// A row may come to 127.49, and not to more, of any power of two.
TEST(HostInt8Test, RowsFitBelow128) {
  const QuantizeExtent e = {1, 1, 1, 128};
  const std::vector<Bf16> ones(128, Bf16::FromFloat(1));
  for (const int shift : {0, 7, 19}) {
    for (const double top : {127.4899, 127.4901, 127.6, 127.99, 128.01}) {
      const double descale =
          std::ldexp(top / (8 * std::numbers::log2e), -shift - 1);
      const auto got = QuantizeQueriesInt8OnHost({false, 1.0f, 1}, e, ones,
                                                 {static_cast<float>(descale)});
      ASSERT_TRUE(got.ok()) << got.status();
      const bool fits = top < 127.49;
      EXPECT_EQ(int{got->shifts[0]}, fits ? shift + 1 : shift) << top;
      EXPECT_EQ(int{got->codes[0]}, fits ? 127 : 64) << top;
    }
  }
}

TEST(HostInt8Test, NothingToScore) {
  const QuantizeExtent e = {1, 3, 2, 128};
  const std::vector<Bf16> x = Uneven(e, 8), zeros(x.size());
  const std::vector<float> descales = {1, 1};
  const auto no_scale =
      QuantizeQueriesInt8OnHost({true, 0.0f, 2}, e, x, descales);
  const auto no_query =
      QuantizeQueriesInt8OnHost({true, 1e30f, 2}, e, zeros, descales);
  ASSERT_TRUE(no_scale.ok() && no_query.ok());
  for (const auto& got : {*no_scale, *no_query}) {
    EXPECT_EQ(got.codes, std::vector<int8_t>(x.size(), 0));
    EXPECT_EQ(got.shifts, std::vector<uint8_t>(6, 20));
  }
  const auto no_key = QuantizeKeysInt8OnHost(
      {ScaleGranularity::kHead, true, true, true}, e, zeros);
  ASSERT_TRUE(no_key.ok()) << no_key.status();
  EXPECT_EQ(no_key->codes, std::vector<int8_t>(x.size(), 0));
  EXPECT_EQ(no_key->descales, std::vector<float>(2, 1.0f));
  EXPECT_EQ(no_key->multipliers, std::vector<uint32_t>(6, 1));
}

// A query's row takes the descale of its batch entry's KV head.
TEST(HostInt8Test, EachRowTakesItsKeysDescale) {
  const QuantizeExtent e = {2, 1, 6, 128};
  const std::vector<Bf16> x(At(e.elements()), Bf16::FromFloat(1));
  for (const ScaleGranularity g : kGranularities) {
    std::vector<float> descales;
    for (size_t i = 0; i < Count(g, 2, 3); ++i) {
      descales.push_back(std::ldexp(1.0f, -static_cast<int>(i)));
    }
    const auto got =
        QuantizeQueriesInt8OnHost({false, 0.05f, 3, false, g}, e, x, descales);
    ASSERT_TRUE(got.ok()) << got.status();
    ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, int64_t) {
      EXPECT_EQ(got->shifts[TokenAt(e, b, s, h)],
                got->shifts[0] + static_cast<int>(ScaleAt(g, 3, b, h / 2)));
    });
  }
}

TEST(HostInt8Test, Extremes) {
  const float kLargest = Bf16{0x7f7f}.ToFloat();
  const float kDenormal = Bf16{0x0001}.ToFloat();
  const QuantizeExtent e = {1, 4, 1, 128};
  for (const float size : {kDenormal, 1e-38f, 1e-30f, 1.0f, kLargest}) {
    std::vector<Bf16> x;
    for (int64_t i = 0; i < e.elements(); ++i) {
      const float sign = i % 3 == 0 ? -1.0f : 1.0f;
      x.push_back(Bf16::FromFloat(sign * size /
                                  static_cast<float>(int64_t{1} << (i / 128))));
    }
    for (const bool multipliers : {false, true}) {
      const auto keys = QuantizeKeysInt8OnHost(
          {ScaleGranularity::kTensor, multipliers}, e, x);
      ASSERT_TRUE(keys.ok()) << keys.status();
      EXPECT_TRUE(std::isnormal(keys->descales[0]));
      const std::vector<double> values =
          KeyValues(*keys, e, ScaleGranularity::kTensor);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(values[i], double{x[i].ToFloat()},
                    double{keys->descales[0]} * .501);
      }
      // They are what a pass may be given.
      EXPECT_TRUE(
          QuantizeKeysInt8OnHost({ScaleGranularity::kTensor, multipliers}, e, x,
                                 QuantizeCalibration{keys->descales, {}})
              .ok());
      EXPECT_TRUE(QuantizeQueriesInt8OnHost(
                      {false, 1.0f, 1, multipliers, ScaleGranularity::kTensor},
                      e, x, keys->descales)
                      .ok());
    }
  }
}

TEST(HostInt8Test, Refusals) {
  const QuantizeExtent e = {1, 4, 2, 128};
  const std::vector<Bf16> x = Uneven(e, 9);
  const float kInf = std::numeric_limits<float>::infinity();
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Bf16> bad = x;
  bad[(1 * 2 + 1) * 128 + 5] = Bf16::FromFloat(kInf);
  const std::vector<Bf16> huge(x.size(), Bf16::FromFloat(3e38f));
  const std::vector<float> descales = {1, 1}, mean(256, 0.0f);
  const auto refused = [](const absl::Status& status, const std::string& what,
                          const std::string& allowed) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << what;
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr(what), HasSubstr("; allowed: "), HasSubstr(allowed)));
  };
  const auto keys = [&](const KeyInt8Options& options,
                        const std::vector<Bf16>& input,
                        const std::optional<QuantizeCalibration>& calibration) {
    return QuantizeKeysInt8OnHost(options, e, input, calibration).status();
  };
  const auto queries = [&](const QueryInt8Options& options,
                           const std::vector<Bf16>& input,
                           const std::vector<float>& of_keys) {
    return QuantizeQueriesInt8OnHost(options, e, input, of_keys).status();
  };
  const QueryInt8Options good = {false, 1.0f, 2};
  ASSERT_TRUE(keys({}, x, {}).ok());
  ASSERT_TRUE(queries(good, x, descales).ok());

  refused(keys({}, bad, {}),
          "input[batch 0, token 1, head 1, channel 5] is inf", "finite");
  refused(queries(good, bad, descales),
          "input[batch 0, token 1, head 1, channel 5] is inf", "finite");
  refused(keys({ScaleGranularity::kHead, false, true}, huge, {}),
          "input[batch 0, token 0, head 0, channel 0]", "rotation");
  refused(queries({true, 1.0f, 2}, huge, descales),
          "input[batch 0, token 0, head 0, channel 0]", "rotation");
  refused(QuantizeKeysInt8OnHost({}, {1, 4, 3, 128}, x).status(),
          "input.size() is 1024", "1536");
  refused(QuantizeQueriesInt8OnHost(good, {1, 8, 2, 64}, x, descales).status(),
          "head_dim is 64", "128, 192");
  refused(keys({ScaleGranularity::kToken}, x, {}),
          "options.granularity is kToken", "kTensor, kHead, kBatchHead");
  refused(keys({static_cast<ScaleGranularity>(9)}, x, {}),
          "options.granularity is 9", "kTensor, kHead, kBatchHead");
  refused(
      queries({false, 1.0f, 2, false, ScaleGranularity::kToken}, x, descales),
      "options.key_granularity is kToken", "kTensor, kHead, kBatchHead");
  for (const float scale : {kNan, -kInf}) {
    refused(queries({false, scale, 2}, x, descales),
            "options.softmax_scale is ", "finite");
  }
  for (const int64_t heads_kv : {int64_t{0}, int64_t{-1}, int64_t{3}}) {
    refused(queries({false, 1.0f, heads_kv}, x, descales),
            "options.heads_kv is " + std::to_string(heads_kv), "divisors");
  }
  refused(queries({false, 1.0f, 1}, x, descales), "key_descales.size() is 2",
          "1");
  for (const float d : {kNan, kInf, 0.0f, -1.0f, 0x1.fffffep-111f, 0x1p122f}) {
    refused(queries(good, x, {1, d}), "key_descales[1] is ", "2^-110");
    const std::vector<float> off = {1, d};
    refused(keys({}, x, QuantizeCalibration{off, {}}),
            "calibration.descales[1] is ", "2^122");
  }
  refused(keys({}, x, QuantizeCalibration{mean, {}}),
          "calibration.descales.size() is 256", "2");
  refused(keys({}, x, QuantizeCalibration{descales, mean}),
          "calibration.mean.size() is 256", "0");
  KeyInt8Options without_mean;
  without_mean.subtract_mean = true;
  refused(keys(without_mean, x, QuantizeCalibration{descales, {}}),
          "calibration.mean.size() is 0", "256");
  std::vector<float> bad_mean = mean;
  bad_mean[7] = kNan;
  refused(keys(without_mean, x, QuantizeCalibration{descales, bad_mean}),
          "calibration.mean[7] is nan", "finite");
}

TEST(HostInt8Test, NoHeadsAndNoTokens) {
  for (const int64_t heads_kv : {INT64_MIN, int64_t{0}, INT64_MAX}) {
    const auto got = QuantizeQueriesInt8OnHost({false, 1.0f, heads_kv},
                                               {3, 5, 0, 128}, {}, {});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->codes.empty() && got->shifts.empty());
  }
  const auto keys = QuantizeKeysInt8OnHost(
      {ScaleGranularity::kBatchHead, true, true, true}, {2, 0, 3, 128}, {});
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->descales, std::vector<float>(6, 1.0f));
  EXPECT_EQ(keys->mean, std::vector<float>(2 * 3 * 128, 0.0f));
}

}  // namespace
}  // namespace zyfa
