#ifndef ZYFA_VARIANT_ATTENTION_ARGS_H_
#define ZYFA_VARIANT_ATTENTION_ARGS_H_

#include <cstddef>
#include <cstdint>

namespace zyfa {

// Kernel-argument block of the BF16 attention kernels, as it lies in the
// kernarg segment (little endian, no padding). The generator takes offsets from
// here and the launcher fills it in, after all checks.
//
// All strides are in bytes; the last dimension is contiguous. Grid:
// x = query head, y = query tiles (pairs of tiles when causal), z = batch.
struct AttentionArgs {
  uint64_t query;   // bf16 [batch][seqlen_q][heads_q][head_dim_qk], by strides
  uint64_t key;     // bf16 [batch][seqlen_kv][heads_kv][head_dim_qk]
  uint64_t value;   // bf16 [batch][seqlen_kv][heads_kv][head_dim_v]
  uint64_t output;  // bf16 [batch][seqlen_q][heads_q][head_dim_v]
  uint64_t lse;  // f32 [batch][heads_q][seqlen_q], natural log; 0 = not wanted
  uint64_t query_batch_stride;
  uint64_t query_head_stride;
  uint64_t key_batch_stride;
  uint64_t key_head_stride;
  uint64_t value_batch_stride;
  uint64_t value_head_stride;
  uint64_t output_batch_stride;
  uint64_t output_head_stride;
  uint64_t lse_batch_stride;
  uint64_t lse_head_stride;
  uint32_t query_seq_stride;
  uint32_t key_seq_stride;
  uint32_t value_seq_stride;
  uint32_t output_seq_stride;
  uint32_t seqlen_q;
  uint32_t seqlen_kv;
  uint32_t query_tiles;  // ceil(seqlen_q / kQueryTile)
  // floor(2^32 / ratio) + 1, ratio = heads_q / heads_kv: the KV head of a query
  // head is mulhi(head, this), exact for heads below 2^16. 0 if the ratio is 1.
  uint32_t kv_head_multiplier;
  uint32_t negate_query;  // 0x80008000 for a negative softmax scale, else 0
  float scale_log2e;      // |softmax scale| * log2(e), clamped to normal floats
  float scale;            // |softmax scale| but at least FLT_MIN, for the LSE
  float rescale_threshold;  // kRescaleBinades / scale_log2e
};

// Rows of Q that one work-group handles at a time: 8 waves of 32 rows.
inline constexpr int kQueryTile = 256;
inline constexpr int kWavesPerGroup = 8;
inline constexpr int kThreadsPerGroup = 64 * kWavesPerGroup;
// Keys per step of the main loop.
inline constexpr int kKeyTile = 64;
// The running maximum of a row moves only when a score exceeds it by more than
// this many binades; bf16 probabilities and fp32 sums have ample range for
// that.
inline constexpr float kRescaleBinades = 8.0f;

static_assert(sizeof(AttentionArgs) == 168);
static_assert(offsetof(AttentionArgs, query_seq_stride) == 120);
static_assert(offsetof(AttentionArgs, rescale_threshold) == 164);

}  // namespace zyfa

#endif  // ZYFA_VARIANT_ATTENTION_ARGS_H_
