#ifndef ZYFA_PEERS_AITER_PROBLEM_H_
#define ZYFA_PEERS_AITER_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::peers {

// What to compute. The softmax scale is 1 / sqrt(head_dim_qk).
struct AiterProblem {
  struct Sequence {
    int64_t queries = 0;
    int64_t keys = 0;
    bool operator==(const Sequence&) const = default;
  };
  std::vector<Sequence> sequences;  // all equal unless the kernel is grouped
  int64_t heads_q = 1;
  int64_t heads_kv = 1;
  uint64_t seed = 1;

  int64_t queries() const;  // of all sequences
  int64_t keys() const;
  int64_t longest_queries() const;
  int64_t longest_keys() const;
};

// InvalidArgument names the first thing that the kernel cannot do, its value
// and what is allowed.
absl::Status Validate(const AiterKernel& kernel, const AiterProblem& problem);

// "256x512", "300x300+171x171 8/2 heads".
std::string ShapeName(const AiterProblem& problem);

// Query-key pairs that the mask leaves, over all sequences and query heads,
// times (head_dim_qk + head_dim_v).
double MultiplyAdds(const AiterKernel& kernel, const AiterProblem& problem);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_PROBLEM_H_
