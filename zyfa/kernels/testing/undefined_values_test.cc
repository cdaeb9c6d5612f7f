// No kernel uses what it has not written, and one that leaves out a write is
// found to.

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"

namespace zyfa::testing {
namespace {

class UndefinedValuesTest : public KernelTest {
 protected:
  // FP8 and INT8: with scales as numbers and with some from memory, which have
  // code of their own.
  std::vector<AttentionCase> Cases(int64_t seqlen_q, int64_t seqlen_kv) const {
    AttentionCase c = Case(seqlen_q, seqlen_kv);
    std::vector<AttentionCase> cases = {c};
    if (IsPersistent(c.variant)) {
      CaseScale& scale = c.variant.data_type == DataType::kFp8
                             ? c.query_descale
                             : c.value_descale;
      scale.form = CaseScale::kByHead;
      cases.push_back(c);
    }
    return cases;
  }
};

// Findings of the rule in strict runs with one instruction left out.
int Findings(const std::vector<AttentionCase>& cases,
             const std::vector<emu::Edit>& edits) {
  emu::RunOptions options;
  options.strict = true;
  options.edits = edits;
  // A wave of these cases issues some thousands; garbage may count a loop.
  options.instruction_budget = 50000;
  int64_t findings = 0;
  for (const AttentionCase& c : cases) {
    const auto outcome = RunCase(c, options);
    if (!outcome.ok()) {
      ADD_FAILURE() << outcome.status();
      continue;
    }
    findings += std::count_if(
        outcome->report.findings.begin(), outcome->report.findings.end(),
        [](const emu::Finding& f) { return f.rule == "undefined-value"; });
    if (findings > 0) break;
  }
  return static_cast<int>(findings);
}

TEST_P(UndefinedValuesTest, NoneIsUsed) {
  for (auto [seqlen_q, seqlen_kv] : {std::pair<int64_t, int64_t>{1, 1},
                                     {300, 300},
                                     {530, 333},
                                     {17, 1000}}) {
    EXPECT_EQ(Findings(Cases(seqlen_q, seqlen_kv), {}), 0)
        << seqlen_q << " x " << seqlen_kv;
  }
}

bool Overlap(const emu::RegisterRange& a, const emu::RegisterRange& b) {
  return a.vector == b.vector && a.first < b.first + b.count &&
         b.first < a.first + a.count;
}

// Whether `inst` writes registers that no other instruction writes and another
// one reads.
bool IsOnlyWriter(const emu::Instruction& inst,
                  const std::vector<emu::Instruction>& all) {
  bool read = false;
  for (const emu::RegisterRange& mine : inst.registers) {
    if (!mine.write) continue;
    for (const emu::Instruction& other : all) {
      if (&other == &inst) continue;
      for (const emu::RegisterRange& theirs : other.registers) {
        if (!Overlap(mine, theirs)) continue;
        if (theirs.write) return false;
        read = true;
      }
    }
  }
  return read;
}

// Every instruction that alone writes a register: without it, what reads the
// register reads garbage.
TEST_P(UndefinedValuesTest, EveryOnlyWriteIsMissed) {
  const std::vector<AttentionCase> cases = Cases(300, 300);
  const auto& all = LinkedKernel(GetParam().variant).instructions();
  int dropped = 0;
  for (const emu::Instruction& inst : all) {
    if (inst.branch_target >= 0 || !IsOnlyWriter(inst, all)) continue;
    emu::Edit edit;
    edit.pc = inst.address;
    EXPECT_GT(Findings(cases, {edit}), 0) << inst.text;
    ++dropped;
  }
  EXPECT_GT(dropped, 10);
}

INSTANTIATE_TEST_SUITE_P(All, UndefinedValuesTest, EveryKernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing
