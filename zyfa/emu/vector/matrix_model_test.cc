// Sums of matrix products under the models of numerics 9, against that text in
// real arithmetic, and the experiments that tell the models apart.

#include "zyfa/emu/matrix_model.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/matrix_case.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

// Wide enough for every number here: all are multiples of a unit no smaller
// than 2^-60 of the largest.
using Real = long double;

constexpr MatrixModel kModels[] = {
    MatrixModel::kExact, MatrixModel::kCdna3, MatrixModel::kGroups64,
    MatrixModel::kTruncated17, MatrixModel::kFmaChain};

// x as a multiple of 2^unit, rounded down or toward zero.
Real Down(Real x, int unit) {
  return std::ldexp(std::floor(std::ldexp(x, -unit)), unit);
}
Real TowardZero(Real x, int unit) {
  return std::ldexp(std::trunc(std::ldexp(x, -unit)), unit);
}
int ExponentOf(Real x, int least) { return std::max(std::ilogb(x), least); }

struct Product {
  Real value;
  int exponent;
};
struct Formats {
  Type a, b;
  bool bytes() const { return BitsOf(a) <= 8; }
};

std::vector<Product> Products(const Dot& dot, Formats formats) {
  std::vector<Product> products;
  for (size_t k = 0; k < dot.a.size(); ++k) {
    const Real value =
        std::ldexp(Real{dot.a[k]} * dot.b[k], dot.scale_a[k] + dot.scale_b[k]);
    const int exponent =
        value == 0 ? -100000
                   : ExponentOf(dot.a[k], LeastExponent(formats.a)) +
                         ExponentOf(dot.b[k], LeastExponent(formats.b)) +
                         dot.scale_a[k] + dot.scale_b[k];
    products.push_back({value, exponent});
  }
  return products;
}

// Infinities among the products of a group and C (NaN too), added up; 0 without
// any.
Real Infinities(const std::vector<Product>& group, float c) {
  Real sum = std::isfinite(c) ? 0.0f : c;
  for (const Product& p : group) {
    if (std::fabs(p.value) >= 0x1p128L) sum += p.value * INFINITY;
  }
  return sum;
}

// Aligned to the largest exponent and cut to 24 fraction bits; adds that
// exponent to `largest`.
Real AlignedSum(const std::vector<Product>& group, int& largest) {
  for (const Product& p : group) largest = std::max(largest, p.exponent);
  Real sum = 0;
  for (const Product& p : group) sum += TowardZero(p.value, largest - 24);
  return sum;
}

float AddGroup(const std::vector<Product>& group, bool bytes, float c) {
  if (const Real inf = Infinities(group, c); inf != 0) return inf;
  int exponent = -100000;
  Real sum = 0;
  if (bytes) {
    std::vector<Product> halves[2];
    for (size_t k = 0; k < group.size(); ++k) halves[k % 2].push_back(group[k]);
    Real sums[2];
    for (int h = 0; h < 2; ++h) {
      int largest = -100000;
      sums[h] = AlignedSum(halves[h], largest);
      exponent = std::max(exponent, largest);
    }
    for (const Real half : sums) sum += Down(half, exponent - 24);
  } else {
    sum = AlignedSum(group, exponent);
  }
  Real addend = c;
  if (c != 0) {
    const int exponent_c = ExponentOf(c, -126);
    if (bytes && exponent_c < exponent - 25) addend = 0;
    exponent = std::max(exponent, exponent_c);
  }
  if (exponent == -100000) return 0;
  Real total = Down(sum, exponent - 32) + Down(addend, exponent - 24);
  if (total != 0) total = Down(total, std::ilogb(total) - 31);
  return static_cast<float>(total);
}

float AddTruncated(const std::vector<Product>& group, float c) {
  if (const Real inf = Infinities(group, c); inf != 0) return inf;
  int exponent = c == 0 ? -100000 : ExponentOf(c, -126);
  for (const Product& p : group) exponent = std::max(exponent, p.exponent);
  if (exponent == -100000) return 0;
  Real sum = TowardZero(c, exponent - 17);
  for (const Product& p : group) sum += TowardZero(p.value, exponent - 17);
  if (sum == 0) return 0;
  sum = TowardZero(sum, std::max(std::ilogb(sum) - 17, -149));
  return static_cast<float>(sum);
}

double Model(MatrixModel model, const Dot& dot, Formats formats) {
  const std::vector<Product> products = Products(dot, formats);
  float c = static_cast<float>(dot.c);
  if (model == MatrixModel::kFmaChain) {
    for (const Product& p : products) {
      // As a fused multiply-add of float32 factors would.
      c = static_cast<float>(p.value + c);
    }
    return c;
  }
  size_t length = 64;
  if (model == MatrixModel::kCdna3) length = formats.bytes() ? 16 : 8;
  for (size_t first = 0; first < products.size(); first += length) {
    const std::vector<Product> group(
        products.begin() + first,
        products.begin() + std::min(first + length, products.size()));
    c = model == MatrixModel::kTruncated17
            ? AddTruncated(group, c)
            : AddGroup(group, formats.bytes(), c);
  }
  return c;
}

// Finite codes of every kind; those of BF16 near 1 unless `wide`.
Code AnyCode(bool wide) {
  return [wide](Type type, Random& random) {
    const uint32_t bits = random.Next32();
    if (bits % 16 == 0) return 0u;
    switch (type) {
      case Type::kBf16: {
        const int exponent =
            wide ? random.Between(0, 254) : 127 + random.Between(-14, 14);
        return (bits & 0x807f) | static_cast<uint32_t>(exponent) << 7;
      }
      case Type::kF16:
        return (bits & 0x83ff) | static_cast<uint32_t>(random.Between(0, 30))
                                     << 10;
      case Type::kFp8:
        return (bits & 0x7f) == 0x7f ? 0x7eu : bits & 0xff;
      case Type::kBf8:
        return (bits & 0x83) | static_cast<uint32_t>(random.Between(0, 30))
                                   << 2;
      default:
        return bits & ((1u << BitsOf(type)) - 1);
    }
  };
}
Addend AnyAddend(int spread) {
  return [spread](Random& random) {
    const uint32_t bits = random.Next32();
    if (bits % 16 == 0) return 0u;
    const int exponent =
        std::clamp(127 + random.Between(-spread, spread), 0, 254);
    return (bits & 0x807fffff) | static_cast<uint32_t>(exponent) << 23;
  };
}

// long double holds 64 bits: enough for all but the plain chain.
Inputs InputsOf(MatrixModel model, Formats formats, bool wide) {
  Inputs inputs;
  inputs.code = AnyCode(wide);
  inputs.addend = AnyAddend(wide ? 127 : 30);
  inputs.sum = [=](const Dot& dot) { return Model(model, dot, formats); };
  return inputs;
}

constexpr MatrixModel kGrouped[] = {MatrixModel::kCdna3, MatrixModel::kGroups64,
                                    MatrixModel::kTruncated17};

TEST(MatrixModelTest, DenseFollowsTheText) {
  const std::pair<std::string, Dense> kOps[] = {
      {"bf16",
       Simple("v_mfma_f32_32x32x16_bf16", Type::kBf16, Type::kBf16, 32, 16, 1)},
      {"bf16",
       Simple("v_mfma_f32_16x16x32_bf16", Type::kBf16, Type::kBf16, 16, 32, 1)},
      {"bf16",
       Simple("v_mfma_f32_4x4x4_16b_bf16", Type::kBf16, Type::kBf16, 4, 4, 16)},
      {"f16",
       Simple("v_mfma_f32_32x32x16_f16", Type::kF16, Type::kF16, 32, 16, 1)},
      {"f16",
       Simple("v_mfma_f32_16x16x16_f16", Type::kF16, Type::kF16, 16, 16, 1)},
      {"fp8", Simple("v_mfma_f32_16x16x32_fp8_bf8", Type::kFp8, Type::kBf8, 16,
                     32, 1)},
      {"fp8", Simple("v_mfma_f32_32x32x16_bf8_fp8", Type::kBf8, Type::kFp8, 32,
                     16, 1)}};
  for (const auto& [kind, op] : kOps) {
    for (const MatrixModel model : kGrouped) {
      for (const bool wide : {false, true}) {
        TestWave wave;
        wave->matrix_model = model;
        for (int seed = 1; seed <= 4; ++seed) {
          SCOPED_TRACE(op.name + " model " +
                       std::to_string(static_cast<int>(model)));
          ASSERT_NO_FATAL_FAILURE(Check(
              op, wave, seed, InputsOf(model, {op.a.type, op.b.type}, wide)));
        }
      }
    }
  }
}

TEST(MatrixModelTest, MixedFormatsAndScalesFollowTheText) {
  Random random(21);
  for (const MatrixModel model : kGrouped) {
    for (const int rows : {32, 16}) {
      for (int formats = 0; formats < 25; ++formats) {
        TestWave wave;
        wave->matrix_model = model;
        Dense op = F8f6f4(formats % 2 != 0, rows, formats % 5, formats / 5);
        if (formats % 2 != 0) SetRandomScales(op, wave, random);
        SCOPED_TRACE(op.name + op.modifiers);
        ASSERT_NO_FATAL_FAILURE(Check(
            op, wave, 22, InputsOf(model, {op.a.type, op.b.type}, false)));
      }
    }
  }
}

TEST(MatrixModelTest, SparseFollowsTheText) {
  const Sparse kOps[] = {
      {"v_smfmac_f32_32x32x32_bf16", Type::kBf16, Type::kBf16, 32, 32, true},
      {"v_smfmac_f32_16x16x32_f16", Type::kF16, Type::kF16, 16, 32, false},
      {"v_smfmac_f32_16x16x128_fp8_bf8", Type::kFp8, Type::kBf8, 16, 128,
       true}};
  for (const Sparse& op : kOps) {
    for (const MatrixModel model : kGrouped) {
      TestWave wave;
      wave->matrix_model = model;
      ASSERT_NO_FATAL_FAILURE(CheckSparse(
          op, wave, 0, 0, 23, InputsOf(model, {op.type_a, op.type_b}, false)));
    }
  }
}

TEST(MatrixModelTest, ChainIsFused) {
  // Codes near 1 and C near it keep every exact sum within 64 bits.
  Inputs inputs =
      InputsOf(MatrixModel::kFmaChain, {Type::kFp8, Type::kFp8}, false);
  inputs.addend = AnyAddend(10);
  for (const Dense& op : {Simple("v_mfma_f32_16x16x32_fp8_fp8", Type::kFp8,
                                 Type::kFp8, 16, 32, 1),
                          F8f6f4(false, 32, 0, 0)}) {
    TestWave wave;
    wave->matrix_model = MatrixModel::kFmaChain;
    for (int seed = 1; seed <= 4; ++seed) {
      ASSERT_NO_FATAL_FAILURE(Check(op, wave, seed, inputs));
    }
  }
  // Scaled, the same chain.
  Random random(24);
  Dense op = F8f6f4(true, 16, 0, 4);
  TestWave wave;
  wave->matrix_model = MatrixModel::kFmaChain;
  SetRandomScales(op, wave, random);
  ASSERT_NO_FATAL_FAILURE(Check(op, wave, 25, inputs));
}

// Row 0 of a product: places k hold a * b, everything else is 0.
using Places = std::map<int, std::pair<double, double>>;

uint32_t Bf16Code(double x) { return Bits(static_cast<float>(x)) >> 16; }
// Powers of two and their negatives, 2^-6 .. 2^8.
uint32_t Fp8Code(double x) {
  if (x == 0) return 0;
  return (x < 0 ? 0x80u : 0u) | static_cast<uint32_t>(std::ilogb(x) + 7) << 3;
}

// v_mfma_f32_32x32x16_bf16: element e of lane l is k = 8 (l / 32) + e.
float Bf16(MatrixModel model, const Places& places, float c,
           uint32_t mode = 0) {
  TestWave wave;
  wave->matrix_model = model;
  wave->mode.bits |= mode;
  for (const auto& [k, factors] : places) {
    const int lane = 32 * (k / 8), word = k % 8 / 2, shift = k % 2 * 16;
    wave->vgpr[word][lane] |= Bf16Code(factors.first) << shift;
    wave->vgpr[4 + word][lane] |= Bf16Code(factors.second) << shift;
  }
  for (int r = 8; r < 24; ++r) {
    std::fill_n(wave->vgpr[r], kLanes, Bits(c));
  }
  wave.Run("v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[4:7], v[8:23]");
  return Float(wave->vgpr[32][0]);
}

// v_mfma_scale_f32_32x32x64_f8f6f4 on FP8: element e of lane l is
// k = 32 (e / 16) + 16 (l / 32) + e % 16; scales of the two halves of k.
float Fp8(MatrixModel model, const Places& places, float c, int scale0 = 127,
          int scale1 = 127) {
  TestWave wave;
  wave->matrix_model = model;
  for (const auto& [k, factors] : places) {
    const int lane = 32 * (k / 16 % 2), e = 16 * (k / 32) + k % 16;
    wave->vgpr[e / 4][lane] |= Fp8Code(factors.first) << (e % 4 * 8);
    wave->vgpr[8 + e / 4][lane] |= Fp8Code(factors.second) << (e % 4 * 8);
  }
  for (int l = 0; l < kLanes; ++l) {
    wave->vgpr[50][l] = static_cast<uint32_t>(l < 32 ? scale0 : scale1);
    wave->vgpr[51][l] = 127;
  }
  for (int r = 16; r < 32; ++r) {
    std::fill_n(wave->vgpr[r], kLanes, Bits(c));
  }
  wave.Run(
      "v_mfma_scale_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], v[16:31], "
      "v50, v51 op_sel_hi:[0,0,0]");
  return Float(wave->vgpr[32][0]);
}

// One value for each of kModels.
using Expected = std::initializer_list<float>;
template <class Run>
void ExpectAll(Expected expected, const Run& run) {
  auto value = expected.begin();
  for (const MatrixModel model : kModels) {
    EXPECT_EQ(Bits(run(model)), Bits(*value))
        << "model " << static_cast<int>(model) << " gave " << run(model)
        << " instead of " << *value;
    ++value;
  }
}

// The experiments of numerics 9, "Probing CDNA4".
TEST(MatrixModelTest, ProbeGroupLength) {
  const auto probe = [](int second, int third) {
    return [=](MatrixModel model) {
      return Bf16(model,
                  {{0, {0x1p10, 0x1p10}},
                   {second, {0x1p10, -0x1p10}},
                   {third, {0x1p-3, 0x1p-3}}},
                  0);
    };
  };
  const float kept = 0x1p-6f;
  ExpectAll({kept, 0, 0, 0, kept}, probe(1, 2));
  ExpectAll({kept, 0, 0, 0, 0}, probe(7, 1));
  ExpectAll({kept, kept, 0, 0, kept}, probe(7, 8));
  ExpectAll({kept, 0, 0, 0, 0}, probe(8, 7));
}

TEST(MatrixModelTest, ProbeAlignmentBits) {
  const auto probe = [](int n, float sign) {
    return [=](MatrixModel model) {
      return Bf16(model,
                  {{0, {1, 1}}, {1, {std::ldexp(sign, -n), 1}}, {2, {1, -1}}},
                  0);
    };
  };
  for (const float sign : {1.0f, -1.0f}) {
    const auto unit = [sign](int n) { return std::ldexp(sign, -n); };
    ExpectAll({unit(17), unit(17), unit(17), unit(17), unit(17)},
              probe(17, sign));
    ExpectAll({unit(18), unit(18), unit(18), 0, unit(18)}, probe(18, sign));
    // -2^-24 is half a unit below 1, but a tie that goes to 1 above it.
    ExpectAll({unit(24), unit(24), unit(24), 0, sign > 0 ? 0 : unit(24)},
              probe(24, sign));
    // Toward zero: not even a unit of 2^-24 remains of -2^-25.
    ExpectAll({unit(25), 0, 0, 0, 0}, probe(25, sign));
  }
}

TEST(MatrixModelTest, ProbeC) {
  const auto probe = [](double product, float c) {
    return
        [=](MatrixModel model) { return Bf16(model, {{0, {product, 1}}}, c); };
  };
  // C rounds down: a small negative one costs a whole 2^-24.
  const float below = 1 - 0x1p-24f;
  ExpectAll({1, 1, 1, 1, 1}, probe(1, 0x1p-30f));
  ExpectAll({1, below, below, 1, 1}, probe(1, -0x1p-30f));
  // FP8 drops it from 26 binades on.
  const auto fp8 = [](float c) {
    return [=](MatrixModel model) { return Fp8(model, {{0, {1, 1}}}, c); };
  };
  ExpectAll({below, below, below, 1, below}, fp8(-0x1p-25f - 0x1p-48f));
  ExpectAll({1, 1, 1, 1, 1}, fp8(-0x1p-26f));
  // The product next to C keeps 32 bits: enough to break a tie.
  const float tie = 0x1p24f + 2;
  const auto break_tie = [=](double product) {
    return [=](MatrixModel model) {
      return Bf16(model, {{0, {1, 1}}, {1, {product, 1}}}, tie);
    };
  };
  ExpectAll({tie + 2, tie + 2, tie + 2, 0x1p24f, tie + 2}, break_tie(0x1p-6));
}

TEST(MatrixModelTest, ProbeEvenAndOdd) {
  // 2^16 and -2^16 at a distance, -2^-12 at the odd place 1: cut to nothing in
  // one sum, rounded down to -2^-8 where the odd ones have a sum of their own.
  const auto probe = [](int distance, int third) {
    return [=](MatrixModel model) {
      return Fp8(model,
                 {{0, {0x1p8, 0x1p8}},
                  {distance, {0x1p8, -0x1p8}},
                  {third, {0x1p-6, -0x1p-6}}},
                 0);
    };
  };
  const float kept = -0x1p-12f, down = -0x1p-8f;
  ExpectAll({kept, down, down, 0, 0}, probe(2, 1));
  ExpectAll({kept, 0, 0, 0, kept}, probe(1, 2));
  ExpectAll({kept, kept, 0, 0, kept}, probe(2, 16));
}

TEST(MatrixModelTest, ProbeScalesOfTheHalves) {
  // 2^20 in either half of k by a scale; with one alignment 2^-6 goes.
  const auto probe = [](int scale0, double second, int third) {
    return [=](MatrixModel model) {
      return Fp8(model,
                 {{0, {0x1p5, 0x1p5}},
                  {2, {0x1p5, -0x1p5}},
                  {third, {0x1p-3, second}}},
                 0, scale0, 127);
    };
  };
  const float kept = 0x1p-6f;
  ExpectAll({kept, kept, 0, 0, kept}, probe(127 + 10, 0x1p-3, 32));
  ExpectAll({kept, kept, kept, 0, kept}, probe(127 + 8, 0x1p-3, 32));
}

TEST(MatrixModelTest, Subnormals) {
  for (const MatrixModel model : kModels) {
    EXPECT_EQ(Bf16(model, {{3, {0x1p-130, 1}}}, 0), 0x1p-130f);
    // 17 bits behind the exponent of all subnormals.
    const float least =
        model == MatrixModel::kTruncated17 ? 0x1p-143f : 0x1p-149f;
    EXPECT_EQ(Bf16(model, {}, least), least);
    EXPECT_EQ(Bf16(model, {}, -least), -least);
    EXPECT_EQ(Bf16(model, {{0, {0x1p-70, 0x1p-79}}}, 0), 0x1p-149f);
    EXPECT_EQ(Bf16(model, {{0, {0x1p-70, 0x1p-70}}}, least), 0x1p-140f + least);
    // The smallest FP8 number is 2^-9.
    TestWave wave;
    wave->matrix_model = model;
    wave->mode.bits = 0;
    wave->vgpr[0][0] = 0x01;
    wave->vgpr[8][0] = 0x01;
    wave.Run("v_mfma_f32_32x32x64_f8f6f4 v[32:47], v[0:7], v[8:15], 0");
    EXPECT_EQ(Float(wave->vgpr[32][0]), 0x1p-18f);
  }
}

TEST(MatrixModelTest, SpecialValues) {
  const double inf = INFINITY, big = 0x1p127;
  for (const MatrixModel model : kModels) {
    SCOPED_TRACE(static_cast<int>(model));
    const auto is_nan = [&](const Places& places, float c) {
      return std::isnan(Bf16(model, places, c));
    };
    EXPECT_EQ(Bf16(model, {{9, {inf, 1}}, {2, {-4, 4}}}, 1), inf);
    EXPECT_EQ(Bf16(model, {{9, {inf, -1}}}, 1), -inf);
    EXPECT_TRUE(is_nan({{9, {inf, 0}}}, 1));
    EXPECT_TRUE(is_nan({{0, {NAN, 1}}}, 1));
    EXPECT_TRUE(is_nan({}, NAN));
    EXPECT_TRUE(is_nan({{0, {inf, 1}}, {9, {inf, -1}}}, 1));
    EXPECT_TRUE(is_nan({{0, {inf, 1}}}, -INFINITY));
    EXPECT_EQ(Bf16(model, {{0, {1, 1}}}, -INFINITY), -inf);
    // Overflow, with FP16_OVFL the largest number.
    EXPECT_EQ(Bf16(model, {{0, {big, 2}}}, 0), inf);
    EXPECT_EQ(Bf16(model, {{0, {big, 1}}, {1, {big, 1}}}, 0), inf);
    EXPECT_EQ(Bf16(model, {{0, {big, -2}}}, 0, kModeFp16Ovfl),
              -std::numeric_limits<float>::max());
  }
  // A product of 2^128 is an infinity already, unless the sum is exact.
  const Places back = {{0, {big, 2}}, {1, {big, -1}}};
  const float max = 0x1p127f;
  EXPECT_EQ(Bf16(MatrixModel::kExact, back, 0), max);
  EXPECT_EQ(Bf16(MatrixModel::kCdna3, back, 0), inf);
  EXPECT_EQ(Bf16(MatrixModel::kGroups64, back, 0), inf);
  EXPECT_EQ(Bf16(MatrixModel::kTruncated17, back, 0), inf);
  EXPECT_EQ(Bf16(MatrixModel::kFmaChain, back, 0), inf);
}

// Integers and float32 take no part.
TEST(MatrixModelTest, OtherTypesDoNotFollow) {
  for (const MatrixModel model : kModels) {
    TestWave wave;
    wave->matrix_model = model;
    ASSERT_NO_FATAL_FAILURE(
        Check(Simple("v_mfma_i32_32x32x32_i8", Type::kI8, Type::kI8, 32, 32, 1),
              wave, 26));
    ASSERT_NO_FATAL_FAILURE(CheckSparse(
        {"v_smfmac_i32_16x16x128_i8", Type::kI8, Type::kI8, 16, 128, true},
        wave, 0, 0, 27));
    Inputs chain;
    chain.code = [](Type, Random& random) {
      return (random.Next32() & 0x807fffff) |
             static_cast<uint32_t>(127 + random.Between(-3, 3)) << 23;
    };
    chain.addend = AnyAddend(4);
    chain.sum = [](const Dot& dot) {
      float sum = static_cast<float>(dot.c);
      for (size_t k = 0; k < dot.a.size(); ++k) {
        sum = std::fma(static_cast<float>(dot.a[k]),
                       static_cast<float>(dot.b[k]), sum);
      }
      return sum;
    };
    ASSERT_NO_FATAL_FAILURE(Check(
        Simple("v_mfma_f32_16x16x4_f32", Type::kF32, Type::kF32, 16, 4, 1),
        wave, 28, chain));
  }
}

}  // namespace
}  // namespace zyfa::emu::testing
