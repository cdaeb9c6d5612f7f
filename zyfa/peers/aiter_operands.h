#ifndef ZYFA_PEERS_AITER_OPERANDS_H_
#define ZYFA_PEERS_AITER_OPERANDS_H_

#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/quantize.h"

namespace zyfa::peers {

// Q, K and V of a problem in the formats of a kernel. Kernels for sequences of
// one length see [batch][seq][head][dim]; for grouped ones all sequences lie
// behind each other in one batch.
struct AiterOperands {
  QuantizedTensor query;
  QuantizedTensor key;
  QuantizedTensor value;
  // What query * key is multiplied by before exp() in attention on the values
  // of these tensors. Where Q has block scales, Q holds softmax_scale * log2(e)
  // already (AITER's recipe), and this is log(2).
  double softmax_scale = 1.0;
};

// Independent N(0, 1) numbers from problem.seed, quantised. Blocks with E8M0
// scales are first multiplied by random factors in the ratios 1/2, 1 and 2 (of
// mean square 1), so that neighbours differ and a scale in the wrong place
// shows. FP6 and FP4 queries are a quarter as large. The kernel and the problem
// must fit each other (Validate).
AiterOperands MakeOperands(const AiterKernel& kernel,
                           const AiterProblem& problem);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_OPERANDS_H_
