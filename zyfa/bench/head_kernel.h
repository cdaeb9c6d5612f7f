#ifndef ZYFA_BENCH_HEAD_KERNEL_H_
#define ZYFA_BENCH_HEAD_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/launch/device.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// One head of `seqlen` tokens through the kernel of a variant; the inputs'
// types must be the kernel's. Returns [seqlen][head_dim_v]. Errors are those of
// AttentionForward() and of the device.
absl::StatusOr<std::vector<numerics::Bf16>> RunHeadKernel(
    const Variant& variant, const Inputs& inputs, int64_t seqlen,
    Device& device);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_HEAD_KERNEL_H_
