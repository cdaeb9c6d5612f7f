#ifndef ZYFA_PEERS_ERROR_BOUND_H_
#define ZYFA_PEERS_ERROR_BOUND_H_

#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::peers {

// What a kernel's output may differ from attention on its operands' exact
// values, absolute, for the data of MakeOperands.
double OutputErrorBound(const AiterKernel& kernel);

// The same of LSE, relative to max(1, |lse|).
double LseErrorBound(const AiterKernel& kernel);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_ERROR_BOUND_H_
