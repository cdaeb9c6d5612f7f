#include "zyfa/emu/cycles/lds_unit.h"

#include <algorithm>

namespace zyfa::emu {

LdsUnit::LdsUnit(const CycleConstants& constants)
    : latency_(static_cast<uint64_t>(constants.lds_latency)),
      address_(static_cast<uint64_t>(constants.lds_address)),
      fifo_(std::max<size_t>(1, static_cast<size_t>(constants.lds_fifo))),
      path_bytes_(constants.lds_path_bytes),
      fill_(constants.lds_fill) {}

uint64_t LdsUnit::FreeAt(int simd) const {
  const Pair& pair = pairs_[simd / 2];
  // A place is free again when its request begins to be served.
  return pair.starts.size() < fifo_ ? 0 : pair.starts.front();
}

LdsUnit::Service LdsUnit::Issue(int simd, uint64_t now, uint32_t passes,
                                uint32_t path_clocks) {
  TakeArrivals(now);
  Pair& pair = pairs_[simd / 2];
  const uint64_t start =
      std::max({now + address_, pair.path_free, banks_free_});
  const auto path = static_cast<uint64_t>(path_clocks * 128 / path_bytes_);
  banks_free_ = start + passes;
  pair.path_free = start + std::max<uint64_t>(path, 1);
  pair.starts.push_back(start);
  if (pair.starts.size() > fifo_) pair.starts.pop_front();
  Service service;
  service.first_data = start + latency_ - std::min(latency_, address_);
  service.done = service.first_data + std::max<uint64_t>(path, passes);
  return service;
}

void LdsUnit::ArriveAt(uint64_t time, uint32_t bytes) {
  const auto clocks = static_cast<uint32_t>(fill_ * ((bytes + 127) / 128));
  if (clocks > 0) arrivals_.push({time, clocks});
}

void LdsUnit::TakeArrivals(uint64_t now) {
  while (!arrivals_.empty() && arrivals_.top().time <= now) {
    banks_free_ =
        std::max(banks_free_, arrivals_.top().time) + arrivals_.top().clocks;
    arrivals_.pop();
  }
}

}  // namespace zyfa::emu
