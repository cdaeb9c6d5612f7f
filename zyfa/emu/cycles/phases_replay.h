#ifndef ZYFA_EMU_CYCLES_PHASES_REPLAY_H_
#define ZYFA_EMU_CYCLES_PHASES_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "zyfa/emu/cycles/code_region.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/steady_state.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {

// For tests: one work-group of a kernel of testdata/phases.s, executed and
// ready to be replayed.
class PhasesReplay {
 public:
  // `items`: size of the work-group. A failure of the calling test if the
  // kernel does not run to its end.
  PhasesReplay(const std::string& kernel, uint32_t items, uint32_t passes);

  // Marks the head of the first loop.
  ComputeUnitReport Run(IssueListener* listener) const;

  const TestDevice& device() const { return device_; }
  const KernelInfo& kernel() const { return *kernel_; }
  const TraceRecorder& recorder() const { return recorder_; }
  const std::vector<TracedLoop>& loops() const { return loops_; }
  const std::vector<CodeRegion>& phases() const { return phases_; }

 private:
  TestDevice device_;
  const KernelInfo* kernel_;
  TraceRecorder recorder_;
  std::vector<TracedLoop> loops_;
  std::vector<CodeRegion> phases_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_PHASES_REPLAY_H_
