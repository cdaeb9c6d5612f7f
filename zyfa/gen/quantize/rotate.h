#ifndef ZYFA_GEN_QUANTIZE_ROTATE_H_
#define ZYFA_GEN_QUANTIZE_ROTATE_H_

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

// Registers of what EmitRotateSigns() makes.
inline constexpr int kRotateSigns = 5;

// What EmitRotate() needs to know of a lane's place among 16, `lane16`: -1 or 1
// for each of its four bits, and the product of these.
void EmitRotateSigns(Assembler& a, VReg signs, VReg lane16);

// Hadamard transform, normalised, of the vectors that 16 neighbouring lanes
// hold: x has 4 or 8 registers, and lane l of the 16 has elements
// x.count() * l + i. Stages in the order of growing distance of the two
// elements; a pair a, b becomes a + b, a - b inside a lane and a + b, b - a
// between lanes, whose sign the normalisation makes good. `scratch` has as many
// registers as x.
void EmitRotate(Assembler& a, VReg x, VReg scratch, VReg signs);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_ROTATE_H_
