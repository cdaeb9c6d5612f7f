#ifndef ZYFA_EMU_CYCLES_KERNEL_TIME_H_
#define ZYFA_EMU_CYCLES_KERNEL_TIME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/cycles/clock_model.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/emulated_launch.h"
#include "zyfa/emu/cycles/flip_sample.h"
#include "zyfa/emu/cycles/group_cost.h"
#include "zyfa/emu/cycles/group_sampling.h"
#include "zyfa/emu/cycles/kernel_clock.h"
#include "zyfa/emu/cycles/launch_work.h"
#include "zyfa/emu/cycles/machine.h"
#include "zyfa/emu/finding.h"

namespace zyfa::emu {

struct KernelTimeOptions {
  CycleConstants constants = CycleConstants::Defaults();
  Machine machine = {};
  Sampling sampling = {};
  KernelClock clock = Bf16AttentionClock();
  // FLOP of the launch, pairs behind a mask left out; 0: not known.
  double flops = 0;
  // Of the matrix format: what percent of peak relates to.
  double peak_flops_per_clock = kBf16FlopsPerClock;
  // Bytes that must cross HBM once: each input and output.
  double hbm_bytes = 0;
  int threads = 0;  // of the host; 0: one a core
};

enum class KernelBound { kGroups, kL2, kHbm };
// "work-groups", "L2", "HBM"
const char* KernelBoundName(KernelBound bound);

// A work-group that was emulated and replayed.
struct SampledGroup {
  size_t work = 0;     // index into LaunchWork::works
  uint64_t group = 0;  // of the emulated grid
  GroupCost cost;
};

// Shares of the time of all compute units from launch to end. They add up to 1
// with what remains: steady, the time of groups between their first and last
// matrix instruction.
struct TimeShares {
  double launch = 0;  // overhead of the launch
  double fill = 0;    // groups before their first matrix instruction
  double cold = 0;    // instruction and scalar cache misses of first groups
  double steady = 0;
  double drain = 0;  // groups behind their last matrix instruction
  double gaps = 0;   // between two groups of a compute unit
  double tail = 0;   // idle, others still run; and never used
  double bound = 0;  // all wait for L2 or HBM: the bound beyond the schedule
};

// A modelled launch.
struct KernelTime {
  double milliseconds = 0;  // from launch to end, overhead included
  double clocks = 0;  // from the first group's start to the last one's end
  double clock_ghz = 0;
  std::string clock_name;           // KernelClock::name
  std::optional<FlipSample> flips;  // if the clock wants them
  KernelBound bound = KernelBound::kGroups;
  double schedule_clocks = 0, l2_clocks = 0, hbm_clocks = 0;
  // Of `clocks` over all SIMDs and compute units; flips 0 if not sampled.
  Activity activity;
  double useful_busy = 0;  // of activity.matrix_busy: QK and PV only
  // The same work over the time from start to end of every group instead, on
  // the compute units that it is on: idle ones and gaps do not count.
  double useful_occupied = 0;
  double tflops = 0;      // 0 if options.flops is
  double peak_share = 0;  // of the datasheet's peak
  int resident = 0;       // work-groups on a compute unit
  uint64_t groups = 0;
  size_t works = 0;  // distinct ones
  std::vector<SampledGroup> samples;
  TimeShares shares;
  std::vector<Finding> findings;  // error-level ones of the emulated groups
};

// Models a launch: emulates and replays the sampled work-groups, interpolates
// the others, dispatches all. The same input gives the same figures, whatever
// the number of threads. InvalidArgument for what CheckWork, ResidentGroups or
// Run refuse, for options that are negative or not finite and for a clock that
// is not positive; Internal with the first error-level finding if a group does
// not reach its end.
absl::StatusOr<KernelTime> ModelKernelTime(const EmulatedLaunch& launch,
                                           const LaunchWork& work,
                                           const KernelTimeOptions& options);

// The second half of it: what becomes of a launch whose works have these costs
// (indexed as work.works). The same errors.
absl::StatusOr<KernelTime> ScheduleKernel(const LaunchWork& work,
                                          absl::Span<const GroupCost> costs,
                                          int resident,
                                          const KernelTimeOptions& options);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_KERNEL_TIME_H_
