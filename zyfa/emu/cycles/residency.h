#ifndef ZYFA_EMU_CYCLES_RESIDENCY_H_
#define ZYFA_EMU_CYCLES_RESIDENCY_H_

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/machine.h"
#include "zyfa/emu/emulator.h"

namespace zyfa::emu {

// How many work-groups of a launch a compute unit holds at once, by registers,
// LDS and wave slots. InvalidArgument if it cannot hold one: names the
// resource, what the group takes and what there is.
absl::StatusOr<int> ResidentGroups(const KernelInfo& kernel,
                                   const LaunchShape& shape,
                                   const Machine& machine = {});

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_RESIDENCY_H_
