#include "zyfa/bench/mixed_attention.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace zyfa::bench {
namespace {

using models::AttentionFunction;
using models::LayerAttention;

// Those heads of a dense [seqlen][heads][dim], in that order.
std::vector<float> Gather(absl::Span<const float> all, int64_t heads,
                          int64_t dim, const std::vector<int64_t>& wanted) {
  std::vector<float> out;
  out.reserve(all.size() / static_cast<size_t>(heads) * wanted.size());
  const auto row = static_cast<size_t>(heads * dim);
  for (size_t token = 0; token < all.size(); token += row) {
    for (const int64_t head : wanted) {
      const auto from = all.begin() + static_cast<int64_t>(token) + head * dim;
      out.insert(out.end(), from, from + dim);
    }
  }
  return out;
}

absl::Status RunHeads(const LayerAttention& layer,
                      const std::vector<int64_t>& heads,
                      const AttentionFunction& attention,
                      absl::Span<float> output) {
  if (heads.empty()) return absl::OkStatus();
  std::vector<int64_t> kv_heads;
  for (const int64_t head : heads) {
    kv_heads.push_back(head / (layer.heads_q / layer.heads_kv));
  }
  const std::vector<float> query =
      Gather(layer.query, layer.heads_q, layer.head_dim_qk, heads);
  const std::vector<float> key =
      Gather(layer.key, layer.heads_kv, layer.head_dim_qk, kv_heads);
  const std::vector<float> value =
      Gather(layer.value, layer.heads_kv, layer.head_dim_v, kv_heads);
  LayerAttention part = layer;
  part.heads_q = part.heads_kv = static_cast<int64_t>(heads.size());
  part.query = query;
  part.key = key;
  part.value = value;
  const int64_t dim = layer.head_dim_v;
  std::vector<float> of_heads(
      static_cast<size_t>(layer.seqlen * part.heads_q * dim));
  absl::Status status = attention(part, absl::MakeSpan(of_heads));
  if (!status.ok()) return status;
  auto from = of_heads.begin();
  for (int64_t token = 0; token < layer.seqlen; ++token) {
    for (const int64_t head : heads) {
      std::copy_n(from, dim,
                  output.begin() + (token * layer.heads_q + head) * dim);
      from += dim;
    }
  }
  return absl::OkStatus();
}

}  // namespace

AttentionFunction MixedAttention(HeadSet chosen,
                                 AttentionFunction chosen_attention,
                                 AttentionFunction other_attention) {
  return [chosen = std::move(chosen),
          chosen_attention = std::move(chosen_attention),
          other_attention = std::move(other_attention)](
             const LayerAttention& layer, absl::Span<float> output) {
    std::vector<int64_t> of_chosen, others;
    for (int64_t head = 0; head < layer.heads_q; ++head) {
      (chosen.contains({layer.layer, head}) ? of_chosen : others)
          .push_back(head);
    }
    absl::Status status = RunHeads(layer, of_chosen, chosen_attention, output);
    if (!status.ok()) return status;
    return RunHeads(layer, others, other_attention, output);
  };
}

}  // namespace zyfa::bench
