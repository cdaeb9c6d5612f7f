#include "zyfa/emu/cycles/region_account.h"

#include <algorithm>
#include <utility>

namespace zyfa::emu {
namespace {

constexpr uint64_t kSlot = 4;

void Add(const PipeClocks& from, const PipeClocks& to, PipeClocks& sum) {
  sum.matrix += to.matrix - from.matrix;
  sum.useful += to.useful - from.useful;
  sum.vector += to.vector - from.vector;
}

}  // namespace

PipeClocks RegionAccount::Meter::At(uint64_t now) const {
  PipeClocks clocks = total;
  const uint64_t matrix = matrix_free > now ? matrix_free - now : 0;
  clocks.matrix -= matrix;
  if (last_useful) clocks.useful -= matrix;
  clocks.vector -= vector_free > now ? vector_free - now : 0;
  return clocks;
}

RegionAccount::RegionAccount(absl::Span<const InstructionTime> instructions,
                             const std::vector<bool>& auxiliary,
                             std::vector<CodeRegion> regions)
    : instructions_(instructions),
      auxiliary_(auxiliary),
      regions_(std::move(regions)),
      regions_of_step_(instructions.size()),
      use_(regions_.size()) {
  for (uint32_t r = 0; r < regions_.size(); ++r) {
    for (uint32_t s = regions_[r].first; s < regions_[r].end; ++s) {
      regions_of_step_[s].push_back(r);
    }
  }
}

RegionAccount::WaveState& RegionAccount::StateOf(const IssueEvent& event) {
  if (event.group >= states_.size()) states_.resize(event.group + 1);
  std::vector<WaveState>& group = states_[event.group];
  if (event.wave >= group.size()) group.resize(event.wave + 1u);
  return group[event.wave];
}

RegionAccount::StepUse& RegionAccount::StepOf(const IssueEvent& event) {
  if (event.wave >= steps_.size()) steps_.resize(event.wave + 1u);
  std::vector<StepUse>& steps = steps_[event.wave];
  if (steps.empty()) steps.resize(instructions_.size());
  return steps[event.step];
}

void RegionAccount::Leave(const Stay& stay, uint64_t now,
                          const PipeClocks& pipes) {
  RegionUse& use = use_[stay.region];
  use.clocks += now - stay.since;
  Add(stay.pipes, pipes, use.pipes);
}

void RegionAccount::Issue(const IssueEvent& event) {
  ++StepOf(event).issued;
  WaveState& wave = StateOf(event);
  if (!wave.seen) {
    wave.first = std::min(wave.first, event.time);
    wave.seen = true;
    wave.number = event.wave;
    wave.simd = event.simd;
  }
  wave.last = event.time;

  Meter& meter = meters_[event.simd];
  const PipeClocks now = meter.At(event.time);
  const std::vector<uint32_t>& here = regions_of_step_[event.step];
  std::erase_if(wave.stays, [&](const Stay& stay) {
    const bool left =
        std::find(here.begin(), here.end(), stay.region) == here.end();
    if (left) Leave(stay, event.time, now);
    return left;
  });
  for (const uint32_t region : here) {
    const bool stays = std::any_of(
        wave.stays.begin(), wave.stays.end(),
        [region](const Stay& stay) { return stay.region == region; });
    if (!stays) wave.stays.push_back({region, event.time, now});
    RegionUse& use = use_[region];
    if (!stays || event.step == regions_[region].first) ++use.passes;
    ++use.instructions;
  }

  const InstructionTime& time = instructions_[event.step];
  if (time.issue != IssueKind::kVector) return;
  PipeClocks own;
  if (time.matrix) {
    const bool useful =
        event.step >= auxiliary_.size() || !auxiliary_[event.step];
    own.matrix = event.busy;
    own.useful = useful ? event.busy : 0;
    meter.matrix_free = event.time + event.busy;
    meter.last_useful = useful;
  } else {
    own.vector = event.busy;
    meter.vector_free = event.time + event.busy;
  }
  Add({}, own, meter.total);
  for (const uint32_t region : here) Add({}, own, use_[region].own);
}

void RegionAccount::Wait(const IssueEvent& event, Stall stall, uint64_t from,
                         uint64_t clocks) {
  StepOf(event).stall[static_cast<size_t>(stall)] += clocks;
  WaveState& wave = StateOf(event);
  if (!wave.seen) wave.first = std::min(wave.first, from);
}

void RegionAccount::Finish() {
  for (std::vector<WaveState>& group : states_) {
    for (WaveState& wave : group) {
      if (!wave.seen) continue;
      const uint64_t end = wave.last + kSlot;
      for (const Stay& stay : wave.stays) {
        Leave(stay, end, meters_[wave.simd].At(end));
      }
      wave.stays.clear();
      if (wave.number >= waves_.size()) waves_.resize(wave.number + 1u);
      waves_[wave.number].clocks += end - wave.first;
      ++wave_count_;
    }
  }
  const std::vector<WaveUse> all =
      WavesIn({"", 0, static_cast<uint32_t>(instructions_.size())});
  for (size_t w = 0; w < waves_.size(); ++w) {
    waves_[w].issued = all[w].issued;
    waves_[w].stall = all[w].stall;
  }
}

std::vector<WaveUse> RegionAccount::WavesIn(const CodeRegion& region) const {
  std::vector<WaveUse> waves(steps_.size());
  for (size_t w = 0; w < steps_.size(); ++w) {
    if (steps_[w].empty()) continue;
    for (uint32_t s = region.first; s < region.end; ++s) {
      waves[w].issued += steps_[w][s].issued;
      for (size_t i = 0; i < kStalls; ++i) {
        waves[w].stall[i] += steps_[w][s].stall[i];
      }
    }
  }
  return waves;
}

}  // namespace zyfa::emu
