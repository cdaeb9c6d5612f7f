#include "zyfa/emu/gpr_index.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/vector/handlers.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kEnabled = 1u << 27;  // MODE.GPR_IDX_EN
// M0: index [7:0], operands [15:12]: sources 0, 1, 2 and the destination.
constexpr int kOperandsShift = 12;
constexpr uint32_t kSource0 = 1, kDestination = 8;

void SetIndex(Wave& w, uint32_t index) {
  w.sgpr[kM0] = (w.sgpr[kM0] & ~0xffu) | (index & 0xff);
}
void SetOperands(Wave& w, int64_t operands) {
  w.sgpr[kM0] = (w.sgpr[kM0] & ~0xf000u) |
                (static_cast<uint32_t>(operands) & 15) << kOperandsShift;
}

void On(const Instruction& i, Wave& w) {
  w.mode.bits |= kEnabled;
  SetIndex(w, Scalar32(i.operands[0], w));
  SetOperands(w, i.operands[1].integer);
}
void Off(const Instruction&, Wave& w) { w.mode.bits &= ~kEnabled; }
void Index(const Instruction& i, Wave& w) {
  SetIndex(w, Scalar32(i.operands[0], w));
}
void Operands(const Instruction& i, Wave& w) {
  SetOperands(w, i.operands[0].integer);
}

bool Move(Operand& operand, uint32_t index) {
  if (operand.kind != OperandKind::kVgpr) return true;
  operand.index = static_cast<uint16_t>(operand.index + index);
  return operand.index < kVgprs;
}

// The instruction with the registers it means now.
void RunIndexed(const Instruction& inst, Wave& wave) {
  Instruction moved = inst;
  if (wave.mode.bits & kEnabled) {
    if (inst.mnemonic != "v_mov_b32") {
      wave.error =
          absl::StrCat(inst.mnemonic, " is not emulated under VGPR indexing");
      return;
    }
    const uint32_t index = wave.sgpr[kM0] & 0xff;
    const uint32_t operands = wave.sgpr[kM0] >> kOperandsShift & 15;
    if ((operands & kDestination && !Move(moved.operands[0], index)) ||
        (operands & kSource0 && !Move(moved.operands[1], index))) {
      wave.error = absl::StrCat("VGPR index ", index, " leaves the registers");
      return;
    }
  }
  FindVectorHandler(moved)(moved, wave);
}

bool IsVector(const Instruction& inst) {
  return inst.handler != nullptr && inst.mnemonic.starts_with("v_");
}

}  // namespace

Handler FindGprIndexHandler(Instruction& inst) {
  if (inst.mnemonic == "s_set_gpr_idx_on") return On;
  if (inst.mnemonic == "s_set_gpr_idx_off") return Off;
  if (inst.mnemonic == "s_set_gpr_idx_idx") return Index;
  if (inst.mnemonic == "s_set_gpr_idx_mode") return Operands;
  return nullptr;
}

void ApplyGprIndexing(std::vector<Instruction>& instructions) {
  bool on = false, leaves = false;
  for (Instruction& inst : instructions) {
    if (inst.mnemonic == "s_set_gpr_idx_on") on = true;
    if (inst.mnemonic == "s_set_gpr_idx_off") on = false;
    // Where a branch goes, indexing may still be on.
    leaves =
        leaves || (on && inst.instruction_class == InstructionClass::kBranch);
    if (on && IsVector(inst)) inst.handler = RunIndexed;
  }
  if (!leaves) return;
  for (Instruction& inst : instructions) {
    if (IsVector(inst)) inst.handler = RunIndexed;
  }
}

}  // namespace zyfa::emu
