#include "zyfa/emu/cycles/memory_unit.h"

#include <algorithm>

namespace zyfa::emu {

MemoryUnit::MemoryUnit(const CycleConstants& constants)
    : line_(static_cast<uint64_t>(constants.memory_line)),
      wide_minimum_(static_cast<uint64_t>(constants.memory_wide_minimum)),
      round_trip_(static_cast<uint64_t>(constants.memory_round_trip)),
      store_(static_cast<uint64_t>(constants.memory_store)),
      hit_(static_cast<uint64_t>(constants.memory_l1_hit)),
      l1_lines_(static_cast<size_t>(constants.memory_l1_lines)),
      queue_(static_cast<size_t>(constants.memory_queue)),
      under_way_(static_cast<size_t>(constants.memory_in_flight)),
      return_(constants.memory_return) {}

uint64_t MemoryUnit::Touch(uint32_t line, uint64_t start) {
  const auto found = l1_.find(line);
  if (found != l1_.end()) {
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return std::max(found->second.there, start + hit_);
  }
  returned_ =
      std::max(returned_, static_cast<double>(start + round_trip_)) + return_;
  const auto there = static_cast<uint64_t>(returned_);
  if (l1_lines_ > 0) {
    if (l1_.size() >= l1_lines_) {
      l1_.erase(uses_.back());
      uses_.pop_back();
    }
    uses_.push_front(line);
    l1_[line] = {there, uses_.begin()};
  }
  return there;
}

uint64_t MemoryUnit::Issue(int simd, uint64_t now, bool store,
                           absl::Span<const uint32_t> lines, uint32_t dwords) {
  const uint64_t start = std::max(now + 4, free_);
  uint64_t service = std::max<uint64_t>(line_ * lines.size(), 4);
  if (dwords >= 2 && !lines.empty()) service = std::max(service, wide_minimum_);
  free_ = start + service;
  queue_.Take(simd, start);
  // Without an active lane nothing leaves the CU. Stores go through.
  if (lines.empty()) return start;
  uint64_t done = start + (store ? store_ : 0);
  if (!store) {
    for (const uint32_t line : lines) done = std::max(done, Touch(line, start));
  }
  under_way_.Take(simd, done);
  return done;
}

}  // namespace zyfa::emu
