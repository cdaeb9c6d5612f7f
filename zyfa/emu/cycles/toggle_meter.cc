#include "zyfa/emu/cycles/toggle_meter.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// Bytes that the LDS of a compute unit reads in a clock (cdna4-timing 4).
constexpr double kLdsBytesPerClock = 256;
constexpr double kLdsUnit = 128;  // TraceEvent::load counts in these

double Ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

}  // namespace

void FlipCounts::Add(const FlipCounts& other) {
  instructions += other.instructions;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].flips += other.operands[i].flips;
    operands[i].bits += other.operands[i].bits;
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

FlipCounts ToggleMeter::Compare(const MatrixOperandWords& words,
                                Simd& simd) const {
  FlipCounts counts;
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
  }
  counts.instructions = counts.of(MatrixOperand::kA).bits > 0 ? 1 : 0;
  return counts;
}

void ToggleMeter::Issue(const IssueEvent& event) {
  const InstructionTime& time = instructions_[event.step];
  WavePlace& place = places_[event.group][event.wave];
  const TraceEvent& traced =
      traces_[event.group]->waves[event.wave][place.position++];
  Simd& simd = simds_[event.simd];
  if (!time.matrix) {
    if (time.issue == IssueKind::kVector) {
      simd.now.vector += static_cast<double>(event.busy);
    } else if (time.issue == IssueKind::kLds) {
      simd.now.lds_bytes += kLdsUnit * (traced.load >> 16);
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
  report.activity.flips_per_clock = report.FlipsPerClock(MatrixOperand::kA) +
                                    report.FlipsPerClock(MatrixOperand::kB);
  return report;
}

}  // namespace zyfa::emu
