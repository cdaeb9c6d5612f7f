#ifndef ZYFA_EMU_CYCLES_FLIP_SAMPLE_H_
#define ZYFA_EMU_CYCLES_FLIP_SAMPLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/emulated_launch.h"

namespace zyfa::emu {

// How much the operands of a launch toggle, by one of its work-groups.
struct FlipSample {
  uint64_t group = 0;
  // Matrix instructions whose operands were compared with those before on
  // their SIMD, and all that the group executed.
  uint64_t compared = 0;
  uint64_t executed = 0;
  // Live flips of A and B (toggle_meter.h) a busy clock of a matrix pipe.
  double flips_per_busy_clock = 0;
};

// Matrix instructions of each wave that are compared: those in the middle of
// the wave that has most. Any group's fit into MatrixOperandWindow::max_bytes.
inline constexpr uint64_t kFlipWindow = 768;

// Emulates `group` once more, keeps the operands of the window, and puts them
// in the order in which the cycle model issues them, the group being alone on
// its compute unit. `longest`: how many matrix instructions the wave with most
// executes. Internal if the group does not end; the errors of Run().
absl::StatusOr<FlipSample> SampleFlips(const EmulatedLaunch& launch,
                                       uint64_t group, uint64_t longest,
                                       const CycleConstants& constants);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_FLIP_SAMPLE_H_
