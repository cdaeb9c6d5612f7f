#ifndef ZYFA_BENCH_EMULATOR_ACCESS_H_
#define ZYFA_BENCH_EMULATOR_ACCESS_H_

#include "zyfa/launch/device.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// What the benches want of the emulator beyond the Device interface. On any
// other device these do nothing.

// Host threads of launches from now on; 0: one a core.
void SetEmulatorThreads(Device& device, int threads);

// Puts what the emulator counted in its latest launch into `record`.
void RecordEmulatorReport(Device& device, proto::Record& record);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_EMULATOR_ACCESS_H_
