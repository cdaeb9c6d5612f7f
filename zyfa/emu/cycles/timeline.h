#ifndef ZYFA_EMU_CYCLES_TIMELINE_H_
#define ZYFA_EMU_CYCLES_TIMELINE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/stall.h"

namespace zyfa::emu {

// Clocks [from, to).
struct ClockWindow {
  uint64_t from = 0;
  uint64_t to = std::numeric_limits<uint64_t>::max();
};

// `passes` passes of a loop in the middle of its run, from one issue of its
// head to another by the first wave of group 0 on SIMD `simd`. `report` must
// have `head` among its marked steps. Nothing if the wave makes fewer passes.
std::optional<ClockWindow> SteadyWindow(const ComputeUnitReport& report,
                                        uint32_t head, size_t simd,
                                        uint64_t passes);

// One bar of a timeline.
struct Slice {
  uint64_t start = 0, clocks = 0;
  uint32_t step = 0;
  uint32_t group = 0;  // index into the traces
  uint16_t wave = 0;   // of the group
  uint16_t simd = 0;
  // Absent: the instruction issues, or keeps its pipe.
  std::optional<Stall> stall = std::nullopt;
};

// What a SIMD can do but one of at a time.
enum class Pipe : uint8_t { kMatrix, kVector, kLds, kMemory, kScalar };
inline constexpr int kPipes = 5;
// "matrix pipe", "vector pipe", "LDS issue", ...
const char* PipeName(Pipe pipe);
// Whose time an instruction takes; nothing for branches and waits.
std::optional<Pipe> PipeOf(const InstructionTime& time);

// Collects what waves and pipes do in a window of a RunComputeUnit. Slices that
// reach over an end of the window are kept whole. Give it as listener; call
// Finish() before the getters.
class Timeline : public IssueListener {
 public:
  Timeline(absl::Span<const InstructionTime> instructions, ClockWindow window);

  void Issue(const IssueEvent& event) override;
  void Wait(const IssueEvent& event, Stall stall, uint64_t from,
            uint64_t clocks) override;
  void Finish();

  const ClockWindow& window() const { return window_; }
  // In the order of time; none overlaps another.
  const std::vector<Slice>& pipe(size_t simd, Pipe pipe) const {
    return pipes_[simd][static_cast<size_t>(pipe)];
  }
  // Of one wave each, sorted by SIMD, group and wave. Likewise.
  const std::vector<std::vector<Slice>>& waves() const { return waves_; }

 private:
  void AddToWave(const Slice& slice);

  absl::Span<const InstructionTime> instructions_;
  ClockWindow window_;
  std::array<std::array<std::vector<Slice>, kPipes>, kSimds> pipes_;
  std::vector<std::vector<Slice>> waves_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TIMELINE_H_
