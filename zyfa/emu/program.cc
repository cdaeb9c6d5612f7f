#include "zyfa/emu/program.h"

#include <algorithm>

#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

bool Allocated(const RegisterRange& range, const KernelInfo& kernel) {
  if (!range.vector) return true;
  const uint32_t architectural = std::min(kernel.vgprs, kernel.accum_offset);
  const uint32_t end = uint32_t{range.first} + range.count;
  if (range.first < kVgprs) return end <= architectural;
  return end - kVgprs <= kernel.vgprs - architectural;
}

// In which order the results of loads come back.
WaitState::Kind WriterKind(const Instruction& inst) {
  if (inst.instruction_class == InstructionClass::kLds) {
    return WaitState::Kind::kDs;
  }
  if (inst.instruction_class == InstructionClass::kVmem &&
      inst.mnemonic.compare(0, 5, "flat_") != 0) {
    return WaitState::Kind::kVm;
  }
  return WaitState::Kind::kNone;
}

}  // namespace

Program::Program(const CodeObject& code, const KernelInfo& kernel)
    : step_of_word_((code.text().size() + 3) / 4, -1) {
  for (const Instruction& inst : code.instructions()) {
    ProgramStep step;
    step.handler = inst.handler;
    step.inst = &inst;
    step.next_pc = static_cast<uint32_t>(inst.address + inst.size);
    step.instruction_class = static_cast<uint8_t>(inst.instruction_class);
    step.writer = WriterKind(inst);
    for (const RegisterRange& range : inst.registers) {
      step.beyond_registers |= !Allocated(range, kernel);
    }
    step_of_word_[inst.address / 4] = static_cast<int32_t>(steps_.size());
    steps_.push_back(step);
  }
}

}  // namespace zyfa::emu
