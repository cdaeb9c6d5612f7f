#include "zyfa/variant/variant.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace zyfa {
namespace {

struct HeadDims {
  const char* name;
  int qk;
  int v;
};
constexpr HeadDims kHeadDims[] = {{"d128", 128, 128}, {"d192x128", 192, 128}};

absl::Status Bad(absl::string_view name, absl::string_view part,
                 absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(
      "variant '", name, "': '", part, "' is not one of ", allowed));
}

}  // namespace

std::string VariantName(const Variant& variant) {
  std::string name = "bf16";
  if (variant.data_type == DataType::kFp8) {
    name = variant.probability == Probability::kLean ? "fp8_lean" : "fp8_exact";
  }
  absl::StrAppend(&name, "_d", variant.head_dim_qk);
  if (variant.head_dim_v != variant.head_dim_qk) {
    absl::StrAppend(&name, "x", variant.head_dim_v);
  }
  return absl::StrCat(name,
                      variant.mask == Mask::kCausal ? "_causal" : "_full");
}

absl::StatusOr<Variant> ParseVariant(absl::string_view name) {
  std::vector<absl::string_view> parts = absl::StrSplit(name, '_');
  const bool fp8 = parts[0] == "fp8";
  if (parts.size() != (fp8 ? 4 : 3)) {
    return absl::InvalidArgumentError(
        absl::StrCat("variant '", name,
                     "' does not read type_headdim_mask, as in "
                     "bf16_d128_causal, or fp8_probability_headdim_mask, as in "
                     "fp8_lean_d128_causal"));
  }
  Variant variant;
  if (fp8) {
    variant.data_type = DataType::kFp8;
    if (parts[1] == "lean") {
      variant.probability = Probability::kLean;
    } else if (parts[1] != "exact") {
      return Bad(name, parts[1], "lean, exact");
    }
    parts.erase(parts.begin() + 1);
  } else if (parts[0] != "bf16") {
    return Bad(name, parts[0], "bf16, fp8");
  }
  bool found = false;
  for (const HeadDims& dims : kHeadDims) {
    if (parts[1] != dims.name) continue;
    variant.head_dim_qk = dims.qk;
    variant.head_dim_v = dims.v;
    found = true;
  }
  if (!found) return Bad(name, parts[1], "d128, d192x128");
  if (parts[2] == "causal") {
    variant.mask = Mask::kCausal;
  } else if (parts[2] == "full") {
    variant.mask = Mask::kFull;
  } else {
    return Bad(name, parts[2], "causal, full");
  }
  return variant;
}

}  // namespace zyfa
