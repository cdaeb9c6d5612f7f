#include "zyfa/emu/cycles/kernel_time.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/dispatch.h"
#include "zyfa/emu/cycles/residency.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/cycles/traffic_bounds.h"

namespace zyfa::emu {
namespace {

absl::Status CheckOptions(const KernelTimeOptions& options) {
  const std::pair<const char*, double> values[] = {
      {"flops", options.flops},
      {"peak_flops_per_clock", options.peak_flops_per_clock},
      {"hbm_bytes", options.hbm_bytes}};
  for (const auto& [name, value] : values) {
    if (!std::isfinite(value) || value < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " is ", value, "; allowed: finite numbers from 0"));
    }
  }
  if (!options.clock) {
    return absl::InvalidArgumentError("clock is empty; allowed: a function");
  }
  return absl::OkStatus();
}

uint64_t GroupsOf(const LaunchShape& shape) {
  return uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

std::vector<Finding> ErrorsOf(const RunReport& report) {
  std::vector<Finding> errors;
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::kError) errors.push_back(finding);
  }
  return errors;
}

// Whether the emulator brought all groups to their end.
absl::Status CheckEnded(const TraceRecorder& recorder,
                        const std::vector<uint64_t>& groups,
                        const std::vector<Finding>& errors) {
  for (const uint64_t group : groups) {
    if (recorder.groups().count(static_cast<uint32_t>(group)) != 0) continue;
    std::string why = "no finding";
    if (!errors.empty()) {
      const Finding& f = errors.front();
      why = absl::StrCat(f.rule, " in kernel ", f.kernel, " at pc 0x",
                         absl::Hex(f.pc), ", ", f.disassembly, ": ", f.detail);
    }
    return absl::InternalError(absl::StrCat("emulator: work-group ", group,
                                            " did not reach its end: ", why));
  }
  return absl::OkStatus();
}

// Replays the groups of `samples`, on several host threads.
std::vector<GroupCost> Replay(const TraceRecorder& recorder,
                              const std::vector<uint64_t>& groups, int resident,
                              const KernelTimeOptions& options) {
  std::vector<GroupCost> costs(groups.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < groups.size(); i = next++) {
      const auto found =
          recorder.groups().find(static_cast<uint32_t>(groups[i]));
      costs[i] = CostOfGroup(recorder.instructions(), found->second, resident,
                             options.constants, recorder.auxiliary());
    }
  };
  size_t threads = options.threads > 0
                       ? static_cast<size_t>(options.threads)
                       : std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, groups.size());
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return costs;
}

}  // namespace

const char* KernelBoundName(KernelBound bound) {
  switch (bound) {
    case KernelBound::kGroups:
      return "work-groups";
    case KernelBound::kL2:
      return "L2";
    case KernelBound::kHbm:
      return "HBM";
  }
  return "";
}

absl::StatusOr<KernelTime> ScheduleKernel(const LaunchWork& work,
                                          absl::Span<const GroupCost> costs,
                                          int resident,
                                          const KernelTimeOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (resident < 1 || costs.size() != work.works.size() || work.order.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "resident is ", resident, ", costs has ", costs.size(),
        " entries, work.order ", work.order.size(), "; allowed: 1 and more, ",
        work.works.size(), ", 1 and more"));
  }
  const CycleConstants& constants = options.constants;
  std::vector<GroupDuration> durations;
  std::vector<double> bytes;
  for (const GroupCost& cost : costs) {
    durations.push_back({cost.cold, cost.warm});
    bytes.push_back(cost.memory_bytes);
  }
  const Schedule schedule = Dispatch(work.order, durations, resident,
                                     constants.group_dispatch, options.machine);
  std::vector<double> count(costs.size());
  for (const uint32_t index : work.order) ++count[index];
  GroupCost sum;
  for (size_t i = 0; i < costs.size(); ++i) {
    sum.warm += count[i] * costs[i].warm;
    sum.fill += count[i] * costs[i].fill;
    sum.drain += count[i] * costs[i].drain;
    sum.matrix += count[i] * costs[i].matrix;
    sum.useful += count[i] * costs[i].useful;
    sum.vector += count[i] * costs[i].vector;
  }

  KernelTime time;
  time.resident = resident;
  time.groups = work.order.size();
  time.works = work.works.size();
  time.schedule_clocks = schedule.clocks;
  time.l2_clocks = L2BoundClocks(work.order, bytes, constants, options.machine);
  const auto simds = static_cast<double>(options.machine.all_simds());
  const auto set_busy = [&](double clocks) {
    time.clocks = clocks;
    time.matrix_busy = clocks > 0 ? sum.matrix / (clocks * simds) : 0;
    time.useful_busy = clocks > 0 ? sum.useful / (clocks * simds) : 0;
  };
  set_busy(std::max(time.schedule_clocks, time.l2_clocks));
  if (time.l2_clocks > time.schedule_clocks) time.bound = KernelBound::kL2;
  time.clock_ghz =
      options.clock({time.matrix_busy, time.useful_busy,
                     time.clocks > 0 ? sum.vector / (time.clocks * simds) : 0});
  if (!std::isfinite(time.clock_ghz) || time.clock_ghz <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("clock gives ", time.clock_ghz, " GHz for a matrix pipe ",
                     100 * time.matrix_busy, " % busy; allowed: above 0"));
  }
  time.hbm_clocks = HbmBoundNs(options.hbm_bytes, constants) * time.clock_ghz;
  if (time.hbm_clocks > time.clocks) {
    time.bound = KernelBound::kHbm;
    set_busy(time.hbm_clocks);
  }
  const double launch_clocks =
      constants.launch_overhead_us * 1e3 * time.clock_ghz;
  const double all = time.clocks + launch_clocks;
  time.milliseconds = all / time.clock_ghz * 1e-6;
  if (time.milliseconds > 0) {
    time.tflops = options.flops / time.milliseconds * 1e-9;
  }
  if (options.peak_flops_per_clock > 0) {
    time.peak_share = time.tflops * 1e12 /
                      PeakFlops(options.peak_flops_per_clock, options.machine);
  }
  if (all <= 0) return time;
  const double places = all * schedule.places;
  TimeShares& shares = time.shares;
  shares.launch = launch_clocks / all;
  shares.bound = (time.clocks - time.schedule_clocks) / all;
  shares.cold = schedule.cold / places;
  shares.gaps = schedule.gaps / places;
  shares.tail = (schedule.tail + schedule.unused) / places;
  shares.fill = sum.fill / places;
  shares.drain = sum.drain / places;
  shares.steady = (sum.warm - sum.fill - sum.drain) / places;
  return time;
}

absl::StatusOr<KernelTime> ModelKernelTime(const EmulatedLaunch& launch,
                                           const LaunchWork& work,
                                           const KernelTimeOptions& options) {
  if (launch.code == nullptr || launch.memory == nullptr) {
    return absl::InvalidArgumentError(
        "launch.code or launch.memory is null; allowed: both given");
  }
  const KernelInfo* kernel = launch.code->FindKernel(launch.kernel);
  if (kernel == nullptr) {
    return absl::NotFoundError(absl::StrCat("launch.kernel is ", launch.kernel,
                                            ", which the code object lacks"));
  }
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (absl::Status status = CheckWork(work, GroupsOf(launch.shape));
      !status.ok()) {
    return status;
  }
  const absl::StatusOr<int> resident =
      ResidentGroups(*kernel, launch.shape, options.machine);
  if (!resident.ok()) return resident.status();

  const std::vector<size_t> samples =
      ChooseSamples(work.works, options.sampling);
  std::vector<uint64_t> groups;
  for (const size_t sample : samples) groups.push_back(work.examples[sample]);
  TraceRecorder recorder;
  RunOptions run;
  run.threads = options.threads;
  run.groups = groups;
  std::sort(run.groups.begin(), run.groups.end());
  run.groups.erase(std::unique(run.groups.begin(), run.groups.end()),
                   run.groups.end());
  run.observers = {&recorder};
  const absl::StatusOr<RunReport> report =
      Run(*launch.code, launch.kernel, launch.shape, launch.kernarg,
          *launch.memory, run);
  if (!report.ok()) return report.status();
  std::vector<Finding> errors = ErrorsOf(*report);
  if (absl::Status status = CheckEnded(recorder, groups, errors);
      !status.ok()) {
    return status;
  }

  const std::vector<GroupCost> costs =
      Replay(recorder, groups, *resident, options);
  absl::StatusOr<KernelTime> time = ScheduleKernel(
      work, InterpolateCosts(work.works, samples, costs), *resident, options);
  if (!time.ok()) return time;
  time->findings = std::move(errors);
  for (size_t i = 0; i < samples.size(); ++i) {
    time->samples.push_back({samples[i], groups[i], costs[i]});
  }
  return time;
}

}  // namespace zyfa::emu
