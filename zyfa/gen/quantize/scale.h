#ifndef ZYFA_GEN_QUANTIZE_SCALE_H_
#define ZYFA_GEN_QUANTIZE_SCALE_H_

#include "zyfa/gen/quantize/arguments.h"

namespace zyfa::gen {

// descale and multiplier of each lane from the bits of its largest magnitude
// (docs/quantiser.md). The quotient is rounded correctly if v_rcp_f32 is within
// one unit of the last place. A maximum that is not finite gives NaNs.
void EmitScale(const Arguments& args, VReg descale, VReg multiplier,
               VReg maximum);

// descale of int8, likewise.
void EmitInt8Descale(Assembler& a, VReg descale, VReg maximum);

// multiplier of e4m3 from a descale that is given; NaN from one out of range.
void EmitGivenMultiplier(Assembler& a, VReg multiplier, VReg descale);

// vcc = lanes whose descale is not in range.
void EmitOutOfRange(Assembler& a, VReg descale);

// quotient = numerator / x, rounded correctly, of a numerator that the host's
// test of it has: 448 (and 7), 255, 127, and 1 for integers up to 255. x, and
// the quotient, are positive and normal. x may be `quotient`.
void EmitQuotient(Assembler& a, VReg quotient, float numerator, VReg x);

// All lanes of 16 neighbours get the largest number of the 16.
void EmitMaximumOf16(Assembler& a, VReg x);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_SCALE_H_
