#include "zyfa/peers/aiter_time.h"

#include <cstdint>

#include "zyfa/emu/cycles/kernel_clock.h"
#include "zyfa/emu/cycles/machine.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_work.h"
#include "zyfa/peers/element_codes.h"

namespace zyfa::peers {

emu::KernelTimeOptions AiterTimeOptions(const AiterKernel& kernel) {
  emu::KernelTimeOptions options;
  if (kernel.query.format == Format::kBf16) return options;
  options.peak_flops_per_clock = emu::kFp8FlopsPerClock;
  options.clock = *emu::FixedClock(emu::kFp8ClockGhz);
  return options;
}

double AiterTensorBytes(const AiterKernel& kernel,
                        const AiterProblem& problem) {
  const auto bytes = [](Format format, int64_t tokens, int64_t heads,
                        int64_t dim) {
    return ElementBits(format) / 8.0 * static_cast<double>(tokens) *
           static_cast<double>(heads) * static_cast<double>(dim);
  };
  const int64_t queries = problem.queries();
  const int64_t keys = problem.keys();
  double sum =
      bytes(kernel.query.format, queries, problem.heads_q, kernel.head_dim_qk);
  sum += bytes(kernel.key.format, keys, problem.heads_kv, kernel.head_dim_qk);
  sum += bytes(kernel.value.format, keys, problem.heads_kv, kernel.head_dim_v);
  sum += bytes(Format::kBf16, queries, problem.heads_q, kernel.head_dim_v);
  if (kernel.family == Family::kFmhaV3) {
    sum += 4.0 * static_cast<double>(queries * problem.heads_q);
  }
  return sum;
}

double SecondKernelClocks(const AiterKernel& kernel,
                          const AiterProblem& problem,
                          const emu::CycleConstants& constants, double ghz) {
  if (kernel.family != Family::kMlaPs) return 0;
  double rows = 0;
  for (const MlaWork& work : AiterMlaWork(kernel, problem).works) {
    if (work.partial_row >= 0) rows += work.query_end - work.query_start;
  }
  if (rows == 0) return 0;
  const double bytes = rows * 4 * (kernel.head_dim_v + 1);
  return (1e3 * constants.launch_overhead_us +
          bytes / constants.hbm_bytes_per_ns) *
         ghz;
}

absl::StatusOr<emu::KernelTime> ModelAiterTime(
    const AiterKernel& kernel, const emu::CodeObject& code,
    const AiterProblem& problem, const emu::KernelTimeOptions& options) {
  const absl::StatusOr<emu::LaunchWork> work = AiterLaunchWork(kernel, problem);
  if (!work.ok()) return work.status();
  AiterProblem one = OneHead(problem);
  emu::DeviceMemory memory;
  MlaWorkList mla_work;
  if (kernel.family == Family::kMlaPs) {
    mla_work = MlaWorkOfOneHead(problem, AiterMlaWork(kernel, problem));
  }
  const absl::StatusOr<AiterLaunch> launch =
      PrepareAiterLaunch(kernel, one, MakeOperands(kernel, one), memory,
                         kernel.family == Family::kMlaPs ? &mla_work : nullptr);
  if (!launch.ok()) return launch.status();
  emu::EmulatedLaunch emulated;
  emulated.code = &code;
  emulated.kernel = launch->kernel;
  emulated.shape = launch->shape;
  emulated.kernarg = launch->kernarg;
  emulated.memory = &memory;
  emu::KernelTimeOptions own = options;
  own.flops = 2 * MultiplyAdds(kernel, problem);
  own.hbm_bytes = AiterTensorBytes(kernel, problem);
  return emu::ModelKernelTime(emulated, *work, own);
}

}  // namespace zyfa::peers
