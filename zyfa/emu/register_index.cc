#include "zyfa/emu/register_index.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/vector/handlers.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kIndexEnabled = 1u << 27;  // of MODE
constexpr uint32_t kDestination = 8;          // of M0[15:12]

void SetIndex(Wave& w, uint32_t index) {
  w.sgpr[kM0] = (w.sgpr[kM0] & ~0xffu) | (index & 0xff);
}
void SetOperands(Wave& w, int64_t operands) {
  w.sgpr[kM0] = (w.sgpr[kM0] & ~0xf000u) | static_cast<uint32_t>(operands & 15)
                                               << 12;
}

void IndexOn(const Instruction& i, Wave& w) {
  SetIndex(w, Scalar32(i.operands[0], w));
  SetOperands(w, i.operands[1].integer);
  w.mode.bits |= kIndexEnabled;
}
void IndexOff(const Instruction&, Wave& w) { w.mode.bits &= ~kIndexEnabled; }
void IndexMode(const Instruction& i, Wave& w) {
  SetOperands(w, i.operands[0].integer);
}
void IndexValue(const Instruction& i, Wave& w) {
  SetIndex(w, Scalar32(i.operands[0], w));
}

// The instruction with the index in its register numbers. Rare enough to be
// built anew each time.
void RunIndexed(const Instruction& inst, Wave& wave) {
  Instruction indexed = inst;
  if (wave.mode.bits & kIndexEnabled) {
    const uint32_t m0 = wave.sgpr[kM0];
    for (size_t i = 0; i < indexed.operands.size(); ++i) {
      Operand& operand = indexed.operands[i];
      const uint32_t bit = i == 0 ? kDestination : 1u << (i - 1);
      if (operand.kind != OperandKind::kVgpr || !(m0 >> 12 & bit)) continue;
      const uint32_t row = operand.index + (m0 & 0xff);
      if (row + operand.count > uint32_t{kVgprs}) {
        wave.error = absl::StrCat("the register index ", m0 & 0xff, " makes v",
                                  operand.index, " v", row);
        return;
      }
      operand.index = static_cast<uint16_t>(row);
    }
  }
  FindVectorHandler(indexed)(indexed, wave);
}

bool CanBeIndexed(const Instruction& inst) {
  const std::string_view name = inst.mnemonic;
  const auto has = [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  return inst.operands.size() >= 2 && inst.operands.size() <= 4 &&
         inst.operands[0].kind == OperandKind::kVgpr &&
         (inst.operands[1].kind != OperandKind::kScalar ||
          inst.operands.size() == 2) &&
         inst.mods.dpp == DppControl::kNone && !inst.mods.sdwa && !has("mac") &&
         !has("_co_") && !has("swap") && !has("dot2c") && !has("mfma") &&
         !has("lane");
}

}  // namespace

Handler FindRegisterIndexHandler(Instruction& inst) {
  const std::string& name = inst.mnemonic;
  const size_t operands = inst.operands.size();
  if (name == "s_set_gpr_idx_on" && operands == 2) return IndexOn;
  if (name == "s_set_gpr_idx_off" && operands == 0) return IndexOff;
  if (name == "s_set_gpr_idx_mode" && operands == 1) return IndexMode;
  if (name == "s_set_gpr_idx_idx" && operands == 1) return IndexValue;
  return nullptr;
}

void ApplyRegisterIndexing(std::vector<Instruction>& code) {
  bool on = false;
  for (Instruction& inst : code) {
    if (inst.mnemonic == "s_set_gpr_idx_on") {
      on = true;
    } else if (inst.mnemonic == "s_set_gpr_idx_off") {
      on = false;
    } else if (on && inst.handler != nullptr) {
      const bool vector = inst.mnemonic.compare(0, 2, "v_") == 0;
      if (vector && CanBeIndexed(inst)) {
        inst.handler = RunIndexed;
      } else if (vector ||
                 inst.instruction_class == InstructionClass::kBranch) {
        inst.handler = nullptr;
      }
    }
  }
}

}  // namespace zyfa::emu
