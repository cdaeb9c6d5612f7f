#ifndef ZYFA_EMU_LDS_ADDRESS_H_
#define ZYFA_EMU_LDS_ADDRESS_H_

#include <bit>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/lane_memory.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// True if every active lane's `bytes` from its register plus `offset` on, a sum
// that wraps at 32 bits (compilers count on negative registers), lie in
// the work-group's LDS; else false after reporting the first lane that does
// not. Tells the observers of the access.
inline bool LdsInRange(const Instruction& inst, Wave& wave, AccessKind kind,
                       const uint32_t* address, uint32_t offset,
                       uint32_t bytes) {
  Group& group = *wave.group;
  uint32_t last = 0;
  if (wave.exec == kAllLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t a = address[l] + offset;
      last = last > a ? last : a;
    }
  } else {
    for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
      const uint32_t a = address[std::countr_zero(rest)] + offset;
      last = last > a ? last : a;
    }
  }
  if (wave.exec == 0 || uint64_t{last} + bytes <= group.lds_bytes) {
    for (Observer* observer : group.observers) {
      observer->AccessLds(inst, wave,
                          {kind, bytes, wave.exec, address, offset});
    }
    return true;
  }
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const uint32_t at = address[l] + offset;
    if (uint64_t{at} + bytes <= group.lds_bytes) continue;
    group.Report(
        Severity::kError, "lds-out-of-range", inst, wave, l,
        absl::StrFormat("%d bytes at %d of %d", bytes, at, group.lds_bytes));
    break;
  }
  return false;
}

// The same for a required alignment (a power of two).
inline bool LdsAligned(const Instruction& inst, Wave& wave,
                       const uint32_t* address, uint32_t offset,
                       uint32_t alignment) {
  uint32_t bits = 0;
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    bits |= address[std::countr_zero(rest)] + offset;
  }
  if ((bits & (alignment - 1)) == 0) return true;
  wave.group->Report(
      Severity::kError, "misaligned", inst, wave, -1,
      absl::StrFormat("LDS addresses must be multiples of %d", alignment));
  return false;
}

// A load into `dwords` registers from `row` on, counted in lgkmcnt.
inline void IssueLdsLoad(Wave& wave, int row, uint32_t dwords) {
  WaitState& waits = WaitsOf(wave);
  const uint32_t sequence = waits.IssueDs();
  for (uint32_t d = 0; d < dwords; ++d) {
    waits.vgpr_ds[static_cast<uint32_t>(row) + d] = sequence;
  }
}

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_LDS_ADDRESS_H_
