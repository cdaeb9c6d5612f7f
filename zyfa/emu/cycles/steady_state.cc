#include "zyfa/emu/cycles/steady_state.h"

#include <algorithm>
#include <limits>
#include <map>

namespace zyfa::emu {
namespace {

struct Passes {
  uint32_t tail = 0;
  std::vector<size_t> positions;  // in the wave's events
};

TracedLoop LoopOf(uint32_t head, const Passes& passes) {
  TracedLoop loop;
  loop.head = head;
  loop.tail = passes.tail;
  loop.passes = passes.positions.size();
  std::vector<size_t> lengths;
  for (size_t i = 1; i < passes.positions.size(); ++i) {
    lengths.push_back(passes.positions[i] - passes.positions[i - 1]);
  }
  if (!lengths.empty()) {
    const auto middle =
        lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    loop.instructions_per_pass = *middle;
  }
  return loop;
}

}  // namespace

std::vector<TracedLoop> FindLoops(const GroupTrace& trace) {
  std::map<uint32_t, TracedLoop> best;
  for (const WaveTrace& wave : trace.waves) {
    const std::vector<TraceEvent>& events = wave.events;
    std::map<uint32_t, Passes> heads;
    // Rising steps, none of which was followed by a lower one so far: what a
    // jump back can make a loop of. A block out of line that jumps back into
    // the middle of a loop has passed the loop's own head since.
    std::vector<uint32_t> rising;
    for (size_t i = 0; i < events.size(); ++i) {
      const uint32_t step = events[i].step;
      while (!rising.empty() && rising.back() > step) rising.pop_back();
      const bool again = !rising.empty() && rising.back() == step;
      if (!again) rising.push_back(step);
      if (!again || step > events[i - 1].step) continue;
      Passes& passes = heads[step];
      passes.tail = std::max(passes.tail, events[i - 1].step);
      passes.positions.push_back(i);
    }
    for (const auto& [head, passes] : heads) {
      const TracedLoop loop = LoopOf(head, passes);
      TracedLoop& known = best[head];
      if (loop.passes > known.passes) known = loop;
    }
  }
  std::vector<TracedLoop> loops;
  uint64_t most = 0;
  for (const auto& [head, loop] : best) {
    loops.push_back(loop);
    most = std::max(most, loop.passes * loop.instructions_per_pass);
  }
  // A loop around another runs the same instructions in fewer passes.
  const auto counts = [most](const TracedLoop& loop) {
    return 2 * loop.passes * loop.instructions_per_pass >= most;
  };
  std::stable_sort(loops.begin(), loops.end(),
                   [&counts](const TracedLoop& a, const TracedLoop& b) {
                     if (counts(a) != counts(b)) return counts(a);
                     if (counts(a)) return a.passes > b.passes;
                     return a.passes * a.instructions_per_pass >
                            b.passes * b.instructions_per_pass;
                   });
  return loops;
}

SteadyState SteadyStateOf(const ComputeUnitReport& report, uint32_t head,
                          uint32_t group) {
  SteadyState state;
  uint64_t clocks = 0;
  PipeClocks pipes;
  for (const std::vector<Mark>& marks : report.marks) {
    uint16_t first_wave = std::numeric_limits<uint16_t>::max();
    for (const Mark& mark : marks) {
      if (mark.step == head && mark.group == group) {
        first_wave = std::min(first_wave, mark.wave);
      }
    }
    std::vector<const Mark*> own;
    for (const Mark& mark : marks) {
      if (mark.step == head && mark.group == group && mark.wave == first_wave) {
        own.push_back(&mark);
      }
    }
    if (own.size() < 5) continue;
    const Mark& from = *own[own.size() / 4];
    const Mark& to = *own[own.size() - 1 - own.size() / 4];
    state.passes += own.size() - 1 - 2 * (own.size() / 4);
    clocks += to.time - from.time;
    pipes.matrix += to.pipes.matrix - from.pipes.matrix;
    pipes.useful += to.pipes.useful - from.pipes.useful;
    pipes.vector += to.pipes.vector - from.pipes.vector;
  }
  if (state.passes == 0 || clocks == 0) return SteadyState{};
  const auto total = static_cast<double>(clocks);
  state.clocks_per_pass = total / static_cast<double>(state.passes);
  state.matrix_busy = static_cast<double>(pipes.matrix) / total;
  state.useful_busy = static_cast<double>(pipes.useful) / total;
  state.vector_busy = static_cast<double>(pipes.vector) / total;
  return state;
}

}  // namespace zyfa::emu
