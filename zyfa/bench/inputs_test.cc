#include "zyfa/bench/inputs.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;

constexpr Case kCase = {.variant = {.head_dim_qk = 192},
                        .batch = 2,
                        .heads_q = 6,
                        .heads_kv = 3,
                        .seqlen_q = 10,
                        .seqlen_kv = 20};

TEST(GaussianInputs, HasTheSizesOfTheCase) {
  const Inputs inputs = GaussianInputs(kCase, 1);
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
  const Inputs inputs = GaussianInputs(kCase, 1);
  const size_t n = inputs.value.size();  // the smallest: 15360
  double square = 0, sum = 0, qk = 0, kv = 0;
  for (size_t i = 0; i < n; ++i) {
    const double q = inputs.query[i].ToFloat(), k = inputs.key[i].ToFloat(),
                 v = inputs.value[i].ToFloat();
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
      for (Bf16 x : *t) all.push_back(x.ToFloat());
    }
    return all;
  };
  EXPECT_EQ(bits(GaussianInputs(kCase, 7)), bits(GaussianInputs(kCase, 7)));
  EXPECT_NE(bits(GaussianInputs(kCase, 7)), bits(GaussianInputs(kCase, 8)));
}

}  // namespace
}  // namespace zyfa::bench
