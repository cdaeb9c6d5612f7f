#include "zyfa/emu/cycles/region_account.h"

#include <algorithm>
#include <numeric>
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

void RegionAccount::PipeHistory::AddMatrix(uint64_t start, uint64_t busy,
                                           bool useful) {
  Entry entry = {start, busy, 0, 0, useful};
  if (!matrix_.empty()) {
    const Entry& last = matrix_.back();
    entry.before = last.before + last.busy;
    entry.useful_before = last.useful_before + (last.useful ? last.busy : 0);
  }
  matrix_.push_back(entry);
}

void RegionAccount::PipeHistory::AddVector(uint64_t start, uint64_t busy) {
  Entry entry = {start, busy, 0, 0, false};
  if (!vector_.empty()) {
    entry.before = vector_.back().before + vector_.back().busy;
  }
  vector_.push_back(entry);
}

const RegionAccount::PipeHistory::Entry* RegionAccount::PipeHistory::LastBefore(
    const std::vector<Entry>& entries, uint64_t time) {
  const auto after = std::partition_point(
      entries.begin(), entries.end(),
      [time](const Entry& entry) { return entry.start < time; });
  return after == entries.begin() ? nullptr : &*std::prev(after);
}

PipeClocks RegionAccount::PipeHistory::UpTo(uint64_t time) const {
  PipeClocks clocks;
  if (const Entry* entry = LastBefore(matrix_, time); entry != nullptr) {
    const uint64_t part = std::min(entry->busy, time - entry->start);
    clocks.matrix = entry->before + part;
    clocks.useful = entry->useful_before + (entry->useful ? part : 0);
  }
  if (const Entry* entry = LastBefore(vector_, time); entry != nullptr) {
    clocks.vector = entry->before + std::min(entry->busy, time - entry->start);
  }
  return clocks;
}

RegionAccount::RegionAccount(absl::Span<const InstructionTime> instructions,
                             const std::vector<bool>& auxiliary,
                             std::vector<CodeRegion> regions)
    : instructions_(instructions),
      auxiliary_(auxiliary),
      regions_(std::move(regions)),
      regions_of_step_(instructions.size()),
      use_(regions_.size()),
      arrivals_(regions_.size()) {
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

void RegionAccount::Leave(const Stay& stay, uint64_t time,
                          const PipeClocks& pipes) {
  RegionUse& use = use_[stay.region];
  use.clocks += time - stay.since;
  Add(stay.pipes, pipes, use.pipes);
}

// From the regions of the wave's latest instruction to those of its next one.
void RegionAccount::Move(const std::vector<uint32_t>& here,
                         const PipeClocks& pipes, WaveState& wave) {
  std::erase_if(wave.stays, [&](const Stay& stay) {
    if (std::find(here.begin(), here.end(), stay.region) != here.end()) {
      return false;
    }
    Leave(stay, wave.end, pipes);
    return true;
  });
  for (const uint32_t region : here) {
    const bool stays = std::any_of(
        wave.stays.begin(), wave.stays.end(),
        [region](const Stay& stay) { return stay.region == region; });
    if (stays) continue;
    wave.stays.push_back({region, wave.end, pipes});
    ++arrivals_[region];
  }
}

void RegionAccount::CountPipes(const IssueEvent& event) {
  const InstructionTime& time = instructions_[event.step];
  if (time.issue != IssueKind::kVector) return;
  PipeClocks own;
  if (time.matrix) {
    const bool useful =
        event.step >= auxiliary_.size() || !auxiliary_[event.step];
    own.matrix = event.busy;
    own.useful = useful ? event.busy : 0;
    pipes_[event.simd].AddMatrix(event.time, event.busy, useful);
  } else {
    own.vector = event.busy;
    pipes_[event.simd].AddVector(event.time, event.busy);
  }
  for (const uint32_t region : regions_of_step_[event.step]) {
    Add({}, own, use_[region].own);
  }
}

void RegionAccount::Issue(const IssueEvent& event) {
  ++StepOf(event).issued;
  WaveState& wave = StateOf(event);
  if (!wave.seen) {
    wave.seen = true;
    wave.number = event.wave;
    wave.simd = event.simd;
    wave.first = std::min(wave.first, event.time);
    wave.end = wave.first;
    wave.step = event.step;
  }
  const std::vector<uint32_t>& here = regions_of_step_[event.step];
  if (wave.stays.empty() || here != regions_of_step_[wave.step]) {
    Move(here, pipes_[event.simd].UpTo(wave.end), wave);
  }
  for (const uint32_t region : here) {
    if (event.step == regions_[region].first) ++use_[region].passes;
    ++use_[region].instructions;
  }
  CountPipes(event);
  wave.step = event.step;
  wave.end = std::max(event.time + kSlot, wave.states_end);
  wave.states_end = 0;
}

void RegionAccount::Wait(const IssueEvent& event, Stall stall, uint64_t from,
                         uint64_t clocks) {
  StepOf(event).stall[static_cast<size_t>(stall)] += clocks;
  WaveState& wave = StateOf(event);
  if (!wave.seen) wave.first = std::min(wave.first, from);
  if (stall != Stall::kNop && stall != Stall::kBranch &&
      stall != Stall::kBarrier) {
    return;
  }
  // Waiting behind an instruction: told before its issue, but for most
  // barriers.
  if (from == wave.end) {
    wave.end = from + clocks;
  } else {
    wave.states_end = from + clocks;
  }
}

void RegionAccount::Finish() {
  for (std::vector<WaveState>& group : states_) {
    for (WaveState& wave : group) {
      if (!wave.seen) continue;
      Move({}, pipes_[wave.simd].UpTo(wave.end), wave);
      if (wave.number >= waves_.size()) waves_.resize(wave.number + 1u);
      waves_[wave.number].clocks += wave.end - wave.first;
      ++wave_count_;
    }
  }
  for (size_t r = 0; r < use_.size(); ++r) {
    if (use_[r].passes == 0) use_[r].passes = arrivals_[r];
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
    waves[w].clocks = std::accumulate(
        waves[w].stall.begin(), waves[w].stall.end(), kSlot * waves[w].issued);
  }
  return waves;
}

}  // namespace zyfa::emu
