#ifndef ZYFA_EMU_CYCLES_TESTING_TIMED_WAVES_H_
#define ZYFA_EMU_CYCLES_TESTING_TIMED_WAVES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/stall.h"
#include "zyfa/emu/cycles/trace.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// One instruction of a wave. `load` as TraceEvent::load; lines that are not
// given one access consecutive addresses: LDS without conflicts, device memory
// in whole lines.
struct Line {
  // Not explicit, so that a program is written as a list of its lines: {"s_nop
  // 0", "s_barrier"}.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Line(const char* assembly) : text(assembly) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Line(std::string assembly) : text(std::move(assembly)) {}
  Line(std::string assembly, uint32_t of_addresses)
      : text(std::move(assembly)), load(of_addresses), has_load(true) {}

  std::string text;
  uint32_t load = 0;
  bool has_load = false;
};
using Lines = std::vector<Line>;

// `parts` one behind the other, `times` times.
Lines Repeat(size_t times, const Lines& parts);
Lines Join(const std::vector<Lines>& parts);

// The load of an LDS instruction from its lanes' addresses.
uint32_t LdsLoad(AccessKind kind, uint32_t bytes,
                 const std::array<uint32_t, 64>& addresses);

// Lines at consecutive addresses, and what the model wants to know of them.
struct TimedCode {
  explicit TimedCode(const Lines& lines);
  // Events of a wave that executes these steps.
  WaveTrace Events(const std::vector<uint32_t>& steps) const;
  // Steps first to end - 1.
  WaveTrace Events(size_t first, size_t end) const;

  std::vector<InstructionTime> instructions;
  std::vector<uint32_t> loads;
  mutable uint32_t next_line = 0;  // no line is loaded twice
};

struct WaitEvent {
  IssueEvent event;
  Stall stall;
  uint64_t from;
  uint64_t clocks;
};

// All that a run told.
struct Timeline {
  ComputeUnitReport report;
  std::vector<IssueEvent> issues;
  std::vector<WaitEvent> waits;
  // Clock at which each instruction of a wave issued, in its own order.
  std::vector<uint64_t> Of(size_t wave, size_t group = 0) const;
};

// The defaults, but the instructions are in the cache and a barrier opens 12
// clocks behind the last arrival.
CycleConstants WarmCode();

Timeline RunTraces(const TimedCode& code, const std::vector<GroupTrace>& groups,
                   const ComputeUnitOptions& options);

// One work-group whose wave w executes waves[w], which may be empty; wave w is
// on SIMD w modulo 4.
Timeline RunWaves(const std::vector<Lines>& waves,
                  const CycleConstants& constants = WarmCode());

// Clocks at which one wave alone issues its instructions.
std::vector<uint64_t> IssuesOf(const Lines& wave,
                               const CycleConstants& constants = WarmCode());

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TESTING_TIMED_WAVES_H_
