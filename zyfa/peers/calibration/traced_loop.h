#ifndef ZYFA_PEERS_CALIBRATION_TRACED_LOOP_H_
#define ZYFA_PEERS_CALIBRATION_TRACED_LOOP_H_

#include <cstdint>
#include <vector>

#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/steady_state.h"
#include "zyfa/emu/cycles/trace.h"
#include "zyfa/emu/cycles/trace_recorder.h"

namespace zyfa::peers {

// One work-group of a peer's kernel as the emulator ran it, to be timed under
// any constants.
struct TracedLoop {
  std::vector<emu::InstructionTime> instructions;
  std::vector<bool> auxiliary;
  emu::GroupTrace trace;
  uint32_t head = 0;  // first step of the main loop
  uint64_t passes = 0;
};

// The recorder's longest group and its main loop; no loop: passes is 0.
TracedLoop TracedLoopOf(const emu::TraceRecorder& recorder);

// One pass of the main loop when it has settled.
emu::SteadyState TimeLoop(const TracedLoop& loop,
                          const emu::CycleConstants& constants);

// Clocks between the issues of successive ds_read_b128 of wave 0 in code
// without a loop: the mean of the last four, which are the steady rate; 0 if
// there are fewer than eight reads.
double TimeReads(const TracedLoop& loop, const emu::CycleConstants& constants);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_CALIBRATION_TRACED_LOOP_H_
