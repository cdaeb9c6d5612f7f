#ifndef ZYFA_GEN_ASM_WAITS_H_
#define ZYFA_GEN_ASM_WAITS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/gen/asm/control_flow.h"
#include "zyfa/gen/asm/instruction.h"
#include "zyfa/gen/asm/kernel_spec.h"

namespace zyfa::gen {

// Data of loads (vector memory, LDS, scalar memory) is not interlocked: before
// a register that a load writes is read or written again, s_waitcnt must have
// retired the load (cdna4-isa 3.5). This pass follows the outstanding
// operations over the control-flow graph and inserts the weakest sufficient
// s_waitcnt, or with kCheck reports the first one that is missing.
//
// Vector memory operations and LDS operations retire in order; scalar loads do
// not, so with one outstanding only lgkmcnt(0) says anything. At joins the
// strictest need of all predecessors holds: data loaded before a loop and first
// used inside costs a wait in every round unless the kernel waits before the
// loop. Explicit waits are honoured and never changed. Stores and direct-to-LDS
// loads write no register but count.
absl::Status ApplyWaits(std::vector<Instruction>& program,
                        const std::vector<BasicBlock>& blocks,
                        WaitPolicy policy,
                        const std::vector<std::string>& label_names);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_WAITS_H_
