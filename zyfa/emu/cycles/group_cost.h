#ifndef ZYFA_EMU_CYCLES_GROUP_COST_H_
#define ZYFA_EMU_CYCLES_GROUP_COST_H_

#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/trace.h"

namespace zyfa::emu {

// What a work-group costs on a compute unit, in clocks.
struct GroupCost {
  double cold = 0;    // start to end, the first on its compute unit
  double warm = 0;    // start to end, with its code in the instruction cache
  double fill = 0;    // of warm: before the first matrix instruction issues
  double drain = 0;   // of warm: after the last one is through
  double matrix = 0;  // matrix pipes busy, all SIMDs together
  double useful = 0;  // the same without auxiliary instructions
  double vector = 0;  // vector pipes busy, all SIMDs together
  double lds_bytes = 0;
  // Live flips of A and B, all SIMDs together (flip_sample.h); CostOfGroup()
  // does not know them.
  double flips = 0;
  double memory_bytes = 0;
  double instructions = 0;  // of waves
};

// (1 - part) * a + part * b.
GroupCost Mix(const GroupCost& a, const GroupCost& b, double part);

// Replays `trace`, `resident` times side by side on one compute unit, once with
// cold caches and once with warm ones. Groups that are resident together are so
// taken to do the same work; the costs are means of one.
// `auxiliary`: TraceRecorder::auxiliary().
GroupCost CostOfGroup(absl::Span<const InstructionTime> instructions,
                      const GroupTrace& trace, int resident,
                      const CycleConstants& constants,
                      const std::vector<bool>& auxiliary);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_GROUP_COST_H_
