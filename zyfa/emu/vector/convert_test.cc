// Conversions: every code of the small formats, rounding, overflow, partial
// writes and block scales.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

// A format by its definition.
struct Format {
  std::string name;
  int exponent_bits, mantissa_bits, bias;
  bool infinity, nan;  // E4M3 has only NaN, at all ones
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};
const Format kFp8{"fp8", 4, 3, 7, false, true};
const Format kBf8{"bf8", 5, 2, 15, true, true};
const Format kFp6{"fp6", 2, 3, 1, false, false};
const Format kBf6{"bf6", 3, 2, 3, false, false};
const Format kFp4{"fp4", 2, 1, 1, false, false};
const Format kHalf{"f16", 5, 10, 15, true, true};
const Format kBf16{"bf16", 8, 7, 127, true, true};

double Value(const Format& f, uint32_t code) {
  const uint32_t magnitude = code & ((1u << (f.bits() - 1)) - 1);
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const int fraction =
      static_cast<int>(magnitude & ((1u << f.mantissa_bits) - 1));
  double value = 0;
  if (f.infinity && exponent == (1 << f.exponent_bits) - 1) {
    value = fraction == 0 ? INFINITY : NAN;
  } else if (f.nan && !f.infinity && magnitude == (1u << (f.bits() - 1)) - 1) {
    value = NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.mantissa_bits)
                          : std::ldexp((1 << f.mantissa_bits) + fraction,
                                       exponent - f.bias - f.mantissa_bits);
  }
  return code >> (f.bits() - 1) ? -value : value;
}

double Largest(const Format& f) {
  double largest = 0;
  for (uint32_t code = 0; code < 1u << (f.bits() - 1); ++code) {
    const double value = Value(f, code);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

// Nearest code, ties to even, found by looking at all of them. `saturate`: what
// lies beyond the largest value becomes it, otherwise Inf or NaN.
uint32_t Nearest(const Format& f, double x, bool saturate) {
  const uint32_t sign = std::signbit(x) ? 1u << (f.bits() - 1) : 0;
  const uint32_t count = 1u << (f.bits() - 1);
  uint32_t best = 0;
  double best_distance = INFINITY;
  uint32_t last = 0;
  for (uint32_t code = 0; code < count; ++code) {
    const double value = Value(f, code);
    if (!std::isfinite(value)) continue;
    last = code;
    const double distance = std::fabs(std::fabs(x) - value);
    if (distance < best_distance ||
        (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  // Where the next value would be.
  const double step = Value(f, last) - Value(f, last - 1);
  const double limit = Value(f, last) + step / 2;
  const bool over = std::fabs(x) > limit || (std::fabs(x) == limit && last % 2);
  if (!over) return sign | best;
  if (saturate) return sign | last;
  return sign | (last + 1);  // Inf, or the NaN of E4M3
}

struct ConvertTest : ::testing::Test {
  uint32_t One(const std::string& text, uint32_t a, uint32_t b = 0,
               uint32_t c = 0, uint32_t old = 0) {
    wave->vgpr[0][9] = old;
    wave->vgpr[1][9] = a;
    wave->vgpr[2][9] = b;
    wave->vgpr[3][9] = c;
    wave.Run(text);
    return wave->vgpr[0][9];
  }
  TestWave wave;
};

TEST_F(ConvertTest, SmallFormatsToFloatEveryCode) {
  for (const Format& f : {kFp8, kBf8}) {
    for (uint32_t code = 0; code < 256; ++code) {
      const float expected = static_cast<float>(Value(f, code));
      const float got =
          Float(One("v_cvt_f32_" + f.name + "_e32 v0, v1", code | 0x12345600));
      wave.Run("v_cvt_pk_f32_" + f.name + "_e32 v[4:5], v1");
      const float low = Float(wave->vgpr[4][9]), high = Float(wave->vgpr[5][9]);
      ASSERT_EQ(high, static_cast<float>(Value(f, 0x56)));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got) && std::isnan(low));
      } else {
        ASSERT_EQ(Bits(got), Bits(expected));
        ASSERT_EQ(Bits(low), Bits(expected));
      }
    }
  }
}

TEST_F(ConvertTest, HalvesToFloatEveryCode) {
  for (uint32_t base = 0; base < 0x10000; base += kLanes) {
    for (int l = 0; l < kLanes; ++l) wave->vgpr[1][l] = base + l;
    wave.Run("v_cvt_f32_f16_e32 v2, v1");
    wave.Run("v_cvt_f32_bf16_e32 v3, v1");
    for (int l = 0; l < kLanes; ++l) {
      const float half = static_cast<float>(Value(kHalf, base + l));
      const float bf16 = static_cast<float>(Value(kBf16, base + l));
      if (!std::isnan(half)) {
        ASSERT_EQ(wave->vgpr[2][l], Bits(half));
      }
      if (!std::isnan(bf16)) {
        ASSERT_EQ(wave->vgpr[3][l], Bits(bf16));
      }
      ASSERT_EQ(std::isnan(half), std::isnan(Float(wave->vgpr[2][l])));
      ASSERT_EQ(std::isnan(bf16), std::isnan(Float(wave->vgpr[3][l])));
    }
  }
}

// Values, middles between values and their neighbours, beyond the ends too.
std::vector<float> Probes(const Format& f) {
  std::vector<float> probes = {0.0f, -0.0f, 1e30f, -1e30f, 1e-30f};
  const uint32_t count = 1u << (f.bits() - 1);
  for (uint32_t code = 0; code + 1 < count; ++code) {
    const double low = Value(f, code);
    double high = Value(f, code + 1);
    if (!std::isfinite(low)) continue;
    if (!std::isfinite(high)) high = 2 * low - Value(f, code - 1);
    const float middle = static_cast<float>((low + high) / 2);
    for (const float x :
         {static_cast<float>(low), middle, std::nextafter(middle, 0.0f),
          std::nextafter(middle, 1e30f)}) {
      probes.push_back(x);
      probes.push_back(-x);
    }
  }
  return probes;
}

TEST_F(ConvertTest, FloatToFp8AndBf8) {
  for (const Format& f : {kFp8, kBf8}) {
    for (const bool saturate : {false, true}) {
      wave->mode.bits = kModeDenormF32 | (saturate ? kModeFp16Ovfl : 0u);
      const std::string name = "v_cvt_pk_" + f.name + "_f32 v0, v1, v2";
      for (const float x : Probes(f)) {
        const uint32_t code = Nearest(f, x, saturate);
        ASSERT_EQ(One(name, Bits(x), 0, 0, 0xaabbccdd), 0xaabb0000 | code) << x;
        ASSERT_EQ(One(name + " op_sel:[0,0,1]", 0, Bits(x), 0, 0xaabbccdd),
                  code << 24 | 0xccdd)
            << x;
      }
      const uint32_t inf = One(name, Bits(INFINITY), Bits(-INFINITY));
      const uint32_t nan = One(name, Bits(NAN), 0);
      if (f.name == "fp8") {
        EXPECT_EQ(inf, saturate ? 0xfe7eu : 0xff7fu);
        EXPECT_EQ(nan & 0x7f, 0x7fu);
      } else {
        EXPECT_EQ(inf, saturate ? 0xfb7bu : 0xfc7cu);
        EXPECT_GT(nan & 0x7f, 0x7cu);
      }
    }
  }
  wave->mode.bits = 3;  // MODE's rounding does not count
  EXPECT_EQ(One("v_cvt_pk_fp8_f32 v0, -v1, |v2|", Bits(1.0f), Bits(-1.0625f)),
            0x38b8u);
}

TEST_F(ConvertTest, FloatToBf16AndHalf) {
  Random random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    const float x = Float(random.FloatBits());
    if (std::isnan(x)) continue;
    const uint32_t got = One("v_cvt_pk_bf16_f32 v0, v1, v2", Bits(x), Bits(-x));
    // The two neighbours in bf16.
    const uint32_t down = Bits(x) >> 16;
    const double low = Float(down << 16), high = Float((down + 1) << 16);
    const double a = std::fabs(x - low), b = std::fabs(high - x);
    uint32_t expected = a < b || (a == b && down % 2 == 0) ? down : down + 1;
    if (!std::isfinite(high)) {  // towards overflow: beyond the last middle
      expected = std::fabs(x) >= 0x1.ffp127 ? (down & 0x8000) | 0x7f80 : down;
    }
    if (low == x) expected = down;
    ASSERT_EQ(got & 0xffff, expected) << x;
    ASSERT_EQ(got >> 16, expected ^ 0x8000) << x;
  }
  EXPECT_EQ(One("v_cvt_pk_bf16_f32 v0, v1, v2", 0x7f800001, 0xffffffff),
            0xffff7fc0u);
  EXPECT_EQ(One("v_cvt_pkrtz_f16_f32 v0, v1, v2", Bits(1.9999f), Bits(-1e9f)),
            0xfbff3fffu);
  EXPECT_EQ(One("v_cvt_pk_f16_f32 v0, v1, v2", Bits(1.9999f), Bits(-1e9f)),
            0xfc004000u);
  EXPECT_EQ(One("v_cvt_f16_f32_e32 v0, v1", Bits(1.9999f), 0, 0, 0xffffffff),
            0x4000u);
  EXPECT_EQ(One("v_cvt_f16_f32_e32 v0, v1", Bits(0x1p-24f)), 1u);
  wave->mode.bits = kModeDenormF32;
  EXPECT_EQ(One("v_cvt_f16_f32_e32 v0, v1", Bits(0x1p-24f)), 0u);
  wave->mode.bits |= 3 << 2;
  EXPECT_EQ(One("v_cvt_f16_f32_e32 v0, v1", Bits(1.9999f)), 0x3fffu);
}

TEST_F(ConvertTest, FloatsToIntegersSaturate) {
  const auto i32 = [&](float x) {
    return static_cast<int32_t>(One("v_cvt_i32_f32_e32 v0, v1", Bits(x)));
  };
  const auto u32 = [&](float x) {
    return One("v_cvt_u32_f32_e32 v0, v1", Bits(x));
  };
  EXPECT_EQ(i32(-1.99f), -1);
  EXPECT_EQ(i32(3e9f), INT32_MAX);
  EXPECT_EQ(i32(-3e9f), INT32_MIN);
  EXPECT_EQ(i32(-INFINITY), INT32_MIN);
  EXPECT_EQ(i32(NAN), 0);
  EXPECT_EQ(u32(3e9f), 3000000000u);
  EXPECT_EQ(u32(0.99f), 0u);
  EXPECT_EQ(u32(-5), 0u);
  EXPECT_EQ(u32(5e9f), UINT32_MAX);
  EXPECT_EQ(u32(INFINITY), UINT32_MAX);
  EXPECT_EQ(u32(NAN), 0u);
  Random random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const float x = Float(random.FloatBits());
    if (!(std::fabs(x) < 2147483648.0f)) continue;
    EXPECT_EQ(i32(x), static_cast<int32_t>(x));
    if (x >= 0) {
      EXPECT_EQ(u32(x), static_cast<uint32_t>(x));
    }
    EXPECT_EQ(
        static_cast<int32_t>(One("v_cvt_flr_i32_f32_e32 v0, v1", Bits(x))),
        static_cast<int32_t>(std::floor(x)));
    const uint32_t n = random.Next32();
    EXPECT_EQ(One("v_cvt_f32_u32_e32 v0, v1", n), Bits(static_cast<float>(n)));
    EXPECT_EQ(One("v_cvt_f32_i32_e32 v0, v1", n),
              Bits(static_cast<float>(static_cast<int32_t>(n))));
    EXPECT_EQ(One("v_cvt_f32_ubyte2_e32 v0, v1", n),
              Bits(static_cast<float>(n >> 16 & 255)));
  }
  EXPECT_EQ(One("v_cvt_rpi_i32_f32_e32 v0, v1", Bits(2.5f)), 3u);
  EXPECT_EQ(One("v_cvt_u16_f16_e32 v0, v1", 0x7c00), 0xffffu);
  EXPECT_EQ(One("v_cvt_i16_f16_e32 v0, v1", 0xfc00), 0x8000u);
  EXPECT_EQ(One("v_cvt_f16_u16_e32 v0, v1", 3), 0x4200u);
  EXPECT_EQ(One("v_cvt_f16_i16_e32 v0, v1", 0xffff), 0xbc00u);
  for (int code = 0; code < 16; ++code) {
    EXPECT_EQ(Float(One("v_cvt_off_f32_i4_e32 v0, v1", code)),
              (code < 8 ? code : code - 16) / 16.0f);
  }
}

TEST_F(ConvertTest, RoundingModeOfIntegersToFloat) {
  const uint32_t n = (1u << 24) + 1;  // a tie
  const uint32_t expected[] = {Bits(0x1p24f), Bits(0x1p24f + 2), Bits(0x1p24f),
                               Bits(0x1p24f)};
  for (uint32_t mode = 0; mode < 4; ++mode) {
    wave->mode.bits = kModeDenormF32 | mode;
    EXPECT_EQ(One("v_cvt_f32_u32_e32 v0, v1", n), expected[mode]);
  }
}

TEST_F(ConvertTest, BytesAndFractions) {
  for (uint32_t sel = 0; sel < 4; ++sel) {
    const uint32_t got =
        One("v_cvt_pk_u8_f32 v0, v1, v2, v3", Bits(200.4f), sel, 0x11223344);
    EXPECT_EQ(got, (0x11223344 & ~(255u << 8 * sel)) | 200u << 8 * sel);
  }
  const auto byte = [&](float x) {
    return One("v_cvt_pk_u8_f32 v0, v1, 0, 0", Bits(x));
  };
  EXPECT_EQ(byte(-3), 0u);
  EXPECT_EQ(byte(254.5f), 254u);
  EXPECT_EQ(byte(255.5f), 255u);
  EXPECT_EQ(byte(1e9f), 255u);
  EXPECT_EQ(byte(NAN), 0u);
  // MODE's rounding of 12.5, 13.5 and 13.25: nearest even, up, down, to zero.
  const uint32_t expected[4][3] = {
      {12, 14, 13}, {13, 14, 14}, {12, 13, 13}, {12, 13, 13}};
  for (uint32_t mode = 0; mode < 4; ++mode) {
    wave->mode.bits = kModeDenormF32 | mode;
    EXPECT_EQ(byte(12.5f), expected[mode][0]) << mode;
    EXPECT_EQ(byte(13.5f), expected[mode][1]) << mode;
    EXPECT_EQ(byte(13.25f), expected[mode][2]) << mode;
    EXPECT_EQ(byte(254.5f), mode == 1 ? 255u : 254u) << mode;
    EXPECT_EQ(byte(-0.5f), 0u) << mode;
    wave->vgpr[0][9] = 0x11223344;
    EXPECT_EQ(
        One("v_cvt_pkaccum_u8_f32 v0, v1, 2", Bits(13.5f), 0, 0, 0x11223344),
        0x11003344u | expected[mode][1] << 16)
        << mode;
  }
  wave->mode.bits = kModeDenormF32;
  EXPECT_EQ(One("v_cvt_pknorm_i16_f32 v0, v1, v2", Bits(1.0f), Bits(-2.0f)),
            0x80017fffu);
  EXPECT_EQ(One("v_cvt_pknorm_u16_f32 v0, v1, v2", Bits(0.5f), Bits(2.0f)),
            0xffff8000u);
  EXPECT_EQ(
      One("v_pack_b32_f16 v0, v1, v2 op_sel:[1,0,0]", 0x12345678, 0xabcdef01),
      0xef011234u);
}

TEST_F(ConvertTest, Float64) {
  wave->vgpr[2][9] = 0;
  wave->vgpr[3][9] = 0x40091eb8;  // 3.14 rounded down
  EXPECT_EQ(One("v_cvt_f64_f32_e32 v[0:1], v1", Bits(1.5f)), 0u);
  EXPECT_EQ(wave->vgpr[1][9], 0x3ff80000u);
  wave->vgpr[1][9] = 0xc1e00000;  // -2^31 in v[0:1]
  wave.Run("v_cvt_i32_f64_e32 v5, v[0:1]");
  EXPECT_EQ(wave->vgpr[5][9], 0x80000000u);
  wave.Run("v_cvt_f32_f64_e32 v5, v[0:1]");
  EXPECT_EQ(Float(wave->vgpr[5][9]), -0x1p31f);
  wave.Run("v_cvt_u32_f64_e64 v5, -v[0:1]");
  EXPECT_EQ(wave->vgpr[5][9], 0x80000000u);
  wave.Run("v_cvt_f64_i32_e32 v[6:7], -3");
  EXPECT_EQ(wave->vgpr[7][9], 0xc0080000u);
}

TEST_F(ConvertTest, StochasticForms) {
  // Random bits 31..12 are added below the three kept mantissa bits; then RNE.
  const uint32_t x = 0x3f800000;  // 1.0
  EXPECT_EQ(One("v_cvt_sr_fp8_f32 v0, v1, v2", x, 0, 0, 0x11223344),
            0x11223338u);
  EXPECT_EQ(One("v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,1]", x, 0xffffffff,
                0, 0x11223344),
            0x39223344u);
  EXPECT_EQ(One("v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,0]", x, 0x7fffffff,
                0, 0x11223344),
            0x11223844u);
  EXPECT_EQ(One("v_cvt_sr_bf16_f32 v0, v1, v2", 0x3f808000, 0x7fff0000, 0,
                0xaaaabbbb),
            0xaaaa3f80u);
  EXPECT_EQ(One("v_cvt_sr_bf16_f32 v0, v1, v2 op_sel:[0,0,1]", 0x3f808000,
                0x80000000, 0, 0xaaaabbbb),
            0x3f81bbbbu);
  EXPECT_EQ(One("v_cvt_sr_f16_f32 v0, v1, v2", 0x3f801000, 0x80000000),
            0x3c01u);
}

// Scale with exponent field e; its mantissa must not count.
uint32_t ScaleBits(int exponent) {
  return static_cast<uint32_t>(exponent + 127) << 23 | 0x55555;
}

TEST_F(ConvertTest, ScaledPairsNarrow) {
  for (const Format& f : {kFp8, kBf8, kFp4}) {
    for (const bool saturate : {false, true}) {
      wave->mode.bits =
          kModeDenormF32 | kModeDenormF16F64 | (saturate ? kModeFp16Ovfl : 0u);
      for (const int exponent : {0, 3, -5}) {
        for (const float probe : Probes(f)) {
          const float x = std::ldexp(probe, exponent);
          const uint32_t code = Nearest(f, probe, saturate || !f.nan);
          const std::string name =
              "v_cvt_scalef32_pk_" + f.name + "_f32 v0, v1, v2, v3";
          const uint32_t zero = 0;
          const uint32_t pair = code | zero << f.bits();
          if (f.bits() == 8) {
            ASSERT_EQ(One(name, Bits(x), 0, ScaleBits(exponent), 0xaabbccdd),
                      0xaabb0000 | pair);
            ASSERT_EQ(One(name + " op_sel:[0,0,0,1]", Bits(x), 0,
                          ScaleBits(exponent), 0xaabbccdd),
                      pair << 16 | 0xccdd);
          } else {
            for (int byte = 0; byte < 4; ++byte) {
              const std::string op_sel = " op_sel:[0,0," +
                                         std::to_string(byte & 1) + "," +
                                         std::to_string(byte >> 1) + "]";
              ASSERT_EQ(One(name + op_sel, Bits(x), 0, ScaleBits(exponent),
                            0xaabbccdd),
                        (0xaabbccdd & ~(255u << 8 * byte)) | pair << 8 * byte);
            }
          }
          // The same value as bf16, if it is one.
          if ((Bits(x) & 0xffff) == 0 && f.bits() == 8) {
            ASSERT_EQ(One("v_cvt_scalef32_pk_" + f.name + "_bf16 v0, v1, v2",
                          Bits(x) >> 16, ScaleBits(exponent)),
                      code);
          }
        }
      }
    }
  }
}

TEST_F(ConvertTest, ScaledSingleValuesWidenEveryCode) {
  for (const Format& f : {kFp8, kBf8}) {
    for (uint32_t code = 0; code < 256; ++code) {
      for (const int exponent : {0, 7, -20}) {
        const double exact = std::ldexp(Value(f, code), exponent);
        for (int byte = 0; byte < 4; ++byte) {
          const std::string op_sel = " op_sel:[" + std::to_string(byte & 1) +
                                     "," + std::to_string(byte >> 1) + ",0]";
          const float got =
              Float(One("v_cvt_scalef32_f32_" + f.name + " v0, v1, v2" + op_sel,
                        code << 8 * byte, ScaleBits(exponent)));
          if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(got));
          } else {
            ASSERT_EQ(got, static_cast<float>(exact));
          }
        }
        const uint32_t half =
            One("v_cvt_scalef32_f16_" + f.name + " v0, v1, v2 op_sel:[0,0,1]",
                code, ScaleBits(exponent), 0, 0x1111aaaa);
        ASSERT_EQ(half & 0xffff, 0xaaaau);
        if (std::isfinite(exact)) {
          ASSERT_EQ(half >> 16, Nearest(kHalf, exact, false));
        }
        break;  // one exponent is enough for most codes
      }
    }
  }
  EXPECT_EQ(Float(One("v_cvt_scalef32_f32_fp8 v0, v1, v2", 0x38, ScaleBits(7))),
            128);
}

TEST_F(ConvertTest, ScaledPairsWiden) {
  for (uint32_t code = 0; code < 16; ++code) {
    One("v_cvt_scalef32_pk_f32_fp4 v[4:5], v1, v2 op_sel:[1,0,0]",
        (code | (15 - code) << 4) << 8, ScaleBits(4));
    EXPECT_EQ(Float(wave->vgpr[4][9]), Value(kFp4, code) * 16);
    EXPECT_EQ(Float(wave->vgpr[5][9]), Value(kFp4, 15 - code) * 16);
    const uint32_t pair = One("v_cvt_scalef32_pk_bf16_fp4 v0, v1, v2",
                              code | (15 - code) << 4, ScaleBits(0));
    EXPECT_EQ(Float(pair << 16), Value(kFp4, code));
    EXPECT_EQ(Float(pair & 0xffff0000), Value(kFp4, 15 - code));
  }
  One("v_cvt_scalef32_pk_f32_bf8 v[4:5], v1, v2 op_sel:[1,0,0]", 0x3c400000,
      ScaleBits(-1));
  EXPECT_EQ(Float(wave->vgpr[4][9]), 1);
  EXPECT_EQ(Float(wave->vgpr[5][9]), 0.5);
}

TEST_F(ConvertTest, ScaledSixBitVectors) {
  Random random(3);
  for (const Format& f : {kFp6, kBf6}) {
    const double largest = Largest(f);
    for (int trial = 0; trial < 20; ++trial) {
      const int exponent = random.Between(-3, 3);
      float values[32];
      for (float& x : values) {
        x = static_cast<float>(random.Between(-1000, 1000) * largest / 800);
      }
      wave->vgpr[80][5] = ScaleBits(exponent);
      for (int i = 0; i < 32; ++i) {
        // Two operands of sixteen, interleaved.
        wave->vgpr[(i % 2 ? 60 : 40) + i / 2][5] =
            Bits(std::ldexp(values[i], exponent));
      }
      wave.Run("v_cvt_scalef32_2xpk16_" + f.name +
               "_f32 v[10:15], v[40:55], v[60:75], v80");
      uint32_t codes[32];
      for (int i = 0; i < 32; ++i) {
        const int bit = 6 * i;
        uint64_t pair = wave->vgpr[10 + bit / 32][5];
        if (bit / 32 < 5) pair |= uint64_t{wave->vgpr[11 + bit / 32][5]} << 32;
        codes[i] = pair >> (bit % 32) & 63;
        ASSERT_EQ(codes[i], Nearest(f, values[i], true)) << values[i];
      }
      // Back again.
      wave.Run("v_cvt_scalef32_pk32_f32_" + f.name +
               " v[100:131], v[10:15], v80");
      wave.Run("v_cvt_scalef32_pk32_f16_" + f.name +
               " v[140:155], v[10:15], v80");
      for (int i = 0; i < 32; ++i) {
        const double value = std::ldexp(Value(f, codes[i]), exponent);
        ASSERT_EQ(Float(wave->vgpr[100 + i][5]), value);
        ASSERT_EQ(wave->vgpr[140 + i / 2][5] >> (16 * (i % 2)) & 0xffff,
                  Nearest(kHalf, value, false));
      }
      // And from halves to the same codes.
      wave.Run("v_cvt_scalef32_pk32_" + f.name +
               "_f16 v[20:25], v[140:155], v80");
      for (int r = 0; r < 6; ++r) {
        ASSERT_EQ(wave->vgpr[20 + r][5], wave->vgpr[10 + r][5]);
      }
    }
  }
}

TEST_F(ConvertTest, ScaledStochasticIsBetweenNeighbours) {
  Random random(4);
  for (int trial = 0; trial < 2000; ++trial) {
    const float x = static_cast<float>(random.Between(-4000, 4000)) * 0.1f;
    const uint32_t code = One("v_cvt_scalef32_sr_fp8_f32 v0, v1, v2, v3",
                              Bits(x), random.Next32(), ScaleBits(2)) &
                          255;
    const double got = Value(kFp8, code) * 4;
    const double nearest = Value(kFp8, Nearest(kFp8, x / 4, true)) * 4;
    const double step = std::max(std::fabs(x) / 8.0, std::ldexp(4.0, -9));
    ASSERT_LE(std::fabs(got - x), step) << x << " " << nearest;
  }
  EXPECT_EQ(One("v_cvt_scalef32_sr_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]",
                Bits(1.0f), ~0u, ScaleBits(0), 0x11223344),
            0x11383344u);
}

}  // namespace
}  // namespace zyfa::emu::testing
