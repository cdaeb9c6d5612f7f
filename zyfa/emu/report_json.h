#ifndef ZYFA_EMU_REPORT_JSON_H_
#define ZYFA_EMU_REPORT_JSON_H_

#include <string>

#include "zyfa/emu/emulator.h"

namespace zyfa::emu {

// The report as one JSON object: its counts under the names of RunReport's
// members, "findings" an array of objects with Finding's.
std::string ReportToJson(const RunReport& report);

// One line for a person: rule, place, wave, disassembly, detail.
std::string FindingToText(const Finding& finding);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_REPORT_JSON_H_
