#ifndef ZYFA_EMU_CYCLES_MEMORY_UNIT_H_
#define ZYFA_EMU_CYCLES_MEMORY_UNIT_H_

#include <algorithm>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/place_queue.h"

namespace zyfa::emu {

// Time in the vector memory path of one CU (cdna4-timing 5): a queue, the L1 at
// 64 bytes a clock, a round trip, a rate at which lines come back, and a cap on
// what is under way. The
// L1 keeps the lines used last; a line under way is asked for once.
class MemoryUnit {
 public:
  explicit MemoryUnit(const CycleConstants& constants);

  // First clock at which the path takes an instruction of the SIMD.
  uint64_t FreeAt(int simd, uint64_t now) {
    return std::max(queue_.FreeAt(simd, now), under_way_.FreeAt(simd, now));
  }

  // When the data of a load is there, or a store is acknowledged: `lines` of
  // 128 bytes, by number, `dwords` a lane. Calls come in the order of time.
  uint64_t Issue(int simd, uint64_t now, bool store,
                 absl::Span<const uint32_t> lines, uint32_t dwords);

 private:
  // Lines of the L1, with when their data is there.
  struct Line {
    uint64_t there = 0;
    std::list<uint32_t>::iterator use;
  };
  // When the line's data is there; a miss allocates it.
  uint64_t Touch(uint32_t line, uint64_t start);

  uint64_t line_, wide_minimum_, round_trip_, store_, hit_;
  size_t l1_lines_;
  PlaceQueue queue_;      // to the L1
  PlaceQueue under_way_;  // from issue to return
  double return_;         // clocks a line
  double returned_ = 0;   // when the last line is back
  uint64_t free_ = 0;
  std::list<uint32_t> uses_;  // lines in the L1, latest first
  std::unordered_map<uint32_t, Line> l1_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_MEMORY_UNIT_H_
