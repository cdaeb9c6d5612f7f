#ifndef ZYFA_EMU_CYCLES_TRACE_JSON_H_
#define ZYFA_EMU_CYCLES_TRACE_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/cycles/code_region.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/timeline.h"

namespace zyfa::emu {

// What a timeline's slices are called by.
struct TimelineNames {
  std::string kernel;
  absl::Span<const InstructionTime> instructions;
  absl::Span<const CodeRegion> phases;
  // Linear numbers of the groups, by Slice::group.
  std::vector<uint32_t> groups;
};

// The timeline for chrome://tracing and Perfetto: a process a SIMD, with a
// track for each of its pipes and each wave. Instructions are named by their
// mnemonics, waits by their reasons. One microsecond stands for one clock.
absl::StatusOr<std::string> TraceEventJson(const Timeline& timeline,
                                           const TimelineNames& names);

// "v_exp_f32" of "v_exp_f32 v8, v9".
std::string MnemonicOf(const InstructionTime& time);
// Name of the phase that a step belongs to; "" if none.
std::string PhaseOf(uint32_t step, absl::Span<const CodeRegion> phases);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TRACE_JSON_H_
