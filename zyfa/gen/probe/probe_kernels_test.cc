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
  EXPECT_EQ(Count(*vector, "v_ashr_pk_u8_i32 "), 5 + 4);
  EXPECT_EQ(Count(*vector, "op_sel:[0,0,0,1]"), 3 + 2);
  EXPECT_EQ(Count(*vector, "v_cvt_pk_u8_f32 "), 1);
  EXPECT_EQ(Count(*vector, "v_cvt_scalef32_pk_fp8_f32 "), 3);
  EXPECT_EQ(Count(*vector, "v_exp_f32 "), 1);
  EXPECT_EQ(Count(*vector, "v_fma_f32 "), 1);
  EXPECT_EQ(Count(*vector, "v_mad_i32_i24 "), 1);
  EXPECT_EQ(Count(*vector, "v_mul_i32_i24 "), 1);
  EXPECT_EQ(Count(*vector, ".amdhsa_float_denorm_mode_32 3"), 1);
  const auto matrix = ProbeKernel("probe_matrix");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(Count(*matrix, "v_mfma_scale_f32_32x32x64_f8f6f4 "), 1);
  const auto int8 = ProbeKernel("probe_int8");
  ASSERT_TRUE(int8.ok()) << int8.status();
  EXPECT_EQ(Count(*int8, "v_mfma_i32_32x32x32_i8 "), 4);
  const auto sparse = ProbeKernel("probe_sparse");
  ASSERT_TRUE(sparse.ok()) << sparse.status();
  EXPECT_EQ(Count(*sparse, "v_smfmac_f32_16x16x128_fp8_fp8 "), 1);
}

TEST(ProbeKernelTest, RefusesOtherNames) {
  const auto kernel = ProbeKernel("probe_lunch");
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(kernel.status().message().find("'probe_lunch'"), std::string::npos);
}

}  // namespace
}  // namespace zyfa::gen
