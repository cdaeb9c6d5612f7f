#ifndef ZYFA_NUMERICS_E3M2_H_
#define ZYFA_NUMERICS_E3M2_H_

#include "zyfa/numerics/small_float.h"

namespace zyfa::numerics {

// OCP E3M2 (FP6): bias 3, largest number 28, smallest 0.0625.
using E3m2 = SmallFloat<3, 2, Specials::kNone>;

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_E3M2_H_
