#include "zyfa/emu/mutation/mutants.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kMaxVm = 63, kMaxLgkm = 15;

// The fields of s_waitcnt (ISA 3.5).
uint32_t VmOf(uint32_t imm) { return (imm & 15) | (imm >> 14 & 3) << 4; }
uint32_t LgkmOf(uint32_t imm) { return imm >> 8 & 15; }
uint16_t WithVm(uint32_t imm, uint32_t vm) {
  return static_cast<uint16_t>((imm & ~0xc00fu) | (vm & 15) | (vm >> 4) << 14);
}
uint16_t WithLgkm(uint32_t imm, uint32_t lgkm) {
  return static_cast<uint16_t>((imm & ~0xf00u) | lgkm << 8);
}

bool Is(const Instruction& inst, const char* mnemonic) {
  return inst.mnemonic == mnemonic;
}
bool OnlyWaits(const Instruction& inst) {
  return Is(inst, "s_nop") || Is(inst, "s_waitcnt") || Is(inst, "s_barrier");
}
bool AccessesMemory(const Instruction& inst) {
  return inst.instruction_class == InstructionClass::kVmem ||
         inst.instruction_class == InstructionClass::kLds ||
         inst.instruction_class == InstructionClass::kSmem;
}
// Instructions whose effect is not all in their registers: SCC, MODE, EXEC,
// control.
bool Fixed(const Instruction& inst) {
  return inst.branch_target >= 0 ||
         inst.instruction_class == InstructionClass::kBranch ||
         inst.instruction_class == InstructionClass::kOther ||
         inst.instruction_class == InstructionClass::kSalu ||
         std::any_of(inst.registers.begin(), inst.registers.end(),
                     [](const RegisterRange& range) {
                       return range.write && !range.vector &&
                              range.first == kExecLo;
                     });
}

bool Meet(const RegisterRange& a, const RegisterRange& b) {
  return a.vector == b.vector && (a.write || b.write) &&
         a.first < b.first + b.count && b.first < a.first + a.count;
}

bool MayChangePlaces(const Instruction& a, const Instruction& b) {
  if (OnlyWaits(a) || OnlyWaits(b)) {
    const Instruction& other = OnlyWaits(a) ? b : a;
    return OnlyWaits(other) ||
           (other.branch_target < 0 &&
            other.instruction_class != InstructionClass::kBranch &&
            !Is(other, "s_endpgm"));
  }
  if (Fixed(a) || Fixed(b) || (AccessesMemory(a) && AccessesMemory(b))) {
    return false;
  }
  for (const RegisterRange& x : a.registers) {
    for (const RegisterRange& y : b.registers) {
      if (Meet(x, y)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Mutant> MutantsOf(const CodeObject& code,
                              const std::set<uint64_t>& executed) {
  std::vector<Mutant> mutants;
  const std::vector<Instruction>& all = code.instructions();
  std::set<int64_t> targets;
  for (const Instruction& inst : all) targets.insert(inst.branch_target);
  const auto add = [&](const char* how, Edit::Kind kind,
                       const Instruction& inst, uint16_t immediate = 0) {
    mutants.push_back(
        {{kind, inst.address, immediate},
         absl::StrFormat("%s %#x: %s", how, inst.address, inst.text)});
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const Instruction& inst = all[i];
    if (executed.count(inst.address) == 0) continue;
    if (Is(inst, "s_nop")) {
      add("drop", Edit::Kind::kDrop, inst);
      const auto states = static_cast<uint16_t>(inst.operands[0].integer);
      if (states > 0) {
        add("shorten", Edit::Kind::kImmediate, inst,
            static_cast<uint16_t>(states - 1));
      }
    } else if (Is(inst, "s_waitcnt")) {
      add("drop", Edit::Kind::kDrop, inst);
      const auto imm = static_cast<uint32_t>(inst.operands[0].integer);
      if (VmOf(imm) < kMaxVm) {
        add("loosen vmcnt", Edit::Kind::kImmediate, inst,
            WithVm(imm, VmOf(imm) + 1));
      }
      if (LgkmOf(imm) < kMaxLgkm) {
        add("loosen lgkmcnt", Edit::Kind::kImmediate, inst,
            WithLgkm(imm, LgkmOf(imm) + 1));
      }
    } else if (Is(inst, "s_barrier")) {
      add("drop", Edit::Kind::kDrop, inst);
    }
    if (i + 1 < all.size() && executed.count(all[i + 1].address) != 0 &&
        inst.address + inst.size == all[i + 1].address &&
        targets.count(static_cast<int64_t>(all[i + 1].address)) == 0 &&
        MayChangePlaces(inst, all[i + 1])) {
      add("swap with the next", Edit::Kind::kSwapNext, inst);
    }
  }
  return mutants;
}

}  // namespace zyfa::emu
