#include "zyfa/peers/calibration/traced_loop.h"

#include "zyfa/emu/cycles/compute_unit.h"

namespace zyfa::peers {
namespace {

class ReadTimes : public emu::IssueListener {
 public:
  explicit ReadTimes(const std::vector<emu::InstructionTime>& instructions)
      : instructions_(instructions) {}
  void Issue(const emu::IssueEvent& event) override {
    if (event.wave != 0) return;
    if (instructions_[event.step].text.rfind("ds_read_b128", 0) == 0) {
      times.push_back(event.time);
    }
  }
  std::vector<uint64_t> times;

 private:
  const std::vector<emu::InstructionTime>& instructions_;
};

emu::ComputeUnitReport Replay(const TracedLoop& loop,
                              const emu::CycleConstants& constants,
                              emu::IssueListener* listener) {
  emu::ComputeUnitOptions options;
  options.constants = constants;
  options.auxiliary = loop.auxiliary;
  options.marked_steps = {loop.head};
  options.listener = listener;
  const emu::GroupTrace* traces[] = {&loop.trace};
  return emu::RunComputeUnit(loop.instructions, traces, options);
}

}  // namespace

TracedLoop TracedLoopOf(const emu::TraceRecorder& recorder) {
  TracedLoop loop;
  loop.instructions = recorder.instructions();
  loop.auxiliary = recorder.auxiliary();
  for (const auto& [number, group] : recorder.groups()) {
    if (group.instructions() > loop.trace.instructions()) loop.trace = group;
  }
  const std::vector<emu::TracedLoop> loops = emu::FindLoops(loop.trace);
  if (!loops.empty()) {
    loop.head = loops[0].head;
    loop.passes = loops[0].passes;
  }
  return loop;
}

emu::SteadyState TimeLoop(const TracedLoop& loop,
                          const emu::CycleConstants& constants) {
  return emu::SteadyStateOf(Replay(loop, constants, nullptr), loop.head, 0);
}

double TimeReads(const TracedLoop& loop, const emu::CycleConstants& constants) {
  ReadTimes reads(loop.instructions);
  Replay(loop, constants, &reads);
  const std::vector<uint64_t>& times = reads.times;
  if (times.size() < 8) return 0;
  return static_cast<double>(times.back() - times[times.size() - 5]) / 4;
}

}  // namespace zyfa::peers
