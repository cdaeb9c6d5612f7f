#ifndef ZYFA_EMU_CYCLES_MEMORY_UNIT_H_
#define ZYFA_EMU_CYCLES_MEMORY_UNIT_H_

#include <cstdint>
#include <deque>
#include <list>
#include <unordered_map>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/constants.h"

namespace zyfa::emu {

// Time in the vector memory path of one CU (cdna4-timing 5): a queue, the L1 at
// 64 bytes a clock, a cap on what is under way behind it, and a round trip. The
// L1 keeps the lines used last; a line under way is asked for once.
class MemoryUnit {
 public:
  explicit MemoryUnit(const CycleConstants& constants);

  // First clock at which the queue takes another instruction.
  uint64_t FreeAt() const;

  // When the data of a load is there, or a store is acknowledged: `lines` of
  // 128 bytes, by number, `dwords` a lane. Calls come in the order of time.
  uint64_t Issue(uint64_t now, bool store, absl::Span<const uint32_t> lines,
                 uint32_t dwords);

 private:
  // Lines of the L1, with when their data is there.
  struct Line {
    uint64_t there = 0;
    std::list<uint32_t>::iterator use;
  };
  // When the line's data is there; a miss allocates it.
  uint64_t Touch(uint32_t line, uint64_t start, bool& miss);

  uint64_t line_, wide_minimum_, round_trip_, store_, hit_;
  size_t queue_, l1_lines_;
  uint64_t cap_lines_;
  uint64_t free_ = 0;
  std::deque<uint64_t> starts_;  // of the last instructions, one a queue place
  std::list<uint32_t> uses_;     // lines in the L1, latest first
  std::unordered_map<uint32_t, Line> l1_;
  struct Flight {
    uint64_t done;
    uint32_t lines;
  };
  std::deque<Flight> flights_;
  uint64_t lines_under_way_ = 0;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_MEMORY_UNIT_H_
