#include "zyfa/emu/cycles/toggle_meter.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t Mask(uint32_t bits) { return (1u << bits) - 1; }

// Element `e` of a lane; no format has more than 16 bits.
uint32_t Element(absl::Span<const uint32_t> words, size_t lane, uint32_t e,
                 uint32_t bits) {
  const uint32_t first = e * bits;
  const size_t at = first / 32 * kLanes + lane;
  uint64_t value = words[at];
  if (first % 32 + bits > 32) value |= uint64_t{words[at + kLanes]} << 32;
  return static_cast<uint32_t>(value >> first % 32) & Mask(bits);
}

// What a side of the multipliers held and holds.
struct Side {
  absl::Span<const uint32_t> before, now;
  ElementLayout layout;

  uint32_t Elements() const {
    return static_cast<uint32_t>(now.size() / kLanes) * 32 / layout.bits;
  }
};

// Flips of `side` weighted with the share of multipliers that they reach.
double LiveFlips(const Side& side, const Side& other) {
  const size_t rows = side.layout.rows;
  const uint32_t significant =
      Mask(other.layout.bits - (other.layout.sign ? 1u : 0u));
  double live = 0;
  for (size_t group = 0; group < kLanes; group += rows) {
    for (uint32_t e = 0; e < side.Elements(); ++e) {
      int open = 0;
      int flips = 0;
      for (size_t lane = group; lane < group + rows; ++lane) {
        const uint32_t bits = other.layout.bits;
        open += ((Element(other.before, lane, e, bits) |
                  Element(other.now, lane, e, bits)) &
                 significant) != 0;
        flips += std::popcount(Element(side.before, lane, e, side.layout.bits) ^
                               Element(side.now, lane, e, side.layout.bits));
      }
      live += static_cast<double>(flips) * open / static_cast<double>(rows);
    }
  }
  return live;
}

double Ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

}  // namespace

void FlipCounts::Add(const FlipCounts& other) {
  instructions += other.instructions;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].flips += other.operands[i].flips;
    operands[i].bits += other.operands[i].bits;
    operands[i].live += other.operands[i].live;
  }
}

double FlipReport::FlipsPerInstruction(MatrixOperand operand) const {
  return Ratio(static_cast<double>(total.of(operand).flips),
               static_cast<double>(total.instructions));
}

double FlipReport::FlipsPerClock(MatrixOperand operand) const {
  return Ratio(static_cast<double>(total.of(operand).flips),
               static_cast<double>(simd_clocks));
}

double FlipReport::LivePerClock(MatrixOperand operand) const {
  return Ratio(total.of(operand).live, static_cast<double>(simd_clocks));
}

ToggleMeter::ToggleMeter(absl::Span<const InstructionTime> instructions,
                         absl::Span<const GroupTrace* const> traces,
                         absl::Span<const GroupMatrixOperands* const> operands)
    : instructions_(instructions),
      traces_(traces.begin(), traces.end()),
      operands_(operands.begin(), operands.end()) {
  operands_.resize(traces_.size(), nullptr);
  for (const GroupTrace* trace : traces_) {
    places_.emplace_back(trace->waves.size());
  }
  report_.steps.resize(instructions.size());
}

// Fills `live` of A and B; false if the elements cannot be told apart.
bool ToggleMeter::CompareElements(const MatrixOperandWords& words,
                                  const Simd& simd, FlipCounts& counts) const {
  Side sides[2];
  for (size_t o = 0; o < 2; ++o) {
    Side& side = sides[o];
    side.now = words.words(static_cast<MatrixOperand>(o));
    side.before = simd.ports[o].words;
    side.layout = words.layout[o];
    if (side.layout.bits == 0 || side.layout != simd.layout[o] ||
        side.before.size() < side.now.size()) {
      return false;
    }
  }
  if (sides[0].Elements() != sides[1].Elements()) return false;
  // 8-bit elements are ordered in another way than narrower ones.
  if ((sides[0].layout.bits == 8) != (sides[1].layout.bits == 8)) return false;
  counts.operands[0].live = LiveFlips(sides[0], sides[1]);
  counts.operands[1].live = LiveFlips(sides[1], sides[0]);
  return true;
}

FlipCounts ToggleMeter::Compare(const MatrixOperandWords& words,
                                Simd& simd) const {
  FlipCounts counts;
  const bool weighted = CompareElements(words, simd, counts);
  for (size_t o = 0; o < kMatrixOperands; ++o) {
    const absl::Span<const uint32_t> now =
        words.words(static_cast<MatrixOperand>(o));
    Port& port = simd.ports[o];
    if (port.words.size() < now.size()) {
      port.words.resize(now.size());
      port.known.resize(now.size() / kLanes, false);
    }
    for (size_t r = 0; r < now.size() / kLanes; ++r) {
      uint32_t* const held = &port.words[r * kLanes];
      if (port.known[r]) {
        uint32_t flips = 0;
        for (size_t lane = 0; lane < kLanes; ++lane) {
          flips += static_cast<uint32_t>(
              std::popcount(held[lane] ^ now[r * kLanes + lane]));
        }
        counts.operands[o].flips += flips;
        counts.operands[o].bits += uint64_t{32} * kLanes;
      }
      std::copy_n(&now[r * kLanes], kLanes, held);
      port.known[r] = true;
    }
    BitFlips& counted = counts.operands[o];
    if (!weighted) counted.live = static_cast<double>(counted.flips);
  }
  simd.layout = words.layout;
  counts.instructions = counts.of(MatrixOperand::kA).bits > 0 ? 1 : 0;
  return counts;
}

void ToggleMeter::Issue(const IssueEvent& event) {
  const InstructionTime& time = instructions_[event.step];
  WavePlace& place = places_[event.group][event.wave];
  const TraceEvent& traced =
      traces_[event.group]->waves[event.wave].events[place.position++];
  Simd& simd = simds_[event.simd];
  if (!time.matrix) {
    if (time.issue == IssueKind::kVector) {
      simd.now.vector += static_cast<double>(event.busy);
    } else if (time.issue == IssueKind::kLds) {
      simd.now.lds_bytes += traced.lds_bytes();
    }
    return;
  }
  const uint64_t number = place.matrix++;
  const GroupMatrixOperands* operands = operands_[event.group];
  const MatrixOperandWords* words =
      operands == nullptr ? nullptr : operands->Find(event.wave, number);
  if (words == nullptr) {
    ++report_.unknown;
    simd.ports = {};  // what they hold now is not known
    simd.layout = {};
  } else {
    const FlipCounts counts = Compare(*words, simd);
    if (!simd.started) {
      simd.started = true;
      simd.first = event.time;
      simd.at_first = simd.now;
    } else {
      report_.steps[event.step].Add(counts);
      report_.simds[event.simd].Add(counts);
      report_.total.Add(counts);
    }
    simd.last = event.time;
    simd.at_last = simd.now;
  }
  simd.now.matrix += static_cast<double>(event.busy);
}

FlipReport ToggleMeter::Report() const {
  FlipReport report = report_;
  Work work;
  uint64_t first = std::numeric_limits<uint64_t>::max();
  uint64_t last = 0;
  for (const Simd& simd : simds_) {
    if (!simd.started) continue;
    first = std::min(first, simd.first);
    last = std::max(last, simd.last);
    report.simd_clocks += simd.last - simd.first;
    work.matrix += simd.at_last.matrix - simd.at_first.matrix;
    work.vector += simd.at_last.vector - simd.at_first.vector;
    work.lds_bytes += simd.at_last.lds_bytes - simd.at_first.lds_bytes;
  }
  const auto clocks = static_cast<double>(report.simd_clocks);
  report.activity.matrix_busy = Ratio(work.matrix, clocks);
  report.activity.vector_busy = Ratio(work.vector, clocks);
  report.activity.lds_busy =
      last <= first ? 0
                    : work.lds_bytes / (static_cast<double>(last - first) *
                                        kLdsBytesPerClock);
  report.activity.flips_per_clock = report.LivePerClock(MatrixOperand::kA) +
                                    report.LivePerClock(MatrixOperand::kB);
  return report;
}

}  // namespace zyfa::emu
