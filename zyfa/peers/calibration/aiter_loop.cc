#include "zyfa/peers/calibration/aiter_loop.h"

#include <algorithm>

#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"

namespace zyfa::peers {

absl::StatusOr<TracedLoop> TraceAiterLoop(const AiterKernel& kernel,
                                          const emu::CodeObject& code,
                                          int keys) {
  AiterProblem problem;
  problem.sequences = {{kernel.query_tile, keys}};
  problem.heads_q = std::max(kernel.head_ratio, 1);
  problem.heads_kv = 1;
  const absl::Status valid = Validate(kernel, problem);
  if (!valid.ok()) return valid;
  emu::DeviceMemory memory;
  const absl::StatusOr<AiterLaunch> launch = PrepareAiterLaunch(
      kernel, problem, MakeOperands(kernel, problem), memory);
  if (!launch.ok()) return launch.status();
  emu::TraceRecorder recorder;
  emu::RunOptions options;
  options.groups = {0};
  options.observers = {&recorder};
  const absl::StatusOr<emu::RunReport> report = emu::Run(
      code, launch->kernel, launch->shape, launch->kernarg, memory, options);
  if (!report.ok()) return report.status();
  return TracedLoopOf(recorder);
}

}  // namespace zyfa::peers
