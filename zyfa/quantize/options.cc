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

int64_t ScaleCount(ScaleGranularity granularity, int64_t batch, int64_t heads,
                   int64_t seqlen) {
  switch (granularity) {
    case ScaleGranularity::kTensor:
      return 1;
    case ScaleGranularity::kHead:
      return heads;
    case ScaleGranularity::kBatchHead:
      return batch * heads;
    case ScaleGranularity::kToken:
      return batch * heads * seqlen;
  }
  return 0;
}

absl::Status CheckQuantizeOptions(const QuantizeOptions& options,
                                  bool calibrated) {
  if (!IsGranularity(options.granularity)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options.granularity is ", static_cast<int>(options.granularity),
        "; allowed: kTensor, kHead, kBatchHead, kToken"));
  }
  if (calibrated && options.granularity == ScaleGranularity::kToken) {
    return absl::InvalidArgumentError(
        "options.granularity is kToken; allowed: with a calibration kTensor, "
        "kHead, kBatchHead");
  }
  if (calibrated && options.unit.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("options.unit is ", *options.unit,
                     "; allowed: none with a calibration"));
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
