#ifndef ZYFA_BENCH_HEAD_MODEL_H_
#define ZYFA_BENCH_HEAD_MODEL_H_

#include <functional>

#include "absl/status/statusor.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/reference/problem.h"

namespace zyfa::bench {

// What computes attention: the numeric model of a kernel.
enum class Arithmetic {
  kLean,          // FP8
  kExact,         // FP8
  kLeanInteger,   // FP8 with a running maximum of whole binades
  kExactInteger,  // the same
  kAiterLike,     // reference/published_fp8.h
  kCkLike,        // the same
  kInt8,          // shift form; with scales of tokens, multiplier form
  kBf16,
  // As right as the kernel's: tiles of 128 keys and a maximum that moves
  // whenever it is exceeded, so that P rounds and sums go another way.
  kOtherBf16,
};

// Causal attention of one head in the model; the output in float32, before a
// kernel rounds it to bf16. The inputs' types must be the arithmetic's.
// `problem` is of one head; of INT8 and FP8 inputs their own softmax scale
// counts. `on_tile`, of INT8 alone, may be nullptr. Errors are the model's.
absl::StatusOr<reference::AttentionResult> RunHeadModel(
    Arithmetic arithmetic, const Inputs& inputs,
    const reference::AttentionProblem& problem,
    const reference::AttentionOptions& attention,
    const std::function<void(const reference::Int8Tile&)>& on_tile = nullptr);

// INT8 inputs of one head; V is without its descale.
reference::Int8Tensors Int8TensorsOf(
    const Inputs& inputs, const reference::AttentionProblem& problem);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_HEAD_MODEL_H_
