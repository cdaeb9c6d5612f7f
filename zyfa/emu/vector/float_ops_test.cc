// Float arithmetic against the host's, MODE, modifiers and NaN rules.

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/float_format.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

using valu_baseline::Decode;
using valu_baseline::Encode;
using valu_baseline::kF16;
using valu_baseline::Overflow;
using valu_baseline::Rounding;

struct FloatOpsTest : ::testing::Test {
  uint32_t One(const std::string& text, uint32_t a, uint32_t b = 0,
               uint32_t c = 0) {
    wave->vgpr[1][9] = a;
    wave->vgpr[2][9] = b;
    wave->vgpr[3][9] = c;
    wave.Run(text);
    return wave->vgpr[0][9];
  }
  float OneF(const std::string& text, float a, float b = 0, float c = 0) {
    return Float(One(text, Bits(a), Bits(b), Bits(c)));
  }
  void Put64(int row, int lane, double x) {
    wave->vgpr[row][lane] = static_cast<uint32_t>(Bits(x));
    wave->vgpr[row + 1][lane] = static_cast<uint32_t>(Bits(x) >> 32);
  }
  double Get64(int row, int lane) {
    return Double(wave->vgpr[row][lane] | uint64_t{wave->vgpr[row + 1][lane]}
                                              << 32);
  }
  TestWave wave;
};

// The host's arithmetic in one of its modes, kept from being folded.
template <class F>
float HostRounded(int mode, F function) {
  static constexpr int kHost[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                  FE_TOWARDZERO};
  std::fesetround(kHost[mode]);
  const volatile float result = function();
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST_F(FloatOpsTest, ArithmeticInEveryRoundingMode) {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const int mode = trial % 4;
    wave->mode.bits = kModeDenormF32 | kModeDenormF16F64 | mode;
    for (int l = 0; l < kLanes; ++l) {
      for (int r = 1; r <= 3; ++r) wave->vgpr[r][l] = random.FloatBits();
      // Near enough to each other that sums round.
      if (l % 2) {
        for (int r = 1; r <= 3; ++r) {
          wave->vgpr[r][l] = (wave->vgpr[r][l] & 0x807fffff) |
                             (random.Between(110, 140) << 23);
        }
      }
    }
    wave.Run("v_add_f32_e32 v10, v1, v2");
    wave.Run("v_sub_f32_e32 v11, v1, v2");
    wave.Run("v_mul_f32_e32 v12, v1, v2");
    wave.Run("v_fma_f32 v13, v1, v2, v3");
    wave.Run("v_fma_f32 v14, -v1, |v2|, -v3");
    for (int l = 0; l < kLanes; ++l) {
      const volatile float a = Float(wave->vgpr[1][l]),
                           b = Float(wave->vgpr[2][l]),
                           c = Float(wave->vgpr[3][l]);
      const float expected[] = {
          HostRounded(mode, [&] { return a + b; }),
          HostRounded(mode, [&] { return a - b; }),
          HostRounded(mode, [&] { return a * b; }),
          HostRounded(mode, [&] { return std::fma(a, b, c); }),
          HostRounded(mode, [&] { return std::fma(-a, std::fabs(b), -c); })};
      for (int i = 0; i < 5; ++i) {
        const float got = Float(wave->vgpr[10 + i][l]);
        if (std::isnan(expected[i])) {
          ASSERT_TRUE(std::isnan(got));
        } else {
          ASSERT_EQ(got, expected[i])
              << i << " mode " << mode << ": " << a << " " << b << " " << c;
          if (mode == 0) {
            ASSERT_EQ(std::signbit(got), std::signbit(expected[i]));
          }
        }
      }
    }
  }
}

TEST_F(FloatOpsTest, Float64InEveryRoundingMode) {
  Random random(2);
  static constexpr int kHost[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                  FE_TOWARDZERO};
  for (int trial = 0; trial < 200; ++trial) {
    const int mode = trial % 4;
    wave->mode.bits = kModeDenormF32 | kModeDenormF16F64 | mode << 2;
    for (int l = 0; l < kLanes; ++l) {
      for (int r = 2; r <= 6; r += 2) {
        Put64(r, l,
              Double((random.Next64() & 0x800fffffffffffff) |
                     uint64_t(random.Between(1000, 1050)) << 52));
      }
    }
    wave.Run("v_add_f64 v[10:11], v[2:3], v[4:5]");
    wave.Run("v_fma_f64 v[12:13], v[2:3], v[4:5], -v[6:7]");
    for (int l = 0; l < kLanes; ++l) {
      const volatile double a = Get64(2, l), b = Get64(4, l), c = Get64(6, l);
      std::fesetround(kHost[mode]);
      const volatile double sum = a + b;
      const volatile double fused = std::fma(a, b, -c);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(Get64(10, l), sum);
      ASSERT_EQ(Get64(12, l), fused);
    }
  }
}

TEST_F(FloatOpsTest, Float16IsRoundedOnce) {
  Random random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const int mode = trial % 4;
    wave->mode.bits = kModeDenormF32 | kModeDenormF16F64 | mode << 2;
    for (int l = 0; l < kLanes; ++l) {
      for (int r = 1; r <= 3; ++r) wave->vgpr[r][l] = random.HalfBits();
    }
    wave.Run("v_add_f16_e32 v10, v1, v2");
    wave.Run("v_mul_f16_e32 v11, v1, v2");
    wave.Run("v_fma_f16 v12, v1, v2, v3");
    for (int l = 0; l < kLanes; ++l) {
      // 64 bits hold every such sum exactly (80 binades, 22 bits at most each
      // end are dropped by the filter below).
      const long double a = Decode(wave->vgpr[1][l], kF16),
                        b = Decode(wave->vgpr[2][l], kF16),
                        c = Decode(wave->vgpr[3][l], kF16);
      const auto check = [&](int row, long double exact) {
        if (std::isnan(exact)) return;
        const double near = static_cast<double>(exact);
        if (near != exact) return;  // not exact in double: no simple reference
        EXPECT_EQ(
            wave->vgpr[row][l],
            Encode(near, kF16, static_cast<Rounding>(mode), Overflow::kIeee))
            << row << " mode " << mode;
      };
      check(10, a + b);
      check(11, a * b);
      if (a * b + c - c == a * b) check(12, a * b + c);
    }
  }
}

TEST_F(FloatOpsTest, UpperHalvesOfFloat16) {
  EXPECT_EQ(One("v_add_f16_e64 v0, v1, v2 op_sel:[1,0,0]", 0x3c004000, 0x3c00),
            0x4000u);  // 1 + 1, upper half zeroed
  wave->vgpr[0][9] = 0xaaaabbbb;
  EXPECT_EQ(One("v_add_f16_e64 v0, v1, v2 op_sel:[0,1,1]", 0x3c00, 0x4000dead),
            0x4200bbbbu);
  wave->vgpr[0][9] = 0xaaaabbbb;
  EXPECT_EQ(One("v_fma_f16 v0, v1, v2, 1.0", 0x3c00, 0x4000), 0xaaaa4200u);
}

TEST_F(FloatOpsTest, DenormalsFollowMode) {
  EXPECT_EQ(One("v_add_f32_e32 v0, v1, v2", 1, 1), 2u);
  EXPECT_EQ(One("v_mul_f32_e32 v0, v1, v2", Bits(0x1p-100f), Bits(0x1p-40f)),
            Bits(0x1p-140f));
  wave->mode.bits = 1 << 5;  // inputs flushed
  EXPECT_EQ(One("v_add_f32_e32 v0, v1, v2", 1, 1), 0u);
  EXPECT_EQ(One("v_add_f32_e32 v0, v1, v2", 0x80000001, 0x80000001),
            0x80000000u);
  EXPECT_EQ(One("v_mul_f32_e32 v0, v1, v2", Bits(0x1p-100f), Bits(0x1p-40f)),
            Bits(0x1p-140f));
  EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", 1, 0x80000000), 0u);
  wave->mode.bits = 1 << 4;  // results flushed
  EXPECT_EQ(One("v_mul_f32_e32 v0, v1, v2", Bits(-0x1p-100f), Bits(0x1p-40f)),
            0x80000000u);
  EXPECT_EQ(One("v_add_f16_e32 v0, v1, v2", 1, 1), 0u);
  wave->mode.bits = 3 << 6;
  EXPECT_EQ(One("v_add_f16_e32 v0, v1, v2", 1, 1), 2u);
  // Moves and bit operations never flush.
  wave->mode.bits = 0;
  EXPECT_EQ(One("v_mov_b32_e32 v0, v1", 1), 1u);
  wave->set_vcc(0);
  EXPECT_EQ(One("v_cndmask_b32_e32 v0, v1, v2, vcc", 1, 2), 1u);
}

TEST_F(FloatOpsTest, OutputModifiers) {
  wave->mode.bits = 0;
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 mul:2", 1, 2), 6);
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 mul:4", 1, 2), 12);
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 div:2", 1, 2), 1.5);
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 clamp", 1, 2), 1);
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 clamp", 1, -2), 0);
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 div:2 clamp", 0.5, 0.25), 0.375);
  EXPECT_TRUE(std::isnan(OneF("v_add_f32_e64 v0, v1, v2 clamp", NAN, 1)));
  wave->mode.bits = kModeDx10Clamp;
  EXPECT_EQ(One("v_add_f32_e64 v0, v1, v2 clamp", Bits(NAN), 0), 0u);
  // Without effect while denormals are kept or in IEEE mode.
  wave->mode.bits = kModeDenormF32;
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 mul:2", 1, 2), 3);
  wave->mode.bits = kModeIeee;
  EXPECT_EQ(OneF("v_add_f32_e64 v0, v1, v2 mul:2", 1, 2), 3);
  wave->mode.bits = kModeDx10Clamp;
  EXPECT_EQ(One("v_add_f16_e64 v0, v1, v2 clamp", 0x4000, 0x3c00), 0x3c00u);
}

TEST_F(FloatOpsTest, Float16Overflow) {
  EXPECT_EQ(One("v_add_f16_e32 v0, v1, v2", 0x7bff, 0x7bff), 0x7c00u);
  wave->mode.bits |= kModeFp16Ovfl;
  EXPECT_EQ(One("v_add_f16_e32 v0, v1, v2", 0x7bff, 0x7bff), 0x7bffu);
  EXPECT_EQ(One("v_add_f16_e32 v0, v1, v2", 0xfbff, 0xfbff), 0xfbffu);
  EXPECT_EQ(One("v_add_f16_e32 v0, v1, v2", 0x7c00, 0x3c00), 0x7c00u);
}

TEST_F(FloatOpsTest, NansPropagate) {
  EXPECT_EQ(One("v_add_f32_e32 v0, v1, v2", 0x7f800001, 0x3f800000),
            0x7fc00001u);
  EXPECT_EQ(One("v_add_f32_e32 v0, v1, v2", 0x3f800000, 0xffc12345),
            0xffc12345u);
  EXPECT_EQ(One("v_mul_f32_e32 v0, v1, v2", 0x7fc00001, 0xffc12345),
            0x7fc00001u);
  EXPECT_EQ(One("v_sub_f32_e32 v0, v1, v2", 0x7f800000, 0x7f800000),
            0x7fc00000u);
  EXPECT_EQ(One("v_mul_f32_e32 v0, v1, v2", 0x7f800000, 0), 0x7fc00000u);
  EXPECT_EQ(One("v_fma_f32 v0, v1, v2, v3", 0x7f800000, 0, 0x7fc00077),
            0x7fc00077u);
}

TEST_F(FloatOpsTest, MinimumAndMaximum) {
  const uint32_t one = Bits(1.0f), two = Bits(2.0f), quiet = 0x7fc00005,
                 signalling = 0x7f800005;
  for (const uint32_t ieee : {0u, kModeIeee}) {
    wave->mode.bits = kModeDenormF32 | ieee;
    EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", one, two), two);
    EXPECT_EQ(One("v_min_f32_e32 v0, v1, v2", one, two), one);
    EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", quiet, two), two);
    EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", one, quiet), one);
    EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", 0x80000000, 0), 0u);
    EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", 0, 0x80000000), 0u);
    EXPECT_EQ(One("v_min_f32_e32 v0, v1, v2", 0x80000000, 0), 0x80000000u);
    EXPECT_EQ(One("v_min_f32_e32 v0, v1, v2", 0, 0x80000000), 0x80000000u);
    EXPECT_EQ(One("v_max3_f32 v0, v1, v2, v3", quiet, one, two), two);
    EXPECT_EQ(One("v_max3_f32 v0, v1, v2, v3", one, two, quiet), two);
    EXPECT_EQ(One("v_min3_f32 v0, v1, v2, v3", two, quiet, one), one);
    EXPECT_EQ(One("v_maximum3_f32 v0, v1, v2, v3", one, quiet, two), quiet);
    EXPECT_EQ(One("v_minimum3_f32 v0, v1, v2, v3", one, two, Bits(-3.0f)),
              Bits(-3.0f));
    // IEEE mode: a signalling NaN wins and becomes quiet.
    EXPECT_EQ(One("v_max_f32_e32 v0, v1, v2", signalling, two),
              ieee ? quiet : two);
    EXPECT_EQ(One("v_min_f32_e32 v0, v1, v2", two, signalling),
              ieee ? quiet : two);
  }
}

TEST_F(FloatOpsTest, Median) {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    float x[3] = {random.Between(-5, 5) * 0.5f, random.Between(-5, 5) * 0.5f,
                  random.Between(-5, 5) * 0.5f};
    const float got = OneF("v_med3_f32 v0, v1, v2, v3", x[0], x[1], x[2]);
    std::sort(x, x + 3);
    EXPECT_EQ(got, x[1]);
  }
  EXPECT_EQ(OneF("v_med3_f32 v0, v1, v2, v3", 3, NAN, 1), 1);
}

TEST_F(FloatOpsTest, RoundingToIntegers) {
  Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const float x =
        trial % 2 ? Float(random.FloatBits()) : random.Between(-20, 20) * 0.25f;
    if (std::isnan(x)) continue;
    EXPECT_EQ(OneF("v_trunc_f32_e32 v0, v1", x), std::trunc(x));
    EXPECT_EQ(OneF("v_ceil_f32_e32 v0, v1", x), std::ceil(x));
    EXPECT_EQ(OneF("v_floor_f32_e32 v0, v1", x), std::floor(x));
    EXPECT_EQ(Bits(OneF("v_rndne_f32_e32 v0, v1", x)), Bits(std::nearbyint(x)));
  }
  EXPECT_EQ(OneF("v_fract_f32_e32 v0, v1", -1.25f), 0.75f);
  EXPECT_EQ(One("v_fract_f32_e32 v0, v1", Bits(-1e-20f)), 0x3f7fffffu);
}

TEST_F(FloatOpsTest, ExponentsAndMantissas) {
  Random random(6);
  for (int trial = 0; trial < 1000; ++trial) {
    const float x = Float(random.FloatBits());
    if (!std::isfinite(x)) continue;
    int exponent = 0;
    const float mantissa = std::frexp(x, &exponent);
    EXPECT_EQ(OneF("v_frexp_mant_f32_e32 v0, v1", x), mantissa);
    EXPECT_EQ(
        static_cast<int32_t>(One("v_frexp_exp_i32_f32_e32 v0, v1", Bits(x))),
        exponent);
    const int scale = random.Between(-300, 300);
    EXPECT_EQ(Float(One("v_ldexp_f32 v0, v1, v2", Bits(x),
                        static_cast<uint32_t>(scale))),
              std::ldexp(x, scale));
  }
  EXPECT_EQ(One("v_frexp_exp_i32_f32_e32 v0, v1", 0x7f800000), 0u);
}

// The compiler's division: scale, reciprocal, refine, undo, fix up. It must
// round correctly for all operands.
TEST_F(FloatOpsTest, DivisionSequence) {
  Random random(7);
  for (int trial = 0; trial < 600; ++trial) {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[1][l] = random.FloatBits();
      wave->vgpr[2][l] = random.FloatBits();
      if (trial % 3 == 0) {  // quotients near the ends of the range
        wave->vgpr[1][l] =
            (wave->vgpr[1][l] & 0x807fffff) | random.Between(1, 20) << 23;
        wave->vgpr[2][l] =
            (wave->vgpr[2][l] & 0x807fffff) | random.Between(110, 250) << 23;
        if (l % 2) std::swap(wave->vgpr[1][l], wave->vgpr[2][l]);
      }
    }
    wave.Run("v_div_scale_f32 v10, s[4:5], v2, v2, v1");
    wave.Run("v_div_scale_f32 v11, vcc, v1, v2, v1");
    wave.Run("v_rcp_f32_e32 v12, v10");
    wave.Run("v_fma_f32 v13, -v10, v12, 1.0");
    wave.Run("v_fma_f32 v12, v13, v12, v12");
    wave.Run("v_mul_f32_e32 v13, v11, v12");
    wave.Run("v_fma_f32 v14, -v10, v13, v11");
    wave.Run("v_fma_f32 v13, v14, v12, v13");
    wave.Run("v_fma_f32 v10, -v10, v13, v11");
    wave.Run("v_div_fmas_f32 v10, v10, v12, v13");
    wave.Run("v_div_fixup_f32 v0, v10, v2, v1");
    for (int l = 0; l < kLanes; ++l) {
      const float n = Float(wave->vgpr[1][l]), d = Float(wave->vgpr[2][l]);
      const float got = Float(wave->vgpr[0][l]), expected = n / d;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << n << " / " << d;
      } else if (std::fabs(expected) < 0x1p-126f) {
        // Undoing the scale rounds a denormal quotient a second time.
        ASSERT_NEAR(got, expected, 0x1p-149f) << n << " / " << d;
      } else {
        ASSERT_EQ(Bits(got), Bits(expected)) << n << " / " << d;
      }
    }
  }
}

TEST_F(FloatOpsTest, DivisionSequenceFloat64) {
  Random random(8);
  for (int trial = 0; trial < 200; ++trial) {
    for (int l = 0; l < kLanes; ++l) {
      for (const int r : {2, 4}) {
        uint64_t bits = random.Next64();
        if (trial % 2) {
          bits = (bits & 0x800fffffffffffff) |
                 uint64_t(random.Between(900, 1100)) << 52;
        }
        Put64(r, l, Double(bits));
      }
    }
    wave.Run("v_div_scale_f64 v[10:11], s[4:5], v[4:5], v[4:5], v[2:3]");
    wave.Run("v_div_scale_f64 v[12:13], vcc, v[2:3], v[4:5], v[2:3]");
    wave.Run("v_rcp_f64_e32 v[14:15], v[10:11]");
    wave.Run("v_fma_f64 v[16:17], -v[10:11], v[14:15], 1.0");
    wave.Run("v_fma_f64 v[14:15], v[14:15], v[16:17], v[14:15]");
    wave.Run("v_mul_f64 v[16:17], v[12:13], v[14:15]");
    wave.Run("v_fma_f64 v[18:19], -v[10:11], v[16:17], v[12:13]");
    wave.Run("v_div_fmas_f64 v[10:11], v[18:19], v[14:15], v[16:17]");
    wave.Run("v_div_fixup_f64 v[0:1], v[10:11], v[4:5], v[2:3]");
    for (int l = 0; l < kLanes; ++l) {
      const double n = Get64(2, l), d = Get64(4, l), expected = n / d;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(Get64(0, l)));
      } else if (std::fabs(expected) >= std::numeric_limits<double>::min()) {
        ASSERT_EQ(Get64(0, l), expected) << n << " / " << d;
      }
    }
  }
}

TEST_F(FloatOpsTest, PackedFloat32) {
  Random random(9);
  for (int r = 2; r < 8; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[r][l] = Bits(static_cast<float>(random.Between(-99, 99)));
    }
  }
  const auto f = [&](int r, int l) { return Float(wave->vgpr[r][l]); };
  wave.Run("v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]");
  wave.Run(
      "v_pk_mul_f32 v[12:13], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1]");
  wave.Run(
      "v_pk_add_f32 v[14:15], v[2:3], v[4:5] op_sel_hi:[1,0] "
      "neg_lo:[0,1] neg_hi:[1,0]");
  wave->sgpr[26] = Bits(3.0f);
  wave->sgpr[27] = Bits(-5.0f);
  wave.Run("v_pk_mul_f32 v[16:17], v[2:3], s[26:27]");
  wave.Run("v_pk_mul_f32 v[18:19], v[2:3], 2.0 op_sel_hi:[1,0]");
  for (int l = 0; l < kLanes; ++l) {
    ASSERT_EQ(f(10, l), f(2, l) * f(4, l) + f(6, l));
    ASSERT_EQ(f(11, l), f(3, l) * f(5, l) + f(7, l));
    ASSERT_EQ(f(12, l), f(3, l) * f(4, l));
    ASSERT_EQ(f(13, l), f(2, l) * f(5, l));
    ASSERT_EQ(f(14, l), f(2, l) - f(4, l));
    ASSERT_EQ(f(15, l), -f(3, l) + f(4, l));
    ASSERT_EQ(f(16, l), f(2, l) * 3);
    ASSERT_EQ(f(17, l), f(3, l) * -5);
    ASSERT_EQ(f(19, l), f(3, l) * 2);
  }
  // In place: both halves are computed before either is written.
  const float a = f(2, 0), b = f(3, 0);
  wave.Run("v_pk_add_f32 v[2:3], v[2:3], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]");
  EXPECT_EQ(f(2, 0), b + a);
  EXPECT_EQ(f(3, 0), a + b);
  EXPECT_EQ(Assemble("v_pk_mul_f32 v[0:1], v[2:3], 2.0").handler, nullptr);
  // 0 has one meaning: clang negates two floats so.
  wave.Run("v_pk_add_f32 v[0:1], v[4:5], 0 neg_lo:[1,1] neg_hi:[1,1]");
  EXPECT_EQ(f(0, 7), -f(4, 7));
  EXPECT_EQ(f(1, 7), -f(5, 7));
}

TEST_F(FloatOpsTest, PackedHalvesAndMixes) {
  EXPECT_EQ(One("v_pk_add_f16 v0, v1, v2", 0x40003c00, 0x3c003c00),
            0x42004000u);
  EXPECT_EQ(One("v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[0,1,1]", 0x40003c00,
                0x40004200, 0x3c003c00),
            0x42004400u);  // 1*2+1, 1*3+1
  EXPECT_EQ(One("v_pk_mul_f16 v0, v1, v2 neg_lo:[1,0]", 0x40003c00, 0x3c003c00),
            0x4000bc00u);
  EXPECT_EQ(One("v_pk_max_f16 v0, v1, v2", 0x40007e00, 0xbc003c00),
            0x40003c00u);
  EXPECT_EQ(One("v_pk_add_u16 v0, v1, v2 clamp", 0xffff0001, 0x00020003),
            0xffff0004u);
  EXPECT_EQ(One("v_pk_sub_i16 v0, v1, v2 clamp", 0x80007fff, 0x0001ffff),
            0x80007fffu);
  EXPECT_EQ(One("v_pk_lshlrev_b16 v0, v1, v2", 0x00040001, 0x000f0003),
            0x00f00006u);
  EXPECT_EQ(
      One("v_pk_mad_u16 v0, v1, v2, v3", 0x00030002, 0x00050004, 0x00070006),
      0x0016000eu);
  EXPECT_EQ(One("v_pk_add_f16 v0, v1, 1.0 op_sel_hi:[1,0]", 0x40003c00),
            0x42004000u);
  // fma of a float32, an upper and a lower half.
  EXPECT_EQ(Float(One("v_fma_mix_f32 v0, v1, v2, v3 op_sel:[0,1,0] "
                      "op_sel_hi:[0,1,1]",
                      Bits(1.5f), 0x40000000, 0x3c00)),
            4);
  EXPECT_EQ(Float(One("v_fma_mix_f32 v0, -v1, |v2|, v3", Bits(1.5f),
                      Bits(-2.0f), Bits(1.0f))),
            -2);
  wave->vgpr[0][9] = 0x11112222;
  EXPECT_EQ(
      One("v_fma_mixhi_f16 v0, v1, v2, v3", Bits(2.0f), Bits(3.0f), Bits(1.0f)),
      0x47002222u);
  EXPECT_EQ(
      One("v_fma_mixlo_f16 v0, v1, v2, v3", Bits(1.0f), Bits(1.0f), Bits(0.0f)),
      0x47003c00u);
}

TEST_F(FloatOpsTest, DotProducts) {
  EXPECT_EQ(Float(One("v_dot2_f32_f16 v0, v1, v2, v3", 0x40003c00, 0x42004400,
                      Bits(0.5f))),
            10.5f);  // 1*4 + 2*3
  EXPECT_EQ(Float(One("v_dot2_f32_bf16 v0, v1, v2, v3", 0x40003f80, 0x40404080,
                      Bits(0.5f))),
            10.5f);
  wave->vgpr[0][9] = Bits(1.0f);
  EXPECT_EQ(
      Float(One("v_dot2c_f32_bf16_e32 v0, v1, v2", 0x40003f80, 0x40404080)),
      11);
  EXPECT_EQ(One("v_dot4_i32_i8 v0, v1, v2, v3", 0x01fe03fc, 0x05060708, 100),
            static_cast<uint32_t>(5 - 12 + 21 - 32 + 100));
  EXPECT_EQ(One("v_dot4_u32_u8 v0, v1, v2, v3", 0x01fe03fc, 0x05060708, 100),
            5u + 254 * 6 + 21 + 252 * 8 + 100);
  EXPECT_EQ(One("v_dot8_i32_i4 v0, v1, v2, v3", 0xf0000001, 0x70000002, 0),
            static_cast<uint32_t>(-7 + 2));
  EXPECT_EQ(One("v_dot4_i32_i8 v0, v1, v2, v3 clamp", 0x7f7f7f7f, 0x7f7f7f7f,
                0x7fffffff),
            0x7fffffffu);
  EXPECT_EQ(One("v_dot2_i32_i16 v0, v1, v2, v3", 0x0002ffff, 0x00030004, 10),
            12u);
}

}  // namespace
}  // namespace zyfa::emu::testing
