#include "zyfa/emu/cycles/timeline.h"

#include <algorithm>
#include <tuple>

namespace zyfa::emu {
namespace {

// An instruction takes its wave one turn; what it waits beyond is told apart.
constexpr uint64_t kSlot = 4;

std::tuple<uint16_t, uint32_t, uint16_t> TrackOf(const Slice& slice) {
  return {slice.simd, slice.group, slice.wave};
}

// One wait is told in pieces, a turn each.
void Merge(std::vector<Slice>& slices) {
  std::vector<Slice> merged;
  for (const Slice& slice : slices) {
    if (slice.stall.has_value() && !merged.empty()) {
      Slice& last = merged.back();
      if (last.stall == slice.stall && last.step == slice.step &&
          last.start + last.clocks == slice.start) {
        last.clocks += slice.clocks;
        continue;
      }
    }
    merged.push_back(slice);
  }
  slices = std::move(merged);
}

}  // namespace

const char* PipeName(Pipe pipe) {
  switch (pipe) {
    case Pipe::kMatrix:
      return "matrix pipe";
    case Pipe::kVector:
      return "vector pipe";
    case Pipe::kLds:
      return "LDS issue";
    case Pipe::kMemory:
      return "memory issue";
    case Pipe::kScalar:
      return "scalar issue";
  }
  return "?";
}

std::optional<Pipe> PipeOf(const InstructionTime& time) {
  switch (time.issue) {
    case IssueKind::kVector:
      return time.matrix ? Pipe::kMatrix : Pipe::kVector;
    case IssueKind::kScalar:
      return Pipe::kScalar;
    case IssueKind::kLds:
      return Pipe::kLds;
    case IssueKind::kMemory:
      return Pipe::kMemory;
    case IssueKind::kBranch:
    case IssueKind::kInternal:
      break;
  }
  return std::nullopt;
}

std::optional<ClockWindow> SteadyWindow(const ComputeUnitReport& report,
                                        uint32_t head, size_t simd,
                                        uint64_t passes) {
  std::optional<uint16_t> wave;
  for (const Mark& mark : report.marks[simd]) {
    if (mark.group != 0 || mark.step != head) continue;
    if (!wave.has_value() || mark.wave < *wave) wave = mark.wave;
  }
  std::vector<uint64_t> times;
  for (const Mark& mark : report.marks[simd]) {
    if (mark.group == 0 && mark.step == head && mark.wave == wave) {
      times.push_back(mark.time);
    }
  }
  if (times.size() < passes + 1) return std::nullopt;
  const size_t first = (times.size() - 1 - passes) / 2;
  return ClockWindow{times[first], times[first + passes]};
}

Timeline::Timeline(absl::Span<const InstructionTime> instructions,
                   ClockWindow window)
    : instructions_(instructions), window_(window) {}

void Timeline::AddToWave(const Slice& slice) {
  auto track =
      std::lower_bound(waves_.begin(), waves_.end(), TrackOf(slice),
                       [](const std::vector<Slice>& slices, const auto& key) {
                         return TrackOf(slices.front()) < key;
                       });
  if (track == waves_.end() || TrackOf(track->front()) != TrackOf(slice)) {
    track = waves_.emplace(track);
  }
  track->push_back(slice);
}

void Timeline::Issue(const IssueEvent& event) {
  if (event.time >= window_.to || event.time + event.busy <= window_.from) {
    return;
  }
  Slice slice = {.start = event.time,
                 .clocks = event.busy,
                 .step = event.step,
                 .group = event.group,
                 .wave = event.wave,
                 .simd = event.simd};
  const std::optional<Pipe> pipe = PipeOf(instructions_[event.step]);
  if (pipe.has_value()) {
    pipes_[event.simd][static_cast<size_t>(*pipe)].push_back(slice);
  }
  slice.clocks = kSlot;
  if (slice.start + kSlot > window_.from) AddToWave(slice);
}

void Timeline::Wait(const IssueEvent& event, Stall stall, uint64_t from,
                    uint64_t clocks) {
  if (from >= window_.to || from + clocks <= window_.from) return;
  AddToWave({.start = from,
             .clocks = clocks,
             .step = event.step,
             .group = event.group,
             .wave = event.wave,
             .simd = event.simd,
             .stall = stall});
}

void Timeline::Finish() {
  for (std::vector<Slice>& slices : waves_) {
    // Waits behind an instruction are told before the instruction.
    std::stable_sort(
        slices.begin(), slices.end(),
        [](const Slice& a, const Slice& b) { return a.start < b.start; });
    Merge(slices);
  }
}

}  // namespace zyfa::emu
