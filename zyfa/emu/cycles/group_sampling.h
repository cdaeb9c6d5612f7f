#ifndef ZYFA_EMU_CYCLES_GROUP_SAMPLING_H_
#define ZYFA_EMU_CYCLES_GROUP_SAMPLING_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/group_cost.h"
#include "zyfa/emu/cycles/launch_work.h"

namespace zyfa::emu {

struct Sampling {
  // Steps to simulate, all groups together. A launch whose distinct works have
  // no more is simulated in full; the budget bounds time and memory.
  int64_t steps = 6000;
  // Of each kind at least that many works (all, if it has fewer), whatever the
  // budget: the smallest, the largest and one between.
  int least = 3;
};

// Which of `works` (ascending, as LaunchWork holds them) to simulate: all, or
// of each kind a number evenly spread from the smallest to the largest.
// Ascending indices.
std::vector<size_t> ChooseSamples(absl::Span<const GroupWork> works,
                                  const Sampling& sampling);

// The costs of all works from those of the samples: linear, between the nearest
// samples of the kind below and above, in the total of steps or, where these
// are equal, in the first list entry that differs.
std::vector<GroupCost> InterpolateCosts(absl::Span<const GroupWork> works,
                                        absl::Span<const size_t> samples,
                                        absl::Span<const GroupCost> costs);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_GROUP_SAMPLING_H_
