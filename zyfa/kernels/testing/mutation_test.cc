// Every kernel of the registry, broken in every small way: what can fail on
// hardware, by the wait-state tables, by late loads or by another order of the
// waves, must be reported by the strict checks.
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/mutation/suite.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"

namespace zyfa::testing {
namespace {

class MutationTest : public ::testing::TestWithParam<KernelEntry> {};

// Small problems that together run all versions of the loop.
std::vector<AttentionCase> Cases(const Variant& variant) {
  std::vector<AttentionCase> cases;
  for (const auto& [seqlen_q, seqlen_kv] :
       {std::pair<int64_t, int64_t>{70, 130}, {300, 300}}) {
    AttentionCase c;
    c.variant = variant;
    c.seqlen_q = seqlen_q;
    c.seqlen_kv = seqlen_kv;
    cases.push_back(c);
  }
  AttentionCase moving;
  moving.variant = variant;
  moving.seqlen_q = 40;
  moving.seqlen_kv = 600;
  SetMovingMaximum(moving, 6e6f, 6.0f);
  cases.push_back(moving);
  if (IsPersistent(variant)) {
    AttentionCase items;  // some groups take two
    items.variant = variant;
    items.heads_q = items.heads_kv = 12;
    items.seqlen_q = 20;
    items.seqlen_kv = 150;
    items.compute_units = 8;
    cases.push_back(items);
  }
  return cases;
}

TEST_P(MutationTest, WhatCanFailIsReported) {
  const Variant variant = ParseVariant(GetParam().name).value();
  std::vector<emu::Specimen> specimens;
  for (const AttentionCase& c : Cases(variant)) {
    specimens.push_back(
        {c.Name(),
         [c](const emu::RunOptions& options)
             -> absl::StatusOr<emu::Specimen::Outcome> {
           auto got = RunCase(c, options);
           if (!got.ok()) return got.status();
           emu::Specimen::Outcome outcome;
           const size_t output = got->output.size() * sizeof(got->output[0]);
           const size_t lse = got->lse.size() * sizeof(float);
           outcome.output.resize(output + lse);
           std::memcpy(outcome.output.data(), got->output.data(), output);
           if (lse != 0) {
             std::memcpy(&outcome.output[output], got->lse.data(), lse);
           }
           outcome.report = std::move(got->report);
           return outcome;
         }});
  }
  const emu::SuiteResult result =
      emu::RunMutants(LinkedKernel(variant), specimens,
                      emu::MutantSample(IsPersistent(variant) ? 24 : 40), 1);
  std::printf(
      "%s: %d mutants, %d can fail, %d reported (%d runs "
      "that no oracle objects to)\n",
      VariantName(variant).c_str(), result.mutants, result.can_fail,
      result.reported, static_cast<int>(result.only_reported.size()));
  for (const std::string& missed : result.missed) ADD_FAILURE() << missed;
  EXPECT_GT(result.can_fail, 0);
}

INSTANTIATE_TEST_SUITE_P(Variants, MutationTest, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing
