#ifndef ZYFA_MODELS_LOSS_H_
#define ZYFA_MODELS_LOSS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace zyfa::models {

// Natural logarithms of the probabilities that a row of logits gives; all NaN
// if a logit is NaN or +Inf.
std::vector<double> LogProbabilities(absl::Span<const float> logits);

// Row by row of [rows][vocabulary]; InvalidArgument if the logits are no such
// rows.
absl::StatusOr<std::vector<double>> AllLogProbabilities(
    absl::Span<const float> logits, int64_t vocabulary);

// Mean over rows of the Kullback-Leibler divergence of q from p, in nats: the
// sum of p ln(p/q). Both are logarithms of probabilities, as many,
// [rows][vocabulary], one row at least.
double MeanKlDivergence(absl::Span<const double> log_p,
                        absl::Span<const double> log_q, int64_t vocabulary);

// -ln p of each target; logits are [targets][vocabulary]. InvalidArgument if
// the sizes do not fit or a target is outside of the vocabulary.
absl::StatusOr<std::vector<double>> Losses(absl::Span<const float> logits,
                                           absl::Span<const int32_t> targets,
                                           int64_t vocabulary);

// Their mean in bits: a token is a byte.
double BitsPerByte(absl::Span<const double> losses);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_LOSS_H_
