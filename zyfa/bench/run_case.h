#ifndef ZYFA_BENCH_RUN_CASE_H_
#define ZYFA_BENCH_RUN_CASE_H_

#include <cstdint>

#include "zyfa/bench/emulator_access.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/launch/device.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

struct RunCaseOptions {
  uint32_t seed = 1;
  // Launches of a GPU before the clock starts, and under the clock. An emulator
  // runs each case once.
  int warmups = 500;
  int runs = 100;
  // Host threads of the float64 reference; 0: one a core.
  int threads = 0;
  // Bound on the work of the reference; beyond it some of the rows are checked.
  double reference_flops = 5e10;
  // What the kernel is given, instead of Gaussian inputs: of the case or, with
  // timing.only, of one head. Their sizes are checked, their types must be the
  // kernel's. Owned by the caller.
  const Inputs* inputs = nullptr;
  // How an emulator models the time. With timing.only the case is not computed:
  // all heads share the inputs of one, a few work-groups run, and there is no
  // accuracy to check. A GPU refuses that.
  TimingFlags timing = {};
};

// Runs the case on `device` with Gaussian or the given inputs, checks its
// output against float64 attention and measures or models its time. Never
// fails: what goes wrong is the record's outcome and message.
proto::Record RunCase(const Case& c, Device& device,
                      const RunCaseOptions& options);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_RUN_CASE_H_
