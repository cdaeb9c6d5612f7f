#ifndef ZYFA_GEN_ASM_HAZARDS_H_
#define ZYFA_GEN_ASM_HAZARDS_H_

#include <vector>

#include "zyfa/gen/asm/control_flow.h"
#include "zyfa/gen/asm/instruction.h"

namespace zyfa::gen {

// Inserts the s_nop that HazardRules ask for, just before the instruction that
// comes too early, over all paths of the control-flow graph: at a join the
// nearest producer of any predecessor counts. Instructions in between count as
// wait states whatever they are.
void InsertWaitStates(std::vector<Instruction>& program,
                      const std::vector<BasicBlock>& blocks);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_HAZARDS_H_
