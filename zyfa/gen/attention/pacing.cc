#include "zyfa/gen/attention/pacing.h"

#include <algorithm>

namespace zyfa::gen {
namespace {

int IssueClocks(const Instruction& inst) {
  if (!inst.IsOperation()) return 0;
  return inst.info().Has(kTrans) ? 8 : 4;
}

// How many operations of the filler go behind each of `anchors`.
std::vector<int> Shares(const Stream& filler, int anchors) {
  int total = 0;
  for (const Instruction& inst : filler.instructions()) {
    total += IssueClocks(inst);
  }
  std::vector<int> after(static_cast<size_t>(anchors), 0);
  int clocks = 0;
  int anchor = 0;
  for (const Instruction& inst : filler.instructions()) {
    if (!inst.IsOperation()) continue;
    // The anchor in whose share the middle of the instruction falls.
    const int middle = clocks + IssueClocks(inst) / 2;
    while (anchor + 1 < anchors && middle * anchors >= total * (anchor + 1)) {
      ++anchor;
    }
    ++after[static_cast<size_t>(anchor)];
    clocks += IssueClocks(inst);
  }
  return after;
}

}  // namespace

Stream Pace(Assembler& a, const std::vector<Stream>& steps,
            const std::vector<Stream>& fillers, int bare) {
  const int anchors = static_cast<int>(steps.size());
  Stream main;
  std::vector<size_t> ends;
  for (const Stream& step : steps) {
    main.Add(step);
    ends.push_back(main.instructions().size() - 1);
  }
  InterleaveOptions options;
  options.anchor = [&main, &ends](const Instruction& inst) {
    return std::binary_search(
        ends.begin(), ends.end(),
        static_cast<size_t>(&inst - main.instructions().data()));
  };
  std::vector<Filler> shared;
  for (const Stream& filler : fillers) {
    std::vector<int> after = Shares(filler, bare < 0 ? anchors : anchors - 1);
    if (bare >= 0) after.insert(after.begin() + bare, 0);
    shared.push_back({filler, after});
  }
  return a.Interleave(main, shared, options);
}

}  // namespace zyfa::gen
