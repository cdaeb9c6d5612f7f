#ifndef ZYFA_PEERS_REAL_LIKE_OPERANDS_H_
#define ZYFA_PEERS_REAL_LIKE_OPERANDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"

namespace zyfa::peers {

// As MakeOperands, with a synthetic head that has the traits of real ones: a
// set of numerics::RealLikeSet. InvalidArgument for another name, for block
// scales, and for anything but one sequence of as many queries as keys with one
// head.
absl::StatusOr<AiterOperands> MakeRealLikeOperands(const AiterKernel& kernel,
                                                   const AiterProblem& problem,
                                                   const std::string& set);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_REAL_LIKE_OPERANDS_H_
