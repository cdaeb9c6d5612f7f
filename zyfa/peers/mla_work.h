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

  // That the works write: one beyond the greatest, at least a tile's.
  int64_t partial_rows() const;
};

// One work for each head and tile of 256 queries over all keys that the tile
// sees, dealt out to at most `groups` work-groups in turn.
MlaWorkList MakeMlaWork(const AiterProblem& problem, reference::Mask mask,
                        int groups);

// The work of `groups` persistent work-groups as AITER's scheduler deals it out
// (ps_metadata of ROCm/aiter): heads go to clusters of groups, as many as
// divide both; in a cluster every group does the same number of units of
// 128 keys, give or take one, for each of the cluster's heads. Units are
// counted through the tiles of 256 queries of all sequences, of each in the
// order 0, n-1, 1, n-2, ... A group that takes a tile's keys in part writes a
// partial output, of which a second kernel makes the output.
MlaWorkList ScheduleMlaWork(const AiterProblem& problem, reference::Mask mask,
                            int groups);

// `list` with every work moved to head 0 of sequence 0: what stands for a
// problem whose heads are all alike.
MlaWorkList MlaWorkOfOneHead(const AiterProblem& problem, MlaWorkList list);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_MLA_WORK_H_
