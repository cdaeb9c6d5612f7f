#ifndef ZYFA_NUMERICS_E2M3_H_
#define ZYFA_NUMERICS_E2M3_H_

#include "zyfa/numerics/small_float.h"

namespace zyfa::numerics {

// OCP E2M3 (FP6): bias 1, largest number 7.5, smallest 0.125.
using E2m3 = SmallFloat<2, 3, Specials::kNone>;

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_E2M3_H_
