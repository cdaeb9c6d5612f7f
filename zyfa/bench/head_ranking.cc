#include "zyfa/bench/head_ranking.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "zyfa/models/loss.h"

namespace zyfa::bench {

absl::StatusOr<std::vector<RankedHead>> RankHeads(
    const models::Transformer& model,
    absl::Span<const models::TextSegment> texts,
    const models::AttentionFunction& exact,
    const models::AttentionFunction& other, int threads,
    const std::function<void()>& before) {
  const int64_t vocabulary = model.config().vocabulary;
  const auto log_probabilities = [&](const models::TextSegment& text,
                                     const models::AttentionFunction& attention)
      -> absl::StatusOr<std::vector<double>> {
    const auto logits = model.Logits(text.tokens, attention, threads);
    if (!logits.ok()) return logits.status();
    return models::AllLogProbabilities(*logits, vocabulary);
  };
  std::vector<std::vector<double>> expected;
  for (const models::TextSegment& text : texts) {
    auto logs = log_probabilities(text, exact);
    if (!logs.ok()) return logs.status();
    expected.push_back(*std::move(logs));
  }
  std::vector<RankedHead> ranking;
  for (int64_t layer = 0; layer < model.config().layers; ++layer) {
    for (int64_t head = 0; head < model.config().heads_q; ++head) {
      if (before != nullptr) before();
      RankedHead ranked = {.head = {layer, head}};
      const auto mixed = MixedAttention({ranked.head}, other, exact);
      for (size_t i = 0; i < texts.size(); ++i) {
        const auto logs = log_probabilities(texts[i], mixed);
        if (!logs.ok()) return logs.status();
        ranked.kl += models::MeanKlDivergence(expected[i], *logs, vocabulary) /
                     static_cast<double>(texts.size());
      }
      ranking.push_back(ranked);
    }
  }
  std::stable_sort(
      ranking.begin(), ranking.end(),
      [](const RankedHead& a, const RankedHead& b) { return a.kl > b.kl; });
  return ranking;
}

HeadSet FirstHeads(absl::Span<const RankedHead> ranking, double share) {
  const auto count = static_cast<size_t>(
      std::lround(share * static_cast<double>(ranking.size())));
  HeadSet heads;
  for (const RankedHead& ranked : ranking.first(count)) {
    heads.insert(ranked.head);
  }
  return heads;
}

}  // namespace zyfa::bench
