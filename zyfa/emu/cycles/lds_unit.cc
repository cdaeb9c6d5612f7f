#include "zyfa/emu/cycles/lds_unit.h"

#include <algorithm>

namespace zyfa::emu {

LdsUnit::LdsUnit(const CycleConstants& constants)
    : latency_(static_cast<uint64_t>(constants.lds_latency)),
      write_latency_(static_cast<uint64_t>(constants.lds_write_latency)),
      address_(static_cast<uint64_t>(constants.lds_address)),
      path_bytes_(std::max(1.0, constants.lds_path_bytes)),
      fill_(constants.lds_fill),
      pairs_{Pair(static_cast<size_t>(constants.lds_fifo)),
             Pair(static_cast<size_t>(constants.lds_fifo))} {}

uint64_t LdsUnit::FreeAt(int simd, uint64_t now) {
  return pairs_[simd / 2].fifo.FreeAt(simd, now);
}

LdsUnit::Busy LdsUnit::Book(uint64_t earliest, uint64_t clocks) {
  size_t at = 0;
  while (at < banks_.size() && banks_[at].end < earliest) ++at;
  uint64_t from = earliest;
  if (at < banks_.size() && banks_[at].from <= from) {
    from = std::max(from, banks_[at].end);
  } else {
    banks_.insert(banks_.begin() + static_cast<ptrdiff_t>(at), {from, from});
  }
  // Entry `at` grows over the gaps and takes in what it reaches.
  uint64_t end = from;
  size_t next = at + 1;
  while (true) {
    const uint64_t gap_end =
        next < banks_.size() ? banks_[next].from : end + clocks;
    const uint64_t part = std::min(clocks, gap_end - end);
    clocks -= part;
    end += part;
    banks_[at].end = end;
    if (next >= banks_.size() || end < gap_end) break;
    const uint64_t behind = banks_[next].end;
    ++next;
    banks_[at].end = behind;
    if (clocks == 0) break;
    end = behind;
  }
  banks_.erase(banks_.begin() + static_cast<ptrdiff_t>(at + 1),
               banks_.begin() + static_cast<ptrdiff_t>(next));
  return {from, end};
}

LdsUnit::Service LdsUnit::Issue(int simd, uint64_t now, uint32_t passes,
                                uint32_t path_clocks, bool write) {
  // What lies behind cannot be booked any more.
  size_t past = 0;
  while (past < banks_.size() && banks_[past].end <= now) ++past;
  banks_.erase(banks_.begin(), banks_.begin() + static_cast<ptrdiff_t>(past));
  Pair& pair = pairs_[simd / 2];
  const Busy banks = Book(std::max(now + address_, pair.path_free), passes);
  const auto path = static_cast<uint64_t>(path_clocks * 128 / path_bytes_);
  pair.path_free = std::max({banks.from + path, banks.end, banks.from + 1});
  pair.fifo.Take(simd, banks.from);
  const uint64_t latency = write ? write_latency_ : latency_;
  const uint64_t behind = latency - std::min(latency, address_);
  Service service;
  service.first_data = banks.from + behind;
  service.done =
      std::max({banks.from + path, banks.end, banks.from + 1}) + behind;
  return service;
}

void LdsUnit::ArriveAt(uint64_t time, uint32_t bytes) {
  const auto clocks = static_cast<uint64_t>(fill_ * ((bytes + 127) / 128));
  if (clocks > 0) Book(time, clocks);
}

}  // namespace zyfa::emu
