// Instructions that move values between lanes or between lanes and scalars.

#include <bit>
#include <cstring>
#include <utility>

#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

bool IsPlain(const Instruction& inst, std::size_t operands) {
  const Modifiers& mods = inst.mods;
  return inst.operands.size() == operands && !mods.sdwa &&
         mods.dpp == DppControl::kNone && !mods.op_sel && !mods.clamp;
}

uint32_t ReadUniform(const Wave& wave, const Operand& operand) {
  return operand.kind == OperandKind::kScalar
             ? wave.ReadScalar32(operand.index)
             : static_cast<uint32_t>(operand.integer);
}

bool IsUniform(const Operand& operand) {
  return operand.kind == OperandKind::kScalar ||
         operand.kind == OperandKind::kInteger;
}

// The lowest active lane; lane 0 without any.
void RunReadFirstLane(const Instruction& inst, Wave& wave) {
  const int lane = wave.exec == 0 ? 0 : std::countr_zero(wave.exec);
  const Operand& source = inst.operands[1];
  const uint32_t value = IsVector(source) ? wave.vgpr[Wave::Row(source)][lane]
                                          : ReadUniform(wave, source);
  wave.WriteScalar32(inst.operands[0].index, value);
}
Handler MakeReadFirstLane(Instruction& inst) {
  inst.aux[0] = 0;
  return IsPlain(inst, 2) && inst.operands[0].kind == OperandKind::kScalar &&
                 valu::PrepareSource(inst, 1, 0, FormatOf<U32>())
             ? &RunReadFirstLane
             : nullptr;
}

void RunReadLane(const Instruction& inst, Wave& wave) {
  const uint32_t lane = ReadUniform(wave, inst.operands[2]) & 63;
  const Operand& source = inst.operands[1];
  wave.WriteScalar32(inst.operands[0].index,
                     wave.vgpr[Wave::Row(source)][lane]);
}
Handler MakeReadLane(Instruction& inst) {
  return IsPlain(inst, 3) && inst.operands[0].kind == OperandKind::kScalar &&
                 IsVector(inst.operands[1]) && IsUniform(inst.operands[2])
             ? &RunReadLane
             : nullptr;
}

void RunWriteLane(const Instruction& inst, Wave& wave) {
  const uint32_t lane = ReadUniform(wave, inst.operands[2]) & 63;
  wave.vgpr[Wave::Row(inst.operands[0])][lane] =
      ReadUniform(wave, inst.operands[1]);
}
Handler MakeWriteLane(Instruction& inst) {
  inst.aux[0] = 0;
  return IsPlain(inst, 3) && IsVector(inst.operands[0]) &&
                 valu::PrepareSource(inst, 1, 0, FormatOf<U32>()) &&
                 IsUniform(inst.operands[1]) && IsUniform(inst.operands[2])
             ? &RunWriteLane
             : nullptr;
}

// In every group of 2 * kWidth lanes: the upper half of d changes places with
// the lower half of s, whatever EXEC is.
template <int kWidth>
void RunPermlaneSwap(const Instruction& inst, Wave& wave) {
  uint32_t* d = wave.vgpr[Wave::Row(inst.operands[0])];
  uint32_t* s = wave.vgpr[Wave::Row(inst.operands[1])];
  for (int base = 0; base < kLanes; base += 2 * kWidth) {
    for (int l = 0; l < kWidth; ++l) {
      const uint32_t value = d[base + kWidth + l];
      d[base + kWidth + l] = s[base + l];
      s[base + l] = value;
    }
  }
}
template <int kWidth>
Handler MakePermlaneSwap(Instruction& inst) {
  return IsPlain(inst, 2) && IsVector(inst.operands[0]) &&
                 IsVector(inst.operands[1])
             ? &RunPermlaneSwap<kWidth>
             : nullptr;
}

void RunSwap(const Instruction& inst, Wave& wave) {
  uint32_t* d = wave.vgpr[Wave::Row(inst.operands[0])];
  uint32_t* s = wave.vgpr[Wave::Row(inst.operands[1])];
  for (int l = 0; l < kLanes; ++l) {
    if (wave.exec >> l & 1) std::swap(d[l], s[l]);
  }
}
Handler MakeSwap(Instruction& inst) {
  return IsPlain(inst, 2) && IsVector(inst.operands[0]) &&
                 IsVector(inst.operands[1])
             ? &RunSwap
             : nullptr;
}

// d[0] = dword op_sel[0] of a, d[1] = dword op_sel[1] of b.
void RunPkMov(const Instruction& inst, Wave& wave) {
  alignas(64) uint32_t result[2][kLanes];
  for (int i = 0; i < 2; ++i) {
    Operand operand = inst.operands[1 + i];
    const int select = inst.mods.op_sel >> i & 1;
    if (operand.kind != OperandKind::kInteger) {
      operand.index = static_cast<uint16_t>(operand.index + select);
    }
    alignas(64) uint32_t buffer[kLanes];
    uint64_t active = 0;
    std::memcpy(result[i],
                valu::FetchWords32(inst, wave, operand, i, FormatOf<U32>(),
                                   active, buffer),
                sizeof(result[i]));
  }
  Operand dst = inst.operands[0];
  valu::StoreWords32(wave, dst, wave.exec, result[0]);
  ++dst.index;
  valu::StoreWords32(wave, dst, wave.exec, result[1]);
}
Handler MakePkMov(Instruction& inst) {
  inst.aux[0] = 0;
  const Modifiers& mods = inst.mods;
  if (inst.operands.size() != 3 || !IsVector(inst.operands[0]) || mods.clamp ||
      mods.neg_lo || mods.neg_hi) {
    return nullptr;
  }
  for (int i = 0; i < 2; ++i) {
    if (!valu::PrepareSource(inst, 1 + i, i, FormatOf<U32>())) return nullptr;
    // The upper dword of a constant is not documented.
    if (inst.operands[1 + i].kind == OperandKind::kInteger &&
        (mods.op_sel >> i & 1)) {
      return nullptr;
    }
  }
  return &RunPkMov;
}

void RunNothing(const Instruction&, Wave&) {}
Handler MakeNothing(Instruction&) { return &RunNothing; }

}  // namespace

void AddCrossLane(valu::HandlerTable& table) {
  table["v_readfirstlane_b32"] = &MakeReadFirstLane;
  table["v_readlane_b32"] = &MakeReadLane;
  table["v_writelane_b32"] = &MakeWriteLane;
  table["v_permlane16_swap_b32"] = &MakePermlaneSwap<16>;
  table["v_permlane32_swap_b32"] = &MakePermlaneSwap<32>;
  table["v_swap_b32"] = &MakeSwap;
  table["v_pk_mov_b32"] = &MakePkMov;
  // There are no exceptions to clear.
  table["v_nop"] = &MakeNothing;
  table["v_clrexcp"] = &MakeNothing;
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
