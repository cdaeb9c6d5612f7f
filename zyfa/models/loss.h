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

// -ln p of each target; logits are [targets][vocabulary]. InvalidArgument if
// the sizes do not fit or a target is outside of the vocabulary.
absl::StatusOr<std::vector<double>> Losses(absl::Span<const float> logits,
                                           absl::Span<const int32_t> targets,
                                           int64_t vocabulary);

// Their mean in bits: a token is a byte.
double BitsPerByte(absl::Span<const double> losses);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_LOSS_H_
