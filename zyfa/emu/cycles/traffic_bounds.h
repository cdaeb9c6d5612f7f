#ifndef ZYFA_EMU_CYCLES_TRAFFIC_BOUNDS_H_
#define ZYFA_EMU_CYCLES_TRAFFIC_BOUNDS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/machine.h"

namespace zyfa::emu {

// Clocks below which no launch can be: that the L2 of the XCD with most traffic
// takes for what its work-groups load and store. bytes[order[i]] is what group
// i moves.
double L2BoundClocks(absl::Span<const uint32_t> order,
                     absl::Span<const double> bytes,
                     const CycleConstants& constants,
                     const Machine& machine = {});

// Nanoseconds that HBM takes for the bytes that must cross it once.
double HbmBoundNs(double bytes, const CycleConstants& constants);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TRAFFIC_BOUNDS_H_
