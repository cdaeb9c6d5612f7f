#include <bit>
#include <string>

#include "absl/strings/str_format.h"
#include "zyfa/emu/atomic_operation.h"
#include "zyfa/emu/lane_atomic.h"
#include "zyfa/emu/lds.h"
#include "zyfa/emu/lds_address.h"

namespace zyfa::emu {
namespace {

// "ds_add_rtn_u32" -> "add_u32"; `returns` tells whether "_rtn" was there.
std::string OperationName(const std::string& mnemonic, bool& returns) {
  std::string name = mnemonic.substr(3);
  const size_t at = name.find("_rtn");
  returns = at != std::string::npos;
  if (returns) name.erase(at, 4);
  return name;
}

struct LdsAtomic {
  const AtomicOperation* operation = nullptr;  // nullptr: compare and swap
  uint32_t bytes = 4;
  bool returns = false;
};

bool Parse(const std::string& mnemonic, LdsAtomic& atomic) {
  const std::string name = OperationName(mnemonic, atomic.returns);
  if (name == "cmpst_b32") return true;
  if (name == "cmpst_b64") {
    atomic.bytes = 8;
    return true;
  }
  atomic.operation = FindLdsAtomic(name);
  if (atomic.operation == nullptr) return false;
  atomic.bytes = atomic.operation->bytes;
  return true;
}

// Operands: [result,] address, data; compare and swap: address, comparand, new.
void Atomic(const Instruction& inst, Wave& wave) {
  LdsAtomic atomic;
  Parse(inst.mnemonic, atomic);
  const size_t first = atomic.returns ? 1 : 0;
  const uint32_t bytes = atomic.bytes;
  const int address_row = Wave::Row(inst.operands[first]);
  const uint32_t* address = wave.vgpr[address_row];
  const auto offset = static_cast<uint32_t>(inst.mods.offset);
  if (!LdsInRange(inst, wave, AccessKind::kAtomic, address, offset, bytes) ||
      !LdsAligned(inst, wave, address, offset, bytes)) {
    return;
  }
  const int data = Wave::Row(inst.operands[first + 1]);
  const int result = atomic.returns ? Wave::Row(inst.operands[0]) : -1;
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    uint8_t* host = wave.group->lds.get() + (address[l] + offset);
    const uint64_t value = LaneValue(wave, data, l, bytes);
    const uint64_t old_value =
        atomic.operation != nullptr
            ? ApplyAtomic(*atomic.operation, host, value)
            : CompareAndSwap(
                  bytes, host, value,
                  LaneValue(wave, Wave::Row(inst.operands[first + 2]), l,
                            bytes));
    if (result < 0) continue;
    wave.vgpr[result][l] = static_cast<uint32_t>(old_value);
    if (bytes == 8) {
      wave.vgpr[result + 1][l] = static_cast<uint32_t>(old_value >> 32);
    }
  }
  const auto count = static_cast<uint32_t>(std::popcount(wave.exec));
  wave.group->counters.lds_bytes_read += bytes * count;
  wave.group->counters.lds_bytes_written += bytes * count;
  IssueLdsLoad(wave, result < 0 ? 0 : result, result < 0 ? 0 : bytes / 4);
}

}  // namespace

Handler FindLdsAtomicHandler(Instruction& inst) {
  LdsAtomic atomic;
  if (inst.mods.gds || inst.mnemonic.compare(0, 3, "ds_") != 0 ||
      !Parse(inst.mnemonic, atomic)) {
    return nullptr;
  }
  const size_t operands =
      (atomic.returns ? 1u : 0u) + 2u + (atomic.operation == nullptr ? 1u : 0u);
  return inst.operands.size() == operands ? Atomic : nullptr;
}

}  // namespace zyfa::emu
