#ifndef ZYFA_EMU_CYCLES_CLOCK_MODEL_H_
#define ZYFA_EMU_CYCLES_CLOCK_MODEL_H_

namespace zyfa::emu {

// Bytes that the LDS of a compute unit reads in a clock (cdna4-timing 4).
inline constexpr double kLdsBytesPerClock = 256;

// What the compute units do, averaged over all clocks of a stretch of time.
struct Activity {
  // Shares of the clocks of a SIMD, 0 to 1, as in SteadyState.
  double matrix_busy = 0;
  double vector_busy = 0;
  // Bits of A and B (P is one of them) that differ from those of the matrix
  // instruction before on the SIMD, a clock: FlipReport. Random operands
  // without a pause: 256.
  double flips_per_clock = 0;
  // LDS bytes read a clock of the compute unit, over kLdsBytesPerClock.
  double lds_busy = 0;
};

// Power of the part in units of its cap, at `reference_ghz`:
//   idle + matrix * matrix_busy + flips * flips_per_clock / 256
//        + vector * vector_busy + lds * lds_busy
// and with (clock / reference_ghz)^exponent. Values, bands, residuals:
// docs/clock-model.md.
struct ClockConstants {
  double peak_ghz, reference_ghz, exponent;
  double idle, matrix, flips, vector, lds;

  // As fitted by //zyfa/emu/cycles:clock_fit, which a test compares.
  static ClockConstants Defaults();
};

// The shader clock in GHz at which power meets the cap, at most peak_ghz.
// Modelled; about 10 % is what it can be wrong by (docs/clock-model.md).
double ModelledClockGhz(const Activity& activity,
                        const ClockConstants& constants);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_CLOCK_MODEL_H_
