#ifndef ZYFA_EMU_GROUP_H_
#define ZYFA_EMU_GROUP_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/finding.h"
#include "zyfa/emu/instruction.h"
#include "zyfa/emu/observer.h"
#include "zyfa/emu/wait_state.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

inline constexpr uint32_t kMaxLdsBytes = 163840;  // per work-group, ISA 3.6.5
inline constexpr int kMaxWaves = 16;              // 1024 work-items

// What one work-group did.
struct Counters {
  uint64_t by_class[kInstructionClasses] = {};
  uint64_t global_bytes_read = 0;
  uint64_t global_bytes_written = 0;
  uint64_t lds_bytes_read = 0;
  uint64_t lds_bytes_written = 0;
  uint64_t clipped_dwords = 0;
  // Turns of the LDS banks (lds_banks.h), and those without conflicts; counted
  // by strict runs alone.
  uint64_t lds_passes = 0;
  uint64_t lds_phases = 0;

  void Add(const Counters& other) {
    for (int i = 0; i < kInstructionClasses; ++i) {
      by_class[i] += other.by_class[i];
    }
    global_bytes_read += other.global_bytes_read;
    global_bytes_written += other.global_bytes_written;
    lds_bytes_read += other.lds_bytes_read;
    lds_bytes_written += other.lds_bytes_written;
    clipped_dwords += other.clipped_dwords;
    lds_passes += other.lds_passes;
    lds_phases += other.lds_phases;
  }
};

// A work-group while it runs: what its waves share. One host thread runs all
// waves of a group, so nothing in here is synchronised.
struct Group {
  DeviceMemory* memory = nullptr;
  uint64_t text_address = 0;  // device address of byte 0 of .text
  bool dma_lands_at_wait = true;
  uint32_t linear_id = 0;
  uint32_t id[3] = {0, 0, 0};
  std::string kernel;

  // lds[0, lds_bytes) may be accessed; the array is kMaxLdsBytes long and 64
  // bytes more, so that a whole access may be copied before it is checked.
  std::unique_ptr<uint8_t[]> lds;
  uint32_t lds_bytes = 0;
  // Per wave: private_bytes for each lane, lane by lane.
  std::vector<std::unique_ptr<uint8_t[]>> scratch;
  uint32_t private_bytes = 0;

  int wave_count = 0;
  uint64_t issued[kMaxWaves] = {};  // instructions of each wave so far
  WaitState waits[kMaxWaves];

  Counters counters;
  std::vector<Finding> findings;
  std::vector<Observer*> observers;

  // Adds a finding about `inst`, unless there are kFindingsPerRule of that rule
  // and pc already. An error stops the wave's group.
  static constexpr int kFindingsPerRule = 4;
  void Report(Severity severity, const char* rule, const Instruction& inst,
              Wave& wave, int lane, std::string detail);
  // The same without stopping anything, for what hardware would not stop at
  // either. `registers` are those that the rule is about.
  void Note(Severity severity, const char* rule, const Instruction& inst,
            const Wave& wave, int lane, std::string registers,
            std::string detail);
  // Whether a finding is worth formatting a detail for.
  bool Wants(const char* rule, const Instruction& inst) const;
};

inline WaitState& WaitsOf(Wave& wave) { return wave.group->waits[wave.index]; }

// Copies what `dma` holds into LDS, whose range was checked at issue.
void LandDma(Group& group, const PendingDma& dma);
// Lands every DMA of the wave that its s_waitcnt has retired.
void LandRetired(Group& group, WaitState& waits);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_GROUP_H_
