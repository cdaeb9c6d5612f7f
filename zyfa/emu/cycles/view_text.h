#ifndef ZYFA_EMU_CYCLES_VIEW_TEXT_H_
#define ZYFA_EMU_CYCLES_VIEW_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/region_account.h"
#include "zyfa/emu/cycles/steady_state.h"

namespace zyfa::emu {

// The mean of SteadyStateOf() over the traces of a report, by passes.
SteadyState MeanSteadyState(const ComputeUnitReport& report, uint32_t head);

// A row for each region that a wave was in: clocks, passes and instructions of
// a wave; shares of those clocks in which the SIMD's pipes were busy with any
// wave's instructions, and with the region's own of one wave. `steady`, by
// region, adds a row below its region if it has passes; may be shorter.
std::string RegionTable(const RegionAccount& account,
                        absl::Span<const SteadyState> steady);

// A row of StallTable(): clocks are divided by `divisor`.
struct StallRow {
  std::string name;
  WaveUse use;
  double divisor = 1;
};

// Columns for what the clocks went to: turns in which something issued, and
// reasons for waiting. The first column is headed `kind`.
std::string StallTable(const std::string& kind,
                       absl::Span<const StallRow> rows);

// Rows "0", "1", ... of waves; those that issued nothing are left out.
std::vector<StallRow> RowsOfWaves(absl::Span<const WaveUse> waves,
                                  double divisor);

// A row for each region that a wave was in: a wave's pass of it.
std::vector<StallRow> RowsOfRegions(const RegionAccount& account);

// The `count` instructions whose issues waited most: stall clocks of all waves,
// those per issue, address, main reasons, disassembly.
std::string TopTable(const ComputeUnitReport& report,
                     absl::Span<const InstructionTime> instructions,
                     size_t count);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_VIEW_TEXT_H_
