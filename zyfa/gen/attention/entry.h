#ifndef ZYFA_GEN_ATTENTION_ENTRY_H_
#define ZYFA_GEN_ATTENTION_ENTRY_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// Loads the arguments, finds wave, batch and head, moves the tensor pointers
// there, and picks the query tile (of a causal pair the longer one first).
void EmitEntry(KernelState& s);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_ENTRY_H_
