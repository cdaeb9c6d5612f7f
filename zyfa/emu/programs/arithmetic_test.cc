// Arithmetic that compiled code makes of integers, floats and doubles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kItems = 256;

double Half(uint64_t code) { return ValueOf(Format::kF16, code & 0xffff); }
double ToHalf(double x) { return Half(CodeOf(Format::kF16, x)); }
double Bfloat(uint64_t code) { return ValueOf(Format::kBf16, code & 0xffff); }

class Arithmetic : public testing::TestWithParam<std::string> {
 protected:
  // Runs `kernel` on one group with `words` results of 32 bits an item.
  template <class Out, class... Inputs>
  std::vector<Out> Run(const std::string& kernel, size_t results,
                       const Inputs&... inputs) {
    const uint64_t out = device.Upload(std::vector<Out>(results * kItems));
    Kernarg kernarg;
    kernarg.Add(out);
    (kernarg.Add(device.Upload(inputs)), ...);
    // LLVM 22 emits the form of v_pk_fma_f32 that the hardware has a fault in.
    device.RunClean(kernel, Shape(1, kItems), kernarg, StrictOptions(),
                    {"pk-fma-fault"});
    return device.Download<Out>(out, results * kItems);
  }
  std::vector<uint32_t> Words(uint64_t seed, size_t count = kItems) {
    Noise noise(seed);
    std::vector<uint32_t> words(count);
    for (uint32_t& w : words) w = noise.Next();
    return words;
  }
  // Halves of ordinary size, two a word.
  std::vector<uint32_t> HalfPairs(uint64_t seed) {
    Noise noise(seed);
    std::vector<uint32_t> words(kItems);
    for (uint32_t& w : words) {
      for (int part = 0; part < 2; ++part) {
        w = w << 16 |
            static_cast<uint32_t>(CodeOf(
                Format::kF16, std::ldexp(noise.Float(), noise.Between(-6, 5))));
      }
    }
    return words;
  }
  // Of widely different size, never 0.
  std::vector<float> WideFloats(uint64_t seed) {
    Noise noise(seed);
    std::vector<float> values(kItems);
    for (float& v : values) {
      v = std::ldexp(noise.Float() + 1.5f, noise.Between(-12, 12));
      if (noise.Next() % 2) v = -v;
    }
    return values;
  }

  TestDevice device{GetParam()};
};

TEST_P(Arithmetic, IntegerDivision) {
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

TEST_P(Arithmetic, PackedFloats) {
  Noise noise(1);
  const std::vector<float> a = noise.Floats(2 * kItems);
  const std::vector<float> b = noise.Floats(2 * kItems);
  const std::vector<float> c = noise.Floats(2 * kItems);
  const auto got = Run<float>("packed_floats", 10, a, b, c);
  for (size_t i = 0; i < kItems; ++i) {
    for (size_t h = 0; h < 2; ++h) {
      const float x = a[2 * i + h], y = b[2 * i + h], z = c[2 * i + h];
      const float* o = &got[10 * i + h];
      ASSERT_EQ(o[0], x + y);
      // Contracted to one rounding or not: the compiler may choose.
      ASSERT_TRUE(o[2] == std::fma(x, y, -z) || o[2] == x * y - z);
      ASSERT_EQ(o[4], std::fma(x, y, z));
      ASSERT_EQ(o[6], std::fma(x, b[2 * i + 1], -z));
      ASSERT_EQ(o[8], a[2 * i + 1 - h] * (h ? -b[2 * i] : b[2 * i]));
    }
  }
}

TEST_P(Arithmetic, PackedHalves) {
  const auto a = HalfPairs(2), b = HalfPairs(3), c = HalfPairs(4);
  const auto got = Run<uint32_t>("packed_halves", 6, a, b, c);
  for (size_t i = 0; i < kItems; ++i) {
    for (int shift : {0, 16}) {
      const double x = Half(a[i] >> shift), y = Half(b[i] >> shift);
      const double z = Half(c[i] >> shift);
      // Sums and products of halves are exact in double.
      const double want[6] = {
          ToHalf(x + y),
          ToHalf(x * y),
          ToHalf(x * y + z),
          std::max(x, y),
          std::min(x, y),
          ToHalf(Half(a[i] >> (16 - shift)) - Half(b[i] >> 16))};
      for (size_t r = 0; r < 6; ++r) {
        ASSERT_EQ(Half(got[6 * i + r] >> shift), want[r])
            << r << " " << x << " " << y << " " << z;
      }
    }
  }
}

TEST_P(Arithmetic, PackedShorts) {
  const auto a = Words(5), b = Words(6);
  const auto got = Run<uint32_t>("packed_shorts", 8, a, b);
  for (size_t i = 0; i < kItems; ++i) {
    for (int shift : {0, 16}) {
      const auto x = static_cast<int16_t>(a[i] >> shift);
      const auto y = static_cast<int16_t>(b[i] >> shift);
      const int unsigned_min =
          std::min<int>(static_cast<uint16_t>(x), static_cast<uint16_t>(y));
      const int want[8] = {x + y,         x - y,
                           x * y,         std::max(x, y),
                           unsigned_min,  static_cast<uint16_t>(x) << (y & 15),
                           x >> (y & 15), std::clamp(x + y, -32768, 32767)};
      for (size_t r = 0; r < 8; ++r) {
        ASSERT_EQ(static_cast<uint16_t>(got[8 * i + r] >> shift),
                  static_cast<uint16_t>(want[r]))
            << r << " " << x << " " << y;
      }
    }
  }
}

TEST_P(Arithmetic, DotProducts) {
  const auto a = Words(7), b = Words(8), ha = HalfPairs(9), hb = HalfPairs(10);
  std::vector<uint32_t> ba(kItems), bb(kItems);
  Noise noise(11);
  for (size_t i = 0; i < kItems; ++i) {
    for (auto* word : {&ba[i], &bb[i]}) {
      for (int part = 0; part < 2; ++part) {
        *word = *word << 16 |
                static_cast<uint32_t>(CodeOf(Format::kBf16, noise.Float()));
      }
    }
  }
  const uint64_t ints = device.Upload(std::vector<int32_t>(6 * kItems));
  const uint64_t floats = device.Upload(std::vector<float>(2 * kItems));
  device.RunClean("dots", Shape(1, kItems),
                  Kernarg()
                      .Add(ints)
                      .Add(floats)
                      .Add(device.Upload(a))
                      .Add(device.Upload(b))
                      .Add(device.Upload(ha))
                      .Add(device.Upload(hb))
                      .Add(device.Upload(ba))
                      .Add(device.Upload(bb)));
  const auto got = device.Download<int32_t>(ints, 6 * kItems);
  const auto got_floats = device.Download<float>(floats, 2 * kItems);
  for (size_t i = 0; i < kItems; ++i) {
    // Sum of products of fields of `bits`, modulo 2^32.
    const auto dot = [&](int bits, bool is_signed, int64_t sum) {
      for (int at = 0; at < 32; at += bits) {
        int64_t x = a[i] >> at & ((1u << bits) - 1);
        int64_t y = b[i] >> at & ((1u << bits) - 1);
        if (is_signed && x >> (bits - 1)) x -= int64_t{1} << bits;
        if (is_signed && y >> (bits - 1)) y -= int64_t{1} << bits;
        sum += x * y;
      }
      return static_cast<int32_t>(sum);
    };
    const int32_t* o = &got[6 * i];
    ASSERT_EQ(o[0], dot(8, true, 100));
    ASSERT_EQ(o[1], dot(8, false, 100));
    ASSERT_EQ(o[2], dot(4, true, -7));
    ASSERT_EQ(o[3], dot(4, false, 7));
    ASSERT_EQ(o[4], dot(16, true, 3));
    ASSERT_EQ(o[5], dot(16, false, 3));
    double want = 0.5, size = 0.5;
    double bf_want = -0.5;
    for (int shift : {0, 16}) {
      const double term = Half(ha[i] >> shift) * Half(hb[i] >> shift);
      want += term;
      size += std::fabs(term);
      bf_want += Bfloat(ba[i] >> shift) * Bfloat(bb[i] >> shift);
    }
    ASSERT_NEAR(got_floats[2 * i], want, 2e-7 * size);
    ASSERT_NEAR(got_floats[2 * i + 1], bf_want, 5e-7);
  }
}

TEST_P(Arithmetic, HalvesAndFloatsMixed) {
  const auto pairs = HalfPairs(12);
  std::vector<uint16_t> a(kItems), b(kItems);
  for (size_t i = 0; i < kItems; ++i) {
    a[i] = static_cast<uint16_t>(pairs[i]);
    b[i] = static_cast<uint16_t>(pairs[i] >> 16 | 1);  // not 0
  }
  Noise noise(13);
  const std::vector<float> c = noise.Floats(kItems);
  const uint64_t out = device.Upload(std::vector<float>(kItems));
  const uint64_t halves = device.Upload(std::vector<uint16_t>(3 * kItems));
  device.RunClean("mixed", Shape(1, kItems),
                  Kernarg()
                      .Add(out)
                      .Add(halves)
                      .Add(device.Upload(a))
                      .Add(device.Upload(b))
                      .Add(device.Upload(c)));
  const auto got = device.Download<float>(out, kItems);
  const auto got_halves = device.Download<uint16_t>(halves, 3 * kItems);
  for (size_t i = 0; i < kItems; ++i) {
    const auto x = static_cast<float>(Half(a[i]));
    const auto y = static_cast<float>(Half(b[i]));
    ASSERT_EQ(got[i], std::fma(x, y, c[i]));
    ASSERT_EQ(Half(got_halves[3 * i]), ToHalf(std::fma(x, c[i], y)));
    ASSERT_EQ(Half(got_halves[3 * i + 1]), ToHalf(double{x} / y)) << x << y;
    ASSERT_EQ(Half(got_halves[3 * i + 2]), ToHalf(std::sqrt(std::fabs(x))));
  }
}

TEST_P(Arithmetic, Bytes) {
  const auto a = Words(14), b = Words(15);
  const auto got = Run<uint32_t>("bytes", 8, a, b);
  for (size_t i = 0; i < kItems; ++i) {
    uint8_t x[4], y[4];
    std::memcpy(x, &a[i], 4);
    std::memcpy(y, &b[i], 4);
    uint32_t sum = 0, product = 0, most = 0;
    for (size_t n = 0; n < 4; ++n) {
      sum |= uint32_t{static_cast<uint8_t>(x[n] + y[n])} << 8 * n;
      product |= uint32_t{static_cast<uint8_t>(x[n] * y[n])} << 8 * n;
      most |= uint32_t{std::max(x[n], y[n])} << 8 * n;
    }
    const auto s = [&](size_t n) {
      return static_cast<int>(static_cast<int8_t>(x[n]));
    };
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit) {
      reversed |= (a[i] >> bit & 1) << (31 - bit);
    }
    const uint32_t* o = &got[8 * i];
    ASSERT_EQ(o[0], sum);
    ASSERT_EQ(o[1], product);
    ASSERT_EQ(o[2], most);
    ASSERT_EQ(o[3], uint32_t{x[0]} * y[3] + uint32_t{x[2]} * y[1]);
    ASSERT_EQ(o[4], static_cast<uint32_t>(s(1) * s(3) - s(2)));
    ASSERT_EQ(o[5], uint32_t{x[0]} + 2u * x[1] + 3u * x[2] + 4u * x[3]);
    ASSERT_EQ(o[6], (a[i] >> 16) * (b[i] & 0xffff));
    ASSERT_EQ(o[7], reversed ^ __builtin_bswap32(b[i]));
  }
}

TEST_P(Arithmetic, Bits) {
  const auto a = Words(16), b = Words(17);
  const auto got = Run<uint32_t>("bits", 16, a, b);
  for (size_t i = 0; i < kItems; ++i) {
    const uint32_t x = a[i], y = b[i];
    const uint64_t both = uint64_t{x} << 32 | y;
    const uint32_t field = x >> (y & 31);
    const auto five = static_cast<int32_t>(field << 27) >> 27;
    // Fewer than 5 bits are left at the top: sign of the word.
    const auto signed_field =
        (y & 31) > 27 ? static_cast<int32_t>(x) >> (y & 31) : five;
    uint32_t sad = 5, table = 0;
    for (int n = 0; n < 32; n += 8) {
      sad += static_cast<uint32_t>(std::abs(static_cast<int>(x >> n & 255) -
                                            static_cast<int>(y >> n & 255)));
    }
    for (int n = 0; n < 32; ++n) {
      const uint32_t row =
          (x >> n & 1) << 2 | (y >> n & 1) << 1 | (0x0f0f1234u >> n & 1);
      table |= (0x6au >> row & 1) << n;
    }
    const uint64_t sum = uint64_t{x} + y;
    const int64_t difference =
        int64_t{static_cast<int32_t>(x)} - static_cast<int32_t>(y);
    // Selector bytes 01, 04, 07, 0c: y's byte 1, x's bytes 0 and 3, zero.
    const uint32_t permuted = (y >> 8 & 255) | (x & 255) << 8 | (x >> 24) << 16;
    const uint32_t want[16] = {
        static_cast<uint32_t>(std::popcount(x)),
        static_cast<uint32_t>(std::countl_zero(x)),
        static_cast<uint32_t>(std::countr_zero(x)),
        std::rotl(x, static_cast<int>(y & 31)),
        field & 127,
        static_cast<uint32_t>(signed_field),
        static_cast<uint32_t>(both >> 11),
        static_cast<uint32_t>(both >> 24),
        permuted,
        (x & y) | (~x & 0x12345678),
        sad,
        static_cast<uint32_t>((uint64_t{x} * y) >> 32),
        static_cast<uint32_t>(
            (int64_t{static_cast<int32_t>(x)} * static_cast<int32_t>(y)) >> 32),
        table,
        sum > 0xffffffff ? 0xffffffff : static_cast<uint32_t>(sum),
        static_cast<uint32_t>(
            std::clamp<int64_t>(difference, INT32_MIN, INT32_MAX))};
    for (size_t r = 0; r < 16; ++r) {
      ASSERT_EQ(got[16 * i + r], want[r]) << r << " " << x << " " << y;
    }
  }
}

TEST_P(Arithmetic, WideIntegers) {
  Noise noise(18);
  std::vector<int64_t> a(kItems), b(kItems);
  for (size_t i = 0; i < kItems; ++i) {
    for (auto* v : {&a[i], &b[i]}) {
      const uint64_t bits = uint64_t{noise.Next()} << 32 | noise.Next();
      *v = static_cast<int64_t>(bits) >> noise.Between(0, 62);
    }
  }
  const auto got = Run<int64_t>("wide_integers", 12, a, b);
  for (size_t i = 0; i < kItems; ++i) {
    const int64_t x = a[i], y = b[i];
    const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
    const uint64_t want[12] = {
        ux + uy,
        ux - uy,
        ux * uy,
        ux << (uy & 63),
        static_cast<uint64_t>(x >> (uy & 63)),
        ux >> (uy & 63),
        static_cast<uint64_t>(std::min(x, y)),
        std::max(ux, uy),
        static_cast<uint64_t>((y | 1) == -1 ? static_cast<int64_t>(0 - ux)
                                            : x / (y | 1)),
        ux % (uy | 1),
        (ux << 3) + uy,
        static_cast<uint64_t>(std::popcount(ux) + std::countl_zero(uy))};
    for (size_t r = 0; r < 12; ++r) {
      ASSERT_EQ(static_cast<uint64_t>(got[12 * i + r]), want[r])
          << r << " " << x << " " << y;
    }
  }
}

TEST_P(Arithmetic, Doubles) {
  Noise noise(19);
  std::vector<double> a(kItems), b(kItems), c(kItems);
  for (size_t i = 0; i < kItems; ++i) {
    for (auto* v : {&a[i], &b[i], &c[i]}) {
      *v = std::ldexp(noise.Float() + noise.Float() * 0x1p-20,
                      noise.Between(-3, 12));
    }
  }
  const auto got = Run<double>("doubles", 16, a, b, c);
  for (size_t i = 0; i < kItems; ++i) {
    const double x = a[i], y = b[i], z = c[i];
    const double want[16] = {
        x + y,
        x * y,
        std::fma(x, y, z),
        x / y,
        std::sqrt(std::fabs(x)),
        std::floor(x),
        std::trunc(y),
        std::nearbyint(z),
        std::ceil(x),
        std::fmin(x, y),
        std::fmax(-y, z),
        static_cast<float>(x),
        static_cast<double>(static_cast<int>(y)) +
            static_cast<double>(static_cast<uint32_t>(std::fabs(z))),
        static_cast<double>(static_cast<int64_t>(x * 1e10)),
        std::ldexp(x, static_cast<int>(i % 40) - 20),
        x - std::floor(x)};
    for (size_t r = 0; r < 16; ++r) {
      ASSERT_EQ(got[16 * i + r], want[r])
          << r << " " << x << " " << y << " " << z;
    }
  }
}

TEST_P(Arithmetic, Floats) {
  const auto a = WideFloats(20), b = WideFloats(21), c = WideFloats(22);
  const auto got = Run<float>("floats", 16, a, b, c);
  for (size_t i = 0; i < kItems; ++i) {
    const float x = a[i], y = b[i], z = c[i];
    int exponent = 0;
    const float mantissa = std::frexp(x, &exponent);
    const float want[16] = {
        x / y,
        std::sqrt(std::fabs(x)),
        std::floor(x),
        std::trunc(y),
        std::nearbyint(z),
        std::ceil(x),
        std::max({x, y, z}),
        std::min({x, y, -z}),
        std::max(std::min(x, y), std::min(std::max(x, y), z)),
        std::ldexp(x, static_cast<int>(i % 20) - 10),
        static_cast<float>(static_cast<int>(y * 100)) +
            static_cast<float>(static_cast<uint32_t>(std::fabs(z * 100))),
        static_cast<float>(static_cast<int64_t>(x * 1e6f)),
        x < y   ? z
        : x > z ? y
                : -x,
        std::round(x),
        mantissa + static_cast<float>(exponent),
        std::copysign(x, y)};
    for (size_t r = 0; r < 16; ++r) {
      ASSERT_EQ(got[16 * i + r], want[r])
          << r << " " << x << " " << y << " " << z;
    }
  }
}

TEST_P(Arithmetic, Transcendentals) {
  Noise noise(23);
  std::vector<float> in(kItems);
  std::vector<uint16_t> half_in(kItems);
  for (size_t i = 0; i < kItems; ++i) {
    in[i] = std::ldexp(noise.Float() + 1.001f, noise.Between(-5, 4));
    half_in[i] = static_cast<uint16_t>(CodeOf(Format::kF16, in[i]));
  }
  const uint64_t out = device.Upload(std::vector<float>(12 * kItems));
  const uint64_t halves = device.Upload(std::vector<uint16_t>(6 * kItems));
  const uint64_t wide = device.Upload(std::vector<double>(3 * kItems));
  device.RunClean("transcendentals", Shape(1, kItems),
                  Kernarg()
                      .Add(out)
                      .Add(halves)
                      .Add(wide)
                      .Add(device.Upload(in))
                      .Add(device.Upload(half_in)));
  const auto got = device.Download<float>(out, 12 * kItems);
  const auto got_halves = device.Download<uint16_t>(halves, 6 * kItems);
  const auto got_wide = device.Download<double>(wide, 3 * kItems);
  const double turn = 2 * std::acos(-1.0);
  for (size_t i = 0; i < kItems; ++i) {
    const double x = in[i];
    const double want[12] = {std::exp2(x),
                             std::log2(x),
                             1 / x,
                             1 / std::sqrt(x),
                             std::sqrt(x),
                             std::sin(x * turn),
                             std::cos(x * turn),
                             std::exp(x),
                             std::log(x),
                             std::log10(x),
                             std::exp2(static_cast<float>(-x) * 10.0f),
                             std::log2(static_cast<float>(x) * 1e-40f)};
    for (size_t r = 0; r < 12; ++r) {
      // 1 ulp; logarithms near 1 and waves near their zeros lose relatively.
      const double error = std::fabs(want[r]) * 0x1p-22 +
                           (r == 1 || r == 5 || r == 6 || r >= 8 ? 2e-7 : 0);
      ASSERT_NEAR(got[12 * i + r], want[r], error) << r << " " << x;
    }
    const double h = Half(half_in[i]);
    const double want_half[6] = {1 / h,        1 / std::sqrt(h),
                                 std::sqrt(h), std::sin(h * turn),
                                 std::exp2(h), std::log2(h)};
    for (size_t r = 0; r < 6; ++r) {
      if (std::isinf(ToHalf(want_half[r]))) {
        ASSERT_EQ(Half(got_halves[6 * i + r]), HUGE_VAL) << r << " " << h;
        continue;
      }
      ASSERT_NEAR(Half(got_halves[6 * i + r]), want_half[r],
                  std::fabs(want_half[r]) * 0x1p-10 + (r == 3 ? 1e-3 : 1e-5))
          << r << " " << h;
    }
    // ISA: 2^-29 or so for the double forms, which are a start only.
    ASSERT_NEAR(got_wide[3 * i], 1 / x, 1 / x * 1e-7);
    ASSERT_NEAR(got_wide[3 * i + 1], 1 / std::sqrt(x), 1 / std::sqrt(x) * 1e-7);
    ASSERT_NEAR(got_wide[3 * i + 2], std::sqrt(x), std::sqrt(x) * 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Arithmetic,
                         testing::ValuesIn(BothLevels("arithmetic")));

}  // namespace
}  // namespace zyfa::emu
