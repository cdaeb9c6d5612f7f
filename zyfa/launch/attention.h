#ifndef ZYFA_LAUNCH_ATTENTION_H_
#define ZYFA_LAUNCH_ATTENTION_H_

#include "absl/status/status.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/device.h"

namespace zyfa {

// OK if AttentionForward() would launch; else InvalidArgument, or NotFound for
// an unknown variant, with the argument's name, its value and what is allowed.
absl::Status Supports(const AttentionParams& params);

// Checks `params` as Supports() does and puts the call on `stream`. It returns
// before the work is done (on devices that can do so): use
// Device::SynchronizeStream() before reading results or freeing the tensors.
// Errors of the device come back as they are; after one, the content of output
// and lse is undefined.
//
// The first call on a device with a kernel of lean P probes how the device
// rounds (zyfa/probe/lean.h), on the default stream, and waits for it. Where
// such kernels cannot be right, this and all later ones are refused with the
// probe's FailedPrecondition.
absl::Status AttentionForward(const AttentionParams& params, Device& device,
                              Stream stream = {});

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_ATTENTION_H_
