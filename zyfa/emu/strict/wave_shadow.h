#ifndef ZYFA_EMU_STRICT_WAVE_SHADOW_H_
#define ZYFA_EMU_STRICT_WAVE_SHADOW_H_

#include <cstdint>
#include <cstring>

#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// Which bits of a wave's registers depend on what nothing has written: a set
// bit is undefined. EXEC is always defined: whoever writes it undefined is
// reported.
struct WaveShadow {
  alignas(64) uint32_t vgpr[2 * kVgprs][kLanes] = {};
  uint64_t lanes[2 * kVgprs] = {};  // lanes of a row with an undefined bit
  uint32_t sgpr[128] = {};
  bool scc = false;

  // Replaces a row.
  void SetRow(int row, const uint32_t* bits) {
    std::memcpy(vgpr[row], bits, sizeof(vgpr[row]));
    Recount(row);
  }
  void Recount(int row) {
    uint64_t any = 0;
    for (int l = 0; l < kLanes; ++l) {
      any |= uint64_t{vgpr[row][l] != 0} << l;
    }
    lanes[row] = any;
  }
  // The lanes of a row are written with defined bits.
  void Define(int row, uint64_t written) {
    if ((lanes[row] & written) == 0) return;
    for (int l = 0; l < kLanes; ++l) {
      if ((written >> l & 1) != 0) vgpr[row][l] = 0;
    }
    lanes[row] &= ~written;
  }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_WAVE_SHADOW_H_
