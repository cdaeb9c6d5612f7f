// Elementary functions against the host's long double ones.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

using Reference = std::function<long double(long double)>;

// Distance in units of the last place of the float32 nearest to `exact`.
double UlpError(float got, long double exact) {
  const int exponent = std::max(std::ilogb(static_cast<double>(exact)), -126);
  return static_cast<double>(std::fabs((static_cast<long double>(got) - exact) /
                                       std::ldexp(1.0L, exponent - 23)));
}

// Every `step`-th float32 in [first, last] by its bits. Results below the
// smallest normal number must be 0.
double WorstError(const std::string& name, uint32_t first, uint32_t last,
                  uint32_t step, const Reference& exact) {
  TestWave wave;
  const Instruction inst = Assemble(name + " v1, v0");
  EXPECT_NE(inst.handler, nullptr) << name;
  double worst = 0;
  for (uint64_t base = first; base <= last; base += uint64_t{64} * step) {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[0][l] = static_cast<uint32_t>(
          std::min<uint64_t>(base + uint64_t{step} * l, last));
    }
    inst.handler(inst, *wave);
    for (int l = 0; l < kLanes; ++l) {
      const long double reference = exact(Float(wave->vgpr[0][l]));
      const float got = Float(wave->vgpr[1][l]);
      if (std::fabs(reference) < 0x1p-126L) {
        // The rounding may lift a result to 2^-126.
        if (got != 0) worst = std::max(worst, UlpError(got, reference));
        continue;
      }
      if (std::fabs(reference) >= 0x1.ffffffp127L) {
        EXPECT_TRUE(std::isinf(got)) << Float(wave->vgpr[0][l]);
        continue;
      }
      worst = std::max(worst, UlpError(got, reference));
    }
  }
  return worst;
}

TEST(TranscendentalTest, ExpIsCorrectlyRounded) {
  const Reference exp2 = [](long double x) { return std::exp2(x); };
  // A step of a prime number of codes: 1.2 M arguments a sign.
  EXPECT_LE(WorstError("v_exp_f32", 0x00000000, 0x43080000, 997, exp2), 0.5001);
  EXPECT_LE(WorstError("v_exp_f32", 0x80000000, 0xc3080000, 997, exp2), 0.5001);
  // All arguments of one binade that softmax uses.
  EXPECT_LE(WorstError("v_exp_f32", 0xc0800000, 0xc0900000, 1, exp2), 0.5001);
}

TEST(TranscendentalTest, ExpSpecialValues) {
  TestWave wave;
  const auto exp = [&](float x) {
    wave->vgpr[0][5] = Bits(x);
    wave.Run("v_exp_f32_e32 v1, v0");
    return Float(wave->vgpr[1][5]);
  };
  EXPECT_EQ(exp(0), 1);
  EXPECT_EQ(exp(-0.0f), 1);
  EXPECT_EQ(exp(Float(1)), 1);
  EXPECT_EQ(exp(10), 1024);
  EXPECT_EQ(exp(-126), 0x1p-126f);
  EXPECT_EQ(exp(std::nextafter(-126.0f, -127.0f)), 0);  // denormal: flushed
  EXPECT_EQ(exp(-140), 0);
  EXPECT_EQ(exp(-1e30f), 0);
  EXPECT_EQ(exp(-INFINITY), 0);
  EXPECT_EQ(exp(128), INFINITY);
  EXPECT_LT(exp(std::nextafter(128.0f, 0.0f)), INFINITY);
  EXPECT_EQ(exp(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(exp(NAN)));
}

TEST(TranscendentalTest, LogAndRoots) {
  EXPECT_LE(WorstError("v_log_f32", 0x00800000, 0x7f7fffff, 1999,
                       [](long double x) { return std::log2(x); }),
            0.5001);
  // Around 1, where the logarithm is small.
  EXPECT_LE(WorstError("v_log_f32", 0x3f700000, 0x3f900000, 7,
                       [](long double x) { return std::log2(x); }),
            0.5001);
  EXPECT_LE(WorstError("v_rcp_f32", 0x00800000, 0x7f7fffff, 1999,
                       [](long double x) { return 1 / x; }),
            0.5);
  EXPECT_LE(WorstError("v_sqrt_f32", 0x00800000, 0x7f7fffff, 1999,
                       [](long double x) { return std::sqrt(x); }),
            0.5);
  EXPECT_LE(WorstError("v_rsq_f32", 0x00800000, 0x7f7fffff, 1999,
                       [](long double x) { return 1 / std::sqrt(x); }),
            0.5001);
}

TEST(TranscendentalTest, CircleFunctions) {
  const long double two_pi = 2 * std::acos(-1.0L);
  // |error| instead of ulps: results pass through zero.
  TestWave wave;
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[0][l] = Bits(
          static_cast<float>(random.Between(-1 << 24, 1 << 24)) * 0x1p-18f);
    }
    wave.Run("v_sin_f32_e32 v1, v0");
    wave.Run("v_cos_f32_e32 v2, v0");
    for (int l = 0; l < kLanes; ++l) {
      const long double turns = Float(wave->vgpr[0][l]);
      const long double part = turns - std::floor(turns);
      ASSERT_NEAR(Float(wave->vgpr[1][l]),
                  static_cast<double>(std::sin(two_pi * part)), 4e-8);
      ASSERT_NEAR(Float(wave->vgpr[2][l]),
                  static_cast<double>(std::cos(two_pi * part)), 4e-8);
    }
  }
  wave->vgpr[0][0] = Bits(257.25f);
  wave.Run("v_sin_f32_e32 v1, v0");
  wave.Run("v_cos_f32_e32 v2, v0");
  EXPECT_EQ(Float(wave->vgpr[1][0]), 0);
  EXPECT_EQ(Float(wave->vgpr[2][0]), 1);
}

// Of the sine of an angle in turns, exact quarters included.
long double SinOfTurns(long double turns) {
  if (turns < 0) return -SinOfTurns(-turns);
  const long double part = turns - std::floor(turns);  // exact
  const long double eighths = part * 8;
  const long double two_pi = 2 * std::acos(-1.0L);
  if (eighths < 1) return std::sin(two_pi * part);
  if (eighths < 3) return std::cos(two_pi * (part - 0.25L));
  if (eighths < 5) return -std::sin(two_pi * (part - 0.5L));
  if (eighths < 7) return -std::cos(two_pi * (part - 0.75L));
  return std::sin(two_pi * (part - 1));
}
long double CosOfTurns(long double turns) {
  return SinOfTurns(std::fabs(turns) + 0.25L);
}

TEST(TranscendentalTest, CircleFunctionsToTheLastPlace) {
  // Codes of 2^-100 .. 256, both signs; small results keep all their digits.
  for (const uint32_t sign : {0u, 0x80000000u}) {
    EXPECT_LE(WorstError("v_sin_f32", 0x0d800000 | sign, 0x43800000 | sign,
                         1237, SinOfTurns),
              0.5001);
    EXPECT_LE(WorstError("v_cos_f32", 0x3a000000 | sign, 0x43800000 | sign, 557,
                         CosOfTurns),
              0.5001);
  }
}

// Every float16 argument, in the mode that keeps denormals and in the one that
// flushes them.
TEST(TranscendentalTest, AllOfFloat16) {
  struct Function {
    std::string name;
    Reference exact;
  };
  const Function functions[] = {
      {"v_exp_f16", [](long double x) { return std::exp2(x); }},
      {"v_log_f16", [](long double x) { return std::log2(x); }},
      {"v_rcp_f16", [](long double x) { return 1 / x; }},
      {"v_sqrt_f16", [](long double x) { return std::sqrt(x); }},
      {"v_rsq_f16", [](long double x) { return 1 / std::sqrt(x); }},
      {"v_sin_f16",
       [](long double x) { return std::fabs(x) > 256 ? 0 : SinOfTurns(x); }},
      {"v_cos_f16",
       [](long double x) { return std::fabs(x) > 256 ? 1 : CosOfTurns(x); }}};
  const auto value = [](uint32_t code) -> long double {
    const int field = static_cast<int>(code >> 10 & 31);
    const int fraction = static_cast<int>(code & 0x3ff);
    long double x = field == 0
                        ? std::ldexp(1.0L * fraction, -24)
                        : std::ldexp(1.0L * (fraction + 1024), field - 25);
    if (field == 31) x = fraction != 0 ? NAN : INFINITY;
    return code & 0x8000 ? -x : x;
  };
  for (const bool keep : {true, false}) {
    for (const bool ovfl : {true, false}) {
      TestWave wave;
      wave->mode.bits =
          (keep ? kModeDenormF16F64 : 0) | (ovfl ? kModeFp16Ovfl : 0);
      for (const Function& f : functions) {
        const Instruction inst = Assemble(f.name + " v1, v0");
        for (uint32_t base = 0; base < 0x10000; base += kLanes) {
          for (int l = 0; l < kLanes; ++l) {
            wave->vgpr[0][l] = base + static_cast<uint32_t>(l);
          }
          inst.handler(inst, *wave);
          for (int l = 0; l < kLanes; ++l) {
            uint32_t code = wave->vgpr[0][l];
            if (!keep && (code & 0x7c00) == 0) code &= 0x8000;
            const long double x = value(code);
            const long double expected =
                (f.name == "v_sin_f16" || f.name == "v_cos_f16") &&
                        !std::isfinite(x)
                    ? NAN
                    : f.exact(x);
            const uint32_t got = wave->vgpr[1][l];
            const long double result = value(got);
            SCOPED_TRACE(f.name + " of " + std::to_string(code));
            if (std::isnan(expected)) {
              ASSERT_TRUE(std::isnan(result));
            } else if (std::isinf(expected) && !std::isinf(x) && x != 0) {
              // Larger than long double: an overflow all the same.
              ASSERT_EQ(got, ovfl ? 0x7bffu : 0x7c00u);
            } else if (std::fabs(expected) >= 65520) {
              const bool clamped = ovfl && std::isfinite(expected);
              ASSERT_EQ(got & 0x7fff, clamped ? 0x7bffu : 0x7c00u);
            } else if (!keep && std::fabs(expected) < 0x1p-14L) {
              // Rounding may lift it to the smallest normal number.
              ASSERT_TRUE((got & 0x7fff) == 0 || (got & 0x7fff) == 0x400);
            } else {
              const int exponent =
                  expected == 0 ? -14 : std::max(std::ilogb(expected), -14);
              ASSERT_LE(std::fabs(result - expected),
                        0.5001L * std::ldexp(1.0L, exponent - 10));
            }
          }
        }
      }
    }
  }
}

TEST(TranscendentalTest, DenormalsCountAsZero) {
  TestWave wave;  // MODE keeps denormals
  wave->vgpr[0][0] = 0x00000001;
  wave->vgpr[0][1] = 0x80000001;
  wave->vgpr[0][2] = 0x7f7fffff;  // 1/x would be denormal
  wave.Run("v_rcp_f32_e32 v1, v0");
  EXPECT_EQ(Float(wave->vgpr[1][0]), INFINITY);
  EXPECT_EQ(Float(wave->vgpr[1][1]), -INFINITY);
  EXPECT_EQ(wave->vgpr[1][2], 0u);
  wave.Run("v_log_f32_e32 v1, v0");
  EXPECT_EQ(Float(wave->vgpr[1][0]), -INFINITY);
  EXPECT_EQ(Float(wave->vgpr[1][1]), -INFINITY);
  wave->vgpr[0][0] = Bits(-1.0f);
  wave.Run("v_log_f32_e32 v1, v0");
  EXPECT_EQ(wave->vgpr[1][0], 0x7fc00000u);
  wave.Run("v_sqrt_f32_e32 v1, v0");
  EXPECT_EQ(wave->vgpr[1][0], 0x7fc00000u);
}

TEST(TranscendentalTest, Float16) {
  TestWave wave;
  const auto half = [&](const std::string& name, uint32_t code) {
    wave->vgpr[0][0] = code;
    wave.Run(name + " v1, v0");
    return wave->vgpr[1][0];
  };
  EXPECT_EQ(half("v_exp_f16", 0xcc00), 0x0100u);   // 2^-16, a denormal
  EXPECT_EQ(half("v_exp_f16", 0x4c00), 0x7c00u);   // 2^16 overflows
  EXPECT_EQ(half("v_log_f16", 0x0001), 0xce00u);   // -24
  EXPECT_EQ(half("v_rcp_f16", 0x4000), 0x3800u);   // 1/2
  EXPECT_EQ(half("v_sqrt_f16", 0x4880), 0x4200u);  // sqrt 9
  EXPECT_EQ(half("v_rsq_f16", 0x4400), 0x3800u);   // 1/sqrt 4
  wave->mode.bits |= kModeFp16Ovfl;
  EXPECT_EQ(half("v_exp_f16", 0x4c00), 0x7bffu);
}

}  // namespace
}  // namespace zyfa::emu::testing
