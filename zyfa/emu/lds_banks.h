#ifndef ZYFA_EMU_LDS_BANKS_H_
#define ZYFA_EMU_LDS_BANKS_H_

#include <cstdint>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// How often the banks of LDS turn for one instruction: `phases` if every bank
// served one dword a phase, `passes` as the addresses fall. Conflicts are the
// difference.
struct LdsCost {
  uint32_t phases = 0;
  uint32_t passes = 0;
};

// From the groups of lanes that are served together (cdna4-timing 4): reads of
// 4 bytes all 64 lanes at once, of 8 bytes 32 and 32, of 16 bytes four uneven
// groups of 16, on 64 banks; reads of 12 bytes groups of 8 on 32 banks; writes
// and atomics groups of as many lanes as write 128 bytes, on 32 banks. Lanes
// that want the same dword share it; reads of 16 bytes that do not start at
// multiples of 16 are served lane by lane. A load straight into LDS writes 128
// bytes a phase and never conflicts.
LdsCost CostOf(const LdsAccess& access);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_LDS_BANKS_H_
