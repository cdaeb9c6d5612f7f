#ifndef ZYFA_GEN_FP8_SCORE_SCALE_H_
#define ZYFA_GEN_FP8_SCORE_SCALE_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Constants of the kernel.
void EmitScaleConstants(KernelState& s);

// From the softmax scale and descales of Q, K, V, an item in each lane: the
// table's scales of the items. The product of softmax scale, log2(e) and the
// descales of Q and K is taken in that order, with exponents apart, so that no
// part of it overflows; its sign negates Q, and its magnitude is clamped to
// [2^-50, 2^60], beyond which no softmax of e4m3 scores can tell a difference.
// A product that is NaN makes the outputs NaN.
void EmitItemScales(KernelState& s, VReg descales);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_SCORE_SCALE_H_
