#include "zyfa/emu/cycles/place_queue.h"

#include <algorithm>
#include <limits>

namespace zyfa::emu {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kTurn = 4;

}  // namespace

PlaceQueue::PlaceQueue(size_t places) : places_(std::max<size_t>(1, places)) {
  waits_since_.fill(kNever);
}

uint64_t PlaceQueue::FreeAt(int simd, uint64_t now) {
  if (starts_.size() < places_) return 0;
  const uint64_t free = starts_.front();
  uint64_t& own = waits_since_[static_cast<size_t>(simd)];
  if (free > now) own = std::min(own, now);
  const uint64_t longest =
      *std::min_element(waits_since_.begin(), waits_since_.end());
  return longest < own ? free + kTurn : free;
}

void PlaceQueue::Take(int simd, uint64_t start) {
  waits_since_[static_cast<size_t>(simd)] = kNever;
  starts_.push_back(start);
  if (starts_.size() > places_) starts_.pop_front();
}

}  // namespace zyfa::emu
