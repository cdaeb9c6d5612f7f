#ifndef ZYFA_BENCH_LOSS_ATTENTION_H_
#define ZYFA_BENCH_LOSS_ATTENTION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/bench/contender.h"
#include "zyfa/launch/device.h"
#include "zyfa/models/attention.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

enum class ComputedBy {
  kFloat32,  // models::Float32Attention(), on numbers that nobody rounds
  kFloat64,  // reference::Attention(), likewise
  kModel,    // the numeric model of a contender
  kKernel,   // its kernel, on the emulator
};

// An attention that a whole model runs with.
struct LossAttention {
  std::string name;  // as ParseLossAttention() takes it
  ComputedBy computed_by = ComputedBy::kFloat32;
  Contender contender = {};  // kModel and kKernel
};

// Names, all of them, for people.
inline constexpr absl::string_view kLossAttentionNames =
    "float32, float64; bf16, bf16_other (as right: tiles of 128 keys and a "
    "maximum that always moves); fp8_lean, fp8_exact, aiter_like, ck_like, "
    "int8_shift, int8_multiply: the mean key removed and Q and K rotated, or "
    "followed by :rotated or :mean (one of both) or :as_is (none). All these "
    "are numeric models; with emulated: before it, bf16, fp8_ or int8_ is the "
    "kernel itself";

// InvalidArgument names the name and what is allowed.
absl::StatusOr<LossAttention> ParseLossAttention(absl::string_view name);

// Record.variant, .quantisation and .computed_by.
std::string VariantOf(const LossAttention& attention, int head_dim_qk);
std::string QuantisationOf(const LossAttention& attention);
std::string ComputedByName(const LossAttention& attention);

// Our kernel that it is, or is the model of.
std::optional<Variant> KernelOf(const LossAttention& attention,
                                int head_dim_qk);

// The attention as a plug. Models and kernels get Q, K and V in bf16, quantised
// by the library's quantiser with a scale a head, each head alone, and give
// bf16. `emulator`, of kernels alone, must outlive it. `threads`: 0 is one a
// core. It refuses, as InvalidArgument, head dims and softmax scales of layers
// that the kernels here do not have; other errors are those of quantiser, model
// or kernel.
models::AttentionFunction MakeAttention(const LossAttention& attention,
                                        int threads, Device* emulator);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LOSS_ATTENTION_H_
