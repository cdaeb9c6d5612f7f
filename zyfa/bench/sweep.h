#ifndef ZYFA_BENCH_SWEEP_H_
#define ZYFA_BENCH_SWEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// One launch to be measured.
struct Case {
  Variant variant;
  int32_t batch = 1;
  int32_t heads_q = 1;
  int32_t heads_kv = 1;
  int32_t seqlen_q = 0;
  int32_t seqlen_kv = 0;

  bool operator==(const Case&) const = default;
};

// A case in one line: "bf16_d128_causal 4096".
std::string CaseLabel(const Case& c);

// The command line of a sweep, as typed.
struct SweepFlags {
  std::string variants;  // names, by comma; empty: all that are linked in
  std::string seqlens;   // lengths of queries and keys, by comma
  std::string batch;
  std::string heads;  // "Q/KV", or "N" for as many of each
  // As messages name the flags of the first two.
  std::string variants_flag = "variants";
  std::string seqlens_flag = "seqlens";
};

// Every variant at every length, variants outermost. `available`: the names
// that may be asked for. InvalidArgument names the flag, its value and what is
// allowed.
absl::StatusOr<std::vector<Case>> ParseSweep(
    const SweepFlags& flags, const std::vector<std::string>& available);

// A whole number in [low, high]; InvalidArgument names `flag`, the value and
// the range.
absl::StatusOr<int64_t> ParseNumber(const std::string& flag,
                                    const std::string& value, int64_t low,
                                    int64_t high);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_SWEEP_H_
