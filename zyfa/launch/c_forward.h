#ifndef ZYFA_LAUNCH_C_FORWARD_H_
#define ZYFA_LAUNCH_C_FORWARD_H_

#include "absl/status/status.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/zyfa.h"

namespace zyfa::testing {

// AttentionForward() on the default stream, by way of the C interface:
// zyfa_supports() and zyfa_attention_forward(). Internal, with
// zyfa_last_error(), if either is refused. `params` must name no variant.
absl::Status ForwardInC(const AttentionParams& params, zyfa_device* device);

}  // namespace zyfa::testing

#endif  // ZYFA_LAUNCH_C_FORWARD_H_
