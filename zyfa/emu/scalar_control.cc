#include "zyfa/emu/scalar_control.h"

#include <cstdint>
#include <string>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

void Jump(const Instruction& i, Wave& w) {
  w.pc = static_cast<uint64_t>(i.branch_target);
}
template <auto Condition>  // bool(const Wave&)
void Branch(const Instruction& i, Wave& w) {
  if (Condition(w)) Jump(i, w);
}
void NoOperation(const Instruction&, Wave&) {}

void Waitcnt(const Instruction& i, Wave& w) {
  const uint32_t imm = static_cast<uint32_t>(i.operands[0].integer);
  WaitState& waits = WaitsOf(w);
  waits.WaitVm((imm & 15) | (imm >> 14 & 3) << 4);
  waits.WaitLgkm(imm >> 8 & 15);
  if (waits.first_dma != waits.end_dma) LandRetired(*w.group, waits);
}

void EndProgram(const Instruction&, Wave& w) {
  WaitState& waits = WaitsOf(w);
  waits.WaitVm(0);
  LandRetired(*w.group, waits);
  w.signal = WaveSignal::kEnd;
}

// hwreg immediate: register [5:0], first bit [10:6], bits - 1 [15:11].
enum HardwareRegister {
  kHwMode = 1,
  kHwStatus = 2,
  kHwTrapStatus = 3,
  kHwId = 4,
  kHwMemoryBases = 15,
  kHwXccId = 20,
};
constexpr uint32_t kXccCount = 8;  // work-groups go to the dies in turn

bool ReadHardwareRegister(const Wave& w, uint32_t number, uint32_t& value) {
  switch (number) {
    case kHwMode:
      value = w.mode.bits;
      return true;
    case kHwStatus:
      value = (w.scc ? 1u : 0u) | (w.exec == 0 ? 1u << 9 : 0u) |
              (w.vcc() == 0 ? 1u << 10 : 0u);
      return true;
    case kHwTrapStatus:
    case kHwId:
      value = 0;
      return true;
    case kHwMemoryBases:
      value = static_cast<uint32_t>(kPrivateAperture >> 48) |
              static_cast<uint32_t>(kSharedAperture >> 48) << 16;
      return true;
    case kHwXccId:
      value = w.group->linear_id % kXccCount;
      return true;
    default:
      return false;
  }
}

uint32_t FieldMask(uint32_t imm) {
  const uint32_t bits = (imm >> 11 & 31) + 1;
  return bits == 32 ? ~0u : (1u << bits) - 1;
}

void GetRegister(const Instruction& i, Wave& w) {
  const uint32_t imm = static_cast<uint32_t>(i.operands[1].integer);
  uint32_t value = 0;
  if (!ReadHardwareRegister(w, imm & 63, value)) {
    w.error = absl::StrCat("hardware register ", imm & 63, " is not emulated");
    return;
  }
  w.WriteScalar32(i.operands[0].index,
                  value >> (imm >> 6 & 31) & FieldMask(imm));
}

void SetRegister(const Instruction& i, Wave& w) {
  const uint32_t imm = static_cast<uint32_t>(i.operands[0].integer);
  if ((imm & 63) != kHwMode) {
    w.error = absl::StrCat("writing hardware register ", imm & 63,
                           " is not emulated");
    return;
  }
  const uint32_t shift = imm >> 6 & 31;
  const uint32_t mask = FieldMask(imm) << shift;
  const uint32_t value = Scalar32(i.operands[1], w) << shift;
  w.mode.bits = (w.mode.bits & ~mask) | (value & mask);
}

void Trap(const Instruction& i, Wave& w) {
  w.group->Report(
      Severity::kError, "trap", i, w, -1,
      absl::StrCat("the kernel raised trap ", i.operands[0].integer));
}

using Table = std::unordered_map<std::string, Handler>;

const Table& Handlers() {
  static const Table* const table = new Table{
      {"s_branch", Jump},
      {"s_cbranch_scc0", Branch<[](const Wave& w) { return !w.scc; }>},
      {"s_cbranch_scc1", Branch<[](const Wave& w) { return w.scc; }>},
      {"s_cbranch_vccz", Branch<[](const Wave& w) { return w.vcc() == 0; }>},
      {"s_cbranch_vccnz", Branch<[](const Wave& w) { return w.vcc() != 0; }>},
      {"s_cbranch_execz", Branch<[](const Wave& w) { return w.exec == 0; }>},
      {"s_cbranch_execnz", Branch<[](const Wave& w) { return w.exec != 0; }>},
      {"s_getpc_b64",
       [](const Instruction& i, Wave& w) {
         w.WriteScalar64(i.operands[0].index, w.group->text_address + w.pc);
       }},
      {"s_setpc_b64",
       [](const Instruction& i, Wave& w) {
         w.pc = Scalar64(i.operands[0], w) - w.group->text_address;
       }},
      {"s_swappc_b64",
       [](const Instruction& i, Wave& w) {
         const uint64_t target = Scalar64(i.operands[1], w);
         w.WriteScalar64(i.operands[0].index, w.group->text_address + w.pc);
         w.pc = target - w.group->text_address;
       }},
      {"s_call_b64",
       [](const Instruction& i, Wave& w) {
         w.WriteScalar64(i.operands[0].index, w.group->text_address + w.pc);
         Jump(i, w);
       }},
      {"s_waitcnt", Waitcnt},
      {"s_barrier",
       [](const Instruction&, Wave& w) { w.signal = WaveSignal::kBarrier; }},
      {"s_endpgm", EndProgram},
      {"s_trap", Trap},
      {"s_getreg_b32", GetRegister},
      {"s_setreg_b32", SetRegister},
      {"s_setreg_imm32_b32", SetRegister},
      {"s_nop", NoOperation},
      {"s_sleep", NoOperation},
      {"s_setprio", NoOperation},
      {"s_wakeup", NoOperation},
      {"s_icache_inv", NoOperation},
      {"s_ttracedata", NoOperation},
      {"s_incperflevel", NoOperation},
      {"s_decperflevel", NoOperation},
  };
  return *table;
}

}  // namespace

Handler FindScalarControlHandler(Instruction& inst) {
  const auto it = Handlers().find(inst.mnemonic);
  if (it == Handlers().end()) return nullptr;
  // A wait for the export counter has nothing to wait for in compute.
  return it->second;
}

}  // namespace zyfa::emu
