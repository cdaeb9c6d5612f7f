#include "zyfa/gen/asm/initialisation.h"

#include <bitset>

#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

struct Written {
  std::bitset<kUnitCount> units;

  bool Merge(const Written& o) {
    const auto before = units;
    units |= o.units;
    return units != before;
  }
  void Add(const UnitRanges& ranges) {
    for (const UnitRange& r : ranges) {
      for (int u = r.first; u < r.first + r.count; ++u) units.set(u);
    }
  }
};

}  // namespace

absl::Status CheckInitialised(const std::vector<Instruction>& program,
                              const std::vector<BasicBlock>& blocks,
                              const UnitRanges& at_entry,
                              const std::vector<std::string>& label_names) {
  Written entry;
  entry.Add(at_entry);
  std::vector<bool> reached;
  const std::vector<Written> in = ForwardFlow<Written>(
      blocks, entry,
      [&](const BasicBlock& block, Written& state) {
        for (int i = block.begin; i < block.end; ++i) {
          state.Add(program[i].writes);
        }
      },
      &reached);
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (!reached[b]) continue;
    Written state = in[b];
    for (int i = blocks[b].begin; i < blocks[b].end; ++i) {
      for (const UnitRange& r : program[i].reads) {
        for (int u = r.first; u < r.first + r.count; ++u) {
          if (state.units.test(u)) continue;
          return absl::InvalidArgumentError(absl::StrCat(
              DescribeInstruction(program[i], label_names), ": reads ",
              UnitText({u, 1}), ", which no path writes before"));
        }
      }
      state.Add(program[i].writes);
    }
  }
  return absl::OkStatus();
}

}  // namespace zyfa::gen
