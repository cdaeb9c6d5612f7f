#include "zyfa/launch/choose_kernel.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "zyfa/launch/refusal.h"

namespace zyfa {
namespace {

std::string MaskName(Mask mask) {
  return mask == Mask::kCausal ? "causal" : "full";
}

absl::StatusOr<const KernelEntry*> ByName(
    const AttentionParams& params, absl::Span<const KernelEntry> kernels) {
  const auto found = std::find_if(
      kernels.begin(), kernels.end(),
      [&](const KernelEntry& entry) { return entry.name == params.variant; });
  if (found == kernels.end()) {
    const auto name = [](std::string* out, const KernelEntry& entry) {
      absl::StrAppend(out, entry.name);
    };
    return absl::NotFoundError(
        absl::StrCat("variant is '", params.variant,
                     "'; allowed: ", absl::StrJoin(kernels, ", ", name)));
  }
  const Variant& variant = found->variant;
  const std::string of = absl::StrCat("what variant ", found->name, " takes");
  const DataType type = params.query.data_type;
  if (type != variant.data_type) {
    return Refuse(
        "query.data_type", DataTypeName(type),
        absl::StrCat(DataTypeName(variant.data_type), ", which is ", of));
  }
  absl::Status status = MustEqual("query.head_dim", params.query.head_dim, of,
                                  variant.head_dim_qk);
  status.Update(MustEqual("value.head_dim", params.value.head_dim, of,
                          variant.head_dim_v));
  if (status.ok() && params.mask != variant.mask) {
    status = Refuse("mask", MaskName(params.mask),
                    absl::StrCat(MaskName(variant.mask), ", which is ", of));
  }
  if (!status.ok()) return status;
  const bool multiplies = variant.probability == Probability::kMultiply;
  if (params.key_multiplier.has_value() != multiplies) {
    return Refuse(
        "key_multiplier", multiplies ? "not given" : "given",
        absl::StrCat(multiplies ? "a tensor" : "none", ", which is ", of));
  }
  return &*found;
}

Probability DefaultProbability(const AttentionParams& params,
                               const Variant& variant) {
  switch (variant.data_type) {
    case DataType::kInt8:
      return params.key_multiplier.has_value() ? Probability::kMultiply
                                               : Probability::kShift;
    case DataType::kFp8:
      // With head dim 192 the matrix pipe has work enough to hide exponentials.
      return variant.head_dim_qk == 128 ? Probability::kLean
                                        : Probability::kExact;
    default:
      return Probability::kExact;
  }
}

}  // namespace

absl::StatusOr<const KernelEntry*> ChooseKernel(
    const AttentionParams& params, absl::Span<const KernelEntry> kernels) {
  if (params.mask != Mask::kCausal && params.mask != Mask::kFull) {
    return Refuse("mask", absl::StrCat(static_cast<int>(params.mask)),
                  "causal, full");
  }
  if (!params.variant.empty()) return ByName(params, kernels);
  const int64_t qk = params.query.head_dim;
  const int64_t v = params.value.head_dim;
  const DataType type = params.query.data_type;
  std::set<std::string> types;
  std::vector<std::string> pairs;
  for (const KernelEntry& entry : kernels) {
    const Variant& variant = entry.variant;
    if (variant.mask != params.mask ||
        variant.probability != DefaultProbability(params, variant)) {
      continue;
    }
    types.insert(DataTypeName(variant.data_type));
    if (variant.data_type != type) continue;
    if (variant.head_dim_qk == qk && variant.head_dim_v == v) return &entry;
    pairs.push_back(
        absl::StrCat(variant.head_dim_qk, " and ", variant.head_dim_v));
  }
  if (pairs.empty()) {
    return Refuse("query.data_type", DataTypeName(type),
                  absl::StrCat(absl::StrJoin(types, ", "),
                               ", what this program has kernels of"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("query.head_dim and value.head_dim are ", qk, " and ", v,
                   "; allowed: ", absl::StrJoin(pairs, ", ")));
}

}  // namespace zyfa
