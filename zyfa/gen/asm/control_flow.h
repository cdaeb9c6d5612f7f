#ifndef ZYFA_GEN_ASM_CONTROL_FLOW_H_
#define ZYFA_GEN_ASM_CONTROL_FLOW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/gen/asm/instruction.h"

namespace zyfa::gen {

// Instructions begin .. end-1, entered at begin and left at end only.
struct BasicBlock {
  int begin = 0;
  int end = 0;
  std::vector<int> successors;  // block numbers
};

// Block 0 is the entry. Errors: a branch to a label that is bound nowhere, a
// label in two places, code that runs past the end of the kernel.
absl::StatusOr<std::vector<BasicBlock>> BuildControlFlow(
    const std::vector<Instruction>& program,
    const std::vector<std::string>& label_names);

// Forward data flow to a fixpoint. State needs `bool Merge(const State&)`,
// which takes in what holds at the end of a predecessor and says whether
// anything changed. `transfer(block, State&)` moves a state from a block's
// begin to its end. Returns the state at each block's begin; `reached` says
// which are valid. States only ever grow by Merge, so the loop ends although
// waits that a pass inserts make `transfer` forget things.
template <typename State, typename Transfer>
std::vector<State> ForwardFlow(const std::vector<BasicBlock>& blocks,
                               State entry, const Transfer& transfer,
                               std::vector<bool>* reached) {
  std::vector<State> in(blocks.size());
  reached->assign(blocks.size(), false);
  if (blocks.empty()) return in;
  in[0] = std::move(entry);
  (*reached)[0] = true;
  std::vector<int> work = {0};
  std::vector<bool> queued(blocks.size(), false);
  while (!work.empty()) {
    const int block = work.back();
    work.pop_back();
    queued[block] = false;
    State state = in[block];
    transfer(blocks[block], state);
    for (int next : blocks[block].successors) {
      bool changed = !(*reached)[next];
      if (changed) {
        in[next] = state;
        (*reached)[next] = true;
      } else {
        changed = in[next].Merge(state);
      }
      if (changed && !queued[next]) {
        work.push_back(next);
        queued[next] = true;
      }
    }
  }
  return in;
}

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_CONTROL_FLOW_H_
