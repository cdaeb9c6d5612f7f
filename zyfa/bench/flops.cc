#include "zyfa/bench/flops.h"

#include <algorithm>

namespace zyfa::bench {

int64_t VisiblePairs(Mask mask, int64_t seqlen_q, int64_t seqlen_kv) {
  if (mask == Mask::kFull) return seqlen_q * seqlen_kv;
  // The last query sees all keys, each one before it a key less; the last
  // `rows` queries see any at all.
  const int64_t rows = std::min(seqlen_q, seqlen_kv);
  return rows * seqlen_kv - rows * (rows - 1) / 2;
}

double AttentionFlops(const Variant& variant, int64_t heads, int64_t seqlen_q,
                      int64_t seqlen_kv) {
  const int64_t multiply_adds_per_pair =
      variant.head_dim_qk + variant.head_dim_v;
  return 2.0 * static_cast<double>(multiply_adds_per_pair) *
         static_cast<double>(heads) *
         static_cast<double>(VisiblePairs(variant.mask, seqlen_q, seqlen_kv));
}

}  // namespace zyfa::bench
