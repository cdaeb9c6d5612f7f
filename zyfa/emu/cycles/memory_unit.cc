#include "zyfa/emu/cycles/memory_unit.h"

#include <algorithm>

namespace zyfa::emu {

MemoryUnit::MemoryUnit(const CycleConstants& constants)
    : line_(static_cast<uint64_t>(constants.memory_line)),
      wide_minimum_(static_cast<uint64_t>(constants.memory_wide_minimum)),
      round_trip_(static_cast<uint64_t>(constants.memory_round_trip)),
      store_(static_cast<uint64_t>(constants.memory_store)),
      queue_(static_cast<size_t>(constants.memory_queue)),
      // The cap counts loads of 1 KB, which are 8 lines.
      cap_lines_(static_cast<uint64_t>(8 * constants.memory_in_flight)) {}

uint64_t MemoryUnit::Issue(int simd, uint64_t now, bool store, uint32_t lines,
                           uint32_t dwords) {
  uint64_t start = std::max(now + 4, free_);
  while (!flights_.empty() && (flights_.front().done <= start ||
                               lines_under_way_ + lines > cap_lines_)) {
    start = std::max(start, flights_.front().done);
    lines_under_way_ -= flights_.front().lines;
    flights_.pop_front();
  }
  uint64_t service = std::max<uint64_t>(line_ * lines, 4);
  if (dwords >= 2 && lines > 0) service = std::max(service, wide_minimum_);
  free_ = start + service;
  queue_.Take(simd, start);
  // Without an active lane nothing leaves the CU.
  const uint64_t trip = lines == 0 ? 0 : store ? store_ : round_trip_;
  const uint64_t done = start + trip;
  if (lines > 0 && !store) {
    flights_.push_back({done, lines});
    lines_under_way_ += lines;
  }
  return done;
}

}  // namespace zyfa::emu
