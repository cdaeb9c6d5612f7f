#ifndef ZYFA_EMU_COVERAGE_REPORT_H_
#define ZYFA_EMU_COVERAGE_REPORT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace zyfa::emu {

// docs/emulator-coverage.md: every mnemonic of gfx950, whether the emulator has
// it, and what is declared about it next to its handler.
// Errors: FailedPrecondition (a mnemonic is missing and no reason is given, a
// reason is given for none, or a handler is for no mnemonic), and those of
// EnumerateInstructionSet.
absl::StatusOr<std::string> CoverageReport();

// Why `mnemonic` is not emulated; empty if nothing is said about it.
std::string_view ReasonForAbsence(std::string_view mnemonic);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_COVERAGE_REPORT_H_
