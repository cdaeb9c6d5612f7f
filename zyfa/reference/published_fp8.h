#ifndef ZYFA_REFERENCE_PUBLISHED_FP8_H_
#define ZYFA_REFERENCE_PUBLISHED_FP8_H_

#include "zyfa/reference/fp8_model.h"
#include "zyfa/variant/variant.h"

namespace zyfa::reference {

// What other FP8 kernels are described to compute (numerics 1), as options of
// Fp8Attention(). They are models of descriptions, not of those kernels: sums
// are in the order of ours.

// Exact P relative to the running maximum, which gets code 1.0; no power of two
// of a tile; the output is divided by the sum of the weights before they became
// codes.
Fp8ModelOptions AiterLikeFp8();

// The same with code 2^8 for the running maximum.
Fp8ModelOptions CkLikeFp8();

// Our kernels with a running maximum that is rounded up to whole binades and
// moves whenever it is exceeded.
Fp8ModelOptions IntegerMaximumFp8(Probability probability);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_PUBLISHED_FP8_H_
