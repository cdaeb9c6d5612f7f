#ifndef ZYFA_EMU_CYCLES_MACHINE_H_
#define ZYFA_EMU_CYCLES_MACHINE_H_

#include <cstdint>

namespace zyfa::emu {

// What an MI355X is made of: SPEC and cdna4-timing 1, 3, 4, 6. None of it is
// open to doubt, so it stands apart from the constants.
struct Machine {
  int xcds = 8;
  int compute_units = 32;           // of an XCD
  int simds = 4;                    // of a compute unit
  uint32_t vgprs = 512;             // a lane and SIMD, AGPRs included
  int waves = 8;                    // a SIMD
  uint32_t lds_bytes = 160 * 1024;  // a compute unit
  double peak_ghz = 2.4;

  int all_compute_units() const { return xcds * compute_units; }
  int64_t all_simds() const { return int64_t{all_compute_units()} * simds; }
};

// Dense matrix FLOP a clock and SIMD: bf16 and fp8 (cdna4-timing 1.1). With all
// SIMDs at the peak clock, 2.5166 and 5.0332 PFLOP/s.
inline constexpr double kBf16FlopsPerClock = 1024;
inline constexpr double kFp8FlopsPerClock = 2048;

// The datasheet's FLOP/s at that rate.
inline double PeakFlops(double flops_per_clock, const Machine& machine = {}) {
  return flops_per_clock * static_cast<double>(machine.all_simds()) *
         machine.peak_ghz * 1e9;
}

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_MACHINE_H_
