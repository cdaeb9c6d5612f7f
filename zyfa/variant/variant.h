#ifndef ZYFA_VARIANT_VARIANT_H_
#define ZYFA_VARIANT_VARIANT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa {

// Number format of Q and K (and of V, unless the format says otherwise).
enum class DataType { kBf16 };

// Which keys a query may see. kCausal is aligned to the bottom right: query i
// of seqlen_q sees keys 0 .. i + seqlen_kv - seqlen_q.
enum class Mask { kCausal, kFull };

// A kernel, as the generator, the build rules, the registry and the launcher
// name it. The name is the canonical form of this struct, so the table of
// variants (zyfa/kernels/variants.bzl) is a list of names.
struct Variant {
  DataType data_type = DataType::kBf16;
  int head_dim_qk = 128;  // 128, or 192 for MLA prefill
  int head_dim_v = 128;
  Mask mask = Mask::kCausal;

  bool operator==(const Variant&) const = default;
};

// Name of a variant, for example "bf16_d128_causal" or "bf16_d192x128_full".
std::string VariantName(const Variant& variant);

// The inverse of VariantName(). InvalidArgument names the part of `name` that
// is not understood and what is allowed there.
absl::StatusOr<Variant> ParseVariant(absl::string_view name);

}  // namespace zyfa

#endif  // ZYFA_VARIANT_VARIANT_H_
