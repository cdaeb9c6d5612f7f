#ifndef ZYFA_EMU_SCHEDULES_H_
#define ZYFA_EMU_SCHEDULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/emulator.h"

namespace zyfa::emu {

// `base` under every combination of wave order (alone, alone reversed, rotating
// after 1, 8 and 64 instructions) and landing moment of loads into LDS.
std::vector<RunOptions> AllSchedules(const RunOptions& base);
// "rotate 8, landing at the wait"
std::string ScheduleName(const RunOptions& options);

// Runs the same launch under all of them, each time from the memory as it is
// now, and compares what memory holds afterwards, byte by byte. Where the first
// schedule and another differ the report gets an error of rule "schedule". The
// report's counts and the memory left behind are those of the first one, its
// findings those of all, each told once.
// Errors: as Run. Copies all of `memory` twice.
absl::StatusOr<RunReport> RunUnderAllSchedules(
    const CodeObject& code, const std::string& kernel, const LaunchShape& shape,
    absl::Span<const uint8_t> kernarg, DeviceMemory& memory,
    const RunOptions& base);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_SCHEDULES_H_
