#ifndef ZYFA_EMU_CYCLES_REGION_ACCOUNT_H_
#define ZYFA_EMU_CYCLES_REGION_ACCOUNT_H_

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/code_region.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/stall.h"

namespace zyfa::emu {

// What the waves together spent in a region. A wave is in it while it issues or
// waits for an instruction there: waiting before an instruction belongs to it,
// and so do the wait states of s_nop, refilling behind a branch, and waiting in
// a barrier.
struct RegionUse {
  // Issues of the first instruction; arrivals if it never issued.
  uint64_t passes = 0;
  uint64_t clocks = 0;  // times waves
  uint64_t instructions = 0;
  // Clocks that the region's own instructions keep their pipes.
  PipeClocks own;
  // Clocks of a wave's stay in which its SIMD's pipes were busy, whichever wave
  // kept them so.
  PipeClocks pipes;
};

// What one wave number of all groups did with its clocks.
struct WaveUse {
  uint64_t clocks = 0;
  uint64_t issued = 0;
  std::array<uint64_t, kStalls> stall = {};
};

// Sorts the clocks of a RunComputeUnit by regions of code and by waves. Give it
// as listener; call Finish() before the getters.
class RegionAccount : public IssueListener {
 public:
  // `auxiliary`: see ComputeUnitOptions. Regions may overlap.
  RegionAccount(absl::Span<const InstructionTime> instructions,
                const std::vector<bool>& auxiliary,
                std::vector<CodeRegion> regions);

  void Issue(const IssueEvent& event) override;
  void Wait(const IssueEvent& event, Stall stall, uint64_t from,
            uint64_t clocks) override;
  void Finish();

  const std::vector<CodeRegion>& regions() const { return regions_; }
  // Same index.
  const std::vector<RegionUse>& use() const { return use_; }
  // By wave number within its group. Turns of 4 clocks and stalls add up to the
  // clocks, which are counted from a wave's first turn to the end of its last,
  // but for instructions that keep their wave longer than a turn.
  const std::vector<WaveUse>& waves() const { return waves_; }
  // The same for the steps of a region; clocks are turns and stalls.
  std::vector<WaveUse> WavesIn(const CodeRegion& region) const;
  // Waves of all groups that issued anything.
  uint64_t wave_count() const { return wave_count_; }

 private:
  // When the pipes of a SIMD were busy.
  class PipeHistory {
   public:
    void AddMatrix(uint64_t start, uint64_t busy, bool useful);
    void AddVector(uint64_t start, uint64_t busy);
    // Busy clocks up to a time.
    PipeClocks UpTo(uint64_t time) const;

   private:
    struct Entry {
      uint64_t start, busy;
      uint64_t before, useful_before;  // busy clocks of earlier entries
      bool useful;
    };
    static const Entry* LastBefore(const std::vector<Entry>& entries,
                                   uint64_t time);
    std::vector<Entry> matrix_, vector_;
  };
  struct Stay {
    uint32_t region = 0;
    uint64_t since = 0;
    PipeClocks pipes;  // up to then
  };
  struct WaveState {
    bool seen = false;
    uint16_t number = 0, simd = 0;
    uint32_t step = 0;  // of its latest instruction
    // When its time starts, and when that of its latest instruction ends.
    uint64_t first = std::numeric_limits<uint64_t>::max(), end = 0;
    // End of the waiting behind the instruction that issues now.
    uint64_t states_end = 0;
    std::vector<Stay> stays;
  };
  struct StepUse {
    uint64_t issued = 0;
    std::array<uint64_t, kStalls> stall = {};
  };

  WaveState& StateOf(const IssueEvent& event);
  StepUse& StepOf(const IssueEvent& event);
  void Move(const std::vector<uint32_t>& here, const PipeClocks& pipes,
            WaveState& wave);
  void CountPipes(const IssueEvent& event);
  void Leave(const Stay& stay, uint64_t time, const PipeClocks& pipes);

  absl::Span<const InstructionTime> instructions_;
  const std::vector<bool>& auxiliary_;
  std::vector<CodeRegion> regions_;
  std::vector<std::vector<uint32_t>> regions_of_step_;
  std::vector<RegionUse> use_;
  std::vector<uint64_t> arrivals_;  // by region
  std::array<PipeHistory, kSimds> pipes_;
  std::vector<std::vector<WaveState>> states_;  // by group and wave
  std::vector<std::vector<StepUse>> steps_;     // by wave number and step
  std::vector<WaveUse> waves_;
  uint64_t wave_count_ = 0;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_REGION_ACCOUNT_H_
