#include "zyfa/bench/clock_model_run.h"

#include "zyfa/bench/emulator_access.h"
#include "zyfa/emu/cycles/clock_model.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/matrix_operands.h"
#include "zyfa/emu/cycles/toggle_meter.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/emulator_device.h"

namespace zyfa::bench {

bool IsEmulator(const Device& device) {
  return dynamic_cast<const EmulatorDevice*>(&device) != nullptr;
}

absl::Status RecordModelledClock(Device& device,
                                 const std::function<absl::Status()>& launch,
                                 proto::Record& record) {
  auto* emulator = dynamic_cast<EmulatorDevice*>(&device);
  if (emulator == nullptr) {
    return absl::InvalidArgumentError("the device is no emulator");
  }
  emu::TraceRecorder traces;
  emu::MatrixOperandRecorder operands;
  emulator->set_options({.threads = 1, .observers = {&traces, &operands}});
  absl::Status status = launch();
  emulator->set_options({});
  RecordEmulatorReport(device, record);
  if (!status.ok()) return status;
  if (traces.groups().empty() || operands.groups().empty()) {
    return absl::InternalError("the emulator ran no work-group to its end");
  }
  if (operands.full()) {
    return absl::ResourceExhaustedError(
        "the launch has more matrix instructions than operands can be kept of");
  }
  const emu::GroupTrace* const trace = &traces.groups().begin()->second;
  const emu::GroupMatrixOperands* const words =
      &operands.groups().begin()->second;
  emu::ToggleMeter meter(traces.instructions(), {&trace, 1}, {&words, 1});
  emu::ComputeUnitOptions options;
  options.listener = &meter;
  const emu::ComputeUnitReport run =
      emu::RunComputeUnit(traces.instructions(), {&trace, 1}, options);
  const emu::FlipReport flips = meter.Report();
  record.set_clocks(static_cast<double>(run.clocks));
  record.set_busy(flips.activity.matrix_busy);
  record.set_operand_flips_per_clock(flips.activity.flips_per_clock);
  record.set_addend_flips_per_clock(
      flips.FlipsPerClock(emu::MatrixOperand::kC));
  record.set_clock_ghz(
      emu::ModelledClockGhz(flips.activity, emu::ClockConstants::Defaults()));
  return absl::OkStatus();
}

}  // namespace zyfa::bench
