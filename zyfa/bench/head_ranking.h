#ifndef ZYFA_BENCH_HEAD_RANKING_H_
#define ZYFA_BENCH_HEAD_RANKING_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/bench/mixed_attention.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"

namespace zyfa::bench {

struct RankedHead {
  ModelHead head;
  // KL divergence from the exact model if this head alone has the other
  // attention, nats a token, mean over the texts.
  double kl = 0;
};

// All heads of the model, the most sensitive first. `before`, called before
// each head, may be nullptr. Errors are the model's and the attentions'.
absl::StatusOr<std::vector<RankedHead>> RankHeads(
    const models::Transformer& model,
    absl::Span<const models::TextSegment> texts,
    const models::AttentionFunction& exact,
    const models::AttentionFunction& other, int threads,
    const std::function<void()>& before = nullptr);

// That share, 0 .. 1, of the heads: the first ones, rounded to whole heads.
HeadSet FirstHeads(absl::Span<const RankedHead> ranking, double share);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_HEAD_RANKING_H_
