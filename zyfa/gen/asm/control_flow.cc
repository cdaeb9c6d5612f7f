#include "zyfa/gen/asm/control_flow.h"

#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

bool IsBranch(const Instruction& inst) {
  return inst.IsOperation() && inst.info().format == Format::kBranch;
}

bool EndsProgram(const Instruction& inst) {
  return inst.IsOperation() && inst.info().Has(kTerminator);
}

}  // namespace

absl::StatusOr<std::vector<BasicBlock>> BuildControlFlow(
    const std::vector<Instruction>& program,
    const std::vector<std::string>& label_names) {
  const int n = static_cast<int>(program.size());
  std::vector<bool> leader(n + 1, false);
  if (n > 0) leader[0] = true;
  std::map<int, int> label_at;
  for (int i = 0; i < n; ++i) {
    if (program[i].kind == Instruction::Kind::kLabel) {
      leader[i] = true;
      if (!label_at.emplace(program[i].label, i).second) {
        return absl::InvalidArgumentError(absl::StrCat(
            "label ", label_names[program[i].label],
            " stands twice in the kernel: a captured stream that binds it was "
            "appended twice"));
      }
    } else if (IsBranch(program[i]) || EndsProgram(program[i])) {
      leader[i + 1] = true;
    }
  }
  std::vector<BasicBlock> blocks;
  std::vector<int> block_of(n + 1, -1);
  for (int i = 0; i < n; ++i) {
    if (leader[i]) {
      if (!blocks.empty()) blocks.back().end = i;
      blocks.push_back({i, n, {}});
    }
    block_of[i] = static_cast<int>(blocks.size()) - 1;
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    BasicBlock& block = blocks[b];
    const Instruction& last = program[block.end - 1];
    bool falls_through = !EndsProgram(last);
    if (IsBranch(last)) {
      const int label = last.operands[0].label;
      const auto target = label_at.find(label);
      if (target == label_at.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(DescribeInstruction(last, label_names),
                         ": the label is bound nowhere"));
      }
      block.successors.push_back(block_of[target->second]);
      if (last.info().Has(kUnconditional)) falls_through = false;
    }
    if (!falls_through) continue;
    // A branch or s_endpgm must stand last; sections behind it are harmless.
    if (block.end == n) {
      return absl::InvalidArgumentError(
          "the kernel runs past its end: the last instruction must be s_endpgm "
          "or s_branch");
    }
    block.successors.push_back(static_cast<int>(b) + 1);
  }
  return blocks;
}

}  // namespace zyfa::gen
