#ifndef ZYFA_GEN_ATTENTION_ENTRY_H_
#define ZYFA_GEN_ATTENTION_ENTRY_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// Loads the arguments, finds wave, batch and head, moves the tensor pointers
// there, and picks the query tile (of a causal pair the longer one first).
void EmitEntry(KernelState& s);

// base += index * stride, all 64 bit; index and stride are unsigned.
void EmitAddProduct(Assembler& a, SReg base, SReg index, SReg stride);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_ENTRY_H_
