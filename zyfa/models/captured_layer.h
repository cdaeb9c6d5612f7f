#ifndef ZYFA_MODELS_CAPTURED_LAYER_H_
#define ZYFA_MODELS_CAPTURED_LAYER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/transformer.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::models {

// Q, K and V of a layer as a kernel receives them: after RoPE, rounded to bf16.
// Dense, a batch of one: query [seqlen][heads_q][head_dim_qk], key
// [seqlen][heads_kv][head_dim_qk], value [seqlen][heads_kv][head_dim_v].
struct CapturedLayer {
  int64_t seqlen = 0;
  int64_t heads_q = 0;
  int64_t heads_kv = 0;  // divides heads_q
  int64_t head_dim_qk = 0;
  int64_t head_dim_v = 0;
  std::vector<numerics::Bf16> query = {};
  std::vector<numerics::Bf16> key = {};
  std::vector<numerics::Bf16> value = {};
};

// What a kernel receives for the numbers that a layer hands to attention.
CapturedLayer RoundLayer(const LayerAttention& layer);

// Runs `model` on `tokens` with exact attention and keeps what its layers hand
// to attention, in their order. `threads`: 0 is one for each processor. Errors:
// Transformer::Logits()'s.
absl::StatusOr<std::vector<CapturedLayer>> CaptureLayers(
    const Transformer& model, absl::Span<const int32_t> tokens,
    int threads = 0);

// A safetensors file with the tensors q, k and v, of the shapes above.
absl::Status WriteCapturedLayer(const std::string& path,
                                const CapturedLayer& layer);

// Reads such a file. InvalidArgument names the file, the tensor, its shape and
// what is allowed: three dimensions, none of them 0; as many tokens in all, as
// many heads in K and V, a divisor of Q's; as many channels in Q and K.
absl::StatusOr<CapturedLayer> ReadCapturedLayer(const std::string& path);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_CAPTURED_LAYER_H_
