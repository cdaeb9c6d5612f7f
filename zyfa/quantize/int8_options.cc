#include "zyfa/quantize/int8_options.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace zyfa {
namespace {

absl::Status CheckGranularity(absl::string_view name,
                              ScaleGranularity granularity) {
  switch (granularity) {
    case ScaleGranularity::kTensor:
    case ScaleGranularity::kHead:
    case ScaleGranularity::kBatchHead:
      return absl::OkStatus();
    case ScaleGranularity::kToken:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ",
                   granularity == ScaleGranularity::kToken
                       ? "kToken"
                       : absl::StrCat(static_cast<int>(granularity)),
                   "; allowed: kTensor, kHead, kBatchHead"));
}

}  // namespace

absl::Status CheckKeyInt8Options(const KeyInt8Options& options) {
  return CheckGranularity("options.granularity", options.granularity);
}

absl::Status CheckQueryInt8Options(const QueryInt8Options& options,
                                   int64_t heads) {
  if (!std::isfinite(options.softmax_scale)) {
    return absl::InvalidArgumentError(
        absl::StrCat("options.softmax_scale is ", options.softmax_scale,
                     "; allowed: any finite number"));
  }
  if (heads > 0 && (options.heads_kv < 1 || heads % options.heads_kv != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("options.heads_kv is ", options.heads_kv,
                     "; allowed: divisors of the query's heads, ", heads));
  }
  return CheckGranularity("options.key_granularity", options.key_granularity);
}

}  // namespace zyfa
