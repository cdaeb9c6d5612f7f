#ifndef ZYFA_NUMERICS_E5M2_H_
#define ZYFA_NUMERICS_E5M2_H_

#include "zyfa/numerics/small_float.h"

namespace zyfa::numerics {

// OCP E5M2: bias 15, largest number 57344 (0x7B), smallest 2^-16, Inf 0x7C,
// NaN 0x7D..0x7F.
using E5m2 = SmallFloat<5, 2, Specials::kIeee>;

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_E5M2_H_
