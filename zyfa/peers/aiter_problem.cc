#include "zyfa/peers/aiter_problem.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

// Tensors are addressed with 32-bit byte offsets by the kernels.
constexpr int64_t kMaxTokens = 65536;
constexpr int64_t kMaxHeads = 128;

absl::Status Check(const char* what, int64_t value, int64_t low, int64_t high) {
  if (low <= value && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", value, ", ", low,
                                                 " to ", high, " are allowed"));
}

}  // namespace

int64_t AiterProblem::queries() const {
  int64_t sum = 0;
  for (const Sequence& s : sequences) sum += s.queries;
  return sum;
}

int64_t AiterProblem::keys() const {
  int64_t sum = 0;
  for (const Sequence& s : sequences) sum += s.keys;
  return sum;
}

int64_t AiterProblem::longest_queries() const {
  int64_t longest = 0;
  for (const Sequence& s : sequences) longest = std::max(longest, s.queries);
  return longest;
}

int64_t AiterProblem::longest_keys() const {
  int64_t longest = 0;
  for (const Sequence& s : sequences) longest = std::max(longest, s.keys);
  return longest;
}

absl::Status Validate(const AiterKernel& kernel, const AiterProblem& problem) {
  absl::Status status =
      Check("the number of sequences",
            static_cast<int64_t>(problem.sequences.size()), 1, 1024);
  for (const AiterProblem::Sequence& s : problem.sequences) {
    status.Update(Check("the number of queries", s.queries, 1, kMaxTokens));
    status.Update(Check("the number of keys", s.keys, 1, kMaxTokens));
    if (s.keys % kernel.key_multiple != 0) {
      status.Update(absl::InvalidArgumentError(
          absl::StrCat("the number of keys is ", s.keys, ", multiples of ",
                       kernel.key_multiple, " are allowed")));
    }
    if (kernel.mask == reference::Mask::kCausal) {
      status.Update(Check("under a causal mask, the number of queries",
                          s.queries, 1, s.keys));
    }
    if (!kernel.group && s != problem.sequences.front()) {
      status.Update(absl::InvalidArgumentError(
          absl::StrCat("sequences of different lengths: ", ShapeName(problem),
                       "; ", Name(kernel), " takes equal ones")));
    }
  }
  status.Update(
      Check("the number of query heads", problem.heads_q, 1, kMaxHeads));
  status.Update(
      Check("the number of key heads", problem.heads_kv, 1, problem.heads_q));
  if (!status.ok()) return status;
  if (problem.heads_q % problem.heads_kv != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the number of key heads is ", problem.heads_kv, ", divisors of the ",
        problem.heads_q, " query heads are allowed"));
  }
  const int64_t ratio = problem.heads_q / problem.heads_kv;
  if (kernel.head_ratio != 0 && ratio != kernel.head_ratio) {
    return absl::InvalidArgumentError(
        absl::StrCat("query heads for each key head are ", ratio, ", ",
                     Name(kernel), " takes ", kernel.head_ratio));
  }
  if (kernel.family == Family::kMlaPaged) {
    return Check("the number of key heads", problem.heads_kv, 1, 1);
  }
  return absl::OkStatus();
}

std::string ShapeName(const AiterProblem& problem) {
  const std::string lengths =
      absl::StrJoin(problem.sequences, "+",
                    [](std::string* out, const AiterProblem::Sequence& s) {
                      absl::StrAppend(out, s.queries, "x", s.keys);
                    });
  if (problem.heads_q == 1) return lengths;
  return absl::StrCat(lengths, " h", problem.heads_q, "/", problem.heads_kv);
}

double MultiplyAdds(const AiterKernel& kernel, const AiterProblem& problem) {
  double pairs = 0;
  for (const AiterProblem::Sequence& s : problem.sequences) {
    const double q = static_cast<double>(s.queries);
    const double k = static_cast<double>(s.keys);
    pairs += kernel.mask == reference::Mask::kCausal
                 ? q * (k - q) + q * (q + 1) / 2
                 : q * k;
  }
  return pairs * static_cast<double>(problem.heads_q) *
         (kernel.head_dim_qk + kernel.head_dim_v);
}

}  // namespace zyfa::peers
