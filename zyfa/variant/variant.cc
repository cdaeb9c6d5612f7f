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
  std::string dims = absl::StrCat("d", variant.head_dim_qk);
  if (variant.head_dim_v != variant.head_dim_qk) {
    absl::StrAppend(&dims, "x", variant.head_dim_v);
  }
  return absl::StrCat("bf16_", dims, "_",
                      variant.mask == Mask::kCausal ? "causal" : "full");
}

absl::StatusOr<Variant> ParseVariant(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '_');
  if (parts.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("variant '", name,
                     "' does not read type_headdim_mask, as in "
                     "bf16_d128_causal"));
  }
  Variant variant;
  if (parts[0] != "bf16") return Bad(name, parts[0], "bf16");
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
