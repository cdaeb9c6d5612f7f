#include "zyfa/gen/probe/probe_kernels.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace zyfa::gen {
namespace {

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// What is asked about is asked with the instruction itself, not with one that a
// builder of such kernels might put in its place.
TEST(ProbeKernelTest, HoldsTheInstructionsInQuestion) {
  const auto vector = ProbeKernel("probe_vector");
  ASSERT_TRUE(vector.ok()) << vector.status();
  EXPECT_EQ(Count(*vector, "v_ashr_pk_u8_i32 "), 5);
  EXPECT_EQ(Count(*vector, "op_sel:[0,0,0,1]"), 3);
  EXPECT_EQ(Count(*vector, "v_cvt_pk_u8_f32 "), 1);
  EXPECT_EQ(Count(*vector, "v_cvt_scalef32_pk_fp8_f32 "), 3);
  EXPECT_EQ(Count(*vector, "v_exp_f32 "), 1);
  EXPECT_EQ(Count(*vector, "v_fma_f32 "), 1);
  EXPECT_EQ(Count(*vector, ".amdhsa_float_denorm_mode_32 3"), 1);
  const auto matrix = ProbeKernel("probe_matrix");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(Count(*matrix, "v_mfma_scale_f32_32x32x64_f8f6f4 "), 1);
}

TEST(ProbeKernelTest, RefusesOtherNames) {
  const auto kernel = ProbeKernel("probe_lunch");
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(kernel.status().message().find("'probe_lunch'"), std::string::npos);
}

}  // namespace
}  // namespace zyfa::gen
