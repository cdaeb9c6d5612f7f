#ifndef ZYFA_BENCH_MIXED_ATTENTION_H_
#define ZYFA_BENCH_MIXED_ATTENTION_H_

#include <compare>
#include <cstdint>
#include <set>

#include "zyfa/models/attention.h"

namespace zyfa::bench {

// A query head of a model.
struct ModelHead {
  int64_t layer = 0;
  int64_t head = 0;

  auto operator<=>(const ModelHead&) const = default;
};

using HeadSet = std::set<ModelHead>;

// `chosen_attention` for the chosen heads and `other_attention` for all others.
// Each gets its heads alone, every query head with a KV head of its own.
models::AttentionFunction MixedAttention(
    HeadSet chosen, models::AttentionFunction chosen_attention,
    models::AttentionFunction other_attention);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_MIXED_ATTENTION_H_
