// Float instructions under all of MODE: rounding of float32 and of float16 and
// float64, flushed inputs and results, FP16_OVFL, clamp and output modifiers.
// Float32 and float64 against the host's arithmetic in its rounding modes,
// float16 against integers.

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

constexpr int kHostRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                 FE_TOWARDZERO};

// The fields of MODE, and what stands behind the operands.
struct Setting {
  int round_f32 = 0, round_f16_f64 = 0;
  bool keep_in_f32 = true, keep_out_f32 = true;
  bool keep_in_f16_f64 = true, keep_out_f16_f64 = true;
  bool dx10 = false, ieee = false, ovfl = false;
  int omod = 0;
  bool clamp = false;

  uint32_t Bits() const {
    return static_cast<uint32_t>(round_f32 | round_f16_f64 << 2 |
                                 keep_in_f32 << 4 | keep_out_f32 << 5 |
                                 keep_in_f16_f64 << 6 | keep_out_f16_f64 << 7 |
                                 dx10 << 8 | ieee << 9 | ovfl << 23);
  }
  std::string Modifiers() const {
    static constexpr const char* kOmod[] = {"", " mul:2", " mul:4", " div:2"};
    return std::string(clamp ? " clamp" : "") + kOmod[omod];
  }
};

Setting AnySetting(Random& random, bool with_omod, bool with_clamp) {
  const uint32_t bits = random.Next32();
  Setting s;
  s.round_f32 = bits & 3;
  s.round_f16_f64 = bits >> 2 & 3;
  s.keep_in_f32 = bits >> 4 & 1;
  s.keep_out_f32 = bits >> 5 & 1;
  s.keep_in_f16_f64 = bits >> 6 & 1;
  s.keep_out_f16_f64 = bits >> 7 & 1;
  s.dx10 = bits >> 8 & 1;
  s.ieee = bits >> 9 & 1;
  s.ovfl = bits >> 10 & 1;
  if (with_omod && (bits >> 11 & 1)) s.omod = bits >> 12 & 3;
  if (with_clamp && (bits >> 14 & 1)) s.clamp = true;
  return s;
}

template <class V>
V Flushed(V x, bool keep) {
  const bool denormal = x != 0 && std::fabs(x) < std::numeric_limits<V>::min();
  return denormal && !keep ? std::copysign(V{0}, x) : x;
}

// Output modifier, clamp and flush of a rounded result. The modifier works in
// no mode that keeps denormals, nor in IEEE mode.
template <class V>
V Finished(V x, const Setting& s, bool keep_out) {
  static constexpr V kFactor[] = {1, 2, 4, V{0.5}};
  if (s.omod != 0 && !s.ieee && !keep_out) {
    // The smallest normal number's half is flushed, not rounded.
    x *= kFactor[s.omod];
    if (x == 0) x = 0;
  }
  if (s.clamp) {
    if (std::isnan(x)) {
      if (s.dx10) x = 0;
    } else {
      x = x <= 0 ? 0 : std::min(x, V{1});
    }
  }
  return Flushed(x, keep_out);
}

template <class V>
bool Same(V got, V expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected && std::signbit(got) == std::signbit(expected);
}

// `function` in a rounding mode of the host, out of the optimiser's sight.
template <class V, class F>
V Rounded(int mode, F function) {
  std::fesetround(kHostRounding[mode]);
  const volatile V result = function();
  std::fesetround(FE_TONEAREST);
  return result;
}

// Float32 operands that meet: random, special or near each other.
uint32_t Operand32(Random& random) {
  const uint32_t bits = random.FloatBits();
  switch (random.Next32() % 4) {
    case 0:
      return bits;
    case 1:  // near 1
      return (bits & 0x807fffff) | random.Between(118, 136) << 23;
    case 2:  // products of two are near the smallest normal number
      return (bits & 0x807fffff) | random.Between(56, 72) << 23;
    default:  // denormals and their neighbours
      return (bits & 0x807fffff) | random.Between(0, 24) << 23;
  }
}

struct Op32 {
  std::string text;  // v10 (and v11) of v1, v2, v3
  std::function<float(float, float, float)> exact;
  bool omod = true, clamp = true;
};

TEST(FloatModeTest, Float32) {
  const auto add = [](float a, float b, float) { return a + b; };
  const auto subtract = [](float a, float b, float) { return a - b; };
  const auto multiply = [](float a, float b, float) { return a * b; };
  const auto fused = [](float a, float b, float c) {
    return std::fma(a, b, c);
  };
  const std::vector<Op32> ops = {
      {"v_add_f32_e64 v10, v1, v2", add},
      {"v_sub_f32_e64 v10, v1, v2", subtract},
      {"v_subrev_f32_e64 v10, v2, v1", subtract},
      {"v_mul_f32_e64 v10, v1, v2", multiply},
      {"v_fma_f32 v10, v1, v2, v3", fused},
      {"v_pk_add_f32 v[10:11], v[1:2], v[2:3] op_sel_hi:[0,0]", add, false},
      {"v_pk_mul_f32 v[10:11], v[1:2], v[2:3] op_sel_hi:[0,0]", multiply,
       false},
      {"v_pk_fma_f32 v[10:11], v[1:2], v[2:3], v[3:4] op_sel_hi:[0,0,0]", fused,
       false},
      {"v_fma_mix_f32 v10, v1, v2, v3", fused, false},
      // VCC is 0.
      {"v_div_fmas_f32 v10, v1, v2, v3", fused},
      {"v_fract_f32_e64 v10, v1",
       [](float a, float, float) {
         const volatile float whole = std::floor(a);
         const float part = a - whole;
         // A whole number leaves +0 in every mode; below 1 at most.
         return part == 0 ? 0 : std::min(part, 0x1.fffffep-1f);
       }},
  };
  Random random(31);
  for (const Op32& op : ops) {
    for (int trial = 0; trial < 200; ++trial) {
      const Setting s = AnySetting(random, op.omod, op.clamp);
      TestWave wave;
      wave->mode.bits = s.Bits();
      for (int l = 0; l < kLanes; ++l) {
        for (int r = 1; r <= 3; ++r) wave->vgpr[r][l] = Operand32(random);
        if (l % 8 == 0) wave->vgpr[2][l] = wave->vgpr[1][l] ^ 0x80000000;
        if (l % 8 == 1) wave->vgpr[2][l] = wave->vgpr[1][l];
      }
      wave.Run(op.text + s.Modifiers());
      for (int l = 0; l < kLanes; ++l) {
        const auto in = [&](int r) {
          return Flushed(Float(wave->vgpr[r][l]), s.keep_in_f32);
        };
        const float a = in(1), b = in(2), c = in(3);
        const float expected = Finished(
            Rounded<float>(s.round_f32, [&] { return op.exact(a, b, c); }), s,
            s.keep_out_f32);
        // Doubling a large number may round: not defined which way.
        if (s.omod != 0 && std::isinf(expected)) continue;
        ASSERT_TRUE(Same(Float(wave->vgpr[10][l]), expected))
            << op.text << s.Modifiers() << " mode " << std::hex << s.Bits()
            << std::dec << " of " << a << " " << b << " " << c << ": "
            << Float(wave->vgpr[10][l]) << " instead of " << expected;
      }
    }
  }
}

TEST(FloatModeTest, ConversionsToFloat32) {
  Random random(32);
  for (int trial = 0; trial < 400; ++trial) {
    const Setting s = AnySetting(random, true, true);
    TestWave wave;
    wave->mode.bits = s.Bits();
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[2][l] = random.Next32();
      wave->vgpr[3][l] = random.Next32();
      // Float64 near what float32 can hold.
      if (l % 4 != 0) {
        wave->vgpr[3][l] = (wave->vgpr[3][l] & 0x800fffff) |
                           static_cast<uint32_t>(random.Between(870, 1155))
                               << 20;
      }
    }
    wave.Run("v_cvt_f32_u32_e64 v10, v2" + s.Modifiers());
    wave.Run("v_cvt_f32_i32_e64 v11, v2" + s.Modifiers());
    wave.Run("v_cvt_f32_f64_e64 v12, v[2:3]" + s.Modifiers());
    for (int l = 0; l < kLanes; ++l) {
      const volatile uint32_t word = wave->vgpr[2][l];
      const volatile double wide = Flushed(
          Double(word | uint64_t{wave->vgpr[3][l]} << 32), s.keep_in_f16_f64);
      const float expected[] = {
          Rounded<float>(s.round_f32, [&] { return static_cast<float>(word); }),
          Rounded<float>(
              s.round_f32,
              [&] { return static_cast<float>(static_cast<int32_t>(word)); }),
          Rounded<float>(s.round_f16_f64,
                         [&] { return static_cast<float>(wide); })};
      for (int i = 0; i < 3; ++i) {
        const float finished = Finished(expected[i], s, s.keep_out_f32);
        if (s.omod != 0 && std::isinf(finished)) continue;
        ASSERT_TRUE(Same(Float(wave->vgpr[10 + i][l]), finished))
            << i << " mode " << std::hex << s.Bits() << s.Modifiers();
      }
    }
  }
}

TEST(FloatModeTest, Float64) {
  struct Op64 {
    std::string text;  // v[10:11] of v[2:3], v[4:5], v[6:7]
    std::function<double(double, double, double)> exact;
  };
  const std::vector<Op64> ops = {
      {"v_add_f64 v[10:11], v[2:3], v[4:5]",
       [](double a, double b, double) { return a + b; }},
      {"v_mul_f64 v[10:11], v[2:3], v[4:5]",
       [](double a, double b, double) { return a * b; }},
      {"v_fma_f64 v[10:11], v[2:3], v[4:5], v[6:7]",
       [](double a, double b, double c) { return std::fma(a, b, c); }},
      {"v_div_fmas_f64 v[10:11], v[2:3], v[4:5], v[6:7]",
       [](double a, double b, double c) { return std::fma(a, b, c); }}};
  Random random(33);
  for (const Op64& op : ops) {
    for (int trial = 0; trial < 200; ++trial) {
      const Setting s = AnySetting(random, true, true);
      TestWave wave;
      wave->mode.bits = s.Bits();
      for (int l = 0; l < kLanes; ++l) {
        for (int r = 2; r <= 6; r += 2) {
          wave->vgpr[r][l] = random.Next32();
          wave->vgpr[r + 1][l] = random.Next32();
          const int least = trial % 2 ? 1000 : 490,
                    most = trial % 2 ? 1046 : 530;
          if (l % 4 != 0) {
            wave->vgpr[r + 1][l] =
                (wave->vgpr[r + 1][l] & 0x800fffff) |
                static_cast<uint32_t>(random.Between(least, most)) << 20;
          }
        }
        if (l % 8 == 1) {
          wave->vgpr[4][l] = wave->vgpr[2][l];
          wave->vgpr[5][l] = wave->vgpr[3][l] ^ 0x80000000;
        }
      }
      wave.Run(op.text + s.Modifiers());
      for (int l = 0; l < kLanes; ++l) {
        const auto at = [&](int r) {
          return Double(wave->vgpr[r][l] | uint64_t{wave->vgpr[r + 1][l]}
                                               << 32);
        };
        const auto in = [&](int r) {
          return Flushed(at(r), s.keep_in_f16_f64);
        };
        const double a = in(2), b = in(4), c = in(6);
        const double expected = Finished(
            Rounded<double>(s.round_f16_f64, [&] { return op.exact(a, b, c); }),
            s, s.keep_out_f16_f64);
        if (s.omod != 0 && std::isinf(expected)) continue;
        ASSERT_TRUE(Same(at(10), expected))
            << op.text << s.Modifiers() << " mode " << std::hex << s.Bits()
            << ": " << at(10) << " instead of " << expected;
      }
    }
  }
}

// An exact number: mantissa * 2^exponent, or an infinity or NaN.
__extension__ using Wide = __int128;
struct Number {
  Wide mantissa = 0;
  int exponent = 0;
  bool negative_zero = false;
  double special = 0;  // not 0: infinity or NaN
};

Number FromHalf(uint32_t code, bool keep) {
  const uint32_t field = code >> 10 & 31, fraction = code & 0x3ff;
  const int sign = code & 0x8000 ? -1 : 1;
  Number x;
  if (field == 31) {
    x.special = fraction != 0 ? NAN : sign * INFINITY;
  } else if (field != 0 || keep) {
    // In units of the smallest denormal.
    x.mantissa = field == 0 ? fraction : Wide{fraction | 0x400} << (field - 1);
    x.mantissa *= sign;
    x.exponent = -24;
  }
  x.negative_zero = x.mantissa == 0 && x.special == 0 && sign < 0;
  return x;
}
Number FromFloat(float value, bool keep) {
  Number x;
  value = Flushed(value, keep);
  if (!std::isfinite(value)) {
    x.special = value;
    return x;
  }
  int exponent = 0;
  x.mantissa = static_cast<Wide>(std::ldexp(std::frexp(value, &exponent), 24));
  x.exponent = exponent - 24;
  x.negative_zero = value == 0 && std::signbit(value);
  return x;
}
bool Negative(const Number& x) {
  return x.mantissa < 0 || x.negative_zero || x.special < 0;
}
double Sign(const Number& x) { return Negative(x) ? -1 : 1; }

Number Product(const Number& a, const Number& b) {
  Number p;
  if (a.special != 0 || b.special != 0) {
    const auto value = [](const Number& x) {
      return x.special != 0 ? x.special : x.mantissa == 0 ? 0 : Sign(x);
    };
    p.special = value(a) * value(b);
    return p;
  }
  p.mantissa = a.mantissa * b.mantissa;
  p.exponent = a.exponent + b.exponent;
  p.negative_zero = p.mantissa == 0 && Negative(a) != Negative(b);
  return p;
}
// Rounding (MODE's number) decides about the sign of a zero.
Number Total(const Number& a, const Number& b, int rounding) {
  Number t;
  if (a.special != 0 || b.special != 0) {
    t.special = a.special + b.special;
    return t;
  }
  t.exponent = std::min(a.exponent, b.exponent);
  t.mantissa = (a.mantissa << (a.exponent - t.exponent)) +
               (b.mantissa << (b.exponent - t.exponent));
  if (t.mantissa == 0) {
    t.negative_zero =
        rounding == 2 ? Negative(a) || Negative(b) : Negative(a) && Negative(b);
  }
  return t;
}

// The float16 code of a number, by trying: codes are in the order of values.
uint32_t ToHalf(const Number& x, int rounding, bool ovfl) {
  if (std::isnan(x.special)) return 0x7e00;
  const bool negative = Negative(x);
  const uint32_t sign = negative ? 0x8000 : 0;
  if (x.special != 0) return sign | 0x7c00;
  Wide magnitude = x.mantissa < 0 ? -x.mantissa : x.mantissa;
  // To units of 2^-48, which all sums here are multiples of; of float32 sources
  // what lies lower is kept as a sticky bit.
  const int shift = x.exponent + 48;
  if (shift >= 0) {
    // Beyond all codes anyway with 60 bits more.
    magnitude <<= std::min(shift, 60);
  } else {
    const int down = std::min(-shift, 120);
    const Wide kept = magnitude >> down;
    magnitude = kept | (kept << down != magnitude ? 1 : 0);
  }
  const auto value = [](uint32_t code) {  // in the same units; 0x7c00: 2^16
    const uint32_t field = code >> 10, fraction = code & 0x3ff;
    return (field == 0 ? Wide{fraction} : Wide{fraction | 0x400} << (field - 1))
           << 24;
  };
  uint32_t low = 0, high = 0x7c00;
  if (magnitude >= value(high)) {
    low = 0x7c00;
  } else {
    while (high - low > 1) {  // the largest code not above
      const uint32_t middle = (low + high) / 2;
      (value(middle) <= magnitude ? low : high) = middle;
    }
  }
  uint32_t code = low;
  if (low != 0x7c00 && value(low) != magnitude) {
    const Wide below = magnitude - value(low),
               above = value(low + 1) - magnitude;
    const bool away = rounding == 1 ? !negative : rounding == 2 && negative;
    const bool nearest_up = below > above || (below == above && (low & 1));
    if (rounding == 0 ? nearest_up : away) ++code;
  }
  if (code == 0x7c00) {
    // Past the end: the largest number where the rounding does not lead on.
    const bool inward = rounding == 3 || rounding == (negative ? 1 : 2);
    if (ovfl || inward) code = 0x7bff;
  }
  return sign | code;
}

uint32_t FinishedHalf(uint32_t code, const Setting& s) {
  const auto flush = [&] {
    if (!s.keep_out_f16_f64 && (code & 0x7c00) == 0) code &= 0x8000;
  };
  flush();
  const bool nan = (code & 0x7fff) > 0x7c00;
  if (s.clamp) {
    if (nan) {
      if (s.dx10) code = 0;
    } else if (code & 0x8000) {
      code = 0;
    } else {
      code = std::min(code, 0x3c00u);
    }
  }
  return code;
}

uint32_t Operand16(Random& random) {
  static constexpr uint32_t kSpecial[] = {0x0000, 0x8000, 0x3c00, 0xbc00,
                                          0x7c00, 0xfc00, 0x7e00, 0x0001,
                                          0x83ff, 0x0400, 0x7bff, 0xfbff};
  const uint32_t bits = random.Next32();
  if (bits % 5 == 0) return kSpecial[bits / 8 % 12];
  return bits >> 16;
}

TEST(FloatModeTest, Float16) {
  struct Op16 {
    std::string text;  // v10 of v1, v2, v3
    std::function<uint32_t(const Number*, const Setting&)> exact;
  };
  const auto round = [](const Number& x, const Setting& s) {
    return ToHalf(x, s.round_f16_f64, s.ovfl);
  };
  const auto minus = [](Number x) {
    x.negative_zero = x.mantissa == 0 && x.special == 0 && !x.negative_zero;
    x.mantissa = -x.mantissa;
    x.special = -x.special;
    return x;
  };
  const auto add = [=](const Number* x, const Setting& s) {
    return round(Total(x[0], x[1], s.round_f16_f64), s);
  };
  const auto subtract = [=](const Number* x, const Setting& s) {
    return round(Total(x[0], minus(x[1]), s.round_f16_f64), s);
  };
  const auto multiply = [=](const Number* x, const Setting& s) {
    return round(Product(x[0], x[1]), s);
  };
  const auto fused = [=](const Number* x, const Setting& s) {
    return round(Total(Product(x[0], x[1]), x[2], s.round_f16_f64), s);
  };
  const auto separate = [=](const Number* x, const Setting& s) {
    const Number product = FromHalf(round(Product(x[0], x[1]), s), true);
    return round(Total(product, x[2], s.round_f16_f64), s);
  };
  const std::vector<Op16> ops = {
      {"v_add_f16_e64 v10, v1, v2", add},
      {"v_sub_f16_e64 v10, v1, v2", subtract},
      {"v_subrev_f16_e64 v10, v2, v1", subtract},
      {"v_mul_f16_e64 v10, v1, v2", multiply},
      {"v_fma_f16 v10, v1, v2, v3", fused},
      {"v_mad_f16 v10, v1, v2, v3", separate},
      {"v_mad_legacy_f16 v10, v1, v2, v3", separate},
      {"v_pk_add_f16 v10, v1, v2", add},
      {"v_pk_mul_f16 v10, v1, v2", multiply},
      {"v_pk_fma_f16 v10, v1, v2, v3", fused},
  };
  Random random(34);
  for (const Op16& op : ops) {
    for (int trial = 0; trial < 200; ++trial) {
      const Setting s = AnySetting(random, false, true);
      TestWave wave;
      wave->mode.bits = s.Bits();
      for (int l = 0; l < kLanes; ++l) {
        for (int r = 1; r <= 3; ++r) wave->vgpr[r][l] = Operand16(random);
        if (l % 8 == 0) wave->vgpr[2][l] = wave->vgpr[1][l] ^ 0x8000;
      }
      wave.Run(op.text + s.Modifiers());
      for (int l = 0; l < kLanes; ++l) {
        Number x[3];
        for (int r = 0; r < 3; ++r) {
          x[r] = FromHalf(wave->vgpr[1 + r][l], s.keep_in_f16_f64);
        }
        const uint32_t expected = FinishedHalf(op.exact(x, s), s);
        const uint32_t got = wave->vgpr[10][l] & 0xffff;
        const bool nan = (expected & 0x7fff) > 0x7c00;
        ASSERT_TRUE(nan ? (got & 0x7fff) > 0x7c00 : got == expected)
            << op.text << s.Modifiers() << " mode " << std::hex << s.Bits()
            << " of " << wave->vgpr[1][l] << " " << wave->vgpr[2][l] << " "
            << wave->vgpr[3][l] << ": " << got << " instead of " << expected;
      }
    }
  }
}

TEST(FloatModeTest, ConversionsToFloat16) {
  Random random(35);
  for (int trial = 0; trial < 400; ++trial) {
    const Setting s = AnySetting(random, false, true);
    TestWave wave;
    wave->mode.bits = s.Bits();
    for (int l = 0; l < kLanes; ++l) {
      for (int r = 1; r <= 3; ++r) {
        wave->vgpr[r][l] = random.FloatBits();
        if (l % 4 != 0) {
          wave->vgpr[r][l] =
              (wave->vgpr[r][l] & 0x807fffff) | random.Between(100, 145) << 23;
        }
      }
    }
    wave.Run("v_cvt_f16_f32_e64 v10, v1" + s.Modifiers());
    // Two roundings: of the float32 sum, then to float16.
    wave.Run("v_fma_mixlo_f16 v11, v1, v2, v3" + s.Modifiers());
    Setting plain = s;
    plain.clamp = false;
    wave.Run("v_cvt_pkrtz_f16_f32 v12, v1, v2");
    wave.Run("v_cvt_pk_f16_f32 v13, v1, v2");
    for (int l = 0; l < kLanes; ++l) {
      const auto in = [&](int r) {
        return Flushed(Float(wave->vgpr[r][l]), s.keep_in_f32);
      };
      const volatile float a = in(1), b = in(2), c = in(3);
      const auto half = [&](float x, int rounding) {
        return ToHalf(FromFloat(x, true), rounding, s.ovfl);
      };
      const float sum =
          Rounded<float>(s.round_f32, [&] { return std::fma(a, b, c); });
      const uint32_t expected[] = {FinishedHalf(half(a, s.round_f16_f64), s),
                                   FinishedHalf(half(sum, s.round_f16_f64), s),
                                   FinishedHalf(half(a, 3), plain),
                                   FinishedHalf(half(a, 0), plain)};
      for (int i = 0; i < 4; ++i) {
        const uint32_t got = wave->vgpr[10 + i][l] & 0xffff;
        const bool nan = (expected[i] & 0x7fff) > 0x7c00;
        ASSERT_TRUE(nan ? (got & 0x7fff) > 0x7c00 : got == expected[i])
            << i << " mode " << std::hex << s.Bits() << " of "
            << wave->vgpr[1][l] << ": " << got << " instead of " << expected[i];
      }
    }
  }
}

// v_div_fmas: the sum is rounded, then scaled by 2^64 up or down.
TEST(FloatModeTest, DivFmasScales) {
  Random random(36);
  for (int trial = 0; trial < 200; ++trial) {
    const Setting s = AnySetting(random, false, false);
    TestWave wave;
    wave->mode.bits = s.Bits();
    wave->set_vcc(random.Next64());
    for (int l = 0; l < kLanes; ++l) {
      for (int r = 1; r <= 3; ++r) wave->vgpr[r][l] = Operand32(random);
    }
    wave.Run("v_div_fmas_f32 v10, v1, v2, v3");
    for (int l = 0; l < kLanes; ++l) {
      const auto in = [&](int r) {
        return Flushed(Float(wave->vgpr[r][l]), s.keep_in_f32);
      };
      const volatile float a = in(1), b = in(2), c = in(3);
      volatile float expected =
          Rounded<float>(s.round_f32, [&] { return std::fma(a, b, c); });
      if (wave->vcc() >> l & 1) {
        const volatile float factor = std::fabs(c) >= 2 ? 0x1p64f : 0x1p-64f;
        expected =
            Rounded<float>(s.round_f32, [&] { return expected * factor; });
      }
      ASSERT_TRUE(Same(Float(wave->vgpr[10][l]),
                       Flushed<float>(expected, s.keep_out_f32)))
          << "mode " << std::hex << s.Bits() << " " << a << " " << b << " "
          << c;
    }
  }
}

// Minima and maxima of NaNs, from the instruction set's pseudocode: in IEEE
// mode a signalling one is made quiet and wins, a quiet one loses; three
// sources are taken two by two.
TEST(FloatModeTest, SignallingNans) {
  const uint32_t one = Bits(1.0f), quiet = 0x7fc00005, signalling = 0x7f800005;
  const auto two = [&](uint32_t a, uint32_t b, bool ieee, bool maximum) {
    const auto nan = [](uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; };
    const auto signals = [&](uint32_t x) { return nan(x) && !(x & 0x400000); };
    if (ieee && signals(a)) return a | 0x400000;
    if (ieee && signals(b)) return b | 0x400000;
    if (nan(a)) return b;
    if (nan(b)) return a;
    return (Float(a) < Float(b)) == maximum ? b : a;
  };
  const uint32_t values[] = {one,        Bits(-2.0f), Bits(3.0f), quiet,
                             0x7fc00077, signalling,  0xff800009};
  for (const bool ieee : {false, true}) {
    TestWave wave;
    wave->mode.bits |= ieee ? kModeIeee : 0;
    for (const bool maximum : {false, true}) {
      const std::string name = maximum ? "v_max" : "v_min";
      for (const uint32_t a : values) {
        for (const uint32_t b : values) {
          if (a == b) continue;
          for (const uint32_t c : values) {
            wave->vgpr[1][0] = a;
            wave->vgpr[2][0] = b;
            wave->vgpr[3][0] = c;
            wave.Run(name + "_f32_e32 v10, v1, v2");
            ASSERT_EQ(wave->vgpr[10][0], two(a, b, ieee, maximum))
                << name << std::hex << " " << a << " " << b;
            if (c == a || c == b) continue;
            wave.Run(name + "3_f32 v10, v1, v2, v3");
            ASSERT_EQ(wave->vgpr[10][0],
                      two(two(a, b, ieee, maximum), c, ieee, maximum))
                << name << "3" << std::hex << " " << a << " " << b << " " << c;
            wave.Run("v_med3_f32 v10, v1, v2, v3");
            const auto is_nan = [](uint32_t x) { return std::isnan(Float(x)); };
            if (is_nan(a) || is_nan(b) || is_nan(c)) {
              ASSERT_EQ(wave->vgpr[10][0],
                        two(two(a, b, ieee, false), c, ieee, false))
                  << std::hex << a << " " << b << " " << c;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace zyfa::emu::testing
