#include "zyfa/emu/mutation/suite.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/mutation/executed_trace.h"
#include "zyfa/emu/mutation/hazard_oracle.h"
#include "zyfa/emu/mutation/late_loads.h"
#include "zyfa/emu/mutation/mutants.h"
#include "zyfa/emu/schedules.h"

namespace zyfa::emu {
namespace {

using Outcome = Specimen::Outcome;

// Waves of group 0 that the wait-state oracle looks at.
const std::set<int> kTracedWaves = {0, 3, 7};

// A specimen and what it does unchanged.
struct Known {
  const Specimen* specimen = nullptr;
  std::vector<uint8_t> output;
  std::set<uint64_t> executed;
};

absl::StatusOr<Outcome> RunWith(const Specimen& specimen, RunOptions options,
                                const Edit* edit,
                                ObserverFactory* observer = nullptr) {
  if (edit != nullptr) options.edits.push_back(*edit);
  if (observer != nullptr) options.observers.push_back(observer);
  // Far above what the specimens execute: a mutant may loop for ever.
  options.instruction_budget = 1 << 20;
  return specimen.run(options);
}

bool Differs(const absl::StatusOr<Outcome>& outcome, const Known& known) {
  return !outcome.ok() || outcome->output != known.output;
}

// Why hardware may run the mutant wrong, "" if no oracle objects.
std::string WhyItCanFail(const Known& known, const Edit* edit) {
  ExecutedTrace trace(kTracedWaves);
  (void)RunWith(*known.specimen, {}, edit, &trace);
  for (const int wave : kTracedWaves) {
    const std::vector<const Instruction*> executed = trace.Trace(wave);
    const std::vector<OracleViolation> violations = FindViolations(executed);
    if (violations.empty()) continue;
    const OracleViolation& v = violations.front();
    return absl::StrFormat("%s at %#x: %d wait states wanted, %d found", v.row,
                           executed[v.second]->address, v.wanted, v.found);
  }
  LateLoads late;
  if (Differs(RunWith(*known.specimen, {}, edit, &late), known)) {
    return "other results when loads come late";
  }
  for (const RunOptions& schedule : AllSchedules({})) {
    if (Differs(RunWith(*known.specimen, schedule, edit), known)) {
      return absl::StrCat("other results under '", ScheduleName(schedule), "'");
    }
  }
  return "";
}

// The strict checks' findings, one line; "" if there are none.
std::string Findings(const Known& known, const Edit* edit) {
  const auto outcome = RunWith(*known.specimen, StrictOptions(), edit);
  if (!outcome.ok()) return outcome.status().ToString();
  if (outcome->report.findings.empty()) return "";
  const Finding& f = outcome->report.findings.front();
  return absl::StrFormat("[%s] at %#x: %s: %s", f.rule, f.pc, f.disassembly,
                         f.detail);
}

}  // namespace

size_t MutantSample(size_t usual) {
  const char* const given = std::getenv("ZYFA_MUTANTS");
  size_t sample = usual;
  if (given != nullptr && !absl::SimpleAtoi(given, &sample)) return usual;
  return sample;
}

SuiteResult RunMutants(const CodeObject& code,
                       const std::vector<Specimen>& specimens, size_t sample,
                       uint64_t seed) {
  SuiteResult result;
  std::vector<Known> known;
  std::set<uint64_t> executed;
  for (const Specimen& specimen : specimens) {
    ExecutedTrace trace(kTracedWaves);
    const auto outcome = RunWith(specimen, {}, nullptr, &trace);
    if (!outcome.ok()) {
      result.missed.push_back(
          absl::StrCat(specimen.name, ": ", outcome.status().ToString()));
      return result;
    }
    known.push_back({&specimen, outcome->output, trace.ExecutedAddresses()});
    executed.insert(known.back().executed.begin(), known.back().executed.end());
    for (const std::string& complaint : {WhyItCanFail(known.back(), nullptr),
                                         Findings(known.back(), nullptr)}) {
      if (complaint.empty()) continue;
      result.missed.push_back(
          absl::StrCat(specimen.name, ": unchanged: ", complaint));
    }
  }
  if (!result.missed.empty()) return result;

  std::vector<Mutant> mutants = MutantsOf(code, executed);
  std::mt19937_64 random(seed);
  std::shuffle(mutants.begin(), mutants.end(), random);
  if (sample != 0 && sample < mutants.size()) mutants.resize(sample);
  for (const Mutant& mutant : mutants) {
    ++result.mutants;
    bool can_fail = false, reported = false;
    for (const Known& one : known) {
      if (one.executed.count(mutant.edit.pc) == 0) continue;
      const std::string why = WhyItCanFail(one, &mutant.edit);
      const std::string findings = Findings(one, &mutant.edit);
      can_fail |= !why.empty();
      reported |= !findings.empty();
      const std::string name =
          absl::StrCat(one.specimen->name, ": ", mutant.what, ": ");
      if (!why.empty() && findings.empty()) {
        result.missed.push_back(name + why);
      }
      if (why.empty() && !findings.empty()) {
        result.only_reported.push_back(name + findings);
      }
    }
    result.can_fail += can_fail;
    result.reported += reported;
  }
  return result;
}

}  // namespace zyfa::emu
