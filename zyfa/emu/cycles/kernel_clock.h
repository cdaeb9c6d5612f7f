#ifndef ZYFA_EMU_CYCLES_KERNEL_CLOCK_H_
#define ZYFA_EMU_CYCLES_KERNEL_CLOCK_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/emu/cycles/clock_model.h"

namespace zyfa::emu {

// How the shader clock that the board holds follows from what a kernel does,
// averaged over all clocks and SIMDs of the launch, idle ones included.
struct KernelClock {
  std::string name;  // as ParseKernelClock() takes it
  // Whether it wants Activity::flips_per_clock, which takes a second emulation
  // of a work-group; 0 for all others.
  bool wants_flips = false;
  std::function<double(const Activity&)> ghz;
};

// The same whatever the activity. InvalidArgument unless 0.1 <= ghz <= 2.4.
absl::StatusOr<KernelClock> FixedClock(double ghz);

// FP8 attention: 1.7 GHz, of which cdna4-timing 6 leaves open 1.6 to 1.9.
inline constexpr double kFp8ClockGhz = 1.7;

// "line". BF16 attention: sclk in MHz = 2714 - 12.42 * busy in %
// (cdna4-timing 6: 17 points, R2 0.955), 2400 at most. The fit's busy is the
// loop's, of kernels that spend 90 % and more of their time there; the whole
// kernel's is what a causal launch with idle compute units draws power for.
KernelClock Bf16AttentionClock();

// "toggling". ModelledClockGhz() with the fitted constants
// (docs/clock-model.md).
KernelClock TogglingClock();

// "line", "toggling" or a number of GHz. InvalidArgument for anything else.
absl::StatusOr<KernelClock> ParseKernelClock(absl::string_view text);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_KERNEL_CLOCK_H_
