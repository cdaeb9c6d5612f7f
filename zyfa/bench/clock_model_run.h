#ifndef ZYFA_BENCH_CLOCK_MODEL_RUN_H_
#define ZYFA_BENCH_CLOCK_MODEL_RUN_H_

#include <functional>

#include "absl/status/status.h"
#include "zyfa/launch/device.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// Whether figures of this device come from the emulator's models.
bool IsEmulator(const Device& device);

// Runs `launch`, which must launch one kernel on `device`, and puts what the
// cycle model and the clock model make of its first work-group, alone on a
// compute unit, into `record`: clocks, busy, flips and clock. `device` must be
// an emulator. ResourceExhausted if the operands of the launch's matrix
// instructions go beyond what MatrixOperandWindow keeps by default.
absl::Status RecordModelledClock(Device& device,
                                 const std::function<absl::Status()>& launch,
                                 proto::Record& record);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_CLOCK_MODEL_RUN_H_
