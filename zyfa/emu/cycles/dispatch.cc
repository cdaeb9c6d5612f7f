#include "zyfa/emu/cycles/dispatch.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace zyfa::emu {

Schedule Dispatch(absl::Span<const uint32_t> order,
                  absl::Span<const GroupDuration> durations, int resident,
                  double gap, const Machine& machine) {
  const int places = machine.compute_units * resident;
  using Free = std::pair<double, int>;  // when, which place
  std::vector<double> ends;             // of the places that had a group
  Schedule schedule;
  schedule.places = 1.0 * machine.xcds * places;
  for (size_t xcd = 0; xcd < static_cast<size_t>(machine.xcds); ++xcd) {
    std::priority_queue<Free, std::vector<Free>, std::greater<Free>> free;
    for (int place = 0; place < places; ++place) free.emplace(0.0, place);
    std::vector<double> end(static_cast<size_t>(places), -1);
    for (size_t i = xcd; i < order.size();
         i += static_cast<size_t>(machine.xcds)) {
      const GroupDuration& duration = durations[order[i]];
      const auto [start, place] = free.top();
      free.pop();
      double& last = end[static_cast<size_t>(place)];
      const bool first = last < 0;
      if (first) {
        schedule.cold += duration.cold - duration.warm;
      } else {
        schedule.gaps += gap;
      }
      last = start + (first ? duration.cold : duration.warm);
      free.emplace(last + gap, place);
    }
    for (const double last : end) {
      if (last >= 0) ends.push_back(last);
    }
  }
  if (ends.empty()) return schedule;
  schedule.clocks = *std::max_element(ends.begin(), ends.end());
  for (const double last : ends) {
    schedule.tail += schedule.clocks - last;
    schedule.longest_wait =
        std::max(schedule.longest_wait, schedule.clocks - last);
  }
  schedule.unused =
      (schedule.places - static_cast<double>(ends.size())) * schedule.clocks;
  return schedule;
}

}  // namespace zyfa::emu
