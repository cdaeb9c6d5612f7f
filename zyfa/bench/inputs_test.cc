#include "zyfa/bench/inputs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

constexpr Case kCase = {.variant = {.head_dim_qk = 192},
                        .batch = 2,
                        .heads_q = 6,
                        .heads_kv = 3,
                        .seqlen_q = 10,
                        .seqlen_kv = 20};

TEST(GaussianInputs, HasTheSizesOfTheCase) {
  const Inputs inputs = *GaussianInputs(kCase, 1);
  EXPECT_EQ(inputs.query.size(), 2u * 10 * 6 * 192);
  EXPECT_EQ(inputs.key.size(), 2u * 20 * 3 * 192);
  EXPECT_EQ(inputs.value.size(), 2u * 20 * 3 * 128);
}

TEST(CheckInputsFit, RefusesWhatTheHostCannotHold) {
  EXPECT_TRUE(CheckInputsFit(kCase).ok());
  Case c = kCase;
  c.batch = c.heads_q = c.heads_kv = 65535;
  c.seqlen_q = c.seqlen_kv = 1 << 20;
  const absl::Status status = CheckInputsFit(c);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("batch 65535"), std::string::npos) << status;
}

TEST(GaussianInputs, TensorsAreStandardNormalAndIndependent) {
  const Inputs inputs = *GaussianInputs(kCase, 1);
  const size_t n = inputs.value.size();  // the smallest: 15360
  double square = 0, sum = 0, qk = 0, kv = 0;
  for (size_t i = 0; i < n; ++i) {
    const double q = inputs.query[i], k = inputs.key[i], v = inputs.value[i];
    sum += q + k + v;
    square += q * q + k * k + v * v;
    qk += q * k;
    kv += k * v;
  }
  // Five standard deviations of the sampling error.
  EXPECT_NEAR(sum / (3 * n), 0, 5 / std::sqrt(3.0 * n));
  EXPECT_NEAR(square / (3 * n), 1, 5 * std::sqrt(2 / (3.0 * n)));
  EXPECT_NEAR(qk / n, 0, 5 / std::sqrt(1.0 * n));
  EXPECT_NEAR(kv / n, 0, 5 / std::sqrt(1.0 * n));
}

TEST(GaussianInputs, GoesByTheSeedAlone) {
  const auto bits = [](const Inputs& inputs) {
    std::vector<float> all;
    for (const auto* t : {&inputs.query, &inputs.key, &inputs.value}) {
      for (size_t i = 0; i < t->size(); ++i) all.push_back((*t)[i]);
    }
    return all;
  };
  EXPECT_EQ(bits(*GaussianInputs(kCase, 7)), bits(*GaussianInputs(kCase, 7)));
  EXPECT_NE(bits(*GaussianInputs(kCase, 7)), bits(*GaussianInputs(kCase, 8)));
}

// The same numbers as in bf16, rounded further.
TEST(GaussianInputs, Fp8NumbersAreQuantised) {
  Case c = kCase;
  const Inputs bf16 = *GaussianInputs(c, 1);
  EXPECT_EQ(bf16.query.bytes().size(), 2 * bf16.query.size());
  EXPECT_FLOAT_EQ(bf16.softmax_scale, 1 / std::sqrt(192.0f));
  c.variant.data_type = DataType::kFp8;
  const Inputs fp8 = *GaussianInputs(c, 1);
  EXPECT_EQ(fp8.query.bytes().size(), fp8.query.size());
  EXPECT_FLOAT_EQ(fp8.softmax_scale, bf16.softmax_scale);
  const struct {
    const Elements& codes;
    const Elements& numbers;
    float descale;
  } tensors[] = {{fp8.query, bf16.query, fp8.query_descale},
                 {fp8.key, bf16.key, fp8.key_descale},
                 {fp8.value, bf16.value, fp8.value_descale}};
  for (const auto& t : tensors) {
    ASSERT_EQ(t.codes.size(), t.numbers.size());
    double largest = 0;
    float top = 0;
    for (size_t i = 0; i < t.codes.size(); ++i) {
      const double error =
          std::abs(double{t.codes[i]} * t.descale - t.numbers[i]);
      // Half a unit of e4m3, whose smallest is 2^-9.
      const double size = std::abs(t.numbers[i]);
      ASSERT_LE(error, std::max(0x1p-10 * t.descale, size * 0x1.01p-4)) << i;
      largest = std::max(largest, error / std::max(size, 1e-3));
      top = std::max(top, std::abs(t.codes[i]));
    }
    EXPECT_GT(largest, 0x1p-5);
    EXPECT_GE(top, 224);
  }
  // Folded: what the kernels multiply scores with.
  const float factor =
      fp8.softmax_scale * 1.44269504f * fp8.query_descale * fp8.key_descale;
  int exponent = 0;
  EXPECT_EQ(std::frexp(factor, &exponent), 0.5f) << factor;
}

}  // namespace
}  // namespace zyfa::bench
