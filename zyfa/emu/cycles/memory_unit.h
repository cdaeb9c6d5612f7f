#ifndef ZYFA_EMU_CYCLES_MEMORY_UNIT_H_
#define ZYFA_EMU_CYCLES_MEMORY_UNIT_H_

#include <cstdint>
#include <deque>

#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/place_queue.h"

namespace zyfa::emu {

// Time in the vector memory path of one CU (cdna4-timing 5): a queue, the L1 at
// 64 bytes a clock, a cap on what is under way behind it, and a round trip.
class MemoryUnit {
 public:
  explicit MemoryUnit(const CycleConstants& constants);

  // First clock at which the queue takes an instruction of the SIMD.
  uint64_t FreeAt(int simd, uint64_t now) { return queue_.FreeAt(simd, now); }

  // When the data of a load is there, or a store is acknowledged: `lines` of
  // 128 bytes, `dwords` a lane. Calls come in the order of time.
  uint64_t Issue(int simd, uint64_t now, bool store, uint32_t lines,
                 uint32_t dwords);

 private:
  uint64_t line_, wide_minimum_, round_trip_, store_;
  PlaceQueue queue_;
  uint64_t cap_lines_;
  uint64_t free_ = 0;
  struct Flight {
    uint64_t done;
    uint32_t lines;
  };
  std::deque<Flight> flights_;
  uint64_t lines_under_way_ = 0;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_MEMORY_UNIT_H_
