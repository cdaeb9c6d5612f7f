#ifndef ZYFA_EMU_CYCLES_LDS_UNIT_H_
#define ZYFA_EMU_CYCLES_LDS_UNIT_H_

#include <cstdint>
#include <vector>

#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/place_queue.h"

namespace zyfa::emu {

// Time in the LDS of one CU (cdna4-timing 4): two pairs of SIMDs, each with a
// FIFO and a path of 128 bytes a clock, before banks that both pairs and the
// loads into LDS share. A pair's requests are served in the order of their
// issue; the other pair's go in between.
class LdsUnit {
 public:
  explicit LdsUnit(const CycleConstants& constants);

  // First clock at which the FIFO of the SIMD's pair takes a request of it.
  uint64_t FreeAt(int simd, uint64_t now);

  struct Service {
    uint64_t first_data = 0;  // on its way to registers from here ...
    uint64_t done = 0;        // ... to here, when lgkmcnt counts down
  };
  // One instruction issued at `now`: `passes` turns of the banks, `path_clocks`
  // of the pair's path at 128 bytes. Calls come in the order of time.
  Service Issue(int simd, uint64_t now, uint32_t passes, uint32_t path_clocks,
                bool write);

  // A load into LDS whose data arrives at `time`, now or later. What it takes
  // from the banks is a constant.
  void ArriveAt(uint64_t time, uint32_t bytes);

 private:
  // Clocks [from, end).
  struct Busy {
    uint64_t from, end;
  };
  // Books the first `clocks` free clocks of the banks from `earliest` on, which
  // need not be adjacent; from the first to behind the last.
  Busy Book(uint64_t earliest, uint64_t clocks);

  struct Pair {
    explicit Pair(size_t places) : fifo(places) {}
    PlaceQueue fifo;
    uint64_t path_free = 0;
  };

  uint64_t latency_, write_latency_, address_;
  double path_bytes_, fill_;
  std::vector<Busy> banks_;  // ascending, with gaps between
  Pair pairs_[2];
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_LDS_UNIT_H_
