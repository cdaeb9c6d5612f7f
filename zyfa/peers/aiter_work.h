#ifndef ZYFA_PEERS_AITER_WORK_H_
#define ZYFA_PEERS_AITER_WORK_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/cycles/launch_work.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/mla_work.h"

namespace zyfa::peers {

// A query tile as a work-group takes it on.
struct AiterTile {
  int64_t rows = 0;  // that exist
  int64_t keys = 0;  // that the last of them sees
  bool operator==(const AiterTile&) const = default;
};

// The query tiles of work-group `x` of one head. Under a causal mask these are
// tiles n-1-x and x of n. The middle one of an odd number is all that its group
// has - but BF16 kernels do it twice, as their instruction counts show.
std::vector<AiterTile> AiterGroupTiles(const AiterKernel& kernel,
                                       const AiterProblem& problem, int64_t x);

// Which x work-group `group` (linear, x fastest) of a launch does. The causal
// BF16 kernels with tuning word 5 (FmhaTuning) take eight heads at a time, one
// on each XCD: groups 8 i to 8 i + 7 do the same x of eight heads.
int64_t AiterGroupX(const AiterKernel& kernel, const AiterProblem& problem,
                    uint64_t group);

// One head of one sequence of a problem: what is emulated for all of them.
AiterProblem OneHead(const AiterProblem& problem);

// What the work-groups of a launch of mla_pfl_qh192_vh128 do: one group for
// each compute unit, with works by ScheduleMlaWork(). The kernel that makes
// outputs of partial ones is not modelled.
MlaWorkList AiterMlaWork(const AiterKernel& kernel,
                         const AiterProblem& problem);

// The work of all groups, with examples in the grid of OneHead(problem) or, for
// mla_pfl_qh192_vh128, of AiterMlaWork(); steps are of 64 keys. Unimplemented
// for grouped kernels of fmha and for paged MLA; InvalidArgument as Validate().
absl::StatusOr<emu::LaunchWork> AiterLaunchWork(const AiterKernel& kernel,
                                                const AiterProblem& problem);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_WORK_H_
