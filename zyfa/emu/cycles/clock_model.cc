#include "zyfa/emu/cycles/clock_model.h"

#include <algorithm>
#include <cmath>

namespace zyfa::emu {

ClockConstants ClockConstants::Defaults() {
  return {.peak_ghz = 2.4,
          .reference_ghz = 2.0,
          .exponent = 1.355,
          .idle = 0.311,
          .matrix = 0.497,
          .flips = 0.348,
          .vector = 0.192,
          .lds = 0.571};
}

double ModelledClockGhz(const Activity& activity,
                        const ClockConstants& constants) {
  const double power = constants.idle +
                       constants.matrix * activity.matrix_busy +
                       constants.flips * activity.flips_per_clock / 256 +
                       constants.vector * activity.vector_busy +
                       constants.lds * activity.lds_busy;
  if (power <= 0) return constants.peak_ghz;
  return std::min(
      constants.peak_ghz,
      constants.reference_ghz * std::pow(power, -1 / constants.exponent));
}

}  // namespace zyfa::emu
