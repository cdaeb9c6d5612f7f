#ifndef ZYFA_PEERS_MLA_WORK_H_
#define ZYFA_PEERS_MLA_WORK_H_

#include <cstdint>
#include <vector>

#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/mla_arguments.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {

// What the work-groups of mla_pfl_qh192_vh128 do.
struct MlaWorkList {
  std::vector<int32_t> starts;  // work-groups + 1 indices of works
  std::vector<MlaWork> works;
};

// One work for each head and tile of 256 queries over all keys that the tile
// sees, dealt out to at most `groups` work-groups in turn.
MlaWorkList MakeMlaWork(const AiterProblem& problem, reference::Mask mask,
                        int groups);

// The same works shared out evenly among at most `groups` work-groups: longest
// first, each to the group that has least so far, of equals to the lowest. A
// work counts as its keys and kMlaWorkKeys more for its start and end. Groups
// do theirs in that order. No work is split by keys, which would take a second
// kernel that adds the parts up.
inline constexpr int64_t kMlaWorkKeys = 256;
MlaWorkList BalanceMlaWork(const AiterProblem& problem, reference::Mask mask,
                           int groups);

// `list` with every work moved to head 0 of sequence 0: what stands for a
// problem whose heads are all alike.
MlaWorkList MlaWorkOfOneHead(const AiterProblem& problem, MlaWorkList list);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_MLA_WORK_H_
