#ifndef ZYFA_GEN_ATTENTION_STORE_H_
#define ZYFA_GEN_ATTENTION_STORE_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// Divides O by the row sums, rounds it to bf16 and stores it; then the LSE, if
// it is wanted. A row without a key gives O = 0 and LSE = -inf.
void EmitStore(KernelState& s);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_STORE_H_
