#ifndef ZYFA_VARIANT_VARIANT_H_
#define ZYFA_VARIANT_VARIANT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa {

// Number format of Q and K, and of V: kFp8 is OCP e4m3, as V is with kInt8.
enum class DataType { kBf16, kFp8, kInt8 };

// How a kernel makes the codes of P = 2^x.
//
// FP8 kernels (docs/schedule.md). kLean: the code of 2^x grows by 8 a doubling,
// so it is a multiply-add rounded to an integer. kExact: an exponential,
// rounded to e4m3; all BF16 kernels.
//
// INT8 kernels (docs/int8-scores.md), lean as well. kShift: the code is the
// integer score shifted. kMultiply: the same of the score times a multiplier of
// the key's token.
enum class Probability { kExact, kLean, kShift, kMultiply };

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
  Probability probability = Probability::kExact;

  bool operator==(const Variant&) const = default;
};

// Whether its work-groups are persistent (attention_args.h): all but BF16
// kernels.
constexpr bool IsPersistent(const Variant& variant) {
  return variant.data_type != DataType::kBf16;
}

// The number format of V.
constexpr DataType ValueType(const Variant& variant) {
  return IsPersistent(variant) ? DataType::kFp8 : DataType::kBf16;
}

// Name of a variant, for example "bf16_d192x128_full" or
// "fp8_lean_d128_causal".
std::string VariantName(const Variant& variant);

// The inverse of VariantName(). InvalidArgument names the part of `name` that
// is not understood and what is allowed there.
absl::StatusOr<Variant> ParseVariant(absl::string_view name);

}  // namespace zyfa

#endif  // ZYFA_VARIANT_VARIANT_H_
