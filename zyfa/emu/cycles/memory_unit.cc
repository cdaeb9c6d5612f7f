#include "zyfa/emu/cycles/memory_unit.h"

#include <algorithm>

namespace zyfa::emu {

MemoryUnit::MemoryUnit(const CycleConstants& constants)
    : line_(static_cast<uint64_t>(constants.memory_line)),
      wide_minimum_(static_cast<uint64_t>(constants.memory_wide_minimum)),
      round_trip_(static_cast<uint64_t>(constants.memory_round_trip)),
      store_(static_cast<uint64_t>(constants.memory_store)),
      hit_(static_cast<uint64_t>(constants.memory_l1_hit)),
      queue_(std::max<size_t>(1, static_cast<size_t>(constants.memory_queue))),
      l1_lines_(static_cast<size_t>(constants.memory_l1_lines)),
      // The cap counts loads of 1 KB, which are 8 lines.
      cap_lines_(static_cast<uint64_t>(8 * constants.memory_in_flight)) {}

uint64_t MemoryUnit::FreeAt() const {
  return starts_.size() < queue_ ? 0 : starts_.front();
}

uint64_t MemoryUnit::Touch(uint32_t line, uint64_t start, bool& miss) {
  const auto found = l1_.find(line);
  miss = found == l1_.end();
  if (!miss) {
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return std::max(found->second.there, start + hit_);
  }
  if (l1_lines_ > 0) {
    if (l1_.size() >= l1_lines_) {
      l1_.erase(uses_.back());
      uses_.pop_back();
    }
    uses_.push_front(line);
    l1_[line] = {start + round_trip_, uses_.begin()};
  }
  return start + round_trip_;
}

uint64_t MemoryUnit::Issue(uint64_t now, bool store,
                           absl::Span<const uint32_t> lines, uint32_t dwords) {
  uint64_t start = std::max(now + 4, free_);
  uint32_t wanted = 0;
  if (!store) {
    for (const uint32_t line : lines) wanted += l1_.count(line) == 0 ? 1u : 0u;
  }
  while (!flights_.empty() && (flights_.front().done <= start ||
                               lines_under_way_ + wanted > cap_lines_)) {
    start = std::max(start, flights_.front().done);
    lines_under_way_ -= flights_.front().lines;
    flights_.pop_front();
  }
  uint64_t service = std::max<uint64_t>(line_ * lines.size(), 4);
  if (dwords >= 2 && !lines.empty()) service = std::max(service, wide_minimum_);
  free_ = start + service;
  starts_.push_back(start);
  if (starts_.size() > queue_) starts_.pop_front();
  // Without an active lane nothing leaves the CU. Stores go through.
  if (lines.empty()) return start;
  if (store) return start + store_;
  uint64_t done = start;
  uint32_t missed = 0;
  for (const uint32_t line : lines) {
    bool miss = false;
    done = std::max(done, Touch(line, start, miss));
    missed += miss ? 1u : 0u;
  }
  if (missed > 0) {
    flights_.push_back({start + round_trip_, missed});
    lines_under_way_ += missed;
  }
  return done;
}

}  // namespace zyfa::emu
