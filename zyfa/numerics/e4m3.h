#ifndef ZYFA_NUMERICS_E4M3_H_
#define ZYFA_NUMERICS_E4M3_H_

#include "zyfa/numerics/small_float.h"

namespace zyfa::numerics {

// OCP E4M3: bias 7, largest number 448 (0x7E), smallest 2^-9, NaN 0x7F and
// 0xFF, no infinity (also known as e4m3fn).
using E4m3 = SmallFloat<4, 3, Specials::kNanOnly>;

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_E4M3_H_
