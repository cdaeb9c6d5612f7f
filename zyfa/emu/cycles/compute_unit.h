#ifndef ZYFA_EMU_CYCLES_COMPUTE_UNIT_H_
#define ZYFA_EMU_CYCLES_COMPUTE_UNIT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/stall.h"
#include "zyfa/emu/cycles/trace.h"

namespace zyfa::emu {

inline constexpr int kSimds = 4;

// One instruction as it issued. `busy`: clocks that it keeps its pipe.
struct IssueEvent {
  uint64_t time = 0;
  uint64_t busy = 0;
  uint32_t step = 0;
  uint32_t group = 0;  // index into the traces
  uint16_t wave = 0;   // of the group
  uint16_t simd = 0;
};

// Hears every instruction in the order of time (SIMD by SIMD within a clock).
class IssueListener {
 public:
  virtual ~IssueListener() = default;
  virtual void Issue(const IssueEvent& event) = 0;
  // The wave of `event` waited `clocks` for that reason before or behind it.
  virtual void Wait(const IssueEvent& /*event*/, Stall /*stall*/,
                    uint64_t /*from*/, uint64_t /*clocks*/) {}
};

// Clocks in which the pipes of a SIMD were busy, up to some time.
struct PipeClocks {
  uint64_t matrix = 0;
  uint64_t useful = 0;  // matrix instructions that are not auxiliary
  uint64_t vector = 0;
};

// A wave of a SIMD issued a marked step.
struct Mark {
  uint64_t time = 0;
  uint32_t group = 0;  // index into the traces
  uint16_t wave = 0;   // of the group
  uint32_t step = 0;
  PipeClocks pipes;
};

struct StepClocks {
  uint64_t issued = 0;
  std::array<uint64_t, kStalls> stall = {};  // clocks, all waves together
};

struct ComputeUnitReport {
  uint64_t clocks = 0;  // first issue to last
  uint64_t instructions = 0;
  struct GroupSpan {
    uint64_t start = 0, end = 0;
  };
  std::vector<GroupSpan> groups;
  std::array<PipeClocks, kSimds> pipes;
  std::vector<StepClocks> steps;
  std::array<std::vector<Mark>, kSimds> marks;
};

struct ComputeUnitOptions {
  CycleConstants constants = CycleConstants::Defaults();
  // How many work-groups are on the CU at once: the first ones start together,
  // each further one when one has ended.
  int resident = 1;
  // The code and what s_load reads are in the caches from the start, as a later
  // work-group of a compute unit finds them.
  bool warm_caches = false;
  std::vector<uint32_t> marked_steps = {};
  // TraceRecorder::auxiliary(); empty: none is.
  std::vector<bool> auxiliary = {};
  IssueListener* listener = nullptr;
};

// Runs the traces of work-groups on one compute unit and says what each clock
// went to. `instructions` is indexed by TraceEvent::step. The same input gives
// the same clocks.
ComputeUnitReport RunComputeUnit(absl::Span<const InstructionTime> instructions,
                                 absl::Span<const GroupTrace* const> traces,
                                 const ComputeUnitOptions& options);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_COMPUTE_UNIT_H_
