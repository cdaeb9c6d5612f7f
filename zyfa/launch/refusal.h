#ifndef ZYFA_LAUNCH_REFUSAL_H_
#define ZYFA_LAUNCH_REFUSAL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// How a call is refused: InvalidArgument with the argument's name, its value
// and what is allowed.
absl::Status Refuse(absl::string_view argument, absl::string_view value,
                    absl::string_view allowed);

// OK if the two are equal; `other` says in the message what `other_value` is.
absl::Status MustEqual(absl::string_view argument, int64_t value,
                       absl::string_view other, int64_t other_value);

// OK from 0 to `most`.
absl::Status MustLieIn(absl::string_view argument, int64_t value, int64_t most);

// "bf16", "fp8", or the number of what is no type.
std::string DataTypeName(DataType type);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_REFUSAL_H_
