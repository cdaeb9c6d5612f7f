#ifndef ZYFA_BENCH_AITER_PEER_H_
#define ZYFA_BENCH_AITER_PEER_H_

#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// AITER's kernel for the same shapes, mask and formats, with one scale a
// tensor for FP8: of fmha_v3_fwd or, without a mask, of fmha_v4_fwd; of mla for
// FP8 with head dim 192. nullptr: there is none.
const peers::AiterKernel* PeerOf(const Variant& variant);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_AITER_PEER_H_
