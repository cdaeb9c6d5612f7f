#ifndef ZYFA_EMU_CYCLES_STEADY_STATE_H_
#define ZYFA_EMU_CYCLES_STEADY_STATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/trace.h"

namespace zyfa::emu {

// A loop as traces show it: how often its first instruction, the one with the
// lowest address, was jumped back to.
struct TracedLoop {
  uint32_t head = 0;                   // step
  uint32_t tail = 0;                   // last step that jumped back to it
  uint64_t passes = 0;                 // of the wave that makes most
  uint64_t instructions_per_pass = 0;  // median, of that wave
};

// All loops of a work-group's waves; the one in which most instructions run
// first, inner ones before the loops around them.
std::vector<TracedLoop> FindLoops(const GroupTrace& trace);

// One pass of a loop when it has settled: the middle half of the passes of each
// SIMD's first wave, averaged over the SIMDs.
struct SteadyState {
  uint64_t passes = 0;  // that the figures are taken from, all SIMDs together
  double clocks_per_pass = 0;
  // Shares of the clocks, 0 to 1.
  double matrix_busy = 0, useful_busy = 0, vector_busy = 0;
};

// From a report with loop.head among its marked steps; `group` is the index of
// the trace. Zero passes if the loop ran too few times (fewer than four).
SteadyState SteadyStateOf(const ComputeUnitReport& report, uint32_t head,
                          uint32_t group);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_STEADY_STATE_H_
