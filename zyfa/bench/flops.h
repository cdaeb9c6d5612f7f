#ifndef ZYFA_BENCH_FLOPS_H_
#define ZYFA_BENCH_FLOPS_H_

#include <cstdint>

#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// Query-key pairs of one head that the mask lets through, exactly. Lengths >=
// 0, below 2^31.
int64_t VisiblePairs(Mask mask, int64_t seqlen_q, int64_t seqlen_kv);

// Floating-point operations of attention over `heads` query heads (all batches
// together): two for each multiply-add of QK and PV on visible pairs. Softmax
// does not count. Causal attention so gets half the operations of full
// attention and not credit for what it skips.
double AttentionFlops(const Variant& variant, int64_t heads, int64_t seqlen_q,
                      int64_t seqlen_kv);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_FLOPS_H_
