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

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_MLA_WORK_H_
