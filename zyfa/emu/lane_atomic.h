#ifndef ZYFA_EMU_LANE_ATOMIC_H_
#define ZYFA_EMU_LANE_ATOMIC_H_

#include <bit>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_format.h"
#include "zyfa/emu/atomic_operation.h"
#include "zyfa/emu/lane_memory.h"

namespace zyfa::emu {

// What a buffer or flat atomic needs beside its addresses, by row of registers.
struct LaneAtomic {
  uint32_t bytes = 4;
  const AtomicOperation* operation = nullptr;  // nullptr: compare and swap
};

// Of "add", "cmpswap_x2", ...; false if there is no such atomic.
inline bool ParseAtomic(std::string_view name, LaneAtomic& atomic) {
  atomic.operation = nullptr;
  atomic.bytes = 4;
  if (name == "cmpswap") return true;
  if (name == "cmpswap_x2") {
    atomic.bytes = 8;
    return true;
  }
  atomic.operation = FindMemoryAtomic(name);
  if (atomic.operation == nullptr) return false;
  atomic.bytes = atomic.operation->bytes;
  return true;
}

// One or two registers of a lane as a value.
inline uint64_t LaneValue(const Wave& wave, int row, int lane, uint32_t bytes) {
  const uint64_t low = wave.vgpr[row][lane];
  return bytes == 4 ? low : low | uint64_t{wave.vgpr[row + 1][lane]} << 32;
}

// Lane by lane on resolved addresses; compare and swap: the data registers hold
// the new value, then the comparand. Old values go to `result` unless it is
// negative. False after reporting a misaligned address.
inline bool ApplyAtomicLanes(const Instruction& inst, Wave& wave,
                             const LaneAccess& access, const LaneAtomic& atomic,
                             int data, int result) {
  Group& group = *wave.group;
  const uint32_t bytes = atomic.bytes;
  const auto count = static_cast<uint32_t>(std::popcount(access.lanes));
  group.counters.global_bytes_read += bytes * count;
  group.counters.global_bytes_written += bytes * count;
  for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    if (access.address[l] % bytes != 0) {
      group.Report(Severity::kError, "misaligned", inst, wave, l,
                   absl::StrFormat("atomic of %d bytes at %#x", bytes,
                                   access.address[l]));
      return false;
    }
    const uint64_t value = LaneValue(wave, data, l, bytes);
    const uint64_t old_value =
        atomic.operation != nullptr
            ? ApplyAtomic(*atomic.operation, access.host[l], value)
            : CompareAndSwap(
                  bytes, access.host[l],
                  LaneValue(wave, data + static_cast<int>(bytes / 4), l, bytes),
                  value);
    if (result < 0) continue;
    wave.vgpr[result][l] = static_cast<uint32_t>(old_value);
    if (bytes == 8) {
      wave.vgpr[result + 1][l] = static_cast<uint32_t>(old_value >> 32);
    }
  }
  return true;
}

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_LANE_ATOMIC_H_
