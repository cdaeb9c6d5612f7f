#ifndef ZYFA_EMU_GPR_INDEX_H_
#define ZYFA_EMU_GPR_INDEX_H_

#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// VGPR indexing: between s_set_gpr_idx_on and _off a number in M0 is added to
// register numbers of vector instructions (pseudocode; LLVM emits it around
// single v_mov_b32, for arrays in registers).

// s_set_gpr_idx_*. nullptr if the instruction is none of these.
Handler FindGprIndexHandler(Instruction& inst);

// Gives the vector instructions of a text, with their handlers, that may run
// while indexing is on a handler that looks. Only v_mov_b32 may then be run;
// others stop the run.
void ApplyGprIndexing(std::vector<Instruction>& instructions);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_GPR_INDEX_H_
