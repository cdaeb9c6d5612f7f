// The layouts in LDS are there so that reads do not meet on a bank: counted by
// the published groups of lanes (zyfa/emu/lds_banks.h).
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"

namespace zyfa::testing {
namespace {

class LdsBankTest : public ::testing::TestWithParam<KernelEntry> {};

TEST_P(LdsBankTest, NoConflicts) {
  AttentionCase c;
  c.variant = ParseVariant(GetParam().name).value();
  c.seqlen_q = 300;
  c.seqlen_kv = 400;
  const auto got = RunCase(c);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(got->report.findings.empty());
  std::printf("%s: %d turns of the LDS banks, %d without conflicts\n",
              std::string(GetParam().name).c_str(),
              static_cast<int>(got->report.lds_passes),
              static_cast<int>(got->report.lds_phases));
  EXPECT_GT(got->report.lds_phases, 1000u);
  EXPECT_EQ(got->report.lds_passes, got->report.lds_phases);
}

INSTANTIATE_TEST_SUITE_P(Variants, LdsBankTest, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing
