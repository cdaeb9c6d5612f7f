#ifndef ZYFA_EMU_CYCLES_TRACE_H_
#define ZYFA_EMU_CYCLES_TRACE_H_

#include <cstdint>
#include <vector>

namespace zyfa::emu {

// One instruction that a wave executed: its number in Program::steps(), and
// what its addresses say about the time it takes. LDS: turns of the banks in
// the low half, bytes over 128 in the high half. Vector memory: how many
// distinct 128-byte lines; their numbers follow in WaveTrace::lines. Others: 0.
struct TraceEvent {
  uint32_t step = 0;
  uint32_t load = 0;

  uint32_t lds_bytes() const { return 128 * (load >> 16); }
};

struct WaveTrace {
  std::vector<TraceEvent> events;
  // Of all vector memory events, one after the other: address / 128, low bits.
  std::vector<uint32_t> lines;
};

// What the waves of a work-group executed, each in its own order. The cycle
// model replays it, so that timing cannot change what a kernel computes.
struct GroupTrace {
  uint32_t group = 0;  // linear number in the grid
  std::vector<WaveTrace> waves;
  uint64_t memory_bytes = 0;  // loaded and stored

  uint64_t instructions() const {
    uint64_t sum = 0;
    for (const WaveTrace& wave : waves) sum += wave.events.size();
    return sum;
  }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TRACE_H_
