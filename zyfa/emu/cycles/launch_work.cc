#include "zyfa/emu/cycles/launch_work.h"

#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace zyfa::emu {

int64_t GroupWork::total() const {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0});
}

bool GroupWork::operator<(const GroupWork& other) const {
  const int64_t mine = total();
  const int64_t others = other.total();
  return std::tie(kind, mine, steps) <
         std::tie(other.kind, others, other.steps);
}

LaunchWork CollectWork(
    uint64_t groups, const std::function<GroupWork(uint64_t)>& work_of,
    const std::function<uint64_t(uint64_t)>& emulated_group) {
  struct Known {
    uint64_t example;
    std::vector<uint64_t> groups;
  };
  std::map<GroupWork, Known> known;
  for (uint64_t i = 0; i < groups; ++i) {
    GroupWork work = work_of(i);
    auto found = known.find(work);
    if (found == known.end()) {
      found =
          known.emplace(std::move(work), Known{emulated_group(i), {}}).first;
    }
    found->second.groups.push_back(i);
  }
  LaunchWork launch;
  launch.order.resize(groups);
  for (auto& [work, entry] : known) {
    for (const uint64_t group : entry.groups) {
      launch.order[group] = static_cast<uint32_t>(launch.works.size());
    }
    launch.works.push_back(work);
    launch.examples.push_back(entry.example);
  }
  return launch;
}

absl::Status CheckWork(const LaunchWork& work, uint64_t emulated_groups) {
  if (work.order.empty()) {
    return absl::InvalidArgumentError(
        "work.order has 0 work-groups; allowed: at least 1");
  }
  if (work.examples.size() != work.works.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "work.examples has ", work.examples.size(), " entries; allowed: ",
        work.works.size(), ", one for each of work.works"));
  }
  for (size_t i = 0; i < work.works.size(); ++i) {
    if (i > 0 && !(work.works[i - 1] < work.works[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("work.works[", i,
                       "] is not above the one before; allowed: distinct "
                       "works in ascending order"));
    }
    for (const int64_t steps : work.works[i].steps) {
      if (steps < 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "work.works[", i, "] has ", steps, " steps; allowed: 0 and more"));
      }
    }
    if (work.examples[i] >= emulated_groups) {
      return absl::InvalidArgumentError(absl::StrCat(
          "work.examples[", i, "] is ", work.examples[i], "; allowed: below ",
          emulated_groups, ", the groups of the emulated grid"));
    }
  }
  for (size_t i = 0; i < work.order.size(); ++i) {
    if (work.order[i] >= work.works.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("work.order[", i, "] is ", work.order[i],
                       "; allowed: below ", work.works.size()));
    }
  }
  return absl::OkStatus();
}

}  // namespace zyfa::emu
