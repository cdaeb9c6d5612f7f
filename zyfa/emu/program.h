#ifndef ZYFA_EMU_PROGRAM_H_
#define ZYFA_EMU_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/edit.h"
#include "zyfa/emu/instruction.h"
#include "zyfa/emu/wait_state.h"

namespace zyfa::emu {

// One instruction as the inner loop wants it.
struct ProgramStep {
  Handler handler = nullptr;
  const Instruction* inst = nullptr;
  uint32_t next_pc = 0;
  uint8_t instruction_class = 0;
  WaitState::Kind writer = WaitState::Kind::kNone;
  bool beyond_registers = false;  // names one that the kernel did not allocate
};

// The code of a code object, prepared for one of its kernels.
class Program {
 public:
  // InvalidArgument names the edit that does not fit the code.
  static absl::StatusOr<Program> Make(const CodeObject& code,
                                      const KernelInfo& kernel,
                                      const std::vector<Edit>& edits);

  // nullptr if no instruction starts at that byte of .text.
  const ProgramStep* At(uint64_t pc) const {
    if (pc / 4 >= step_of_word_.size() || pc % 4 != 0) return nullptr;
    const int32_t step = step_of_word_[pc / 4];
    return step < 0 ? nullptr : &steps_[static_cast<size_t>(step)];
  }

  // Steps by number, in the order of their addresses.
  const std::vector<ProgramStep>& steps() const { return steps_; }
  size_t IndexOf(const ProgramStep& step) const {
    return static_cast<size_t>(&step - steps_.data());
  }

 private:
  Program() = default;
  absl::Status Apply(const Edit& edit);

  std::vector<ProgramStep> steps_;
  std::vector<int32_t> step_of_word_;
  std::vector<std::unique_ptr<Instruction>> edited_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_PROGRAM_H_
