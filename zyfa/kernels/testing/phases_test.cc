// The code objects that ship name their phases, and the loop's two halves are
// where its branches go.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/code_region.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/every_kernel.h"

namespace zyfa::testing {
namespace {

class Phases : public ::testing::TestWithParam<KernelEntry> {};

TEST_P(Phases, CoverTheKernel) {
  const auto code = emu::CodeObject::Load(GetParam().code_object);
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ((*code)->kernels().size(), 1u);
  const std::vector<emu::CodeRegion> phases =
      emu::PhasesBySymbol(**code, (*code)->kernels()[0]);
  ASSERT_FALSE(phases.empty());
  const auto find = [&phases](const char* name) {
    const auto found = std::find_if(
        phases.begin(), phases.end(),
        [name](const emu::CodeRegion& phase) { return phase.name == name; });
    EXPECT_NE(found, phases.end()) << name;
    return found == phases.end() ? emu::CodeRegion() : *found;
  };
  // A trip of even tiles and one of odd ones, in one piece.
  const char* const kTrips[] = {"first_half_plain_0", "scores_0",
                                "first_half_plain_1", "scores_1"};
  for (size_t i = 0; i < 4; ++i) {
    const emu::CodeRegion phase = find(kTrips[i]);
    EXPECT_GT(phase.end, phase.first + 50) << kTrips[i];
    if (i > 0) {
      EXPECT_EQ(find(kTrips[i - 1]).end, phase.first);
    }
  }
  // The loop closes where the last of them ends.
  const emu::CodeRegion last = find("scores_1");
  const emu::Instruction& branch = (*code)->instructions()[last.end - 2];
  EXPECT_EQ(branch.mnemonic, "s_cbranch_scc1") << branch.text;
  find("query_load");
  find("store");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Phases, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing
