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
#include "zyfa/variant/variant.h"

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
  const auto expect_loop = [&](const std::vector<std::string>& trips) {
    for (size_t i = 0; i < trips.size(); ++i) {
      const emu::CodeRegion phase = find(trips[i].c_str());
      EXPECT_GT(phase.end, phase.first + 50) << trips[i];
      if (i > 0) {
        EXPECT_EQ(find(trips[i - 1].c_str()).end, phase.first);
      }
    }
    return find(trips.back().c_str());
  };
  const auto& instructions = (*code)->instructions();
  find("store");
  if (IsPersistent(GetParam().variant)) {
    // A trip for each stage of the rings, for either group of waves.
    for (const char* group : {"_of_0", "_of_1"}) {
      std::vector<std::string> trips;
      for (const char* stage : {"0", "1", "2", "3"}) {
        for (const char* phase : {"vector_plain_", "matrix_plain_"}) {
          trips.push_back(std::string(phase) + stage + group);
        }
      }
      const emu::CodeRegion last = expect_loop(trips);
      const emu::Instruction& branch = instructions[last.end - 1];
      EXPECT_EQ(branch.mnemonic, "s_branch") << branch.text;
    }
    find("take_item");
    return;
  }
  // A trip of even tiles and one of odd ones, in one piece. The loop closes
  // where the last of them ends.
  const emu::CodeRegion last = expect_loop(
      {"first_half_plain_0", "scores_0", "first_half_plain_1", "scores_1"});
  const emu::Instruction& branch = instructions[last.end - 2];
  EXPECT_EQ(branch.mnemonic, "s_cbranch_scc1") << branch.text;
  find("query_load");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Phases, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing
