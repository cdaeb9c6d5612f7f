#include "zyfa/emu/strict/undefined_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/initial_sgprs.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/strict/alu_propagation.h"
#include "zyfa/emu/strict/memory_step.h"
#include "zyfa/emu/strict/wave_shadow.h"

namespace zyfa::emu {
namespace {

constexpr char kRule[] = "undefined-value";
constexpr uint64_t kAllLanes = ~uint64_t{0};

std::string VectorName(int row) {
  return row < kVgprs ? absl::StrCat("v", row)
                      : absl::StrCat("a", row - kVgprs);
}
std::string ScalarName(int number) {
  switch (number) {
    case kVccLo:
      return "vcc_lo";
    case kVccLo + 1:
      return "vcc_hi";
    case kM0:
      return "m0";
    case kSrcVccz:
      return "vccz";
    case kSrcScc:
      return "scc";
    default:
      return absl::StrCat("s", number);
  }
}

enum class Role : uint8_t {
  kNothing,
  kAlu,
  kLaneSelect,  // an ALU instruction with a lane's number, operand 2
  kBranchOnScc,
  kBranchOnVcc,
  kJump,         // to an address in scalar registers, the last operand
  kSetRegister,  // MODE from operand 1
  kDefineScalars,
  kScalarLoad,
  kMemory,
};

struct Step {
  Role role = Role::kNothing;
  AluStep alu;
  MemoryStep memory;
  // LDS, scratch and flat accesses that only move bits: the same instruction
  // with its operands in rows of their own, kRowsPerOperand apart, to be run on
  // undefined bits instead of values.
  Instruction mover;
};
constexpr int kRowsPerOperand = 16;

bool HasPrefix(const std::string& text, const char* prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

Role RoleOf(const Instruction& inst) {
  const std::string& name = inst.mnemonic;
  switch (inst.instruction_class) {
    case InstructionClass::kSalu:
      if (HasPrefix(name, "s_setreg_b32")) return Role::kSetRegister;
      if (HasPrefix(name, "s_setreg_imm32")) return Role::kNothing;
      if (HasPrefix(name, "s_getreg") || HasPrefix(name, "s_getpc")) {
        return Role::kDefineScalars;
      }
      return Role::kAlu;
    case InstructionClass::kValu:
    case InstructionClass::kTrans:
    case InstructionClass::kMfma:
      if (HasPrefix(name, "v_readlane_") || HasPrefix(name, "v_writelane_")) {
        return Role::kLaneSelect;
      }
      return Role::kAlu;
    case InstructionClass::kLds:
    case InstructionClass::kVmem:
      return inst.operands.empty() ? Role::kNothing : Role::kMemory;
    case InstructionClass::kSmem:
      return Role::kScalarLoad;
    case InstructionClass::kBranch:
      if (HasPrefix(name, "s_cbranch_scc")) return Role::kBranchOnScc;
      if (HasPrefix(name, "s_cbranch_vcc")) return Role::kBranchOnVcc;
      if (HasPrefix(name, "s_setpc_") || HasPrefix(name, "s_swappc_")) {
        return Role::kJump;
      }
      if (HasPrefix(name, "s_call_")) return Role::kDefineScalars;
      return Role::kNothing;
    case InstructionClass::kOther:
      break;
  }
  return Role::kNothing;
}

Step MakeStep(const Instruction& inst) {
  Step step;
  if (inst.handler == nullptr) return step;
  step.role = RoleOf(inst);
  if (step.role == Role::kAlu || step.role == Role::kLaneSelect) {
    step.alu = PrepareAlu(inst);
  }
  if (step.role == Role::kMemory) {
    step.memory = MemoryStepOf(inst);
    if (step.memory.own_space && !step.memory.atomic) {
      step.mover = inst;
      for (size_t i = 0; i < step.mover.operands.size(); ++i) {
        Operand& operand = step.mover.operands[i];
        if (operand.kind != OperandKind::kVgpr &&
            operand.kind != OperandKind::kAgpr) {
          continue;
        }
        operand.kind = OperandKind::kVgpr;
        operand.index = static_cast<uint16_t>(i * kRowsPerOperand);
      }
    }
  }
  return step;
}

class UndefinedValues : public Observer {
 public:
  UndefinedValues(const Program& program, const KernelInfo& kernel)
      : program_(program),
        kernel_(kernel),
        mover_wave_(std::make_unique<Wave>()),
        mover_group_(std::make_unique<Group>()) {
    steps_.resize(program.steps().size());
  }

  void StartGroup(Group& group, Wave* waves) override;
  void Before(const ProgramStep& step, Wave& wave) override;
  void After(const ProgramStep& step, Wave& wave) override;
  void AccessLds(const Instruction& inst, Wave& wave,
                 const LdsAccess& access) override;
  void AccessMemory(const Instruction& inst, Wave& wave,
                    const MemoryAccess& access) override;

 private:
  WaveShadow& ShadowOf(const Wave& wave) {
    return *shadows_[static_cast<size_t>(wave.index)];
  }
  void StartWave(WaveShadow& shadow) const;
  void Report(const Instruction& inst, Wave& wave, int lane,
              const std::string& name, uint32_t bits, const char* use);
  // Report undefined bits of registers, which then count as defined.
  void UseScalars(const Instruction& inst, Wave& wave, int first, int count,
                  const char* use);
  void UseVectors(const Instruction& inst, Wave& wave, const Operand& operand,
                  uint64_t lanes, uint32_t bits, const char* use);
  void UseScc(const Instruction& inst, Wave& wave);
  void UseVccz(const Instruction& inst, Wave& wave);
  void RunAlu(const AluStep& step, Wave& wave);
  void DefineWrittenScalars(const Instruction& inst, WaveShadow& shadow) const;
  void BeforeMemory(const Step& step, const Instruction& inst, Wave& wave);
  uint64_t LanesInOwnSpace(const Instruction& inst, const Wave& wave,
                           const MemoryStep& memory) const;
  void Move(const Step& step, const Instruction& inst, Wave& wave,
            uint64_t lanes);

  const Program& program_;
  const KernelInfo& kernel_;
  // Prepared when first executed: short runs see little of their program.
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<std::unique_ptr<WaveShadow>> shadows_;
  AluPropagation alu_;
  // LDS and scratch of undefined bits, and a wave to move them with.
  std::unique_ptr<Wave> mover_wave_;
  std::unique_ptr<Group> mover_group_;
  // Of the instruction that is being executed.
  const Step* current_ = nullptr;
  uint64_t moved_lanes_ = 0;       // whose result Move has written
  uint64_t undefined_result_ = 0;  // of an atomic
};

void UndefinedValues::StartWave(WaveShadow& shadow) const {
  const uint32_t architectural = std::min(kernel_.vgprs, kernel_.accum_offset);
  const uint32_t accumulation = kernel_.vgprs - architectural;
  for (uint32_t row = 0; row < 2 * kVgprs; ++row) {
    const bool allocated =
        row < kVgprs ? row < architectural : row - kVgprs < accumulation;
    const bool defined = row == 0 || !allocated;  // v0: work-item numbers
    std::fill_n(shadow.vgpr[row], kLanes, defined ? 0 : ~0u);
    shadow.lanes[row] = defined ? 0 : kAllLanes;
  }
  std::fill_n(shadow.sgpr, 128, ~0u);
  const auto define = [&shadow](int first, uint32_t count) {
    if (first >= 0) std::fill_n(shadow.sgpr + first, count, 0);
  };
  const InitialSgprs sgprs = LayOutSgprs(kernel_);
  define(sgprs.dispatch_pointer, 2);
  define(sgprs.queue_pointer, 2);
  define(sgprs.kernarg_pointer, 2);
  define(sgprs.dispatch_id, 2);
  define(sgprs.private_size, 1);
  define(sgprs.preload, sgprs.preload_count);
  for (int number : sgprs.group_id) define(number, 1);
  define(102, 4);  // FLAT_SCRATCH and XNACK_MASK
  define(kExecLo, 2);
  shadow.scc = true;
}

void UndefinedValues::StartGroup(Group& group, Wave* /*waves*/) {
  const auto count = static_cast<size_t>(group.wave_count);
  while (shadows_.size() < count) {
    shadows_.push_back(std::make_unique<WaveShadow>());
  }
  Group& mover = *mover_group_;
  if (mover.lds == nullptr) {
    mover.lds = std::make_unique<uint8_t[]>(kMaxLdsBytes + 64);
    mover.private_bytes = group.private_bytes;
    for (size_t w = 0; w < count; ++w) {
      mover.scratch.push_back(
          std::make_unique<uint8_t[]>(uint64_t{mover.private_bytes} * kLanes));
    }
  }
  mover.wave_count = group.wave_count;
  mover.lds_bytes = group.lds_bytes;
  mover.findings.clear();
  std::memset(mover.lds.get(), 0xff, group.lds_bytes);
  for (size_t w = 0; w < count; ++w) {
    mover.waits[w].Reset();
    std::memset(mover.scratch[w].get(), 0xff,
                uint64_t{mover.private_bytes} * kLanes);
    StartWave(*shadows_[w]);
  }
}

void UndefinedValues::Report(const Instruction& inst, Wave& wave, int lane,
                             const std::string& name, uint32_t bits,
                             const char* use) {
  Group& group = *wave.group;
  if (!group.Wants(kRule, inst)) return;
  group.Note(Severity::kError, kRule, inst, wave, lane, name,
             absl::StrFormat("%s: nothing has written bits %#x of %s", use,
                             bits, name));
}

void UndefinedValues::UseScalars(const Instruction& inst, Wave& wave, int first,
                                 int count, const char* use) {
  WaveShadow& shadow = ShadowOf(wave);
  if (first == kSrcScc) return UseScc(inst, wave);
  if (first == kSrcVccz) return UseVccz(inst, wave);
  for (int r = first; r < std::min(first + count, 128); ++r) {
    if (shadow.sgpr[r] == 0) continue;
    Report(inst, wave, -1, ScalarName(r), shadow.sgpr[r], use);
    shadow.sgpr[r] = 0;
  }
}

void UndefinedValues::UseScc(const Instruction& inst, Wave& wave) {
  WaveShadow& shadow = ShadowOf(wave);
  if (!shadow.scc) return;
  Report(inst, wave, -1, "scc", 1, "decision");
  shadow.scc = false;
}

void UndefinedValues::UseVccz(const Instruction& inst, Wave& wave) {
  WaveShadow& shadow = ShadowOf(wave);
  if (!UndefinedVccz(shadow, wave)) return;
  UseScalars(inst, wave, kVccLo, 2, "decision");
}

void UndefinedValues::UseVectors(const Instruction& inst, Wave& wave,
                                 const Operand& operand, uint64_t lanes,
                                 uint32_t bits, const char* use) {
  WaveShadow& shadow = ShadowOf(wave);
  const int first = Wave::Row(operand);
  for (int r = first; r < first + operand.count; ++r) {
    bool reported = false;
    for (uint64_t rest = shadow.lanes[r] & lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const uint32_t undefined = shadow.vgpr[r][l] & bits;
      if (undefined == 0) continue;
      if (!reported) Report(inst, wave, l, VectorName(r), undefined, use);
      reported = true;
      shadow.vgpr[r][l] &= ~bits;
    }
    if (reported) shadow.Recount(r);
  }
}

void UndefinedValues::RunAlu(const AluStep& step, Wave& wave) {
  WaveShadow& shadow = ShadowOf(wave);
  if (!AluPropagation::Concerns(step, wave, shadow)) return;
  const uint64_t exec = alu_.Run(step, wave, shadow);
  if (exec == 0) return;
  const bool low = static_cast<uint32_t>(exec) != 0;
  Report(*step.inst, wave, -1, low ? "exec_lo" : "exec_hi",
         static_cast<uint32_t>(low ? exec : exec >> 32), "lanes to execute");
}

void UndefinedValues::DefineWrittenScalars(const Instruction& inst,
                                           WaveShadow& shadow) const {
  for (const RegisterRange& range : inst.registers) {
    if (!range.write || range.vector) continue;
    for (int r = range.first; r < range.first + range.count; ++r) {
      shadow.sgpr[r & 127] = 0;
    }
  }
}

void UndefinedValues::Before(const ProgramStep& program_step, Wave& wave) {
  auto& prepared = steps_[program_.IndexOf(program_step)];
  if (prepared == nullptr) {
    prepared = std::make_unique<Step>(MakeStep(*program_step.inst));
  }
  const Step& step = *prepared;
  const Instruction& inst = *program_step.inst;
  WaveShadow& shadow = ShadowOf(wave);
  current_ = &step;
  switch (step.role) {
    case Role::kNothing:
      return;
    case Role::kAlu:
      return RunAlu(step.alu, wave);
    case Role::kLaneSelect:
      if (inst.operands[2].kind == OperandKind::kScalar) {
        UseScalars(inst, wave, inst.operands[2].index, 1, "lane number");
      }
      return RunAlu(step.alu, wave);
    case Role::kBranchOnScc:
      return UseScc(inst, wave);
    case Role::kBranchOnVcc:
      return UseVccz(inst, wave);
    case Role::kJump:
      UseScalars(inst, wave, inst.operands.back().index, 2, "jump target");
      return DefineWrittenScalars(inst, shadow);
    case Role::kSetRegister:
      if (inst.operands[1].kind == OperandKind::kScalar) {
        UseScalars(inst, wave, inst.operands[1].index, 1, "hardware register");
      }
      return;
    case Role::kDefineScalars:
      return DefineWrittenScalars(inst, shadow);
    case Role::kScalarLoad:
      for (size_t i = 1; i < inst.operands.size(); ++i) {
        const Operand& operand = inst.operands[i];
        if (operand.kind != OperandKind::kScalar) continue;
        UseScalars(inst, wave, operand.index, operand.count, "address");
      }
      return DefineWrittenScalars(inst, shadow);
    case Role::kMemory:
      return BeforeMemory(step, inst, wave);
  }
}

uint64_t UndefinedValues::LanesInOwnSpace(const Instruction& inst,
                                          const Wave& wave,
                                          const MemoryStep& memory) const {
  if (inst.instruction_class == InstructionClass::kLds ||
      HasPrefix(inst.mnemonic, "scratch_")) {
    return wave.exec;
  }
  const int row = Wave::Row(inst.operands[static_cast<size_t>(memory.address)]);
  uint64_t lanes = 0;
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const uint64_t address =
        (wave.vgpr[row][l] | uint64_t{wave.vgpr[row + 1][l]} << 32) +
        static_cast<uint64_t>(int64_t{inst.mods.offset});
    if (address >= kSharedAperture) lanes |= uint64_t{1} << l;
  }
  return lanes;
}

// Runs the instruction on undefined bits in the place of data.
void UndefinedValues::Move(const Step& step, const Instruction& inst,
                           Wave& wave, uint64_t lanes) {
  WaveShadow& shadow = ShadowOf(wave);
  Wave& mover = *mover_wave_;
  mover.group = mover_group_.get();
  mover.index = wave.index;
  mover.exec = lanes;
  if (!step.memory.uniform.empty()) {
    std::memcpy(mover.sgpr, wave.sgpr, sizeof(mover.sgpr));
  }
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    const Operand& operand = inst.operands[i];
    if (operand.kind != OperandKind::kVgpr &&
        operand.kind != OperandKind::kAgpr) {
      continue;
    }
    const bool address = static_cast<int>(i) == step.memory.address;
    const int row = Wave::Row(operand);
    for (int d = 0; d < operand.count; ++d) {
      std::memcpy(mover.vgpr[static_cast<int>(i) * kRowsPerOperand + d],
                  address ? wave.vgpr[row + d] : shadow.vgpr[row + d],
                  sizeof(mover.vgpr[0]));
    }
  }
  step.mover.handler(step.mover, mover);
  mover.signal = WaveSignal::kNone;
  if (step.memory.result < 0) return;
  const auto result = static_cast<size_t>(step.memory.result);
  const int row = Wave::Row(inst.operands[result]);
  for (int d = 0; d < inst.operands[result].count; ++d) {
    shadow.SetRow(row + d,
                  mover.vgpr[step.memory.result * kRowsPerOperand + d]);
  }
}

void UndefinedValues::BeforeMemory(const Step& step, const Instruction& inst,
                                   Wave& wave) {
  const MemoryStep& memory = step.memory;
  moved_lanes_ = 0;
  undefined_result_ = 0;
  for (int position : memory.uniform) {
    const Operand& operand = inst.operands[static_cast<size_t>(position)];
    UseScalars(inst, wave, operand.index, operand.count, "address");
  }
  if (memory.to_lds) UseScalars(inst, wave, kM0, 1, "address in LDS");
  if (memory.address >= 0) {
    UseVectors(inst, wave, inst.operands[static_cast<size_t>(memory.address)],
               wave.exec, ~0u, "address");
  }
  if (!memory.own_space || memory.atomic) return;
  moved_lanes_ = LanesInOwnSpace(inst, wave, memory);
  if (moved_lanes_ != 0) Move(step, inst, wave, moved_lanes_);
}

void UndefinedValues::After(const ProgramStep& program_step, Wave& wave) {
  const Step& step = *current_;
  if (step.role != Role::kMemory || step.memory.result < 0) return;
  WaveShadow& shadow = ShadowOf(wave);
  const uint64_t loaded = wave.exec & ~moved_lanes_;
  if (loaded == 0) return;
  const Operand& result =
      program_step.inst->operands[static_cast<size_t>(step.memory.result)];
  const int row = Wave::Row(result);
  int count = result.count;
  // A compare and swap of a buffer names the comparand as well.
  if (step.memory.atomic && step.memory.result == step.memory.data &&
      program_step.inst->mnemonic.find("cmpswap") != std::string::npos) {
    count /= 2;
  }
  for (int r = row; r < row + count; ++r) {
    shadow.Define(r, loaded);
    if (undefined_result_ == 0) continue;
    for (int l = 0; l < kLanes; ++l) {
      if ((undefined_result_ >> l & 1) != 0) shadow.vgpr[r][l] = ~0u;
    }
    shadow.Recount(r);
  }
}

void UndefinedValues::AccessLds(const Instruction& inst, Wave& wave,
                                const LdsAccess& access) {
  uint8_t* const lds = mover_group_->lds.get();
  if (access.kind == AccessKind::kDmaWrite) {
    // Whether the data has landed when it is read is another rule.
    for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      std::memset(lds + access.address[l] + access.offset, 0, access.bytes);
    }
    return;
  }
  if (access.kind != AccessKind::kAtomic) return;
  const WaveShadow& shadow = ShadowOf(wave);
  uint64_t undefined_data = 0;
  for (int position : {current_->memory.data, current_->memory.data2}) {
    if (position < 0) continue;
    const Operand& operand = inst.operands[static_cast<size_t>(position)];
    const int row = Wave::Row(operand);
    for (int d = 0; d < operand.count; ++d) {
      undefined_data |= shadow.lanes[row + d];
    }
  }
  for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    uint8_t* const bytes = lds + access.address[l] + access.offset;
    const bool old_value = std::any_of(bytes, bytes + access.bytes,
                                       [](uint8_t b) { return b != 0; });
    if (old_value) undefined_result_ |= uint64_t{1} << l;
    const bool undefined = old_value || (undefined_data >> l & 1) != 0;
    std::memset(bytes, undefined ? 0xff : 0, access.bytes);
  }
}

void UndefinedValues::AccessMemory(const Instruction& inst, Wave& wave,
                                   const MemoryAccess& access) {
  if (access.kind == AccessKind::kRead || current_->role != Role::kMemory ||
      current_->memory.data < 0) {
    return;
  }
  const MemoryStep& memory = current_->memory;
  Operand data = inst.operands[static_cast<size_t>(memory.data)];
  const int count = data.count;
  data.count = 1;
  for (int d = 0; d < count; ++d, ++data.index) {
    uint64_t lanes = access.lanes;
    for (uint64_t rest = lanes & access.clipped; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      if (access.dwords[l] <= d) lanes &= ~(uint64_t{1} << l);
    }
    UseVectors(inst, wave, data, lanes, memory.stored_bits, "stored value");
  }
}

}  // namespace

std::unique_ptr<Observer> MakeUndefinedValues(const Program& program,
                                              const KernelInfo& kernel) {
  return std::make_unique<UndefinedValues>(program, kernel);
}

}  // namespace zyfa::emu
