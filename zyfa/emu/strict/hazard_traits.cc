#include "zyfa/emu/strict/hazard_traits.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>

#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "32x32x16" behind the result type of a matrix mnemonic.
struct MatrixShape {
  int rows = 0, columns = 0, depth = 0, blocks = 1;
};
MatrixShape ShapeOf(std::string_view mnemonic) {
  MatrixShape shape;
  const size_t x = mnemonic.find('x');
  if (x == std::string_view::npos) return shape;
  size_t start = x;
  while (start > 0 && mnemonic[start - 1] >= '0' && mnemonic[start - 1] <= '9')
    --start;
  const char* at = mnemonic.data() + start;
  const char* const end = mnemonic.data() + mnemonic.size();
  for (int* part : {&shape.rows, &shape.columns, &shape.depth}) {
    at = std::from_chars(at, end, *part).ptr;
    if (at < end) ++at;
  }
  // "_4b_f64" or "_16b_f32": blocks side by side.
  int blocks = 0;
  const auto parsed = std::from_chars(at, end, blocks);
  if (parsed.ec == std::errc() && parsed.ptr < end && *parsed.ptr == 'b' &&
      parsed.ptr + 1 < end && parsed.ptr[1] == '_') {
    shape.blocks = blocks;
  }
  return shape;
}

int VectorRow(const Operand& operand) { return Wave::Row(operand); }
bool IsVector(const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
         operand.kind == OperandKind::kAgpr;
}

HazardRange Range(HazardUse use, const Operand& operand) {
  return {use, true, static_cast<uint16_t>(VectorRow(operand)), operand.count};
}

// D, A, B, C [, scale of A, scale of B]; sparse: D (addend too), A, B, index.
void AddMatrixRanges(const Instruction& inst, HazardTraits& traits) {
  const bool sparse = StartsWith(inst.mnemonic, "v_smfmac_");
  for (size_t i = 1; i < inst.operands.size(); ++i) {
    const Operand& operand = inst.operands[i];
    if (!IsVector(operand)) continue;
    const HazardUse use = i <= 2 || (sparse && i == 3) ? HazardUse::kMatrixAB
                          : i == 3 ? HazardUse::kMatrixC
                                   : HazardUse::kMatrixScale;
    traits.ranges.push_back(Range(use, operand));
  }
  if (inst.operands.empty() || !IsVector(inst.operands[0])) return;
  if (sparse) {
    traits.ranges.push_back(Range(HazardUse::kMatrixC, inst.operands[0]));
  }
  traits.ranges.push_back(Range(HazardUse::kWrite, inst.operands[0]));
}

// Index of the operand that selects lanes or carries in, or -1.
int MaskOperand(std::string_view mnemonic) {
  if (StartsWith(mnemonic, "v_cndmask_b32")) return 3;
  if (StartsWith(mnemonic, "v_addc_co_u32") ||
      StartsWith(mnemonic, "v_subb_co_u32") ||
      StartsWith(mnemonic, "v_subbrev_co_u32")) {
    return 4;
  }
  return -1;
}

// Results that the assembler text names first: a second one is a lane mask.
size_t NamedResults(std::string_view mnemonic) {
  return Contains(mnemonic, "_co_u32") ||
                 StartsWith(mnemonic, "v_div_scale_") ||
                 StartsWith(mnemonic, "v_mad_u64_u32") ||
                 StartsWith(mnemonic, "v_mad_i64_i32")
             ? 2
             : 1;
}

// How a vector arithmetic instruction uses the scalar registers [first, ..).
HazardUse ScalarUse(const Instruction& inst, const RegisterRange& range) {
  const int mask = MaskOperand(inst.mnemonic);
  const bool lanes =
      inst.mnemonic == "v_readlane_b32" || inst.mnemonic == "v_writelane_b32";
  for (size_t i = NamedResults(inst.mnemonic); i < inst.operands.size(); ++i) {
    const Operand& operand = inst.operands[i];
    if (operand.kind != OperandKind::kScalar || operand.index != range.first) {
      continue;
    }
    if (static_cast<int>(i) == mask) return HazardUse::kMask;
    if (lanes && i == 2) return HazardUse::kLaneSelect;
    return HazardUse::kConstant;
  }
  return HazardUse::kMask;  // implicit VCC
}

bool IsDestination(const Instruction& inst, const RegisterRange& range) {
  return std::any_of(inst.registers.begin(), inst.registers.end(),
                     [&range](const RegisterRange& other) {
                       return other.write && other.vector == range.vector &&
                              other.first == range.first &&
                              other.count == range.count;
                     });
}

// Whether the range is one of the sources that the assembler text names.
bool IsNamedSource(const Instruction& inst, const RegisterRange& range) {
  for (size_t i = 1; i < inst.operands.size(); ++i) {
    const Operand& operand = inst.operands[i];
    if (IsVector(operand) && VectorRow(operand) == range.first &&
        operand.count == range.count) {
      return true;
    }
  }
  return false;
}

// Where the result goes is said by op_sel (entry 2 of two-source conversions,
// entry 3 with three sources) or by SDWA.
bool PlacesResult(const Instruction& inst) {
  if (inst.mods.sdwa && inst.mods.dst_sel != SdwaSelect::kDword) return true;
  if (!inst.mods.has_op_sel || StartsWith(inst.mnemonic, "v_pk_")) return false;
  if (Contains(inst.mnemonic, "permlane")) return false;
  // The entries behind the sources', of which the destination is not one.
  const size_t sources = inst.operands.size() - 1;
  return inst.mods.op_sel >> std::min<size_t>(sources, 7) != 0 ||
         (Contains(inst.mnemonic, "_sr_") && inst.mods.op_sel >> 2 != 0);
}

// Whether it keeps bits of its destination.
bool KeepsPart(const Instruction& inst) {
  return PlacesResult(inst) || StartsWith(inst.mnemonic, "v_cvt_pk_fp8_") ||
         StartsWith(inst.mnemonic, "v_cvt_pk_bf8_") ||
         StartsWith(inst.mnemonic, "v_cvt_sr_") ||
         StartsWith(inst.mnemonic, "v_cvt_scalef32_") || inst.mods.sdwa ||
         inst.mods.dpp != DppControl::kNone;
}

void AddRanges(const Instruction& inst, HazardTraits& traits) {
  for (const RegisterRange& range : inst.registers) {
    HazardRange out{HazardUse::kRead, range.vector, range.first, range.count};
    if (range.write) {
      out.use = HazardUse::kWrite;
    } else if (range.vector) {
      if (traits.vector_alu && KeepsPart(inst) && IsDestination(inst, range) &&
          !IsNamedSource(inst, range)) {
        out.use = HazardUse::kKept;
      }
    } else if (range.first == kExecLo) {
      // The lanes that take part: interlocked unless read as a constant.
      if (!traits.vector_alu ||
          std::none_of(inst.operands.begin(), inst.operands.end(),
                       [](const Operand& operand) {
                         return operand.kind == OperandKind::kScalar &&
                                operand.index == kExecLo;
                       })) {
        continue;
      }
      out.use = HazardUse::kConstant;
    } else if (traits.vector_alu) {
      out.use = ScalarUse(inst, range);
    } else {
      out.use =
          traits.vector_memory ? HazardUse::kAddress : HazardUse::kScalarRead;
    }
    traits.ranges.push_back(out);
  }
}

int HardwareRegister(const Instruction& inst, size_t operand) {
  return operand < inst.operands.size()
             ? static_cast<int>(inst.operands[operand].integer & 63)
             : -1;
}

}  // namespace

int MatrixPasses(const Instruction& inst, MatrixPipe& pipe) {
  const std::string_view name = inst.mnemonic;
  const MatrixShape shape = ShapeOf(name);
  pipe = MatrixPipe::kXdl;
  if (Contains(name, "_f64")) {
    pipe = shape.rows == 16 ? MatrixPipe::kDgemm16 : MatrixPipe::kDgemm4;
    return shape.rows == 16 ? 16 : 4;
  }
  // ISA 1.1: either 8-bit operand makes f8f6f4 run at 8-bit speed.
  if (Contains(name, "_f8f6f4")) {
    const bool eight_bit = inst.mods.cbsz < 2 || inst.mods.blgp < 2;
    return (shape.rows == 32 ? 8 : 4) * (eight_bit ? 2 : 1);
  }
  const bool single = name.size() > 4 && name.substr(name.size() - 4) == "_f32";
  if (single) pipe = MatrixPipe::kSgemm;
  if (shape.rows == 4) return 2;
  // Sums of several blocks take as long as one of their depths together.
  if (shape.blocks > 1) return shape.rows == 32 ? 16 : 8;
  if (single) return shape.rows == 32 ? 16 : 8;
  if (Contains(name, "_xf32")) return shape.rows == 32 ? 8 : 4;
  return shape.rows == 32 ? 8 : 4;
}

HazardTraits TraitsOf(const Instruction& inst) {
  HazardTraits traits;
  const std::string_view name = inst.mnemonic;
  traits.opcode =
      static_cast<uint32_t>(std::hash<std::string_view>{}(name) & 0xffffffff);
  switch (inst.instruction_class) {
    case InstructionClass::kMfma:
      traits.writer = HazardWriter::kMatrix;
      traits.passes = static_cast<uint8_t>(MatrixPasses(inst, traits.pipe));
      // Two instructions of 8 bytes: scales, then product (ISA 1.2).
      if (inst.size == 16) traits.issue_slots = 2;
      AddMatrixRanges(inst, traits);
      return traits;
    case InstructionClass::kValu:
      traits.vector_alu = true;
      traits.writer = PlacesResult(inst)          ? HazardWriter::kPartial
                      : StartsWith(name, "v_dot") ? HazardWriter::kDot
                                                  : HazardWriter::kValu;
      break;
    case InstructionClass::kTrans:
      traits.vector_alu = true;
      traits.writer = HazardWriter::kTranscendental;
      break;
    case InstructionClass::kVmem:
      traits.memory = traits.vector_memory = true;
      break;
    case InstructionClass::kLds:
      traits.memory = true;
      break;
    default:
      break;
  }
  if (name == "s_nop") {
    traits.wait_states = static_cast<uint16_t>(inst.operands[0].integer + 1);
  }
  traits.barrier = name == "s_barrier";
  traits.dpp = inst.mods.dpp != DppControl::kNone;
  traits.permlane = StartsWith(name, "v_permlane");
  traits.read_lane = name == "v_readlane_b32" || name == "v_readfirstlane_b32";
  traits.write_lane = name == "v_writelane_b32";
  traits.div_fmas = StartsWith(name, "v_div_fmas_");
  traits.conversion = StartsWith(name, "v_cvt_pk_");
  traits.scaled_conversion = StartsWith(name, "v_cvt_scalef32_");
  traits.writes_exec = StartsWith(name, "v_cmpx_");
  if (traits.vector_alu) {
    for (const Operand& operand : inst.operands) {
      if (operand.kind != OperandKind::kScalar) continue;
      traits.reads_vccz |= operand.index == kSrcVccz;
      traits.reads_execz |= operand.index == kSrcExecz;
    }
  }
  if (inst.instruction_class == InstructionClass::kSalu) {
    for (const RegisterRange& range : inst.registers) {
      traits.scalar_writes_m0 |=
          range.write && !range.vector && range.first == kM0;
    }
  }
  traits.needs_m0 = inst.mods.lds || StartsWith(name, "global_load_lds_") ||
                    Contains(name, "_addtid_") ||
                    StartsWith(name, "s_sendmsg") ||
                    StartsWith(name, "s_movrel");
  // ISA 5.2: buffer stores with an SGPR offset are exempt.
  if (traits.vector_memory && Contains(name, "_store_dwordx") &&
      !Contains(name, "x2")) {
    const bool buffer = StartsWith(name, "buffer_");
    traits.wide_store = !buffer || inst.operands.size() < 4 ||
                        inst.operands[3].kind != OperandKind::kScalar;
  }
  if (StartsWith(name, "s_setreg_")) {
    traits.set_register = HardwareRegister(inst, 0);
  }
  if (StartsWith(name, "s_getreg_")) {
    traits.get_register = HardwareRegister(inst, 1);
  }
  if (name == "v_pk_fma_f32") {
    const unsigned high_low = inst.mods.has_op_sel ? inst.mods.op_sel : 0;
    const unsigned high_high =
        inst.mods.has_op_sel_hi ? inst.mods.op_sel_hi : 7u;
    traits.pk_fma_fault = (high_low & high_high & 7) != 0;
  }
  AddRanges(inst, traits);
  // LLVM's tables do not list what SDWA and some conversions keep.
  const bool keeps = inst.mods.sdwa
                         ? inst.mods.dst_unused == SdwaUnused::kPreserve
                         : traits.writer == HazardWriter::kPartial;
  if (keeps && !inst.operands.empty() && IsVector(inst.operands[0])) {
    traits.ranges.insert(traits.ranges.begin(),
                         Range(HazardUse::kKept, inst.operands[0]));
  }
  return traits;
}

}  // namespace zyfa::emu
