#include "zyfa/gen/asm/assembler.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/control_flow.h"
#include "zyfa/gen/asm/hazards.h"
#include "zyfa/gen/asm/initialisation.h"
#include "zyfa/gen/asm/printer.h"
#include "zyfa/gen/asm/validate.h"
#include "zyfa/gen/asm/waits.h"

namespace zyfa::gen {
namespace {

// VALU sources of an instruction, as op_sel lists count them.
int CountSources(const Instruction& inst) {
  return static_cast<int>(std::count_if(
      inst.info().operands.begin(), inst.info().operands.end(),
      [](const OperandSpec& spec) { return spec.IsValuSource(); }));
}

// Records a modifier that the instruction does not have.
void Misuse(Instruction& inst, const std::string& what) {
  if (inst.problem.empty()) inst.problem = what;
}

void SetList(Instruction& inst, const char* name,
             std::initializer_list<int> entries, int* count, uint8_t* bits) {
  *count = static_cast<int>(entries.size());
  *bits = 0;
  int i = 0;
  for (int entry : entries) {
    if (entry != 0 && entry != 1) {
      Misuse(inst, absl::StrCat(name, " entries are 0 or 1"));
    }
    if (i < 8) *bits |= static_cast<uint8_t>((entry & 1) << i);
    ++i;
  }
}

// Negation of packed sources is written in lists behind the operands.
void MovePackedNegation(Instruction& inst) {
  if (inst.info().format != Format::kVop3p) return;
  for (size_t i = 1; i < inst.operands.size(); ++i) {
    if (inst.info().operands[i].klass != OperandClass::kPackedF32) continue;
    Operand& o = inst.operands[i];
    if (!o.negate || o.absolute) continue;
    o.negate = false;
    inst.mods.neg_lo |= static_cast<uint8_t>(1 << (i - 1));
    inst.mods.neg_hi |= static_cast<uint8_t>(1 << (i - 1));
  }
}

}  // namespace

PendingInstruction::PendingInstruction(Assembler* assembler, Opcode opcode,
                                       std::initializer_list<Operand> operands)
    : PendingInstruction(assembler, opcode, operands, Modifiers()) {}

PendingInstruction::PendingInstruction(Assembler* assembler, Opcode opcode,
                                       std::initializer_list<Operand> operands,
                                       const Modifiers& mods)
    : assembler_(assembler), inst_(opcode, operands) {
  inst_.mods = mods;
}

PendingInstruction::~PendingInstruction() {
  assembler_->Commit(std::move(inst_));
}

VectorInstruction& VectorInstruction::e64() {
  inst_.mods.e64 = true;
  return *this;
}
VectorInstruction& VectorInstruction::clamp() {
  inst_.mods.clamp = true;
  return *this;
}
VectorInstruction& VectorInstruction::mul2() {
  inst_.mods.omod = 1;
  return *this;
}
VectorInstruction& VectorInstruction::mul4() {
  inst_.mods.omod = 2;
  return *this;
}
VectorInstruction& VectorInstruction::div2() {
  inst_.mods.omod = 3;
  return *this;
}

VectorInstruction& VectorInstruction::dst_high() {
  if (!inst_.info().Has(kDstHigh)) Misuse(inst_, "no high result half here");
  const int sources = CountSources(inst_);
  inst_.mods.op_sel_count = sources + 1;
  inst_.mods.op_sel |= static_cast<uint8_t>(1 << sources);
  return *this;
}

VectorInstruction& VectorInstruction::dst_byte(int n) {
  if (!inst_.info().Has(kDstByte)) Misuse(inst_, "no result byte here");
  if (n < 0 || n > 3) {
    Misuse(inst_, absl::StrCat("result byte ", n, " must be 0..3"));
  }
  inst_.mods.op_sel_count = 4;
  inst_.mods.op_sel |= static_cast<uint8_t>((n & 3) << 2);
  return *this;
}

VectorInstruction& VectorInstruction::src_high() {
  if (!inst_.info().Has(kSrcHigh)) Misuse(inst_, "no high source half here");
  inst_.mods.op_sel_count = CountSources(inst_) + 1;
  inst_.mods.op_sel |= 1;
  return *this;
}

VectorInstruction& VectorInstruction::src_byte(int n) {
  if (!inst_.info().Has(kSrcByte)) Misuse(inst_, "no source byte here");
  if (n < 0 || n > 3) {
    Misuse(inst_, absl::StrCat("source byte ", n, " must be 0..3"));
  }
  inst_.mods.op_sel_count = CountSources(inst_) + 1;
  inst_.mods.op_sel |= static_cast<uint8_t>(n & 3);
  return *this;
}

PackedInstruction& PackedInstruction::op_sel(
    std::initializer_list<int> entries) {
  SetList(inst_, "op_sel", entries, &inst_.mods.op_sel_count,
          &inst_.mods.op_sel);
  return *this;
}
PackedInstruction& PackedInstruction::op_sel_hi(
    std::initializer_list<int> entries) {
  SetList(inst_, "op_sel_hi", entries, &inst_.mods.op_sel_hi_count,
          &inst_.mods.op_sel_hi);
  return *this;
}
PackedInstruction& PackedInstruction::clamp() {
  inst_.mods.clamp = true;
  return *this;
}

MatrixInstruction& MatrixInstruction::formats(MatrixFormat a, MatrixFormat b) {
  if (!inst_.info().Has(kF8F6F4)) Misuse(inst_, "no formats to choose here");
  inst_.mods.cbsz = static_cast<int>(a);
  inst_.mods.blgp = static_cast<int>(b);
  return *this;
}
MatrixInstruction& MatrixInstruction::cbsz(int n) {
  if (inst_.info().Has(kF8F6F4)) Misuse(inst_, "choose formats() instead");
  inst_.mods.cbsz = n;
  return *this;
}
MatrixInstruction& MatrixInstruction::abid(int n) {
  inst_.mods.abid = n;
  return *this;
}
MatrixInstruction& MatrixInstruction::blgp(int n) {
  if (inst_.info().Has(kF8F6F4)) Misuse(inst_, "choose formats() instead");
  inst_.mods.blgp = n;
  return *this;
}
MatrixInstruction& MatrixInstruction::scale_bytes(int a, int b) {
  if (inst_.info().format != Format::kMfmaScale) {
    Misuse(inst_, "no scales here");
  }
  if (a < 0 || a > 3 || b < 0 || b > 3) {
    Misuse(inst_, absl::StrCat("scale bytes ", a, ", ", b, " must be 0..3"));
  }
  // Byte = 2 * op_sel_hi + op_sel; the third entry, of the addend, is unused.
  inst_.mods.op_sel_count = 3;
  inst_.mods.op_sel = static_cast<uint8_t>((a & 1) | (b & 1) << 1);
  inst_.mods.op_sel_hi_count = 3;
  inst_.mods.op_sel_hi = static_cast<uint8_t>((a >> 1 & 1) | (b >> 1 & 1) << 1);
  return *this;
}

MemoryInstruction& MemoryInstruction::sc0() {
  inst_.mods.sc0 = true;
  return *this;
}
MemoryInstruction& MemoryInstruction::sc1() {
  inst_.mods.sc1 = true;
  return *this;
}
MemoryInstruction& MemoryInstruction::nt() {
  inst_.mods.nt = true;
  return *this;
}

Assembler::Assembler(KernelSpec spec)
    : spec_(std::move(spec)),
      sgprs_(&allocations_, kMaxSgprs,
             [this](std::string message) { Fail(message); }),
      vgprs_(&allocations_, std::min(kMaxArchVgprs, spec_.max_vgprs),
             [this](std::string message) { Fail(message); }),
      agprs_(&allocations_, std::min(kMaxAccVgprs, spec_.max_vgprs),
             [this](std::string message) { Fail(message); }) {
  targets_.push_back(&program_);
  const std::string problem = KernelSpecProblem(spec_);
  if (!problem.empty()) Fail(absl::StrCat("kernel spec: ", problem));
  kernarg_ = sgprs_.AllocAt("kernel arguments", 0, 2);
  const bool ids[3] = {spec_.workgroup_id_x, spec_.workgroup_id_y,
                       spec_.workgroup_id_z};
  int next = 2;
  for (int i = 0; i < 3; ++i) {
    if (!ids[i]) continue;
    const std::string name =
        absl::StrCat("work-group ", std::string(1, "xyz"[i]));
    workgroup_id_[i] = sgprs_.AllocAt(name, next++);
  }
  workitem_id_ = vgprs_.AllocAt("work-item ids", 0);
  for (size_t i = 0; i < allocations_.all().size(); ++i) {
    allocations_.Find(static_cast<int>(i) + 1)->initialised = true;
  }
}

void Assembler::Fail(const std::string& message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      section_.empty() ? absl::StrCat("kernel ", spec_.name, ": ", message)
                       : absl::StrCat("kernel ", spec_.name, ", section \"",
                                      section_, "\": ", message));
}

void Assembler::Section(const std::string& title) {
  section_ = title;
  Instruction inst;
  inst.kind = Instruction::Kind::kSection;
  inst.text = title;
  Push(std::move(inst));
}

void Assembler::Phase(const std::string& name) {
  const bool spelt = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
  if (name.empty() || !spelt) {
    Fail(absl::StrCat("phase \"", name,
                      "\": allowed are letters, digits, '_' and '.'"));
    return;
  }
  if (!phases_.insert(name).second) {
    Fail(absl::StrCat("phase ", name, " begins twice"));
    return;
  }
  if (targets_.size() != 1) {
    Fail(absl::StrCat("phase ", name, " begins inside of Capture"));
    return;
  }
  Instruction inst;
  inst.kind = Instruction::Kind::kPhase;
  inst.text = absl::StrCat("phase.", name);
  Push(std::move(inst));
}

void Assembler::Comment(const std::string& text) { pending_comment_ = text; }

Label Assembler::NewLabel(const std::string& name) {
  std::string base = ".L";
  for (char c : name) {
    base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  std::string unique = base;
  for (int n = 2; std::find(label_names_.begin(), label_names_.end(), unique) !=
                      label_names_.end() ||
                  unique == ".Lkernel_end";
       ++n) {
    unique = absl::StrCat(base, "_", n);
  }
  label_names_.push_back(unique);
  label_bound_.push_back(false);
  return Label{static_cast<int>(label_names_.size()) - 1};
}

void Assembler::Bind(Label label) {
  if (label.id < 0 || label.id >= static_cast<int>(label_names_.size())) {
    Fail("Bind of a label that NewLabel did not make");
    return;
  }
  if (label_bound_[label.id]) {
    Fail(absl::StrCat("label ", label_names_[label.id], " is bound twice"));
    return;
  }
  label_bound_[label.id] = true;
  Instruction inst;
  inst.kind = Instruction::Kind::kLabel;
  inst.label = label.id;
  Push(std::move(inst));
}

Stream Assembler::Capture(const std::function<void()>& emit) {
  std::vector<Instruction> captured;
  targets_.push_back(&captured);
  emit();
  targets_.pop_back();
  return Stream(std::move(captured));
}

void Assembler::Append(const Stream& stream) {
  std::vector<Instruction>& target = *targets_.back();
  target.insert(target.end(), stream.instructions().begin(),
                stream.instructions().end());
}

Stream Assembler::Interleave(const Stream& main,
                             const std::vector<Filler>& fillers,
                             const InterleaveOptions& options) {
  absl::StatusOr<Stream> merged = InterleaveStreams(main, fillers, options);
  if (merged.ok()) return *std::move(merged);
  Fail(std::string(merged.status().message()));
  return Stream();
}

void Assembler::WaitVmcnt(int n) { s_waitcnt({.vmcnt = n}); }
void Assembler::WaitLgkmcnt(int n) { s_waitcnt({.lgkmcnt = n}); }

void Assembler::s_waitcnt(const WaitCounts& counts) {
  Instruction inst(Opcode::s_waitcnt, {});
  inst.mods.wait = counts;
  Commit(std::move(inst));
}

void Assembler::s_setreg_imm32_b32(HwReg reg, int first_bit, int bits,
                                   uint32_t value) {
  Instruction inst(Opcode::s_setreg_imm32_b32, {Op(Bits(value))});
  inst.mods.hwreg = reg;
  inst.mods.hwreg_offset = first_bit;
  inst.mods.hwreg_width = bits;
  Commit(std::move(inst));
}

void Assembler::s_getreg_b32(SReg d, HwReg reg, int first_bit, int bits) {
  Instruction inst(Opcode::s_getreg_b32, {Op(d)});
  inst.mods.hwreg = reg;
  inst.mods.hwreg_offset = first_bit;
  inst.mods.hwreg_width = bits;
  Commit(std::move(inst));
}

void Assembler::Emit(Opcode opcode, Operands operands) {
  Commit(Instruction(opcode, operands));
}

void Assembler::EmitDpp(Opcode opcode, Operands operands, const Dpp& dpp) {
  Instruction inst(opcode, operands);
  inst.mods.dpp = dpp.Text();
  inst.mods.dpp_keeps = dpp.keeps_destination();
  if (!dpp.valid()) Misuse(inst, "lane, shift or mask out of range");
  Commit(std::move(inst));
}

void Assembler::EmitSdwa(Opcode opcode, Operands operands, SdwaSelect part) {
  Instruction inst(opcode, operands);
  inst.mods.sdwa = part;
  Commit(std::move(inst));
}

void Assembler::EmitMemory(Opcode opcode, Operands operands, int offset) {
  Instruction inst(opcode, operands);
  inst.mods.offset = offset;
  Commit(std::move(inst));
}

MemoryInstruction Assembler::Memory(Opcode opcode, Operands operands,
                                    int offset) {
  Modifiers mods;
  mods.offset = offset;
  return MemoryInstruction(this, opcode, operands, mods);
}

VectorInstruction Assembler::Bitop3(Opcode opcode, Operands operands,
                                    uint8_t table) {
  Modifiers mods;
  mods.bitop3 = table;
  return VectorInstruction(this, opcode, operands, mods);
}

std::string Assembler::OwnershipProblem(const Instruction& inst) const {
  for (const Operand& o : inst.operands) {
    if (!o.IsRegister() || !o.valid_register()) continue;
    const std::string text = RegisterText(o.file, o.first, o.count);
    const Allocation* owner = allocations_.Find(o.owner);
    if (owner != nullptr) {
      if (owner->live) continue;
      const Allocation* now = allocations_.LiveAt(o.file, o.first);
      return absl::StrCat(
          text, " belongs to '", owner->name, "', which is free already",
          now == nullptr ? "" : absl::StrCat("; it is '", now->name, "' now"));
    }
    for (int r = o.first; r < o.first + o.count; ++r) {
      const Allocation* live = allocations_.LiveAt(o.file, r);
      if (live == nullptr) continue;
      return absl::StrCat(text, " by number overlaps the live '", live->name,
                          "' ",
                          RegisterText(live->file, live->first, live->count));
    }
  }
  return "";
}

void Assembler::Commit(Instruction inst) {
  inst.number = next_number_++;
  inst.section = section_;
  inst.comment = std::exchange(pending_comment_, "");
  MovePackedNegation(inst);
  std::string problem = InstructionProblem(inst, spec_);
  if (problem.empty()) problem = OwnershipProblem(inst);
  if (!problem.empty() && status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat("kernel ", spec_.name, ": ",
                     DescribeInstruction(inst, label_names_), ": ", problem));
  }
  ComputeRegisterSets(inst);
  Push(std::move(inst));
}

void Assembler::Push(Instruction inst) {
  if (status_.ok()) targets_.back()->push_back(std::move(inst));
}

absl::StatusOr<std::string> Assembler::Finish() {
  if (targets_.size() != 1) Fail("Finish inside of Capture");
  if (!status_.ok()) return status_;

  KernelResources resources;
  resources.sgprs = sgprs_.peak();
  resources.arch_vgprs = vgprs_.peak();
  resources.acc_vgprs = agprs_.peak();
  for (const Instruction& inst : program_) {
    for (const UnitRanges& ranges : {inst.reads, inst.writes}) {
      for (const UnitRange& r : ranges) {
        const int end = r.first + r.count;
        if (r.first >= kAgprUnit) {
          resources.acc_vgprs = std::max(resources.acc_vgprs, end - kAgprUnit);
        } else if (r.first >= kVgprUnit) {
          resources.arch_vgprs =
              std::max(resources.arch_vgprs, end - kVgprUnit);
        } else if (end <= kScalarUnit + kMaxSgprs) {
          resources.sgprs = std::max(resources.sgprs, end - kScalarUnit);
        }
      }
    }
  }
  if (resources.total_vgprs() > spec_.max_vgprs) {
    Fail(absl::StrCat(resources.arch_vgprs, " VGPRs and ", resources.acc_vgprs,
                      " AGPRs make ", resources.total_vgprs(),
                      " registers, more than max_vgprs ", spec_.max_vgprs));
    return status_;
  }

  // Waits first: an s_waitcnt is a wait state too.
  absl::StatusOr<std::vector<BasicBlock>> blocks =
      BuildControlFlow(program_, label_names_);
  if (!blocks.ok()) {
    Fail(std::string(blocks.status().message()));
    return status_;
  }
  UnitRanges at_entry = {{kScalarUnit + exec.first(), 2}, {kModeUnit, 1}};
  for (const Allocation& a : allocations_.all()) {
    if (!a.initialised) continue;
    const int base = a.file == RegisterFile::kScalar ? kScalarUnit : kVgprUnit;
    at_entry.push_back({base + a.first, a.count});
  }
  absl::Status checked =
      CheckInitialised(program_, *blocks, at_entry, label_names_);
  if (checked.ok()) {
    checked = ApplyWaits(program_, *blocks, spec_.wait_policy, label_names_);
  }
  if (checked.ok()) {
    blocks = BuildControlFlow(program_, label_names_);
    checked = blocks.status();
  }
  if (!checked.ok()) {
    status_ = absl::InvalidArgumentError(absl::StrCat(
        "kernel ", spec_.name, ": ", std::string(checked.message())));
    return status_;
  }
  InsertWaitStates(program_, *blocks);
  return PrintKernel(spec_, resources, allocations_, program_, label_names_);
}

}  // namespace zyfa::gen
