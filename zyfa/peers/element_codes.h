#ifndef ZYFA_PEERS_ELEMENT_CODES_H_
#define ZYFA_PEERS_ELEMENT_CODES_H_

#include <cstdint>

#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::peers {

// Bits of one element: 16, 8, 6 or 4.
int ElementBits(Format format);

// The largest number of a format of at most 8 bits: what its scales aim at.
float LargestNumber(Format format);

// `x` rounded to nearest even, as the code that memory holds, right-aligned.
// Beyond the largest number: that number with the sign of x (Inf for kBf16).
uint16_t Encode(Format format, float x);

// The number that a code stands for, exactly.
float Decode(Format format, uint16_t code);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_ELEMENT_CODES_H_
