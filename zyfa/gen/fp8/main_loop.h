#ifndef ZYFA_GEN_FP8_MAIN_LOOP_H_
#define ZYFA_GEN_FP8_MAIN_LOOP_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// All key tiles of the item in hand, with the loads that go with them and the
// meetings of the work-group's waves, the item's last one included. Before
// `finish` is reached, output_sum and row_sum are complete; the code there must
// go to the label that comes back, where the wave attends the meetings that are
// left and goes on behind this code.
Label EmitMainLoop(KernelState& s, Label finish);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_MAIN_LOOP_H_
