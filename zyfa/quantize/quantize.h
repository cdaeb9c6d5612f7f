#ifndef ZYFA_QUANTIZE_QUANTIZE_H_
#define ZYFA_QUANTIZE_QUANTIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"
#include "zyfa/quantize/int8_params.h"
#include "zyfa/quantize/params.h"

namespace zyfa {

// Bytes that the pass needs at QuantizeParams::workspace, which is not looked
// at, as other addresses are not; 0 is possible. InvalidArgument for sizes that
// the pass refuses.
absl::StatusOr<int64_t> QuantizeWorkspaceBytes(const QuantizeParams& params);
absl::StatusOr<int64_t> QuantizeWorkspaceBytes(
    const QuantizeKeysInt8Params& params);

// Checks `params` and puts the pass on `stream`. InvalidArgument with the
// argument's name, its value and what is allowed; errors of the device come
// back as they are.
absl::Status Quantize(const QuantizeParams& params, Device& device,
                      Stream stream = {});
absl::Status Quantize(const QuantizeKeysInt8Params& params, Device& device,
                      Stream stream = {});
absl::Status Quantize(const QuantizeQueriesInt8Params& params, Device& device,
                      Stream stream = {});

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_QUANTIZE_H_
