#include "zyfa/models/loss.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/numerics/elementary.h"

namespace zyfa::models {

std::vector<double> LogProbabilities(absl::Span<const float> logits) {
  if (logits.empty()) return {};
  const double max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) {
    sum += numerics::Exp2((logit - max) * numerics::kLog2E);
  }
  // The largest logit adds 1. Anything less is a NaN, which Log() does not
  // know.
  const double log_sum = sum >= 1.0 ? max + numerics::Log(sum)
                                    : std::numeric_limits<double>::quiet_NaN();
  std::vector<double> result;
  for (const float logit : logits) result.push_back(logit - log_sum);
  return result;
}

absl::StatusOr<std::vector<double>> AllLogProbabilities(
    absl::Span<const float> logits, int64_t vocabulary) {
  if (vocabulary < 1 || logits.size() % vocabulary != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", logits.size(),
                     " logits; allowed: multiples of a vocabulary of ",
                     vocabulary, ", 1 at least"));
  }
  std::vector<double> result;
  result.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); i += vocabulary) {
    const std::vector<double> row =
        LogProbabilities(logits.subspan(i, vocabulary));
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

double MeanKlDivergence(absl::Span<const double> log_p,
                        absl::Span<const double> log_q, int64_t vocabulary) {
  double sum = 0;
  for (size_t i = 0; i < log_p.size(); ++i) {
    sum += numerics::Exp2(log_p[i] * numerics::kLog2E) * (log_p[i] - log_q[i]);
  }
  return sum / static_cast<double>(log_p.size() / vocabulary);
}

absl::StatusOr<std::vector<double>> Losses(absl::Span<const float> logits,
                                           absl::Span<const int32_t> targets,
                                           int64_t vocabulary) {
  if (vocabulary < 1 || logits.size() / vocabulary != targets.size() ||
      logits.size() % vocabulary != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", logits.size(), " logits; allowed: ", targets.size(),
        " targets times a vocabulary of ", vocabulary, ", 1 at least"));
  }
  std::vector<double> losses;
  for (size_t t = 0; t < targets.size(); ++t) {
    if (targets[t] < 0 || targets[t] >= vocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", t, " is ", targets[t], "; allowed: 0 .. ",
                       vocabulary - 1));
    }
    losses.push_back(-LogProbabilities(
        logits.subspan(t * vocabulary, vocabulary))[targets[t]]);
  }
  return losses;
}

double BitsPerByte(absl::Span<const double> losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0) /
         static_cast<double>(losses.size()) * numerics::kLog2E;
}

}  // namespace zyfa::models
