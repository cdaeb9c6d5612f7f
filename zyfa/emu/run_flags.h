#ifndef ZYFA_EMU_RUN_FLAGS_H_
#define ZYFA_EMU_RUN_FLAGS_H_

#include "absl/status/statusor.h"
#include "zyfa/emu/emulator.h"

namespace zyfa::emu {

// Options of a run from the flags that all programs share which run a launch:
// --wave_order, --rotate_instructions, --dma_landing, --matrix_model,
// --threads, --instruction_budget. Linking this target defines them.
// InvalidArgument names the flag, its value and what is allowed.
absl::StatusOr<RunOptions> RunOptionsFromFlags();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_RUN_FLAGS_H_
