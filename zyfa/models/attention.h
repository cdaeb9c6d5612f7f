#ifndef ZYFA_MODELS_ATTENTION_H_
#define ZYFA_MODELS_ATTENTION_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace zyfa::models {

// What a layer asks of attention: causal, query head h with KV head
// h / (heads_q / heads_kv). Dense float32 tensors, after RoPE: query
// [seqlen][heads_q][head_dim_qk], key [seqlen][heads_kv][head_dim_qk], value
// [seqlen][heads_kv][head_dim_v].
struct LayerAttention {
  int64_t layer = 0;
  int64_t seqlen = 0;
  int64_t heads_q = 0;
  int64_t heads_kv = 0;
  int64_t head_dim_qk = 0;
  int64_t head_dim_v = 0;
  double softmax_scale = 0;
  absl::Span<const float> query;
  absl::Span<const float> key;
  absl::Span<const float> value;
};

// Attention in a model: fills `output`, [seqlen][heads_q][head_dim_v], which
// comes full of zeros. It may look at Q, K and V, round them or compute
// something else; an error ends the forward pass.
using AttentionFunction = std::function<absl::Status(
    const LayerAttention& layer, absl::Span<float> output)>;

// The exact one: online softmax in float32 on `threads` threads (0: one for
// each processor), by blocks of 64 keys. Bits depend neither on the threads nor
// on the machine.
AttentionFunction Float32Attention(int threads = 0);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_ATTENTION_H_
