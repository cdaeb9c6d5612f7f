#ifndef ZYFA_GEN_FP8_MAIN_LOOP_H_
#define ZYFA_GEN_FP8_MAIN_LOOP_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// All key tiles of the item in hand, with the loads that go with them, the
// meetings of the work-group's waves, and the store of the output. Goes on
// behind this code.
void EmitMainLoop(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_MAIN_LOOP_H_
