#ifndef ZYFA_EMU_REGISTER_INDEX_H_
#define ZYFA_EMU_REGISTER_INDEX_H_

#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// s_set_gpr_idx_on, _off, _mode and _idx (ISA 3.6.3 "VGPR indexing"): while
// MODE.gpr_idx_en is set, the register numbers of vector instructions that
// M0[15:12] names (bit 0 to 2: source 0 to 2, bit 3: destination) have M0[7:0]
// added. nullptr for every other instruction.
Handler FindRegisterIndexHandler(Instruction& inst);

// Makes the vector instructions that stand between an s_set_gpr_idx_on and its
// s_set_gpr_idx_off follow the index, so that no other has to look for it. What
// this does not cover there loses its handler: branches, instructions with
// lane permutations, scalar results or a destination that is read too.
// `code`: in address order, with handlers.
void ApplyRegisterIndexing(std::vector<Instruction>& code);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_REGISTER_INDEX_H_
