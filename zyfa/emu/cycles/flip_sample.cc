#include "zyfa/emu/cycles/flip_sample.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/matrix_operands.h"
#include "zyfa/emu/cycles/toggle_meter.h"
#include "zyfa/emu/cycles/trace_recorder.h"

namespace zyfa::emu {
namespace {

// 16 waves, and registers of 256 bytes: 8 of A and B each at most, 32 of C and
// D each.
static_assert(kFlipWindow * 16 * (8 + 8 + 32 + 32) * 256 <=
              MatrixOperandWindow{}.max_bytes);

}  // namespace

absl::StatusOr<FlipSample> SampleFlips(const EmulatedLaunch& launch,
                                       uint64_t group, uint64_t longest,
                                       const CycleConstants& constants) {
  TraceRecorder traces;
  MatrixOperandRecorder kept(
      {.first = (longest - std::min(longest, kFlipWindow)) / 2,
       .count = kFlipWindow});
  RunOptions run;
  run.groups = {group};
  run.observers = {&traces, &kept};
  const absl::StatusOr<RunReport> report =
      Run(*launch.code, launch.kernel, launch.shape, launch.kernarg,
          *launch.memory, run);
  if (!report.ok()) return report.status();
  if (traces.groups().empty() || kept.groups().empty()) {
    return absl::InternalError(
        absl::StrCat("toggling: work-group ", group, " did not reach its end"));
  }
  const GroupTrace* const trace = &traces.groups().begin()->second;
  const GroupMatrixOperands* const words = &kept.groups().begin()->second;
  ToggleMeter meter(traces.instructions(), {&trace, 1}, {&words, 1});
  ComputeUnitOptions options;
  options.constants = constants;
  options.warm_caches = true;
  options.listener = &meter;
  RunComputeUnit(traces.instructions(), {&trace, 1}, options);
  const FlipReport flips = meter.Report();

  FlipSample sample;
  sample.group = group;
  sample.compared = flips.total.instructions;
  for (const WaveTrace& wave : trace->waves) {
    for (const TraceEvent& event : wave.events) {
      sample.executed += traces.instructions()[event.step].matrix ? 1 : 0;
    }
  }
  if (flips.activity.matrix_busy > 0) {
    sample.flips_per_busy_clock =
        flips.activity.flips_per_clock / flips.activity.matrix_busy;
  }
  return sample;
}

}  // namespace zyfa::emu
