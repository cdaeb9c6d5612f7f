#ifndef ZYFA_QUANTIZE_PLAN_H_
#define ZYFA_QUANTIZE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"
#include "zyfa/quantize/kernels.h"
#include "zyfa/quantize/params.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa {

// Where a pass keeps what its launches tell each other, in bytes from
// QuantizeParams::workspace.
struct QuantizeWorkspace {
  int64_t sums = 0;
  int64_t maxima = 0;
  int64_t multipliers = 0;
  int64_t bytes = 0;
};

absl::StatusOr<QuantizeWorkspace> PlanQuantizeWorkspace(
    const QuantizeParams& params);

struct QuantizeLaunch {
  const QuantizeKernel* kernel = nullptr;
  QuantizeArgs args = {};
  LaunchShape shape;
};

// Does all the checks that QuantizeParams documents; the launches of the pass,
// one after the other.
absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeParams& params);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_PLAN_H_
