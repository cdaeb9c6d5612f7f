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
absl::Status AttentionForward(const AttentionParams& params, Device& device,
                              Stream stream = {});

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_ATTENTION_H_
