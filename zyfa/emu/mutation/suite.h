#ifndef ZYFA_EMU_MUTATION_SUITE_H_
#define ZYFA_EMU_MUTATION_SUITE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/emulator.h"

namespace zyfa::emu {

// A launch that can be repeated: each time from the same memory.
struct Specimen {
  struct Outcome {
    std::vector<uint8_t> output;
    RunReport report;
  };
  std::string name;
  std::function<absl::StatusOr<Outcome>(const RunOptions&)> run;
};

// What became of the mutants of one kernel.
struct SuiteResult {
  int mutants = 0;
  int can_fail = 0;  // by the oracles
  int reported = 0;  // by the strict checks, these or others
  // "name: mutant: why": can fail and is not reported; or the unchanged kernel
  // is reported, or differs from itself.
  std::vector<std::string> missed;
  // For the log: reported by the strict checks although no oracle objects.
  std::vector<std::string> only_reported;
};

// Makes the mutants of everything that the specimens of `code` execute, or a
// random sample of `sample` of them (0: all), and asks of each, on a specimen
// that comes by, whether it can fail:
//   by the tables: hazard_oracle.h on what waves of group 0 executed
//   by time: outputs differ when loads come late (late_loads.h)
//   by order: outputs differ between wave orders and landing moments
// Whatever can fail must give a finding of the strict checks.
SuiteResult RunMutants(const CodeObject& code,
                       const std::vector<Specimen>& specimens, size_t sample,
                       uint64_t seed);

// How many mutants of a kernel a test takes: ZYFA_MUTANTS in the environment
// (0: all), else `usual`.
size_t MutantSample(size_t usual);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MUTATION_SUITE_H_
