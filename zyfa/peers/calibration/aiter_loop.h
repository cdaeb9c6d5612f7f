#ifndef ZYFA_PEERS_CALIBRATION_AITER_LOOP_H_
#define ZYFA_PEERS_CALIBRATION_AITER_LOOP_H_

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/calibration/traced_loop.h"

namespace zyfa::peers {

// Runs work-group 0 of a kernel without mask on `keys` keys of random inputs.
// Errors of PrepareAiterLaunch() and of the emulator.
absl::StatusOr<TracedLoop> TraceAiterLoop(const AiterKernel& kernel,
                                          const emu::CodeObject& code,
                                          int keys);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_CALIBRATION_AITER_LOOP_H_
