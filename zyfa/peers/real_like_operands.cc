#include "zyfa/peers/real_like_operands.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/peers/quantize.h"

namespace zyfa::peers {

absl::StatusOr<AiterOperands> MakeRealLikeOperands(const AiterKernel& kernel,
                                                   const AiterProblem& problem,
                                                   const std::string& set) {
  absl::StatusOr<numerics::RealLikeParams> params = numerics::RealLikeSet(set);
  if (!params.ok()) return params.status();
  for (const OperandFormat& format : {kernel.query, kernel.key, kernel.value}) {
    if (format.scaling == Scaling::kPerBlock) {
      return absl::InvalidArgumentError(absl::StrCat(
          Name(kernel), " has block scales; only other kernels are allowed"));
    }
  }
  if (problem.sequences.size() != 1 || problem.queries() != problem.keys() ||
      problem.heads_q != 1 || problem.heads_kv != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the problem is ", ShapeName(problem),
        "; allowed is one sequence of one head, as many keys as queries"));
  }
  absl::StatusOr<numerics::RealLikeHead> head =
      numerics::MakeRealLikeHead(*params, problem.queries(), kernel.head_dim_qk,
                                 kernel.head_dim_v, problem.seed);
  if (!head.ok()) return head.status();
  const Extent wide = {.seq = problem.keys(), .dim = kernel.head_dim_qk};
  const Extent narrow = {.seq = problem.keys(), .dim = kernel.head_dim_v};
  AiterOperands operands;
  operands.query =
      Quantize(kernel.query, BlockAxis::kHeadDim, wide, head->query);
  operands.key = Quantize(kernel.key, BlockAxis::kHeadDim, wide, head->key);
  operands.value =
      Quantize(kernel.value, BlockAxis::kSequence, narrow, head->value);
  operands.softmax_scale =
      1.0 / std::sqrt(static_cast<double>(kernel.head_dim_qk));
  return operands;
}

}  // namespace zyfa::peers
