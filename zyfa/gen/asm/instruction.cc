#include "zyfa/gen/asm/instruction.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace zyfa::gen {
namespace {

// Fields of the instruction word, as opposed to operand values.
bool IsField(OperandClass klass) {
  return klass == OperandClass::kSmemOffset ||
         klass == OperandClass::kUnsigned || klass == OperandClass::kSigned16;
}

std::string OperandText(const Operand& o, const OperandSpec& spec,
                        const std::vector<std::string>& label_names) {
  switch (o.kind) {
    case Operand::Kind::kRegister: {
      std::string text = RegisterText(o.file, o.first, o.count);
      if (o.absolute) text = absl::StrCat("|", text, "|");
      if (o.negate) text = absl::StrCat("-", text);
      return text;
    }
    case Operand::Kind::kImm: {
      if (IsField(spec.klass)) {
        return absl::StrCat(static_cast<int32_t>(o.imm.bits()));
      }
      return o.imm.Text();
    }
    case Operand::Kind::kOff:
      return "off";
    case Operand::Kind::kLabel:
      if (o.label >= 0 && o.label < static_cast<int>(label_names.size())) {
        return label_names[o.label];
      }
      return "<no label>";
    case Operand::Kind::kNone:
      break;
  }
  return "<none>";
}

// "name:[1,0,1]"
std::string BitList(const char* name, int count, int bits) {
  std::vector<int> entries;
  for (int i = 0; i < count; ++i) entries.push_back((bits >> i) & 1);
  return absl::StrCat(" ", name, ":[", absl::StrJoin(entries, ","), "]");
}

const char* HwRegText(HwReg reg) {
  switch (reg) {
    case HwReg::kMode:
      return "HW_REG_MODE";
    case HwReg::kStatus:
      return "HW_REG_STATUS";
    case HwReg::kHwId:
      return "HW_REG_HW_ID";
    case HwReg::kXccId:
      return "HW_REG_XCC_ID";
  }
  return "";
}

const char* SdwaText(SdwaSelect select) {
  switch (select) {
    case SdwaSelect::kByte0:
      return "BYTE_0";
    case SdwaSelect::kByte1:
      return "BYTE_1";
    case SdwaSelect::kByte2:
      return "BYTE_2";
    case SdwaSelect::kByte3:
      return "BYTE_3";
    case SdwaSelect::kWord0:
      return "WORD_0";
    case SdwaSelect::kWord1:
      return "WORD_1";
    case SdwaSelect::kNone:
      break;
  }
  return "DWORD";
}

std::string WaitText(const WaitCounts& w) {
  std::vector<std::string> parts;
  if (w.vmcnt != WaitCounts::kMaxVmcnt) {
    parts.push_back(absl::StrCat("vmcnt(", w.vmcnt, ")"));
  }
  if (w.expcnt != WaitCounts::kMaxExpcnt) {
    parts.push_back(absl::StrCat("expcnt(", w.expcnt, ")"));
  }
  if (w.lgkmcnt != WaitCounts::kMaxLgkmcnt) {
    parts.push_back(absl::StrCat("lgkmcnt(", w.lgkmcnt, ")"));
  }
  if (parts.empty()) parts.push_back("vmcnt(63)");
  return absl::StrJoin(parts, " ");
}

std::string ModifierText(const Instruction& inst) {
  const Modifiers& m = inst.mods;
  const OpcodeInfo& info = inst.info();
  std::string text;
  if (m.bitop3 >= 0) absl::StrAppendFormat(&text, " bitop3:0x%x", m.bitop3);
  if (m.op_sel != 0) text += BitList("op_sel", m.op_sel_count, m.op_sel);
  if (m.op_sel_hi_count > 0) {
    text += BitList("op_sel_hi", m.op_sel_hi_count, m.op_sel_hi);
  }
  const int sources = static_cast<int>(inst.operands.size()) - 1;
  if (m.neg_lo != 0) text += BitList("neg_lo", sources, m.neg_lo);
  if (m.neg_hi != 0) text += BitList("neg_hi", sources, m.neg_hi);
  if (m.cbsz != 0) absl::StrAppend(&text, " cbsz:", m.cbsz);
  if (m.abid != 0) absl::StrAppend(&text, " abid:", m.abid);
  if (m.blgp != 0) absl::StrAppend(&text, " blgp:", m.blgp);
  if (m.clamp) text += " clamp";
  if (m.omod == 1) text += " mul:2";
  if (m.omod == 2) text += " mul:4";
  if (m.omod == 3) text += " div:2";
  if (!m.dpp.empty()) absl::StrAppend(&text, " ", m.dpp);
  if (m.sdwa != SdwaSelect::kNone) {
    absl::StrAppend(&text, " src0_sel:", SdwaText(m.sdwa));
  }
  const bool buffer = info.format == Format::kBufferLoad ||
                      info.format == Format::kBufferLoadLds ||
                      info.format == Format::kBufferStore;
  if (buffer) {
    const int at = info.format == Format::kBufferLoadLds ? 0 : 1;
    if (inst.operands[at].IsRegister()) text += " offen";
  }
  if (m.offset != 0) absl::StrAppend(&text, " offset:", m.offset);
  if (m.sc0) text += " sc0";
  if (m.nt) text += " nt";
  if (m.sc1) text += " sc1";
  if (info.format == Format::kBufferLoadLds) text += " lds";
  return text;
}

}  // namespace

Instruction::Instruction() = default;
Instruction::Instruction(Opcode operation,
                         std::initializer_list<Operand> arguments)
    : opcode(operation), operands(arguments) {}
Instruction::Instruction(const Instruction&) = default;
Instruction::Instruction(Instruction&&) noexcept = default;
Instruction& Instruction::operator=(const Instruction&) = default;
Instruction& Instruction::operator=(Instruction&&) noexcept = default;
Instruction::~Instruction() = default;

UnitRange UnitsOf(const Operand& reg) {
  switch (reg.file) {
    case RegisterFile::kScalar:
      return {kScalarUnit + reg.first, reg.count};
    case RegisterFile::kVgpr:
      return {kVgprUnit + reg.first, reg.count};
    case RegisterFile::kAgpr:
      return {kAgprUnit + reg.first, reg.count};
  }
  return {};
}

bool Overlaps(const UnitRanges& a, const UnitRange& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const UnitRange& r) { return r.Overlaps(b); });
}

bool Overlaps(const UnitRanges& a, const UnitRanges& b) {
  return std::any_of(b.begin(), b.end(),
                     [&](const UnitRange& r) { return Overlaps(a, r); });
}

std::string UnitText(const UnitRange& r) {
  if (r.first == kSccUnit) return "scc";
  if (r.first == kModeUnit) return "mode";
  if (r.first >= kAgprUnit) {
    return RegisterText(RegisterFile::kAgpr, r.first - kAgprUnit, r.count);
  }
  if (r.first >= kVgprUnit) {
    return RegisterText(RegisterFile::kVgpr, r.first - kVgprUnit, r.count);
  }
  return RegisterText(RegisterFile::kScalar, r.first - kScalarUnit, r.count);
}

void ComputeRegisterSets(Instruction& inst) {
  inst.reads.clear();
  inst.writes.clear();
  inst.keeps.clear();
  if (!inst.IsOperation()) return;
  const OpcodeInfo& info = inst.info();
  const size_t n = std::min(inst.operands.size(), info.operands.size());
  for (size_t i = 0; i < n; ++i) {
    const Operand& o = inst.operands[i];
    if (!o.IsRegister() || !o.valid_register()) continue;
    const OperandSpec& spec = info.operands[i];
    const UnitRange units = UnitsOf(o);
    if (spec.Reads()) inst.reads.push_back(units);
    if (spec.Writes()) inst.writes.push_back(units);
    if (spec.access == OperandAccess::kPartialWrite ||
        (spec.Writes() && inst.mods.dpp_keeps)) {
      inst.keeps.push_back(units);
    }
  }
  const UnitRange exec_units{kScalarUnit + exec.first(), 2};
  const UnitRange vcc_units{kScalarUnit + vcc.first(), 2};
  if (info.Has(kReadsScc)) inst.reads.push_back({kSccUnit, 1});
  if (info.Has(kWritesScc)) inst.writes.push_back({kSccUnit, 1});
  if (info.Has(kReadsVccBranch)) inst.reads.push_back(vcc_units);
  const bool vector =
      info.IsValu() || info.IsVmem() || info.IsDs() || info.IsMatrix();
  if (info.Has(kReadsExecScalar) || info.Has(kReadsExecBranch) ||
      (vector && !info.Has(kIgnoresExec))) {
    inst.reads.push_back(exec_units);
  }
  if (info.Has(kWritesExec)) inst.writes.push_back(exec_units);
  if (info.IsLdsDma()) inst.reads.push_back({kScalarUnit + m0.first(), 1});
  if (info.IsValu()) inst.reads.push_back({kModeUnit, 1});
  if (info.format == Format::kSetreg) {
    // The read-modify-write of a field keeps the others.
    inst.reads.push_back({kModeUnit, 1});
    if (inst.opcode == Opcode::s_setreg_imm32_b32) {
      inst.writes.push_back({kModeUnit, 1});
    }
  }
}

bool NeedsVop3(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  if (info.format == Format::kVop3 || info.format == Format::kVop3p) {
    return true;
  }
  if (info.format != Format::kVop1 && info.format != Format::kVop2 &&
      info.format != Format::kVopc) {
    return false;
  }
  if (inst.mods.e64 || inst.mods.clamp || inst.mods.omod != 0) return true;
  int source = 0;
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    const Operand& o = inst.operands[i];
    if (o.negate || o.absolute) return true;
    if (info.operands[i].klass == OperandClass::kMask &&
        !(o.IsRegister(RegisterFile::kScalar) && o.first == vcc.first())) {
      return true;
    }
    if (!info.operands[i].IsValuSource()) continue;
    if (source++ == 1 && !o.IsRegister(RegisterFile::kVgpr)) return true;
  }
  return false;
}

int MatrixFormatRegisters(int format) {
  if (format <= 1) return 8;
  return format <= 3 ? 6 : 4;
}

int MatrixPasses(const Instruction& inst) {
  const OpcodeInfo& info = inst.info();
  const bool eight_bit = inst.mods.cbsz <= 1 || inst.mods.blgp <= 1;
  return info.Has(kF8F6F4) && eight_bit ? 2 * info.passes : info.passes;
}

std::string FormatInstruction(const Instruction& inst,
                              const std::vector<std::string>& label_names) {
  const OpcodeInfo& info = inst.info();
  std::string mnemonic = info.mnemonic;
  if (inst.mods.e64) mnemonic += "_e64";
  if (info.format == Format::kWaitcnt) {
    return absl::StrCat(mnemonic, " ", WaitText(inst.mods.wait));
  }
  std::vector<std::string> operands;
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    operands.push_back(
        OperandText(inst.operands[i], info.operands[i], label_names));
  }
  if (info.format == Format::kSetreg) {
    std::string field =
        absl::StrCat("hwreg(", HwRegText(inst.mods.hwreg), ", ",
                     inst.mods.hwreg_offset, ", ", inst.mods.hwreg_width, ")");
    // The register field is the first operand of a set, the last of a get.
    operands.insert(inst.opcode == Opcode::s_setreg_imm32_b32 ? operands.begin()
                                                              : operands.end(),
                    field);
  }
  std::string text = mnemonic;
  if (!operands.empty()) {
    absl::StrAppend(&text, " ", absl::StrJoin(operands, ", "));
  }
  return text + ModifierText(inst);
}

std::string DescribeInstruction(const Instruction& inst,
                                const std::vector<std::string>& label_names) {
  std::string text = absl::StrCat("instruction ", inst.number, " `",
                                  FormatInstruction(inst, label_names), "`");
  if (!inst.section.empty()) {
    absl::StrAppend(&text, " in section \"", inst.section, "\"");
  }
  return text;
}

int Stream::size() const {
  return static_cast<int>(
      std::count_if(instructions_.begin(), instructions_.end(),
                    [](const Instruction& i) { return i.IsOperation(); }));
}

int Stream::CountMatrix() const {
  return static_cast<int>(
      std::count_if(instructions_.begin(), instructions_.end(),
                    [](const Instruction& i) { return i.IsMatrix(); }));
}

Stream Stream::Slice(int begin, int n) const {
  const int total = static_cast<int>(instructions_.size());
  const int first = std::clamp(begin, 0, total);
  const int last = std::clamp(begin + n, first, total);
  return Stream(std::vector<Instruction>(instructions_.begin() + first,
                                         instructions_.begin() + last));
}

void Stream::Add(const Stream& other) {
  // By index: `other` may be this stream.
  const size_t n = other.instructions_.size();
  for (size_t i = 0; i < n; ++i) {
    Instruction copy = other.instructions_[i];
    instructions_.push_back(std::move(copy));
  }
}

}  // namespace zyfa::gen
