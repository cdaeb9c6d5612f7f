#ifndef ZYFA_EMU_GROUP_RUNNER_H_
#define ZYFA_EMU_GROUP_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "zyfa/emu/emulator.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave_start.h"

namespace zyfa::emu {

// Runs work-groups one after the other on the calling thread.
class GroupRunner {
 public:
  // Everything given must outlive the runner. `stop_after`: groups with a
  // greater number may be given up at any time.
  GroupRunner(const LaunchState& launch, const Program& program,
              const RunOptions& options, DeviceMemory& memory,
              uint64_t text_address, const std::atomic<uint64_t>& stop_after,
              const std::vector<std::unique_ptr<Observer>>& observers);

  // Runs group `linear_id` (x fastest) to its end, its first error, or until it
  // is given up. False in the last case.
  bool Run(uint64_t linear_id);

  Counters& counters() { return group_->counters; }
  std::vector<Finding>& findings() { return group_->findings; }
  int wave_count() const { return group_->wave_count; }
  // Whether the last group was stopped by an error.
  bool faulted() const { return faulted_; }

 private:
  enum class State : uint8_t { kReady, kAtBarrier, kEnded };

  void Start(uint64_t linear_id);
  // Up to `count` instructions of one wave, fewer if it signals.
  template <bool kObserved>
  void RunWave(Wave& wave, uint64_t count);
  // Reports an instruction that uses what a load has not brought.
  void NoteOutstanding(const ProgramStep& step, Wave& wave);
  // One round over all waves that are ready; false after a fault.
  bool RunRound();
  // Opens the barrier if every wave waits or has ended; false if all ended.
  bool OpenBarrier();

  const LaunchState& launch_;
  const Program& program_;
  const RunOptions& options_;
  const std::atomic<uint64_t>& stop_after_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Wave[]> waves_;
  State state_[kMaxWaves];
  bool faulted_ = false;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_GROUP_RUNNER_H_
