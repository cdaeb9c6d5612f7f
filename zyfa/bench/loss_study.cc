#include "zyfa/bench/loss_study.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/models/loss.h"

namespace zyfa::bench {

absl::StatusOr<std::vector<SegmentLoss>> MeasureSegment(
    const models::Transformer& model, const models::TextSegment& text,
    absl::Span<const models::AttentionFunction> attentions, int threads,
    const std::function<void(size_t)>& before) {
  using Clock = std::chrono::steady_clock;
  const int64_t vocabulary = model.config().vocabulary;
  std::vector<double> references[2];
  std::vector<SegmentLoss> losses(attentions.size());
  for (size_t i = 0; i < attentions.size(); ++i) {
    if (before != nullptr) before(i);
    const Clock::time_point start = Clock::now();
    const auto logits = model.Logits(text.tokens, attentions[i], threads);
    if (!logits.ok()) return logits.status();
    losses[i].seconds =
        std::chrono::duration<double>(Clock::now() - start).count();
    const auto of_targets = models::Losses(*logits, text.targets, vocabulary);
    if (!of_targets.ok()) return of_targets.status();
    auto logs = models::AllLogProbabilities(*logits, vocabulary);
    if (!logs.ok()) return logs.status();
    losses[i].bits_per_byte = models::BitsPerByte(*of_targets);
    if (i < std::size(references)) references[i] = *logs;
    losses[i].kl = models::MeanKlDivergence(references[0], *logs, vocabulary);
    if (!std::isfinite(losses[i].kl)) {
      return absl::InternalError(
          absl::StrCat("KL divergence is ", losses[i].kl));
    }
    // Of exact attention when bf16's is there.
    if (i == 1) {
      losses[0].kl_to_bf16 =
          models::MeanKlDivergence(references[1], references[0], vocabulary);
    } else if (i > 1) {
      losses[i].kl_to_bf16 =
          models::MeanKlDivergence(references[1], *logs, vocabulary);
    }
  }
  return losses;
}

}  // namespace zyfa::bench
