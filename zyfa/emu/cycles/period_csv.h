#ifndef ZYFA_EMU_CYCLES_PERIOD_CSV_H_
#define ZYFA_EMU_CYCLES_PERIOD_CSV_H_

#include <string>

#include "zyfa/emu/cycles/timeline.h"
#include "zyfa/emu/cycles/trace_json.h"

namespace zyfa::emu {

// What draw_period.py takes: matrix pipe, vector pipe and waves of SIMD `simd`.
// A line '# key: value' each for kernel and window; then the header
//   track,start,clocks,what,phase,name,address
// and a line a slice. `start` counts from the window's; `what` is "wait" or the
// class of the instruction: matrix, auxiliary, vector, transcendental, packed,
// LDS, memory, scalar, control; `name` is the reason or the mnemonic.
// `auxiliary`: see ComputeUnitOptions.
std::string PeriodCsv(const Timeline& timeline, const TimelineNames& names,
                      const std::vector<bool>& auxiliary, size_t simd);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_PERIOD_CSV_H_
