#ifndef ZYFA_LAUNCH_CHOOSE_KERNEL_H_
#define ZYFA_LAUNCH_CHOOSE_KERNEL_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention_params.h"

namespace zyfa {

// The one of `kernels` that a call of checked types and sizes is for: the one
// that it names, or that of its data type, head dims and mask: of FP8 ones,
// lean P for head dim 128 and exact P for 192/128, of INT8 ones, the one with
// multipliers if the call has some. NotFound if it names none of
// them; InvalidArgument if none fits, or not the one that it names.
absl::StatusOr<const KernelEntry*> ChooseKernel(
    const AttentionParams& params, absl::Span<const KernelEntry> kernels);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_CHOOSE_KERNEL_H_
