#include "zyfa/emu/cycles/group_cost.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "zyfa/emu/cycles/compute_unit.h"

namespace zyfa::emu {
namespace {

constexpr double GroupCost::* kFields[] = {
    &GroupCost::cold,         &GroupCost::warm,        &GroupCost::fill,
    &GroupCost::drain,        &GroupCost::matrix,      &GroupCost::useful,
    &GroupCost::vector,       &GroupCost::lds_bytes,   &GroupCost::flips,
    &GroupCost::memory_bytes, &GroupCost::instructions};
static_assert(sizeof(GroupCost) ==
              sizeof(kFields) / sizeof(kFields[0]) * sizeof(double));

// First issue and last end of matrix instructions of every group.
class MatrixSpan : public IssueListener {
 public:
  MatrixSpan(absl::Span<const InstructionTime> instructions, size_t groups)
      : instructions_(instructions), spans_(groups, {UINT64_MAX, 0}) {}
  void Issue(const IssueEvent& event) override {
    if (!instructions_[event.step].matrix) return;
    auto& [first, last] = spans_[event.group];
    first = std::min(first, event.time);
    last = std::max(last, event.time + event.busy);
  }
  // No matrix instruction: all of the group is fill.
  std::pair<uint64_t, uint64_t> Of(size_t group, uint64_t end) const {
    if (spans_[group].second == 0) return {end, end};
    return {spans_[group].first, std::min(spans_[group].second, end)};
  }

 private:
  absl::Span<const InstructionTime> instructions_;
  std::vector<std::pair<uint64_t, uint64_t>> spans_;
};

}  // namespace

GroupCost Mix(const GroupCost& a, const GroupCost& b, double part) {
  GroupCost mix;
  for (double GroupCost::* field : kFields) {
    mix.*field = a.*field + part * (b.*field - a.*field);
  }
  return mix;
}

GroupCost CostOfGroup(absl::Span<const InstructionTime> instructions,
                      const GroupTrace& trace, int resident,
                      const CycleConstants& constants,
                      const std::vector<bool>& auxiliary) {
  const auto copies = static_cast<size_t>(resident);
  const std::vector<const GroupTrace*> traces(copies, &trace);
  ComputeUnitOptions options;
  options.constants = constants;
  options.resident = resident;
  options.auxiliary = auxiliary;
  const double each = 1.0 / resident;
  GroupCost cost;
  for (const auto& span :
       RunComputeUnit(instructions, traces, options).groups) {
    cost.cold += each * static_cast<double>(span.end - span.start);
  }
  MatrixSpan matrix(instructions, copies);
  options.warm_caches = true;
  options.listener = &matrix;
  const ComputeUnitReport warm = RunComputeUnit(instructions, traces, options);
  for (size_t i = 0; i < copies; ++i) {
    const auto& span = warm.groups[i];
    const auto [first, last] = matrix.Of(i, span.end);
    cost.warm += each * static_cast<double>(span.end - span.start);
    cost.fill += each * static_cast<double>(first - span.start);
    cost.drain += each * static_cast<double>(span.end - last);
  }
  for (const PipeClocks& pipes : warm.pipes) {
    cost.matrix += each * static_cast<double>(pipes.matrix);
    cost.useful += each * static_cast<double>(pipes.useful);
    cost.vector += each * static_cast<double>(pipes.vector);
  }
  for (const WaveTrace& wave : trace.waves) {
    for (const TraceEvent& event : wave.events) {
      if (instructions[event.step].issue == IssueKind::kLds) {
        cost.lds_bytes += event.lds_bytes();
      }
    }
  }
  cost.memory_bytes = static_cast<double>(trace.memory_bytes);
  cost.instructions = static_cast<double>(trace.instructions());
  return cost;
}

}  // namespace zyfa::emu
