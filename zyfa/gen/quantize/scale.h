#ifndef ZYFA_GEN_QUANTIZE_SCALE_H_
#define ZYFA_GEN_QUANTIZE_SCALE_H_

#include "zyfa/gen/quantize/arguments.h"

namespace zyfa::gen {

// descale and multiplier of each lane from the bits of its largest magnitude
// (docs/quantiser.md). The quotient is rounded correctly if v_rcp_f32 is within
// one unit of the last place. A maximum that is not finite gives NaNs.
void EmitScale(const Arguments& args, VReg descale, VReg multiplier,
               VReg maximum);

// All lanes of 16 neighbours get the largest number of the 16.
void EmitMaximumOf16(Assembler& a, VReg x);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_SCALE_H_
