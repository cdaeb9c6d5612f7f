#include "zyfa/emu/program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

bool UsesAgprs(const CodeObject& code) {
  for (const Instruction& inst : code.instructions()) {
    for (const RegisterRange& range : inst.registers) {
      if (range.vector && range.first >= kVgprs) return true;
    }
  }
  return false;
}

// One file of kernel.vgprs registers holds both kinds, AGPRs from accum_offset
// on (LLVM AMDGPU Usage, .amdhsa_accum_offset). VGPRs may reach beyond
// accum_offset where no AGPR is used; where both are, one would be the other
// under two names, which is not emulated.
bool Allocated(const RegisterRange& range, const KernelInfo& kernel,
               bool uses_agprs) {
  if (!range.vector) return true;
  const uint32_t architectural =
      uses_agprs ? std::min(kernel.vgprs, kernel.accum_offset) : kernel.vgprs;
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

absl::StatusOr<Program> Program::Make(const CodeObject& code,
                                      const KernelInfo& kernel,
                                      const std::vector<Edit>& edits) {
  Program program;
  const bool uses_agprs = UsesAgprs(code);
  program.step_of_word_.assign((code.text().size() + 3) / 4, -1);
  for (const Instruction& inst : code.instructions()) {
    ProgramStep step;
    step.handler = inst.handler;
    step.inst = &inst;
    step.next_pc = static_cast<uint32_t>(inst.address + inst.size);
    step.instruction_class = static_cast<uint8_t>(inst.instruction_class);
    step.writer = WriterKind(inst);
    for (const RegisterRange& range : inst.registers) {
      step.beyond_registers |= !Allocated(range, kernel, uses_agprs);
    }
    program.step_of_word_[inst.address / 4] =
        static_cast<int32_t>(program.steps_.size());
    program.steps_.push_back(step);
  }
  for (const Edit& edit : edits) {
    absl::Status status = program.Apply(edit);
    if (!status.ok()) return status;
  }
  return program;
}

absl::Status Program::Apply(const Edit& edit) {
  const ProgramStep* const found = At(edit.pc);
  if (found == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "edit at %#x: no instruction starts at that byte of .text", edit.pc));
  }
  const size_t index = IndexOf(*found);
  ProgramStep& step = steps_[index];
  const Instruction& inst = *step.inst;
  switch (edit.kind) {
    case Edit::Kind::kDrop:
      // Who would come here goes to the successor instead.
      if (At(step.next_pc) == nullptr) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "edit at %#x: no instruction follows %s", edit.pc, inst.text));
      }
      step_of_word_[edit.pc / 4] = step_of_word_[step.next_pc / 4];
      return absl::OkStatus();
    case Edit::Kind::kImmediate: {
      if (inst.mnemonic != "s_nop" && inst.mnemonic != "s_waitcnt") {
        return absl::InvalidArgumentError(
            absl::StrFormat("edit at %#x: %s is neither s_nop nor s_waitcnt",
                            edit.pc, inst.text));
      }
      edited_.push_back(std::make_unique<Instruction>(inst));
      Instruction& changed = *edited_.back();
      changed.operands[0].integer = edit.immediate;
      changed.text =
          absl::StrFormat("%s (edited to %#x)", inst.text, edit.immediate);
      step.inst = &changed;
      return absl::OkStatus();
    }
    case Edit::Kind::kSwapNext: {
      if (index + 1 >= steps_.size() ||
          steps_[index + 1].inst->address != step.next_pc ||
          inst.branch_target >= 0 ||
          steps_[index + 1].inst->branch_target >= 0) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "edit at %#x: %s has no neighbour to change places with", edit.pc,
            inst.text));
      }
      ProgramStep& next = steps_[index + 1];
      const uint32_t after = next.next_pc;
      std::swap(step, next);
      // The slots keep their addresses: the first one leads to the second.
      step.next_pc = static_cast<uint32_t>(inst.address + inst.size);
      next.next_pc = after;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace zyfa::emu
