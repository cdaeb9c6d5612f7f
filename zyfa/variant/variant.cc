#include "zyfa/variant/variant.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// Types of which there is more than one kind of kernel.
struct Kind {
  const char* type;
  const char* name;
  DataType data_type;
  Probability probability;
};
constexpr Kind kKinds[] = {
    {"fp8", "lean", DataType::kFp8, Probability::kLean},
    {"fp8", "exact", DataType::kFp8, Probability::kExact},
    {"int8", "shift", DataType::kInt8, Probability::kShift},
    {"int8", "multiply", DataType::kInt8, Probability::kMultiply},
};

absl::Status Bad(absl::string_view name, absl::string_view part,
                 absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(
      "variant '", name, "': '", part, "' is not one of ", allowed));
}

}  // namespace

std::string VariantName(const Variant& variant) {
  std::string name = "bf16";
  for (const Kind& kind : kKinds) {
    if (kind.data_type == variant.data_type &&
        kind.probability == variant.probability) {
      name = absl::StrCat(kind.type, "_", kind.name);
    }
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
  const bool bf16 = parts[0] == "bf16";
  if (parts.size() != (bf16 ? 3 : 4)) {
    return absl::InvalidArgumentError(
        absl::StrCat("variant '", name,
                     "' does not read type_headdim_mask, as in "
                     "bf16_d128_causal, or type_probability_headdim_mask, as "
                     "in fp8_lean_d128_causal"));
  }
  Variant variant;
  if (!bf16) {
    std::vector<absl::string_view> names;
    bool known = false;
    for (const Kind& kind : kKinds) {
      if (parts[0] != kind.type) continue;
      names.push_back(kind.name);
      if (parts[1] != kind.name) continue;
      variant.data_type = kind.data_type;
      variant.probability = kind.probability;
      known = true;
    }
    if (names.empty()) return Bad(name, parts[0], "bf16, fp8, int8");
    if (!known) return Bad(name, parts[1], absl::StrJoin(names, ", "));
    parts.erase(parts.begin() + 1);
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
