#include "zyfa/emu/cycles/instruction_time.h"

#include <algorithm>
#include <string_view>

#include "zyfa/emu/strict/hazard_traits.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

bool IsVector(const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
         operand.kind == OperandKind::kAgpr;
}

VectorRate RateOf(std::string_view name) {
  if (StartsWith(name, "v_permlane16_swap") ||
      StartsWith(name, "v_permlane32_swap")) {
    return VectorRate::kPermlaneSwap;
  }
  if (StartsWith(name, "v_pk_") &&
      (EndsWith(name, "_f32") || EndsWith(name, "_b32"))) {
    return VectorRate::kPackedFp32;
  }
  if (StartsWith(name, "v_cvt_pk_fp8_") || StartsWith(name, "v_cvt_pk_bf8_") ||
      StartsWith(name, "v_cvt_sr_fp8_") || StartsWith(name, "v_cvt_sr_bf8_") ||
      StartsWith(name, "v_cvt_scalef32_")) {
    return VectorRate::kConvertFp8;
  }
  if (StartsWith(name, "v_cvt_pk_u8_") || StartsWith(name, "v_cvt_u32_f32") ||
      StartsWith(name, "v_cvt_i32_f32") || StartsWith(name, "v_cvt_f32_i32") ||
      StartsWith(name, "v_cvt_f32_u32")) {
    return VectorRate::kConvertInt;
  }
  // Not v_mul_hi_u32_u24 and v_mul_hi_i32_i24, whose products are ordinary.
  if (name == "v_mul_lo_u32" || name == "v_mul_hi_u32" ||
      name == "v_mul_hi_i32" || name == "v_mad_u64_u32" ||
      name == "v_mad_i64_i32") {
    return VectorRate::kWideMultiply;
  }
  if (StartsWith(name, "v_mov_b64") || StartsWith(name, "v_lshl_add_u64") ||
      StartsWith(name, "v_lshlrev_b64") || StartsWith(name, "v_lshrrev_b64") ||
      StartsWith(name, "v_ashrrev_i64")) {
    return VectorRate::kMove64;
  }
  return VectorRate::kOrdinary;
}

void SetVector(const Instruction& inst, InstructionTime& time) {
  const std::string_view name = inst.mnemonic;
  time.issue = IssueKind::kVector;
  time.rate = inst.instruction_class == InstructionClass::kTrans
                  ? VectorRate::kTranscendental
                  : RateOf(name);
  if (time.rate == VectorRate::kPackedFp32 || StartsWith(name, "v_dot")) {
    time.hold = HoldClass::kPacked;
  } else if (time.rate == VectorRate::kConvertFp8 &&
             !StartsWith(name, "v_cvt_scalef32_")) {
    time.hold = HoldClass::kConvertFp8;
  }
  // The accumulator of v_fmac_* and v_dot*c_* is a source as well.
  int sources = StartsWith(name, "v_fmac_") || StartsWith(name, "v_dot2c_") ||
                        StartsWith(name, "v_dot4c_") ||
                        StartsWith(name, "v_dot8c_")
                    ? 1
                    : 0;
  for (size_t i = 1; i < inst.operands.size(); ++i) {
    sources += IsVector(inst.operands[i]) ? 1 : 0;
  }
  time.three_source = sources >= 3;
}

void SetMatrix(const Instruction& inst, InstructionTime& time) {
  const std::string_view name = inst.mnemonic;
  const HazardTraits traits = TraitsOf(inst);
  time.issue = IssueKind::kVector;
  time.matrix = true;
  time.passes = traits.passes;
  time.opcode = traits.opcode;
  time.slow_pipe = traits.pipe != MatrixPipe::kXdl;
  time.scaled = StartsWith(name, "v_mfma_scale_");
  time.sparse = StartsWith(name, "v_smfmac_");
  time.sparse32 = time.sparse && Contains(name, "32x32");
  for (size_t i = 1; i <= 2 && i < inst.operands.size(); ++i) {
    if (!IsVector(inst.operands[i])) continue;
    const auto bytes = static_cast<uint8_t>(4 * inst.operands[i].count);
    if (i == 1) time.a_bytes = bytes;
    time.operand_bytes = std::max(time.operand_bytes, bytes);
  }
}

void SetRanges(const Instruction& inst, InstructionTime& time) {
  const HazardTraits traits = TraitsOf(inst);
  for (const HazardRange& range : traits.ranges) {
    if (!range.vector) continue;
    TimedRange out{TimedUse::kRead, range.first,
                   static_cast<uint16_t>(range.first + range.count)};
    if (range.use == HazardUse::kWrite) out.use = TimedUse::kWrite;
    if (range.use == HazardUse::kMatrixAB) out.use = TimedUse::kMatrixAB;
    if (range.use == HazardUse::kMatrixC) out.use = TimedUse::kMatrixC;
    time.ranges.push_back(out);
  }
}

void SetVectorMemory(const Instruction& inst, InstructionTime& time) {
  const std::string_view name = inst.mnemonic;
  time.issue = IssueKind::kMemory;
  time.store = Contains(name, "_store_");
  time.flat = StartsWith(name, "flat_");
  time.to_lds = inst.mods.lds || StartsWith(name, "global_load_lds_");
  time.dwords = EndsWith(name, "x4")   ? 4
                : EndsWith(name, "x3") ? 3
                : EndsWith(name, "x2") ? 2
                                       : 1;
}

void SetOther(const Instruction& inst, InstructionTime& time) {
  const std::string_view name = inst.mnemonic;
  const auto immediate = inst.operands.empty()
                             ? uint64_t{0}
                             : static_cast<uint64_t>(inst.operands[0].integer);
  if (name == "s_waitcnt") {
    // Bits of the immediate: ISA 4.4.
    time.control = ControlKind::kWaitcnt;
    const uint64_t vm = (immediate & 15) | (immediate >> 14 & 3) << 4;
    const uint64_t lgkm = immediate >> 8 & 15;
    if (vm != 63) time.vmcnt = static_cast<uint16_t>(vm);
    if (lgkm != 15) time.lgkmcnt = static_cast<uint16_t>(lgkm);
  } else if (name == "s_nop") {
    time.control = ControlKind::kNop;
    time.states = static_cast<uint16_t>(immediate + 1);
  } else if (name == "s_sleep") {
    time.control = ControlKind::kSleep;
    time.states = static_cast<uint16_t>(16 * (immediate & 127));
  } else if (name == "s_barrier") {
    time.control = ControlKind::kBarrier;
  } else if (name == "s_setprio") {
    time.control = ControlKind::kSetprio;
    time.priority = static_cast<uint8_t>(immediate & 3);
  } else if (StartsWith(name, "s_endpgm")) {
    time.control = ControlKind::kEnd;
  }
}

}  // namespace

InstructionTime InstructionTimeOf(const Instruction& inst) {
  InstructionTime time;
  time.text = inst.text;
  time.address = inst.address;
  time.size = inst.size;
  switch (inst.instruction_class) {
    case InstructionClass::kSalu:
      time.issue = IssueKind::kScalar;
      break;
    case InstructionClass::kSmem:
      time.issue = IssueKind::kScalar;
      time.scalar_load = true;
      break;
    case InstructionClass::kValu:
    case InstructionClass::kTrans:
      SetVector(inst, time);
      break;
    case InstructionClass::kMfma:
      SetMatrix(inst, time);
      break;
    case InstructionClass::kLds:
      time.issue = IssueKind::kLds;
      time.lds_returns = !StartsWith(inst.mnemonic, "ds_write");
      break;
    case InstructionClass::kVmem:
      SetVectorMemory(inst, time);
      break;
    case InstructionClass::kBranch:
      time.issue = IssueKind::kBranch;
      time.control = ControlKind::kBranch;
      break;
    case InstructionClass::kOther:
      SetOther(inst, time);
      break;
  }
  SetRanges(inst, time);
  return time;
}

}  // namespace zyfa::emu
