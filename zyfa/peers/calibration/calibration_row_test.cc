#include "zyfa/peers/calibration/calibration_row.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/calibration/gluon_kernel.h"

namespace zyfa::peers {
namespace {

std::set<std::string> KnownKernels() {
  std::set<std::string> names;
  for (const AiterKernel& kernel : AiterKernels()) names.insert(Name(kernel));
  for (const GluonKernel& kernel : GluonKernels()) names.insert(kernel.file);
  return names;
}

const CalibrationRow& RowOf(const std::string& kernel, Quantity quantity) {
  for (const CalibrationRow& row : CalibrationRows()) {
    if (row.kernel == kernel && row.quantity == quantity) return row;
  }
  ADD_FAILURE() << kernel;
  static const CalibrationRow none;
  return none;
}

TEST(CalibrationRows, NameKernelsThatThereAre) {
  const std::set<std::string> names = KnownKernels();
  for (const CalibrationRow& row : CalibrationRows()) {
    EXPECT_TRUE(names.contains(row.kernel)) << row.kernel;
    EXPECT_GT(row.published, 0) << row.kernel;
    EXPECT_FALSE(row.source.empty()) << row.kernel;
  }
}

// cdna4-timing 7.4: 7200 and 4787 clocks at 1.7 GHz.
TEST(CalibrationRows, ClocksFromTflops) {
  EXPECT_NEAR(
      RowOf("fmha_v3_fwd/fwd_hd128_fp8", Quantity::kLoopClocks).published, 7200,
      1);
  EXPECT_NEAR(
      RowOf("fmha_v4_fwd/fwd_hd128_fp8", Quantity::kLoopClocks).published, 4787,
      1);
  // f / 269.5k, f / 401.6k, f / 430.2k, two passes of f / 465.7k.
  EXPECT_NEAR(
      RowOf("fmha_v4_fwd/fwd_hd128_i8fp8", Quantity::kLoopClocks).published,
      1.7e9 / 269.5e3, 2);
  EXPECT_NEAR(
      RowOf("fmha_v4_fwd/fwd_hd128_mxfp6", Quantity::kLoopClocks).published,
      1.7e9 / 401.6e3, 2);
  EXPECT_NEAR(
      RowOf("fmha_v4_fwd/fwd_hd128_mxfp4", Quantity::kLoopClocks).published,
      1.7e9 / 430.2e3, 2);
  EXPECT_NEAR(
      RowOf("fmha_v4_fwd/fwd_hd128_f4f4", Quantity::kLoopClocks).published,
      2 * 1.7e9 / 465.7e3, 2);
}

// The clocks that the publisher derives from the efficiency, and of the blind
// row the duration in the raw trace output.
TEST(CalibrationRows, ClocksFromEfficiency) {
  const auto loop = [](const char* kernel) {
    return RowOf(kernel, Quantity::kLoopClocks).published;
  };
  EXPECT_NEAR(loop("v2_async_copy"), 5689, 1);
  EXPECT_NEAR(loop("v6_loop_unroll_llir"), 4655, 1);
  EXPECT_NEAR(loop("v7_slice_llir_RA"), 4267, 1);
  EXPECT_NEAR(loop("v7_slice_llir_amdgcnas_K8192"), 4180, 1);
  EXPECT_NEAR(loop("v4_global_prefetch"), 3593.04, 1);
}

}  // namespace
}  // namespace zyfa::peers
