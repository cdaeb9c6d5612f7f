#include "zyfa/peers/real_like_operands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/quantize.h"

namespace zyfa::peers {
namespace {

const AiterKernel& Kernel(const std::string& name) {
  for (const AiterKernel& kernel : AiterKernels()) {
    if (Name(kernel) == name) return kernel;
  }
  ADD_FAILURE() << name;
  return AiterKernels().front();
}

AiterProblem Problem(int64_t queries, int64_t keys) {
  AiterProblem problem;
  problem.sequences = {{queries, keys}};
  problem.seed = 7;
  return problem;
}

// Every value is the head's, but for the rounding of its format.
void ExpectRounded(const QuantizedTensor& tensor, const std::vector<float>& x,
                   double relative) {
  ASSERT_EQ(tensor.values.size(), x.size());
  double largest = 0;
  for (const float v : x) {
    largest = std::max<double>(largest, std::abs(v));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    // The second term: subnormal codes.
    ASSERT_NEAR(tensor.values[i], x[i],
                relative * std::abs(x[i]) + largest / 448 / 512)
        << i;
  }
}

TEST(RealLikeOperands, AreTheHead) {
  const auto params = numerics::RealLikeSet("M");
  ASSERT_TRUE(params.ok());
  const auto head = numerics::MakeRealLikeHead(*params, 128, 128, 128, 7);
  ASSERT_TRUE(head.ok()) << head.status();
  const struct {
    const char* kernel;
    double relative;
  } kCases[] = {{"fmha_v3_fwd/fwd_hd128_fp8_causal", 1.0 / 16},
                {"fmha_v3_fwd/fwd_hd128_bf16_causal", 1.0 / 256}};
  for (const auto& c : kCases) {
    const auto operands =
        MakeRealLikeOperands(Kernel(c.kernel), Problem(128, 128), "M");
    ASSERT_TRUE(operands.ok()) << operands.status();
    ExpectRounded(operands->query, head->query, c.relative);
    ExpectRounded(operands->key, head->key, c.relative);
    ExpectRounded(operands->value, head->value, c.relative);
    EXPECT_DOUBLE_EQ(operands->softmax_scale, 1 / std::sqrt(128.0));
  }
}

TEST(RealLikeOperands, WhatCannotBeIsNamed) {
  const AiterKernel& fp8 = Kernel("fmha_v3_fwd/fwd_hd128_fp8_causal");
  const auto message = [](const absl::StatusOr<AiterOperands>& operands) {
    EXPECT_EQ(operands.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(operands.status().message());
  };
  EXPECT_NE(
      message(MakeRealLikeOperands(fp8, Problem(128, 128), "Q")).find("Q"),
      std::string::npos);
  EXPECT_NE(message(MakeRealLikeOperands(fp8, Problem(128, 256), "M"))
                .find("128x256"),
            std::string::npos);
  EXPECT_NE(message(MakeRealLikeOperands(Kernel("fmha_v4_fwd/fwd_hd128_mxfp8"),
                                         Problem(128, 128), "M"))
                .find("block scales"),
            std::string::npos);
}

}  // namespace
}  // namespace zyfa::peers
