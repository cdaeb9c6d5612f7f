#ifndef ZYFA_GEN_QUANTIZE_ROTATE_H_
#define ZYFA_GEN_QUANTIZE_ROTATE_H_

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

// The signs that EmitRotate() needs: bit 31 of signs[i] is bit i of `lane16`, a
// lane's place among 16.
void EmitRotateSigns(Assembler& a, VReg signs, VReg lane16);

// Hadamard transform, normalised, of the vectors that 16 neighbouring lanes
// hold: x has 4 or 8 registers, and lane l of the 16 has elements
// x.count() * l + i. Additions in the order of growing distance of the two
// elements; a pair a, b becomes a + b, a - b. `scratch` has 2 * x.count()
// registers, `signs` 4.
void EmitRotate(Assembler& a, VReg x, VReg scratch, VReg signs);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_ROTATE_H_
