#ifndef ZYFA_NUMERICS_E2M1_H_
#define ZYFA_NUMERICS_E2M1_H_

#include "zyfa/numerics/small_float.h"

namespace zyfa::numerics {

// OCP E2M1 (FP4): 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
using E2m1 = SmallFloat<2, 1, Specials::kNone>;

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_E2M1_H_
