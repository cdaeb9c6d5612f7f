#include "zyfa/launch/refusal.h"

#include "absl/strings/str_cat.h"

namespace zyfa {

absl::Status Refuse(absl::string_view argument, absl::string_view value,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed: ", allowed));
}

absl::Status MustEqual(absl::string_view argument, int64_t value,
                       absl::string_view other, int64_t other_value) {
  if (value == other_value) return absl::OkStatus();
  return Refuse(argument, absl::StrCat(value),
                absl::StrCat(other_value, ", which is ", other));
}

absl::Status MustLieIn(absl::string_view argument, int64_t value,
                       int64_t most) {
  if (value >= 0 && value <= most) return absl::OkStatus();
  return Refuse(argument, absl::StrCat(value), absl::StrCat("0 to ", most));
}

std::string DataTypeName(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return "bf16";
    case DataType::kFp8:
      return "fp8";
    case DataType::kInt8:
      return "int8";
  }
  return absl::StrCat(static_cast<int>(type));
}

}  // namespace zyfa
