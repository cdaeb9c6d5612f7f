#include "zyfa/emu/cycles/group_sampling.h"

#include <algorithm>
#include <cmath>

namespace zyfa::emu {
namespace {

// Where `work` lies between two samples of its kind, 0 to 1.
double Position(const GroupWork& low, const GroupWork& work,
                const GroupWork& high) {
  int64_t from = low.total(), at = work.total(), to = high.total();
  const size_t entries =
      std::min({low.steps.size(), work.steps.size(), high.steps.size()});
  for (size_t i = 0; i < entries && from == to; ++i) {
    from = low.steps[i];
    at = work.steps[i];
    to = high.steps[i];
  }
  if (from == to) return 0;
  return std::clamp(
      static_cast<double>(at - from) / static_cast<double>(to - from), 0.0,
      1.0);
}

}  // namespace

std::vector<size_t> ChooseSamples(absl::Span<const GroupWork> works,
                                  const Sampling& sampling) {
  int64_t steps = 0;
  for (const GroupWork& work : works) steps += work.total();
  std::vector<size_t> samples;
  for (size_t begin = 0, end = 0; begin < works.size(); begin = end) {
    while (end < works.size() && works[end].kind == works[begin].kind) ++end;
    const size_t count = end - begin;
    size_t wanted = count;
    if (steps > sampling.steps) {
      // The kind's part of the budget, by its number of works.
      const double part = static_cast<double>(count) *
                          static_cast<double>(sampling.steps) /
                          static_cast<double>(steps);
      wanted = std::max(static_cast<size_t>(std::max(1, sampling.least)),
                        static_cast<size_t>(part));
      wanted = std::min(wanted, count);
    }
    for (size_t i = 0; i < wanted; ++i) {
      samples.push_back(begin +
                        (wanted == 1 ? 0 : i * (count - 1) / (wanted - 1)));
    }
  }
  return samples;
}

std::vector<GroupCost> InterpolateCosts(absl::Span<const GroupWork> works,
                                        absl::Span<const size_t> samples,
                                        absl::Span<const GroupCost> costs) {
  std::vector<GroupCost> all;
  all.reserve(works.size());
  size_t above = 0;  // first sample that is not below the work
  for (size_t i = 0; i < works.size(); ++i) {
    while (above < samples.size() && samples[above] < i) ++above;
    const bool has_above =
        above < samples.size() && works[samples[above]].kind == works[i].kind;
    const bool has_below =
        above > 0 && works[samples[above - 1]].kind == works[i].kind;
    if (has_above && (samples[above] == i || !has_below)) {
      all.push_back(costs[above]);
    } else if (has_above) {
      const double part =
          Position(works[samples[above - 1]], works[i], works[samples[above]]);
      all.push_back(Mix(costs[above - 1], costs[above], part));
    } else {
      all.push_back(has_below ? costs[above - 1] : GroupCost{});
    }
  }
  return all;
}

}  // namespace zyfa::emu
