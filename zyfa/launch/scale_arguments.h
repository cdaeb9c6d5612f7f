#ifndef ZYFA_LAUNCH_SCALE_ARGUMENTS_H_
#define ZYFA_LAUNCH_SCALE_ARGUMENTS_H_

#include <vector>

#include "absl/status/status.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/tensor_rows.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {

// Refuses scales that have no meaning for the call's data types, numbers that
// are not finite and tensors of a wrong shape.
absl::Status CheckScales(const AttentionParams& params);

// Checks where the scales' tensors lie, adds their bytes to `read` and fills in
// the scales of an FP8 call. Call it after CheckScales().
absl::Status FillScales(const AttentionParams& params,
                        std::vector<ByteRange>& read, AttentionArgs& args);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_SCALE_ARGUMENTS_H_
