#ifndef ZYFA_EMU_LDS_H_
#define ZYFA_EMU_LDS_H_

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// ds_read* and ds_write*, single and double. nullptr if the instruction is none
// of these; likewise below.
Handler FindLdsAccessHandler(Instruction& inst);
// ds_read_b64_tr_b16, _b8, _b4 and ds_read_b96_tr_b6.
Handler FindLdsTransposeHandler(Instruction& inst);
// ds_add_u32 and the like, with and without return of the old value.
Handler FindLdsAtomicHandler(Instruction& inst);
// ds_bpermute_b32, ds_permute_b32, ds_swizzle_b32: lane moves that touch no
// LDS.
Handler FindLdsPermuteHandler(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_LDS_H_
