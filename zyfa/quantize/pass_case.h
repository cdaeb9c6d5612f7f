#ifndef ZYFA_QUANTIZE_PASS_CASE_H_
#define ZYFA_QUANTIZE_PASS_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/options.h"
#include "zyfa/quantize/pass_run.h"

namespace zyfa::testing {

// One pass.
struct PassCase : TensorCase {
  QuantizeOptions options;
  // With an LSE correction, if not 0.
  int64_t heads_kv = 0;
  float softmax_scale = 0.1f;
  // Given, if not empty, as QuantizeCalibration.
  std::vector<float> descales;
  std::vector<float> mean;

  std::string Name() const;
};

struct PassResult {
  QuantizedTensor tensor;
  std::vector<float> lse_correction;
  std::vector<emu::Finding> findings;
  bool wrote_outside = false;
};

absl::StatusOr<PassResult> RunOnHost(const PassCase& c);
// By the launch plan of the public API; `all_schedules`: every launch under all
// orders of waves.
absl::StatusOr<PassResult> RunOnEmulator(const PassCase& c,
                                         const emu::RunOptions& options,
                                         bool all_schedules = false);

// CompareWithHost().
std::string Compare(const PassCase& c, bool all_schedules = false);

}  // namespace zyfa::testing

#endif  // ZYFA_QUANTIZE_PASS_CASE_H_
