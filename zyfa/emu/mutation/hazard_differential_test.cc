// Two opinions on wait states, strict mode's and the oracle's, on random
// successions of instructions: everything that LLVM and the rows of hazards.s
// bring together in other ways.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "zyfa/emu/group.h"
#include "zyfa/emu/mutation/hazard_oracle.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/strict/hazards.h"
#include "zyfa/emu/testing/test_device.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// Steps of a code object that a wait state can be about; every second one is an
// s_nop of some length, so that all distances occur.
class Succession {
 public:
  explicit Succession(const Program& program) {
    for (const ProgramStep& step : program.steps()) {
      const Instruction& inst = *step.inst;
      if (!inst.understood) continue;
      if (inst.mnemonic == "s_nop") {
        nops_.push_back(&step);
      } else if (inst.instruction_class != InstructionClass::kOther &&
                 inst.instruction_class != InstructionClass::kBranch) {
        others_.push_back(&step);
      }
    }
  }
  std::vector<const ProgramStep*> Random(std::mt19937_64& random,
                                         size_t length) const {
    std::vector<const ProgramStep*> steps;
    // Few different ones, so that registers meet.
    std::vector<const ProgramStep*> pool;
    for (int i = 0; i < 6; ++i) {
      // Neighbours in the code mostly name the same registers.
      const size_t at = random() % (others_.size() - 1);
      pool.push_back(others_[at]);
      pool.push_back(others_[at + 1]);
    }
    while (steps.size() < length) {
      const bool nop = !nops_.empty() && random() % 4 == 0;
      steps.push_back(nop ? nops_[random() % nops_.size()]
                          : pool[random() % pool.size()]);
    }
    return steps;
  }

 private:
  std::vector<const ProgramStep*> nops_, others_;
};

class Differential : public testing::TestWithParam<const char*> {};

TEST_P(Differential, StrictModeSeesWhatTheOracleSees) {
  TestDevice device(GetParam());
  const KernelInfo& kernel = device.code().kernels().front();
  const auto program = Program::Make(device.code(), kernel, {});
  ASSERT_TRUE(program.ok());
  const std::unique_ptr<Observer> strict = MakeHazards(*program);
  const Succession succession(*program);
  Group group;
  group.wave_count = 1;
  auto wave = std::make_unique<Wave>();
  wave->group = &group;
  std::mt19937_64 random(7);
  size_t agreed = 0;
  std::map<std::string, std::string> missed;  // by row and mnemonics
  for (int round = 0; round < 3000; ++round) {
    group.findings.clear();
    strict->StartGroup(group, wave.get());
    std::vector<const Instruction*> trace;
    for (const ProgramStep* step : succession.Random(random, 40)) {
      trace.push_back(step->inst);
      strict->Before(*step, *wave);
    }
    std::set<uint64_t> found;
    for (const Finding& finding : group.findings) found.insert(finding.pc);
    for (const OracleViolation& v : FindViolations(trace)) {
      const Instruction& second = *trace[v.second];
      if (found.count(second.address) != 0) {
        ++agreed;
        continue;
      }
      // Something between that broke a rule too took the register over, or a
      // product or a load did, which bring rules of their own.
      const bool product = v.row.find("hazard-matrix") == 0;
      bool taken_over = false;
      for (size_t i = v.first + 1; i < v.second; ++i) {
        const InstructionClass kind = trace[i]->instruction_class;
        taken_over |= found.count(trace[i]->address) != 0 ||
                      (!product && (kind == InstructionClass::kMfma ||
                                    kind == InstructionClass::kVmem ||
                                    kind == InstructionClass::kLds));
      }
      if (taken_over) continue;
      // Vector memory takes its data in order: strict mode does not ask for the
      // state that the table wants there.
      if (v.row == "hazard-store-data-overwritten" &&
          second.instruction_class == InstructionClass::kVmem) {
        continue;
      }
      const Instruction& first = *trace[v.first];
      std::string between;
      for (size_t i = v.first; i <= v.second; ++i) {
        between += "\n    " + trace[i]->text;
      }
      missed[v.row + ": " + first.mnemonic + " -> " + second.mnemonic] =
          std::to_string(v.wanted) + " wanted, " + std::to_string(v.found) +
          " found" + between;
    }
  }
  for (const auto& [what, example] : missed) {
    ADD_FAILURE() << what << "\n  " << example;
  }
  EXPECT_GT(agreed, 100u);
}

INSTANTIATE_TEST_SUITE_P(Programs, Differential,
                         testing::Values("hazards", "arithmetic", "attention",
                                         "conversions", "cross_lane",
                                         "gemm_dense", "gemm_scaled",
                                         "gemm_sparse", "memory"));

}  // namespace
}  // namespace zyfa::emu
