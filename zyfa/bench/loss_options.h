#ifndef ZYFA_BENCH_LOSS_OPTIONS_H_
#define ZYFA_BENCH_LOSS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/bench/loss_attention.h"

namespace zyfa::bench {

// The command line of //zyfa/bench:model_loss, as typed; its --help says what
// is what. Lists are by comma.
struct LossFlags {
  std::string models;
  std::string text;
  std::string segments;
  std::string tokens;
  std::string attentions;
  std::string comparisons;
  std::string bf16_shares;
  std::string mixed;
  std::string ranking_segments;
  std::string ranking_tokens;
  std::string clock_batch;
  std::string clock_tokens;
  std::string threads;
};

struct LossOptions {
  std::vector<std::string> models;  // directories
  std::string text;                 // empty: beside each model's directory
  int64_t segments = 0;
  int64_t tokens = 0;
  // float32 first and bf16 second, what others are compared to.
  std::vector<LossAttention> attentions;
  // Indices in `attentions`: of the first less the second.
  std::vector<std::pair<size_t, size_t>> comparisons;
  // Above 0, ascending: shares of heads in bf16 where the rest is `mixed`, one
  // of `attentions`.
  std::vector<double> bf16_shares;
  std::optional<size_t> mixed;
  std::vector<int64_t> ranking_segments;
  int64_t ranking_tokens = 0;
  int32_t clock_batch = 0;  // 0: no clocks
  int32_t clock_tokens = 0;
  int threads = 0;
};

// InvalidArgument names the flag, its value and what is allowed.
absl::StatusOr<LossOptions> ParseLossFlags(const LossFlags& flags);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LOSS_OPTIONS_H_
