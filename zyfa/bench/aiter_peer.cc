#include "zyfa/bench/aiter_peer.h"

#include "zyfa/reference/problem.h"

namespace zyfa::bench {
namespace {

peers::Family FamilyOf(const Variant& variant) {
  if (variant.data_type == DataType::kBf16) return peers::Family::kFmhaV3;
  if (variant.head_dim_qk == 192) return peers::Family::kMlaPs;
  return variant.mask == Mask::kFull ? peers::Family::kFmhaV4
                                     : peers::Family::kFmhaV3;
}

// Of Q and K. AITER has INT8 scores without a mask and for head dim 128 only:
// FP8 is the peer of what there is besides.
peers::OperandFormat FormatOf(const Variant& variant) {
  if (variant.data_type == DataType::kBf16) return {};
  const bool int8 = variant.data_type == DataType::kInt8 &&
                    FamilyOf(variant) == peers::Family::kFmhaV4;
  return {int8 ? peers::Format::kInt8 : peers::Format::kE4m3,
          peers::Scaling::kPerTensor};
}

}  // namespace

const peers::AiterKernel* PeerOf(const Variant& variant) {
  const reference::Mask mask = variant.mask == Mask::kCausal
                                   ? reference::Mask::kCausal
                                   : reference::Mask::kFull;
  const peers::Family family = FamilyOf(variant);
  const peers::OperandFormat format = FormatOf(variant);
  const peers::OperandFormat value =
      variant.data_type == DataType::kBf16
          ? peers::OperandFormat{}
          : peers::OperandFormat{peers::Format::kE4m3,
                                 peers::Scaling::kPerTensor};
  for (const peers::AiterKernel& kernel : peers::AiterKernels()) {
    // Those of mla take sequences of any lengths, and there are no others.
    const bool one_length = !kernel.group || family == peers::Family::kMlaPs;
    if (one_length && kernel.family == family && kernel.query == format &&
        kernel.key == format && kernel.value == value && kernel.mask == mask &&
        kernel.head_dim_qk == variant.head_dim_qk &&
        kernel.head_dim_v == variant.head_dim_v) {
      return &kernel;
    }
  }
  return nullptr;
}

}  // namespace zyfa::bench
