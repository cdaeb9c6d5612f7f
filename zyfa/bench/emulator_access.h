#ifndef ZYFA_BENCH_EMULATOR_ACCESS_H_
#define ZYFA_BENCH_EMULATOR_ACCESS_H_

#include <string>

#include "absl/status/status.h"
#include "zyfa/launch/device.h"
#include "zyfa/proto/record.pb.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// What the benches want of the emulator beyond the Device interface. On any
// other device these do nothing.

// Host threads of launches from now on; 0: one a core.
void SetEmulatorThreads(Device& device, int threads);

// How launches are timed on the emulator.
struct TimingFlags {
  // File of constants that differ from the defaults; empty: none.
  std::string constants = {};
  // Shader clock, as emu::ParseKernelClock() takes it; empty: "line" for BF16,
  // emu::kFp8ClockGhz for FP8.
  std::string clock = {};
  int threads = 0;  // of the host; 0: one a core
  // Launches run no more than their time needs, and give no results.
  bool only = false;
};

// Errors of the file of constants; InvalidArgument for a clock that is no
// name and none that a GPU has.
absl::Status CheckTiming(const TimingFlags& flags);

// Launches from now on are timed; each is `flops` operations on numbers of that
// type. Errors of CheckTiming().
absl::Status StartEmulatorTiming(Device& device, const TimingFlags& flags,
                                 DataType type, double flops);

// Puts the modelled time of the latest launch into `record`, if there is one.
void RecordEmulatorTime(Device& device, const TimingFlags& flags,
                        proto::Record& record);

// Puts what the emulator counted in its latest launch into `record`.
void RecordEmulatorReport(Device& device, proto::Record& record);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_EMULATOR_ACCESS_H_
