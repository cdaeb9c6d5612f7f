#ifndef ZYFA_LAUNCH_INT8_ARGUMENTS_H_
#define ZYFA_LAUNCH_INT8_ARGUMENTS_H_

#include <vector>

#include "absl/status/status.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/tensor_rows.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {

// Whether query_shift, key_multiplier and softmax_scale are there where INT8
// inputs want them, and nowhere else, and have the sizes of their tensors.
absl::Status CheckInt8(const AttentionParams& params);

// Fills in their fields and adds their bytes to `read`. Call it after
// CheckInt8(), with rows and INT8 inputs.
absl::Status FillInt8(const AttentionParams& params,
                      std::vector<ByteRange>& read, AttentionArgs& args);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_INT8_ARGUMENTS_H_
