#ifndef ZYFA_GEN_CLOCK_CLOCK_LOOP_H_
#define ZYFA_GEN_CLOCK_CLOCK_LOOP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa::gen {

// The assembly of a loop of nothing but matrix instructions, two waves a SIMD:
// what the clock of the part is measured with. `name` is "clock_bf16"
// (v_mfma_f32_32x32x16_bf16) or "clock_fp8" (v_mfma_f32_32x32x64_f8f6f4, E4M3);
// the kernel is "zyfa_" and that.
//
// Work-groups of 512 work-items of which one fits on a compute unit. Arguments:
//   0  operands: address of 4 pairs of A and B as lanes hold them, 16 bytes a
//      lane and piece: [pair][A, B][piece of 4 registers][lane of the group]
//   8  sums: address of float [group][2][lane of the group][4], the first four
//      registers of both accumulators after the loop
//   16 trips: 32 bits, at least 1
// A trip is 8 instructions: pair i % 4 is multiplied into accumulator i % 2,
// both zero at the start. No instruction has the operands of the one before.
//
// InvalidArgument for another name.
absl::StatusOr<std::string> ClockLoop(absl::string_view name);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_CLOCK_CLOCK_LOOP_H_
