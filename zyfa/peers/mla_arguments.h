#ifndef ZYFA_PEERS_MLA_ARGUMENTS_H_
#define ZYFA_PEERS_MLA_ARGUMENTS_H_

#include <cstdint>

#include "zyfa/peers/fmha_arguments.h"

namespace zyfa::peers {

// The argument block of mla_pfl_qh192_vh128 (cdna4-isa 6.2). Query
// [tokens][heads][192], key and value [page][heads][192 or 128] with one token
// a page, output BF16 [tokens][heads][128].
struct MlaPsArguments {
  Slot<uint64_t> query;
  Slot<uint64_t> key;
  Slot<uint64_t> value;
  Slot<uint64_t> output;
  Slot<uint64_t> partial_output;  // float [row][heads][128]
  Slot<uint64_t> partial_lse;     // float [row][heads]
  Slot<uint64_t> work_starts;     // int32[work-groups + 1], rows of work_items
  Slot<uint64_t> work_items;      // MlaWork[]
  Slot<uint64_t> query_starts;    // int32[batch + 1], tokens
  Slot<uint64_t> key_starts;      // int32[batch + 1], entries of key_pages
  Slot<uint64_t> key_pages;       // int32[], page of each key token
  Slot<uint64_t> query_scale;     // one float each
  Slot<uint64_t> key_scale;
  Slot<uint64_t> value_scale;
  Slot<float> softmax_scale;
  Slot<uint32_t> query_tokens;
  Slot<uint32_t> heads_q;
  Slot<uint32_t> pages;
  Slot<uint32_t> used_pages;
};
static_assert(sizeof(MlaPsArguments) == 304);

// One query tile of one range of heads against one range of keys.
struct MlaWork {
  int32_t batch = 0;
  int32_t partial_row = -1;  // -1: the output itself
  int32_t query_start = 0;   // tokens, counted over all sequences
  int32_t query_end = 0;
  int32_t key_start = 0;  // entries of key_pages
  int32_t key_end = 0;
  int32_t key_offset = 0;  // keys of the tile's sequence behind key_end, split
  int32_t heads = 0;       // first | end << 16
};
static_assert(sizeof(MlaWork) == 32);

// The argument block of mla_pfl_bf16_a16w16: query [tokens][heads][576], one
// latent vector of 576 a key token for all heads, whose first 512 are the
// value.
struct MlaPagedArguments {
  Slot<uint64_t> output;  // BF16 [tokens][heads][512]
  Slot<uint64_t> lse;     // float [tokens][heads]
  Slot<uint64_t> query;
  Slot<uint64_t> key_value;       // [page][page tokens][576]
  Slot<uint64_t> key_starts;      // int32[batch + 1], entries of key_pages
  Slot<uint64_t> key_pages;       // int32[]
  Slot<uint64_t> last_page_keys;  // int32[batch]
  Slot<float> softmax_scale;
  Slot<uint32_t> head_ratio;
  Slot<uint32_t> key_splits;
  Slot<uint32_t> query_token_stride;  // bytes
  Slot<uint32_t> page_stride;         // bytes
  Slot<uint32_t> page_tokens_log2;
  Slot<uint64_t> query_starts;  // int32[batch + 1]
};
static_assert(sizeof(MlaPagedArguments) == 224);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_MLA_ARGUMENTS_H_
