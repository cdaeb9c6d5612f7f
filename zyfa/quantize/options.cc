#include "zyfa/quantize/options.h"

#include "absl/strings/str_cat.h"

namespace zyfa {
namespace {

bool IsGranularity(ScaleGranularity granularity) {
  switch (granularity) {
    case ScaleGranularity::kTensor:
    case ScaleGranularity::kHead:
    case ScaleGranularity::kBatchHead:
    case ScaleGranularity::kToken:
      return true;
  }
  return false;
}

}  // namespace

absl::Status CheckQuantizeOptions(const QuantizeOptions& options) {
  if (!IsGranularity(options.granularity)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options.granularity is ", static_cast<int>(options.granularity),
        "; allowed: kTensor, kHead, kBatchHead, kToken"));
  }
  if (options.unit.has_value() &&
      !(*options.unit >= 1.0f && *options.unit < 2.0f)) {
    return absl::InvalidArgumentError(
        absl::StrCat("options.unit is ", *options.unit,
                     "; allowed: 1 or more and less than 2"));
  }
  return absl::OkStatus();
}

}  // namespace zyfa
