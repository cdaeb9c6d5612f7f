#ifndef ZYFA_EMU_CYCLES_DISPATCH_H_
#define ZYFA_EMU_CYCLES_DISPATCH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/machine.h"

namespace zyfa::emu {

// Clocks from start to end of a work-group.
struct GroupDuration {
  double cold = 0;  // the first in its place
  double warm = 0;  // any later one
};

// What became of the clocks of all places for work-groups (compute units times
// resident groups) from the start of the first group to the end of the last.
struct Schedule {
  double clocks = 0;
  double places = 0;
  // Sums over the places.
  double cold = 0;    // what groups take longer for being the first
  double gaps = 0;    // between two groups of a place
  double tail = 0;    // behind the last group of a place
  double unused = 0;  // places that never had a group
  double longest_wait =
      0;  // behind the last group of the place that ends first
};

// Group i goes to XCD i mod xcds; each XCD gives its groups out in their order,
// each to the place that is free first (of equals the lowest number; place p is
// on compute unit p mod compute_units). A place is free `gap` clocks after its
// group's end. durations[order[i]] is that of group i.
Schedule Dispatch(absl::Span<const uint32_t> order,
                  absl::Span<const GroupDuration> durations, int resident,
                  double gap, const Machine& machine = {});

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_DISPATCH_H_
