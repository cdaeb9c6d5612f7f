#include "zyfa/bench/mix_clocks.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/bench/run_case.h"
#include "zyfa/bench/sweep.h"

namespace zyfa::bench {

AttentionTime& AttentionTime::operator+=(const AttentionTime& other) {
  clocks += other.clocks;
  milliseconds += other.milliseconds;
  return *this;
}

absl::StatusOr<AttentionTime> MixClocks::OfLaunch(const Variant& variant,
                                                  int32_t heads,
                                                  const PassShape& pass) {
  if (heads == 0) return AttentionTime{};
  const Case c{.variant = variant,
               .batch = pass.batch,
               .heads_q = heads,
               .heads_kv = heads,
               .seqlen_q = pass.tokens,
               .seqlen_kv = pass.tokens};
  const std::string key =
      absl::StrCat(CaseLabel(c), " ", c.batch, " ", c.heads_q);
  const auto at = launches_.find(key);
  if (at != launches_.end()) return at->second;
  RunCaseOptions run;
  run.threads = threads_;
  run.timing.only = true;
  run.timing.threads = threads_;
  const proto::Record record = RunCase(c, emulator_, run);
  if (!record.has_clocks() || !record.has_gpu_time_ms()) {
    return absl::InternalError(
        absl::StrCat(CaseLabel(c), ": ", record.message()));
  }
  return launches_[key] = {record.clocks(), record.gpu_time_ms()};
}

absl::StatusOr<AttentionTime> MixClocks::OfPass(const PassShape& pass,
                                                const HeadSet& chosen_heads,
                                                const Variant& chosen,
                                                const Variant& other) {
  AttentionTime time;
  for (int64_t layer = 0; layer < pass.layers; ++layer) {
    int32_t count = 0;
    for (int64_t head = 0; head < pass.heads; ++head) {
      count += chosen_heads.contains({layer, head}) ? 1 : 0;
    }
    const auto of_chosen = OfLaunch(chosen, count, pass);
    if (!of_chosen.ok()) return of_chosen.status();
    const auto of_others =
        OfLaunch(other, static_cast<int32_t>(pass.heads) - count, pass);
    if (!of_others.ok()) return of_others.status();
    time += *of_chosen;
    time += *of_others;
  }
  return time;
}

}  // namespace zyfa::bench
