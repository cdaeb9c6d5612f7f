#ifndef ZYFA_BENCH_LOSS_STUDY_H_
#define ZYFA_BENCH_LOSS_STUDY_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"

namespace zyfa::bench {

// A model with an attention on a piece of text.
struct SegmentLoss {
  // KL divergence from the models with the first and the second attention,
  // nats a token.
  double kl = 0;
  double kl_to_bf16 = 0;
  double bits_per_byte = 0;
  double seconds = 0;  // of the host
};

// Runs the model with each attention, two at least: exact attention, bf16's,
// and others. `before`, called with the index of each, may be nullptr.
// `threads`: 0 is one a core. Errors are the model's and the attentions';
// Internal if a loss is no finite number.
absl::StatusOr<std::vector<SegmentLoss>> MeasureSegment(
    const models::Transformer& model, const models::TextSegment& text,
    absl::Span<const models::AttentionFunction> attentions, int threads,
    const std::function<void(size_t)>& before = nullptr);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LOSS_STUDY_H_
