#ifndef ZYFA_EMU_CYCLES_KERNEL_CLOCK_H_
#define ZYFA_EMU_CYCLES_KERNEL_CLOCK_H_

#include <functional>

#include "absl/status/statusor.h"

namespace zyfa::emu {

// What a kernel does that the clock may depend on; shares of its clocks over
// all SIMDs, 0 to 1.
struct KernelActivity {
  double matrix_busy = 0;
  double useful_busy = 0;
  double vector_busy = 0;
};

// The shader clock in GHz that the board holds at an activity. What a model of
// power wants beside it - flips of operand bits, LDS traffic - is best given to
// the function as amounts a busy clock of the matrix pipe, which are the same
// for a whole launch as for one of its work-groups.
using KernelClock = std::function<double(const KernelActivity&)>;

// The same whatever the activity. InvalidArgument unless 0.1 <= ghz <= 2.4.
absl::StatusOr<KernelClock> FixedClock(double ghz);

// FP8 attention: 1.7 GHz, of which cdna4-timing 6 leaves open 1.6 to 1.9.
inline constexpr double kFp8ClockGhz = 1.7;

// BF16 attention: sclk in MHz = 2714 - 12.42 * busy in % (cdna4-timing 6: 17
// points, R2 0.955), 2400 at most. The fit's busy is the loop's,
// of kernels that spend 90 % and more of their time there; the whole kernel's
// is what a causal launch with idle compute units draws power for.
KernelClock Bf16AttentionClock();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_KERNEL_CLOCK_H_
