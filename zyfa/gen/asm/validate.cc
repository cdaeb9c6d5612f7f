#include "zyfa/gen/asm/validate.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

const char* ClassText(OperandClass klass) {
  switch (klass) {
    case OperandClass::kVgpr:
      return "a VGPR";
    case OperandClass::kAgpr:
      return "an AGPR";
    case OperandClass::kData:
      return "a VGPR or AGPR";
    case OperandClass::kScalarReg:
      return "an SGPR";
    case OperandClass::kMask:
      return "a lane mask in an SGPR pair or VCC";
    case OperandClass::kSaluSource:
      return "an SGPR or a constant";
    case OperandClass::kF32:
    case OperandClass::kF16:
    case OperandClass::kInt:
    case OperandClass::kBits:
      return "a VGPR, an SGPR or a constant";
    case OperandClass::kPackedF32:
      return "a VGPR or SGPR pair (the high half of a constant is not "
             "specified)";
    case OperandClass::kAddend:
      return "a VGPR, an AGPR or an inline constant";
    case OperandClass::kBufferAddress:
      return "a VGPR or off";
    case OperandClass::kBufferOffset:
      return "an SGPR or an inline integer";
    case OperandClass::kGlobalAddress:
      return "a VGPR";
    case OperandClass::kGlobalBase:
      return "an SGPR pair or off";
    case OperandClass::kSmemOffset:
      return "an SGPR or a constant";
    case OperandClass::kLabel:
      return "a label";
    case OperandClass::kUnsigned:
    case OperandClass::kSigned16:
      return "a constant";
  }
  return "";
}

bool AcceptsFile(OperandClass klass, RegisterFile file) {
  switch (klass) {
    case OperandClass::kVgpr:
    case OperandClass::kBufferAddress:
    case OperandClass::kGlobalAddress:
      return file == RegisterFile::kVgpr;
    case OperandClass::kAgpr:
      return file == RegisterFile::kAgpr;
    case OperandClass::kData:
    case OperandClass::kAddend:
      return file != RegisterFile::kScalar;
    case OperandClass::kScalarReg:
    case OperandClass::kMask:
    case OperandClass::kSaluSource:
    case OperandClass::kBufferOffset:
    case OperandClass::kGlobalBase:
    case OperandClass::kSmemOffset:
      return file == RegisterFile::kScalar;
    case OperandClass::kF32:
    case OperandClass::kF16:
    case OperandClass::kInt:
    case OperandClass::kBits:
    case OperandClass::kPackedF32:
      return file != RegisterFile::kAgpr;
    case OperandClass::kLabel:
    case OperandClass::kUnsigned:
    case OperandClass::kSigned16:
      return false;
  }
  return false;
}

bool AcceptsConstant(OperandClass klass) {
  switch (klass) {
    case OperandClass::kSaluSource:
    case OperandClass::kF32:
    case OperandClass::kF16:
    case OperandClass::kInt:
    case OperandClass::kBits:
    case OperandClass::kAddend:
    case OperandClass::kBufferOffset:
    case OperandClass::kSmemOffset:
    case OperandClass::kUnsigned:
    case OperandClass::kSigned16:
      return true;
    default:
      return false;
  }
}

bool IsSpecialScalar(const Operand& o) {
  return o.IsRegister(RegisterFile::kScalar) && o.first >= kMaxSgprs;
}

bool IsVccPart(const Operand& o) {
  return o.first >= vcc.first() && o.first + o.count <= vcc.first() + 2;
}

std::string RegisterProblem(const Operand& o, const OperandSpec& spec,
                            int count, bool any_alignment) {
  if (!o.valid_register()) {
    return absl::StrCat(
        "an operand is no register: a part outside its range "
        "or a range that was never allocated");
  }
  const std::string text = RegisterText(o.file, o.first, o.count);
  if (!AcceptsFile(spec.klass, o.file)) {
    return absl::StrCat(text, " must be ", ClassText(spec.klass));
  }
  if (o.count != count) {
    return absl::StrCat(text, " has ", o.count, " registers, must have ",
                        count);
  }
  if (o.file == RegisterFile::kScalar) {
    if (IsSpecialScalar(o)) {
      const bool known = IsVccPart(o) ||
                         (o.first == m0.first() && count == 1) ||
                         (o.first >= exec.first() && o.first + count <= 128);
      if (!known) {
        return absl::StrCat(text, ": SGPRs end at s", kMaxSgprs - 1);
      }
    } else if (o.first + count > kMaxSgprs) {
      return absl::StrCat(text, ": SGPRs end at s", kMaxSgprs - 1);
    }
    const int align = count >= 4 ? 4 : count;
    if (o.first % align != 0) {
      return absl::StrCat(text, " must start at a multiple of ", align);
    }
    return "";
  }
  const int limit =
      o.file == RegisterFile::kVgpr ? kMaxArchVgprs : kMaxAccVgprs;
  if (o.first + count > limit) {
    return absl::StrCat(text, ": registers end at ",
                        RegisterText(o.file, limit - 1, 1));
  }
  if (count > 1 && o.first % 2 != 0 && !any_alignment) {
    return absl::StrCat(text, " starts odd: gfx950 wants an even start");
  }
  return "";
}

std::string ConstantProblem(const Imm& imm, const OperandSpec& spec,
                            bool integer_matrix) {
  const std::string text = imm.Text();
  if (!AcceptsConstant(spec.klass)) {
    return absl::StrCat("constant ", text, " must be ", ClassText(spec.klass));
  }
  if (imm.kind() == Imm::Kind::kOutOfRange) {
    return "a constant does not fit into 32 bits";
  }
  const int64_t value = static_cast<int32_t>(imm.bits());
  const bool integer = imm.kind() == Imm::Kind::kInteger;
  switch (spec.klass) {
    case OperandClass::kF32:
      if (integer && value != 0) {
        return absl::StrCat("integer ", text,
                            " in an F32 operand: write F32(x) or Bits(x)");
      }
      return "";
    case OperandClass::kF16:
      if (value != 0) {
        return absl::StrCat("constant ", text,
                            " in a half operand: only 0 is unambiguous");
      }
      return "";
    case OperandClass::kInt:
    case OperandClass::kBits:
    case OperandClass::kSaluSource:
      if (spec.count == 2 && !imm.IsInline() && value < 0) {
        return absl::StrCat("literal ", text,
                            " in a 64-bit operand: its high half depends on "
                            "the sign extension");
      }
      if (spec.count == 2 && !integer) {
        return absl::StrCat("constant ", text,
                            " in a 64-bit operand must be an integer");
      }
      return "";
    case OperandClass::kAddend:
      if (!imm.IsInline()) {
        return absl::StrCat("literal ", text,
                            ": a matrix addend takes inline constants only");
      }
      if (integer != integer_matrix && value != 0) {
        return absl::StrCat("constant ", text, " must be ",
                            integer_matrix ? "an integer" : "F32(x)");
      }
      return "";
    case OperandClass::kBufferOffset:
      if (!integer || !imm.IsInline()) {
        return absl::StrCat("scalar offset ", text,
                            " must be an SGPR or -16..64");
      }
      return "";
    case OperandClass::kSmemOffset:
      if (value < -(1 << 20) || value >= (1 << 20)) {
        return absl::StrCat("offset ", value, " outside the 21-bit range");
      }
      return "";
    case OperandClass::kUnsigned:
      if (spec.count < 32 && (value < 0 || value >= (1 << spec.count))) {
        return absl::StrCat("constant ", value, " must be 0..",
                            (1 << spec.count) - 1);
      }
      return "";
    case OperandClass::kSigned16:
      if (value < -32768 || value > 32767) {
        return absl::StrCat("constant ", value, " must be -32768..32767");
      }
      return "";
    default:
      return "";
  }
}

// gfx9 lets a vector instruction read one scalar value: one SGPR (pair) or VCC,
// EXEC, M0, or a literal; VOP3 encodings take no literal at all.
std::string ConstantBusProblem(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  if (!info.IsValu()) return "";
  std::set<std::string> scalars;
  std::set<uint32_t> literals;
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    const Operand& o = inst.operands[i];
    const OperandSpec& spec = info.operands[i];
    if (spec.access == OperandAccess::kWrite) continue;
    if (o.IsRegister(RegisterFile::kScalar)) {
      scalars.insert(RegisterText(o.file, o.first, o.count));
    }
    if (o.IsImm() && !o.imm.IsInline()) literals.insert(o.imm.bits());
  }
  if (!literals.empty()) {
    const Imm literal = Bits(*literals.begin());
    if (info.format == Format::kVop3 || info.format == Format::kVop3p) {
      return absl::StrCat("literal ", literal.Text(),
                          ": 64-bit encodings take no literal");
    }
    if (NeedsVop3(inst)) {
      return absl::StrCat("literal ", literal.Text(),
                          ": operands or modifiers need the 64-bit encoding, "
                          "which takes no literal");
    }
  }
  if (scalars.size() + literals.size() > 1) {
    std::string list;
    for (const std::string& s : scalars) absl::StrAppend(&list, " ", s);
    for (uint32_t bits : literals)
      absl::StrAppend(&list, " ", Bits(bits).Text());
    return absl::StrCat("reads more than one scalar value:", list);
  }
  return "";
}

std::string ScalarLiteralProblem(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  if (info.format != Format::kSop1 && info.format != Format::kSop2 &&
      info.format != Format::kSopc) {
    return "";
  }
  std::set<uint32_t> literals;
  for (const Operand& o : inst.operands) {
    if (o.IsImm() && !o.imm.IsInline()) literals.insert(o.imm.bits());
  }
  return literals.size() > 1 ? "has two different literals" : "";
}

std::string DestinationProblem(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  if (info.IsSalu()) return "";
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    const Operand& o = inst.operands[i];
    if (!info.operands[i].Writes() || !IsSpecialScalar(o)) continue;
    if (!IsVccPart(o)) {
      return absl::StrCat(RegisterText(o.file, o.first, o.count),
                          " must be an SGPR or VCC");
    }
  }
  if (info.format == Format::kSmem && info.operands.size() > 1 &&
      IsSpecialScalar(inst.operands[1])) {
    return "the base must be an SGPR pair";
  }
  return "";
}

std::string SourceModifierProblem(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    const Operand& o = inst.operands[i];
    if (!o.negate && !o.absolute) continue;
    const OperandClass klass = info.operands[i].klass;
    if (o.IsImm()) return "a constant cannot be negated: write its value";
    const bool negatable = klass == OperandClass::kF32 ||
                           klass == OperandClass::kF16 ||
                           klass == OperandClass::kPackedF32;
    if (!negatable || (o.absolute && klass == OperandClass::kPackedF32) ||
        info.format == Format::kVop3p) {
      return absl::StrCat(o.absolute ? "abs" : "-", " is not possible on ",
                          RegisterText(o.file, o.first, o.count), " here");
    }
  }
  return "";
}

std::string ResultModifierProblem(const Instruction& inst,
                                  const KernelSpec& spec) {
  const OpcodeInfo& info = inst.info();
  const Modifiers& m = inst.mods;
  if (m.clamp && !info.Has(kCommonF32) && !info.Has(kClampInt) &&
      !info.Has(kDot)) {
    return "no clamp here";
  }
  if (m.omod != 0) {
    if (!info.Has(kCommonF32)) return "no output multiplier here";
    if (spec.denorm_mode_32 != 0) {
      return "an output multiplier is ignored unless F32 denormals are flushed";
    }
  }
  if (m.e64 && info.format != Format::kVop1 && info.format != Format::kVop2 &&
      info.format != Format::kVopc) {
    return "has no 32-bit encoding to choose e64 from";
  }
  return "";
}

std::string PackedProblem(const Instruction& inst) {
  const Modifiers& m = inst.mods;
  if (inst.info().format != Format::kVop3p) return "";
  const int sources = static_cast<int>(inst.operands.size()) - 1;
  if (m.op_sel_count != 0 && m.op_sel_count != sources) {
    return absl::StrCat("op_sel must have ", sources, " entries");
  }
  if (m.op_sel_hi_count != 0 && m.op_sel_hi_count != sources) {
    return absl::StrCat("op_sel_hi must have ", sources, " entries");
  }
  if (m.op_sel_hi_count != 0 && !inst.info().Has(kOpSel3p)) {
    return "op_sel_hi has no effect here";
  }
  if (inst.info().Has(kDot) && m.op_sel_count != 0) {
    return "op_sel of dot products is not supported";
  }
  if (inst.opcode == Opcode::v_pk_fma_f32) {
    const int high = m.op_sel_hi_count == 0 ? 7 : m.op_sel_hi;
    for (int i = 0; i < sources; ++i) {
      if (((m.op_sel & high) >> i & 1) != 0) {
        return absl::StrCat(
            "op_sel takes the high half of source ", i,
            " for both results: gfx950 then drops low results now and then "
            "(rocMLIR 2459)");
      }
    }
  }
  return "";
}

bool PartlyOverlaps(const Operand& a, const Operand& b) {
  if (!a.IsRegister() || !b.IsRegister() || a.file != b.file) return false;
  const UnitRange ua = UnitsOf(a), ub = UnitsOf(b);
  return ua.Overlaps(ub) && !(ua == ub);
}

std::string MatrixProblem(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  if (!info.IsMatrix()) return "";
  const Modifiers& m = inst.mods;
  const Operand& d = inst.operands[0];
  auto range = [](int v, int max) { return v >= 0 && v <= max; };
  if (info.Has(kF8F6F4)) {
    if (!range(m.cbsz, 4) || !range(m.blgp, 4)) {
      return "formats are 0..4";
    }
  } else if (!range(m.cbsz, 7) || !range(m.blgp, 7) || !range(m.abid, 15)) {
    return "cbsz and blgp are 0..7, abid 0..15";
  }
  if (info.Has(kF8F6F4) && m.abid != 0) return "abid has no meaning here";
  if (info.format == Format::kSmfmac) {
    if (m.blgp != 0) return "blgp has no meaning here";
  } else {
    const Operand& c = inst.operands[3];
    if (c.IsRegister() && c.file != d.file) {
      return "addend and result must both be VGPRs or both AGPRs";
    }
    // The result is written while later rows of the sources are still read.
    if (d.count > 4 && PartlyOverlaps(c, d)) {
      return "the addend overlaps the result without being the same registers";
    }
  }
  for (int i = 1; i <= 2; ++i) {
    const Operand& s = inst.operands[i];
    if (d.count > 4 && s.file == d.file && UnitsOf(s).Overlaps(UnitsOf(d))) {
      return absl::StrCat("source ", RegisterText(s.file, s.first, s.count),
                          " overlaps the result");
    }
  }
  return "";
}

std::string MemoryProblem(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  const int offset = inst.mods.offset;
  auto outside = [&](int low, int high) -> std::string {
    if (offset >= low && offset <= high) return "";
    return absl::StrCat("offset ", offset, " must be ", low, "..", high);
  };
  switch (info.format) {
    case Format::kDsRead:
    case Format::kDsWrite:
    case Format::kDsPermute:
      return outside(0, 65535);
    case Format::kBufferLoad:
    case Format::kBufferLoadLds:
    case Format::kBufferStore:
      return outside(0, 4095);
    case Format::kGlobalLoad:
    case Format::kGlobalLoadLds:
    case Format::kGlobalStore:
      return outside(-4096, 4095);
    default:
      return "";
  }
}

std::string FieldProblem(const Instruction& inst) {
  const Modifiers& m = inst.mods;
  if (inst.info().format == Format::kWaitcnt) {
    auto range = [](int v, int max) { return v >= 0 && v <= max; };
    if (!range(m.wait.vmcnt, WaitCounts::kMaxVmcnt) ||
        !range(m.wait.lgkmcnt, WaitCounts::kMaxLgkmcnt) ||
        !range(m.wait.expcnt, WaitCounts::kMaxExpcnt)) {
      return "vmcnt is 0..63, lgkmcnt 0..15, expcnt 0..7";
    }
  }
  if (inst.info().format == Format::kSetreg) {
    if (m.hwreg_offset < 0 || m.hwreg_width < 1 ||
        m.hwreg_offset + m.hwreg_width > 32) {
      return "the field must lie inside bits 0..31";
    }
  }
  if (inst.info().format == Format::kSdwa && m.sdwa == SdwaSelect::kNone) {
    return "needs the part of the source";
  }
  return "";
}

// Registers that operand i must have, which for some depends on the others.
int ExpectedCount(const Instruction& inst, size_t i) {
  const OpcodeInfo& info = inst.info();
  const OperandSpec& spec = info.operands[i];
  if (info.Has(kF8F6F4) && i == 1) {
    return MatrixFormatRegisters(inst.mods.cbsz);
  }
  if (info.Has(kF8F6F4) && i == 2) {
    return MatrixFormatRegisters(inst.mods.blgp);
  }
  if (spec.klass == OperandClass::kGlobalAddress) {
    return inst.operands.back().IsOff() ? 2 : 1;
  }
  return spec.count;
}

}  // namespace

std::string InstructionProblem(const Instruction& inst,
                               const KernelSpec& spec) {
  if (!inst.problem.empty()) return inst.problem;
  const OpcodeInfo& info = inst.info();
  for (size_t i = 0; i < info.operands.size(); ++i) {
    const Operand& o = inst.operands[i];
    const OperandSpec& operand = info.operands[i];
    std::string problem;
    switch (o.kind) {
      case Operand::Kind::kRegister:
        problem = RegisterProblem(o, operand, ExpectedCount(inst, i),
                                  info.Has(kAnyAlignment));
        break;
      case Operand::Kind::kImm:
        problem = ConstantProblem(o.imm, operand, info.Has(kIntegerMatrix));
        break;
      case Operand::Kind::kOff:
      case Operand::Kind::kLabel:
      case Operand::Kind::kNone:
        break;  // their types allow them only where they belong
    }
    if (!problem.empty()) return problem;
  }
  using Rule = std::string (*)(const Instruction&);
  for (Rule rule : {&SourceModifierProblem, &ConstantBusProblem,
                    &ScalarLiteralProblem, &DestinationProblem, &PackedProblem,
                    &MatrixProblem, &MemoryProblem, &FieldProblem}) {
    std::string problem = rule(inst);
    if (!problem.empty()) return problem;
  }
  return ResultModifierProblem(inst, spec);
}

std::string KernelSpecProblem(const KernelSpec& spec) {
  if (spec.name.empty()) return "the kernel has no name";
  if (spec.lds_bytes < 0 || spec.lds_bytes > kMaxLdsBytes) {
    return absl::StrCat("lds_bytes ", spec.lds_bytes, " must be 0..",
                        kMaxLdsBytes);
  }
  if (spec.workgroup_size < 1 || spec.workgroup_size > 1024) {
    return absl::StrCat("workgroup_size ", spec.workgroup_size,
                        " must be 1..1024");
  }
  if (spec.max_vgprs < 8 || spec.max_vgprs > kMaxTotalVgprs ||
      spec.max_vgprs % 8 != 0) {
    return absl::StrCat("max_vgprs ", spec.max_vgprs,
                        " must be a multiple of 8 up to ", kMaxTotalVgprs);
  }
  if (spec.workitem_id_dimensions < 0 || spec.workitem_id_dimensions > 2) {
    return absl::StrCat("workitem_id_dimensions ", spec.workitem_id_dimensions,
                        " must be 0..2");
  }
  for (int mode : {spec.denorm_mode_32, spec.denorm_mode_16_64,
                   spec.round_mode_32, spec.round_mode_16_64}) {
    if (mode < 0 || mode > 3) {
      return absl::StrCat("float mode ", mode, " must be 0..3");
    }
  }
  int end = 0;
  for (const KernelArg& arg : spec.args) {
    if (arg.size < 1 || arg.offset < end ||
        arg.offset + arg.size > spec.kernarg_bytes) {
      return absl::StrCat("argument ", arg.name, " at ", arg.offset, " of ",
                          arg.size,
                          " bytes must lie behind its predecessor "
                          "and inside kernarg_bytes ",
                          spec.kernarg_bytes);
    }
    end = arg.offset + arg.size;
  }
  return "";
}

}  // namespace zyfa::gen
