#include "zyfa/bench/emulator_access.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/kernel_clock.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/finding.h"
#include "zyfa/launch/emulator_device.h"

namespace zyfa::bench {
namespace {

absl::StatusOr<emu::KernelClock> ClockOf(const TimingFlags& flags,
                                         DataType type) {
  if (!flags.clock.empty()) return emu::ParseKernelClock(flags.clock);
  if (type != DataType::kBf16) return emu::FixedClock(emu::kFp8ClockGhz);
  return emu::Bf16AttentionClock();
}

absl::StatusOr<EmulatorTiming> TimingOf(const TimingFlags& flags,
                                        DataType type) {
  EmulatorTiming timing;
  timing.only = flags.only;
  timing.options.threads = flags.threads;
  const absl::StatusOr<emu::CycleConstants> constants =
      emu::LoadCycleConstants(flags.constants);
  if (!constants.ok()) return constants.status();
  timing.options.constants = *constants;
  const absl::StatusOr<emu::KernelClock> clock = ClockOf(flags, type);
  if (!clock.ok()) return clock.status();
  timing.options.clock = *clock;
  return timing;
}

}  // namespace

void SetEmulatorThreads(Device& device, int threads) {
  auto* emulator = dynamic_cast<EmulatorDevice*>(&device);
  if (emulator != nullptr) emulator->set_options({.threads = threads});
}

absl::Status CheckTiming(const TimingFlags& flags) {
  return TimingOf(flags, DataType::kBf16).status();
}

absl::Status StartEmulatorTiming(Device& device, const TimingFlags& flags,
                                 DataType type, double flops) {
  auto* emulator = dynamic_cast<EmulatorDevice*>(&device);
  if (emulator == nullptr) return absl::OkStatus();
  absl::StatusOr<EmulatorTiming> timing = TimingOf(flags, type);
  if (!timing.ok()) return timing.status();
  timing->options.flops = flops;
  emulator->set_timing(*timing);
  return absl::OkStatus();
}

void RecordEmulatorTime(Device& device, const TimingFlags& flags,
                        proto::Record& record) {
  const auto* emulator = dynamic_cast<const EmulatorDevice*>(&device);
  if (emulator == nullptr) return;
  const std::optional<emu::KernelTime> time = emulator->last_time();
  if (!time.has_value()) return;
  record.set_gpu_time_ms(time->milliseconds);
  record.set_clocks(time->clocks);
  record.set_clock_ghz(time->clock_ghz);
  record.set_busy(time->activity.matrix_busy);
  record.set_useful_busy(time->useful_busy);
  record.set_useful_occupied(time->useful_occupied);
  record.set_tflops(time->tflops);
  record.set_peak_share(time->peak_share);
  proto::ModelledTime& modelled = *record.mutable_modelled_time();
  const absl::StatusOr<emu::CycleConstants> constants =
      emu::LoadCycleConstants(flags.constants);
  if (constants.ok()) {
    for (const std::string& changed : emu::ChangedConstants(*constants)) {
      modelled.add_changed_constants(changed);
    }
  }
  modelled.set_clock(time->clock_name);
  if (time->flips.has_value()) {
    record.set_operand_flips_per_clock(time->activity.flips_per_clock);
    modelled.set_flip_instructions(static_cast<double>(time->flips->compared));
    modelled.set_flip_group_instructions(
        static_cast<double>(time->flips->executed));
  }
  modelled.set_schedule_clocks(time->schedule_clocks);
  modelled.set_l2_clocks(time->l2_clocks);
  modelled.set_hbm_clocks(time->hbm_clocks);
  modelled.set_work_groups(static_cast<double>(time->groups));
  modelled.set_distinct_work_groups(static_cast<int32_t>(time->works));
  modelled.set_sampled_work_groups(static_cast<int32_t>(time->samples.size()));
  modelled.set_resident_work_groups(time->resident);
  const emu::TimeShares& shares = time->shares;
  modelled.set_launch_share(shares.launch);
  modelled.set_fill_share(shares.fill);
  modelled.set_cold_share(shares.cold);
  modelled.set_steady_share(shares.steady);
  modelled.set_drain_share(shares.drain);
  modelled.set_gap_share(shares.gaps);
  modelled.set_tail_share(shares.tail);
  modelled.set_bound_share(shares.bound);
}

void RecordEmulatorReport(Device& device, proto::Record& record) {
  const auto* emulator = dynamic_cast<const EmulatorDevice*>(&device);
  if (emulator == nullptr) return;
  const emu::RunReport report = emulator->last_report();
  for (const auto& [name, count] : report.instructions_by_class) {
    (*record.mutable_instructions())[name] = count;
  }
  record.set_findings(static_cast<int32_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const emu::Finding& finding) {
                      return finding.severity == emu::Severity::kError;
                    })));
  record.set_wall_seconds(report.wall_seconds);
}

}  // namespace zyfa::bench
