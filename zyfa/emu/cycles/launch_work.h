#ifndef ZYFA_EMU_CYCLES_LAUNCH_WORK_H_
#define ZYFA_EMU_CYCLES_LAUNCH_WORK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"

namespace zyfa::emu {

// What a work-group does, as far as its time goes. Groups of equal work run the
// same instructions; groups of one kind differ in how often they go round the
// loops of the same code.
struct GroupWork {
  uint32_t kind = 0;
  // Steps of the inner loop for each tile that the group takes on, in its order
  // (key tiles of each query tile). A persistent group has a long list.
  std::vector<int64_t> steps;

  int64_t total() const;
  // Of one kind: by total, then by the lists.
  bool operator<(const GroupWork& other) const;
  bool operator==(const GroupWork&) const = default;
};

// The work-groups of a launch in the order of dispatch.
struct LaunchWork {
  std::vector<GroupWork> works;    // distinct, ascending
  std::vector<uint64_t> examples;  // of each: a group of the emulated grid
  std::vector<uint32_t> order;     // of each group: index into works
};

// Asks `work_of` for every group. `emulated_group(i)` is the group of the grid
// that the emulator runs which does what group i does: the emulated grid may be
// one head of the launch's. Of equal works the first becomes the example.
LaunchWork CollectWork(uint64_t groups,
                       const std::function<GroupWork(uint64_t)>& work_of,
                       const std::function<uint64_t(uint64_t)>& emulated_group);

// InvalidArgument unless there is a group, every index and list is in range and
// every example lies below `emulated_groups`.
absl::Status CheckWork(const LaunchWork& work, uint64_t emulated_groups);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_LAUNCH_WORK_H_
