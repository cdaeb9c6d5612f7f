#include "zyfa/emu/cycles/kernel_time.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
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
  if (!options.clock.ghz) {
    return absl::InvalidArgumentError(
        "clock.ghz is empty; allowed: a function");
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

// Matrix instructions of the wave that has most.
uint64_t LongestWave(const GroupTrace& trace,
                     absl::Span<const InstructionTime> instructions) {
  uint64_t longest = 0;
  for (const WaveTrace& wave : trace.waves) {
    const auto matrix = std::count_if(wave.events.begin(), wave.events.end(),
                                      [&](const TraceEvent& event) {
                                        return instructions[event.step].matrix;
                                      });
    longest = std::max(longest, static_cast<uint64_t>(matrix));
  }
  return longest;
}

// Flips of the group with most matrix instructions in a wave.
absl::StatusOr<FlipSample> SampleLargest(const EmulatedLaunch& launch,
                                         const TraceRecorder& recorder,
                                         const std::vector<uint64_t>& groups,
                                         const CycleConstants& constants) {
  uint64_t largest = groups.front();
  uint64_t longest = 0;
  for (const uint64_t group : groups) {
    const uint64_t wave = LongestWave(
        recorder.groups().find(static_cast<uint32_t>(group))->second,
        recorder.instructions());
    if (wave > longest) {
      longest = wave;
      largest = group;
    }
  }
  return SampleFlips(launch, largest, longest, constants);
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
    sum.lds_bytes += count[i] * costs[i].lds_bytes;
    sum.flips += count[i] * costs[i].flips;
  }

  KernelTime time;
  time.resident = resident;
  time.groups = work.order.size();
  time.works = work.works.size();
  time.schedule_clocks = schedule.clocks;
  time.l2_clocks = L2BoundClocks(work.order, bytes, constants, options.machine);
  // Groups that are resident together share their compute unit's time.
  const double occupied = (sum.warm + schedule.cold) / resident;
  if (occupied > 0) {
    time.useful_occupied = sum.useful / (occupied * options.machine.simds);
  }
  const auto simds = static_cast<double>(options.machine.all_simds());
  const auto set_busy = [&](double clocks) {
    time.clocks = clocks;
    if (clocks <= 0) return;
    const double all = clocks * simds;
    time.activity.matrix_busy = sum.matrix / all;
    time.activity.vector_busy = sum.vector / all;
    time.activity.flips_per_clock = sum.flips / all;
    time.activity.lds_busy =
        sum.lds_bytes / (all / options.machine.simds * kLdsBytesPerClock);
    time.useful_busy = sum.useful / all;
  };
  set_busy(std::max(time.schedule_clocks, time.l2_clocks));
  if (time.l2_clocks > time.schedule_clocks) time.bound = KernelBound::kL2;
  time.clock_ghz = options.clock.ghz(time.activity);
  time.clock_name = options.clock.name;
  if (!std::isfinite(time.clock_ghz) || time.clock_ghz <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "clock gives ", time.clock_ghz, " GHz for a matrix pipe ",
        100 * time.activity.matrix_busy, " % busy; allowed: above 0"));
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

  std::vector<GroupCost> costs = Replay(recorder, groups, *resident, options);
  std::optional<FlipSample> flips;
  if (options.clock.wants_flips) {
    absl::StatusOr<FlipSample> sample =
        SampleLargest(launch, recorder, groups, options.constants);
    if (!sample.ok()) return sample.status();
    flips = *sample;
    for (GroupCost& cost : costs) {
      cost.flips = flips->flips_per_busy_clock * cost.matrix;
    }
  }
  absl::StatusOr<KernelTime> time = ScheduleKernel(
      work, InterpolateCosts(work.works, samples, costs), *resident, options);
  if (!time.ok()) return time;
  time->findings = std::move(errors);
  time->flips = flips;
  for (size_t i = 0; i < samples.size(); ++i) {
    time->samples.push_back({samples[i], groups[i], costs[i]});
  }
  return time;
}

}  // namespace zyfa::emu
