#ifndef ZYFA_PEERS_FMHA_ARGUMENTS_H_
#define ZYFA_PEERS_FMHA_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

namespace zyfa::peers {

// One argument at the start of 16 bytes; the rest is padding.
template <class T>
struct alignas(16) Slot {
  T value{};
  uint8_t padding[16 - sizeof(T)] = {};
  Slot& operator=(T x) {
    value = x;
    return *this;
  }
};

// The argument block of fmha_v3_fwd and fmha_v4_fwd (cdna4-isa 6.2). Strides
// are in bytes.
struct FmhaArguments {
  Slot<uint64_t> output;  // BF16
  Slot<uint64_t> query;
  Slot<uint64_t> key;
  Slot<uint64_t> value;
  Slot<uint64_t> lse;  // float, natural logarithm
  Slot<float> softmax_scale;
  Slot<uint32_t> seqlen_q;  // of the longest sequence in group mode
  Slot<uint32_t> query_seq_stride;
  Slot<uint32_t> query_tile_stride;
  Slot<uint32_t> query_head_stride;
  Slot<uint32_t> query_batch_stride;
  Slot<uint32_t> head_ratio;
  Slot<uint32_t> key_seq_stride;
  Slot<uint32_t> key_head_stride;
  Slot<uint32_t> key_batch_stride;
  Slot<uint32_t> tuning;
  Slot<uint32_t> write_lse;  // 0 or 1
  Slot<uint32_t> seqlen_kv;
  Slot<uint32_t> head_dim_qk;
  Slot<uint32_t> head_dim_v;
  Slot<uint32_t> heads_q;
  Slot<uint32_t> value_seq_stride;
  Slot<uint32_t> value_head_stride;
  Slot<uint32_t> value_batch_stride;
  Slot<uint32_t> output_seq_stride;
  Slot<uint32_t> output_head_stride;
  Slot<uint32_t> output_batch_stride;
  // Group mode: int32[batch + 1], tokens before each sequence.
  Slot<uint64_t> query_starts;
  Slot<uint64_t> key_starts;
  Slot<uint32_t> lse_head_stride;
  // The same for the places in memory, where padding may lie between sequences.
  Slot<uint64_t> query_padded_starts;
  Slot<uint64_t> key_padded_starts;
  Slot<uint64_t> query_scale;
  Slot<uint64_t> key_scale;
  Slot<uint64_t> value_scale;
  Slot<uint32_t> query_scale_batch_stride;
  Slot<uint32_t> query_scale_head_stride;
  Slot<uint32_t> key_scale_batch_stride;
  Slot<uint32_t> key_scale_head_stride;
  Slot<uint32_t> value_scale_batch_stride;
  Slot<uint32_t> value_scale_head_stride;
};
static_assert(sizeof(FmhaArguments) == 656);

// The BF16 kernels of v3 take the block up to the scales only.
inline constexpr size_t kFmhaBf16ArgumentBytes =
    offsetof(FmhaArguments, query_scale);
static_assert(kFmhaBf16ArgumentBytes == 512);

// Tuning word that the launcher of v3 passes: 5, but 3 for a causal mask when
// the number of heads is no multiple of 8 or queries are longer than 16384
// (with 5 the kernel then leaves out tiles).
inline uint32_t FmhaTuning(bool causal, int64_t heads_q, int64_t seqlen_q) {
  return causal && (heads_q % 8 != 0 || seqlen_q > 16384) ? 3 : 5;
}

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_FMHA_ARGUMENTS_H_
