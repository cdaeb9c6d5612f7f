#ifndef ZYFA_QUANTIZE_INT8_PLAN_H_
#define ZYFA_QUANTIZE_INT8_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/quantize/int8_params.h"
#include "zyfa/quantize/plan.h"

namespace zyfa {

// As those of plan.h. Queries need no workspace.
absl::StatusOr<QuantizeWorkspace> PlanQuantizeWorkspace(
    const QuantizeKeysInt8Params& params);
absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeKeysInt8Params& params);
absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeQueriesInt8Params& params);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_INT8_PLAN_H_
