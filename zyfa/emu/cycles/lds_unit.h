#ifndef ZYFA_EMU_CYCLES_LDS_UNIT_H_
#define ZYFA_EMU_CYCLES_LDS_UNIT_H_

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "zyfa/emu/cycles/constants.h"

namespace zyfa::emu {

// Time in the LDS of one CU (cdna4-timing 4): two pairs of SIMDs, each with a
// FIFO and a path of 128 bytes a clock, before banks that both pairs and the
// loads into LDS share. Requests are served in the order of their issue.
class LdsUnit {
 public:
  explicit LdsUnit(const CycleConstants& constants);

  // First clock at which the FIFO of the SIMD's pair takes another request.
  uint64_t FreeAt(int simd) const;

  struct Service {
    uint64_t first_data = 0;  // on its way to registers from here ...
    uint64_t done = 0;        // ... to here, when lgkmcnt counts down
  };
  // One instruction issued at `now`: `passes` turns of the banks, `path_clocks`
  // of the pair's path. Calls come in the order of time.
  Service Issue(int simd, uint64_t now, uint32_t passes, uint32_t path_clocks);

  // A load into LDS whose data arrives then. What it takes from the banks is a
  // constant.
  void ArriveAt(uint64_t time, uint32_t bytes);

 private:
  void TakeArrivals(uint64_t now);

  struct Pair {
    uint64_t path_free = 0;
    std::deque<uint64_t> starts;  // of the last requests, one a FIFO place
  };
  struct Arrival {
    uint64_t time;
    uint32_t clocks;
    bool operator>(const Arrival& other) const { return time > other.time; }
  };

  uint64_t latency_, address_;
  size_t fifo_;
  double path_bytes_, fill_;
  uint64_t banks_free_ = 0;
  Pair pairs_[2];
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<Arrival>>
      arrivals_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_LDS_UNIT_H_
