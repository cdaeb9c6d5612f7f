#include "zyfa/emu/cycles/kernel_clock.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/machine.h"

namespace zyfa::emu {

absl::StatusOr<KernelClock> FixedClock(double ghz) {
  const double most = Machine{}.peak_ghz;
  if (!(ghz >= 0.1 && ghz <= most)) {
    return absl::InvalidArgumentError(
        absl::StrCat("clock is ", ghz, " GHz; allowed: 0.1 to ", most));
  }
  return KernelClock{.name = absl::StrCat(ghz),
                     .ghz = [ghz](const Activity&) { return ghz; }};
}

KernelClock Bf16AttentionClock() {
  return {.name = "line", .ghz = [](const Activity& activity) {
            return std::min(
                Machine{}.peak_ghz,
                (2714.0 - 12.42 * 100 * activity.matrix_busy) / 1000);
          }};
}

KernelClock TogglingClock() {
  return {.name = "toggling",
          .wants_flips = true,
          .ghz = [](const Activity& activity) {
            return ModelledClockGhz(activity, ClockConstants::Defaults());
          }};
}

absl::StatusOr<KernelClock> ParseKernelClock(absl::string_view text) {
  if (text == "line") return Bf16AttentionClock();
  if (text == "toggling") return TogglingClock();
  double ghz = 0;
  if (!absl::SimpleAtod(text, &ghz)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "clock is '", text, "'; allowed: line, toggling or a number of GHz"));
  }
  return FixedClock(ghz);
}

}  // namespace zyfa::emu
