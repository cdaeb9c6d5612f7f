#include "zyfa/gen/quantize/quantize_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zyfa::gen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Bits that hold on every machine: no atomics, and no conversion or quotient
// that gfx950 rounds in its own way.
TEST(QuantizeKernel, OnlyRoundingsThatAreDefined) {
  for (const char* name :
       {"quantize_sum_d128", "quantize_sum_d192", "quantize_mean",
        "quantize_max_d128", "quantize_max_d192", "quantize_scale",
        "quantize_head_d128", "quantize_head_d192", "quantize_token_d128",
        "quantize_token_d192", "quantize_scale_int8", "quantize_keys_int8_d128",
        "quantize_keys_int8_d192", "quantize_queries_int8_d128",
        "quantize_queries_int8_d192"}) {
    const absl::StatusOr<std::string> text = GenerateQuantizeKernel(name);
    ASSERT_TRUE(text.ok()) << name << ": " << text.status();
    EXPECT_EQ(*text, GenerateQuantizeKernel(name).value());
    EXPECT_THAT(*text, AllOf(HasSubstr(std::string("zyfa_") + name),
                             Not(HasSubstr("atomic")), Not(HasSubstr("v_mfma")),
                             Not(HasSubstr("v_exp")), Not(HasSubstr("v_rsq"))));
  }
}

TEST(QuantizeKernel, OtherNamesAreRefused) {
  const absl::StatusOr<std::string> text =
      GenerateQuantizeKernel("quantize_max_d64");
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(text.status().message()),
              AllOf(HasSubstr("quantize_max_d64"), HasSubstr("allowed are"),
                    HasSubstr("quantize_max_d192")));
}

}  // namespace
}  // namespace zyfa::gen
