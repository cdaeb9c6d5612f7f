#include "zyfa/emu/cycles/kernel_clock.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/machine.h"

namespace zyfa::emu {

absl::StatusOr<KernelClock> FixedClock(double ghz) {
  const double most = Machine{}.peak_ghz;
  if (!(ghz >= 0.1 && ghz <= most)) {
    return absl::InvalidArgumentError(
        absl::StrCat("clock is ", ghz, " GHz; allowed: 0.1 to ", most));
  }
  return KernelClock([ghz](const KernelActivity&) { return ghz; });
}

KernelClock Bf16AttentionClock() {
  return [](const KernelActivity& activity) {
    return std::min(Machine{}.peak_ghz,
                    (2714.0 - 12.42 * 100 * activity.matrix_busy) / 1000);
  };
}

}  // namespace zyfa::emu
