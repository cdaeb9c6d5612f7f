#include "zyfa/bench/contender.h"

#include "absl/strings/str_cat.h"

namespace zyfa::bench {
namespace {

Probability ProbabilityOf(const Contender& contender) {
  switch (contender.arithmetic) {
    case Arithmetic::kLean:
    case Arithmetic::kLeanInteger:
      return Probability::kLean;
    case Arithmetic::kInt8:
      return contender.preparation.scales == ScalesOf::kToken
                 ? Probability::kMultiply
                 : Probability::kShift;
    default:
      return Probability::kExact;
  }
}

}  // namespace

std::string VariantOf(const Contender& contender, int head_dim_qk) {
  if (contender.arithmetic == Arithmetic::kAiterLike) return "AITER-like";
  if (contender.arithmetic == Arithmetic::kCkLike) return "CK-like";
  if (contender.arithmetic == Arithmetic::kOtherBf16) return "another BF16";
  const std::string kernel =
      VariantName({.data_type = contender.preparation.data_type,
                   .head_dim_qk = head_dim_qk,
                   .head_dim_v = 128,
                   .mask = Mask::kCausal,
                   .probability = ProbabilityOf(contender)});
  const bool integer = contender.arithmetic == Arithmetic::kLeanInteger ||
                       contender.arithmetic == Arithmetic::kExactInteger;
  return integer ? absl::StrCat(kernel, " with integer maximum") : kernel;
}

}  // namespace zyfa::bench
