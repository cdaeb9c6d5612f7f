#ifndef ZYFA_VARIANT_ATTENTION_ARGS_H_
#define ZYFA_VARIANT_ATTENTION_ARGS_H_

#include <cstddef>
#include <cstdint>

namespace zyfa {

// Kernel-argument block of the attention kernels, as it lies in the kernarg
// segment (little endian, no padding). The generator takes offsets from here
// and the launcher fills it in, after all checks.
//
// All strides are in bytes; the last dimension is contiguous. Grid of the BF16
// kernels: x = query head, y = query tiles (pairs of tiles when causal),
// z = batch. Of the FP8 kernels: x = `groups` persistent work-groups, which
// share out the items (query tiles of a head of a batch entry) as
// item_order.h says; INT8 kernels do so as well. "element" below is bf16, e4m3
// or, of Q and K only, int8.
struct AttentionArgs {
  uint64_t
      query;     // element [batch][seqlen_q][heads_q][head_dim_qk], by strides
  uint64_t key;  // element [batch][seqlen_kv][heads_kv][head_dim_qk]
  uint64_t value;   // element [batch][seqlen_kv][heads_kv][head_dim_v]
  uint64_t output;  // bf16, or e4m3, [batch][seqlen_q][heads_q][head_dim_v]
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

  // ---- BF16 kernels; 0 for others ----
  uint32_t negate_query;  // 0x80008000 for a negative softmax scale, else 0
  float scale_log2e;      // |softmax scale| * log2(e), clamped to normal floats
  float scale;            // |softmax scale| but at least FLT_MIN, for the LSE
  float rescale_threshold;  // kRescaleBinades / scale_log2e

  // ---- FP8 and INT8 kernels; 0 for others ----
  // Addresses of float32 scales: real value = e4m3 value * descale. 0: the
  // number below, for all of the tensor. Q's head index is that of the query
  // head, or of the KV head with kQueryDescaleByKvHead. INT8 kernels know
  // nothing of Q's and K's.
  uint64_t query_descale;
  uint64_t key_descale;
  uint64_t value_descale;
  uint64_t output_scale;  // of one float32: e4m3 output = real value * scale
  uint32_t query_descale_batch_stride;  // bytes; 0 for one scale for all
  uint32_t query_descale_head_stride;
  uint32_t key_descale_batch_stride;
  uint32_t key_descale_head_stride;
  uint32_t value_descale_batch_stride;
  uint32_t value_descale_head_stride;
  float query_descale_value;
  float key_descale_value;
  float value_descale_value;
  float output_scale_value;
  float softmax_scale;  // any finite number; INT8 kernels do not look at it
  // Lean P: what is added to 8 (x - max), in codes, so that the conversion of 0
  // gives code 126 with half a code to spare on both sides: 126.5 for one that
  // rounds down. Found by the device's probe.
  float lean_top;
  uint32_t flags;    // AttentionFlags
  uint32_t heads_q;  // of a batch entry
  uint32_t columns;  // heads_q * batch
  uint32_t items;    // query_tiles * columns, below 2^31
  uint32_t groups;   // grid: `items` if fewer than compute units or than 8,
                     // else a multiple of 8
  // For numbers n below 2^31: n / columns = mulhi(2 n, columns_multiplier) >>
  // columns_shift, and n / heads_q likewise. SetItems() makes them.
  uint32_t columns_multiplier;
  uint32_t columns_shift;
  uint32_t heads_multiplier;
  uint32_t heads_shift;
  uint32_t reserved;

  // ---- INT8 kernels; 0 for others ----
  // Score * 2^-(shift + 3) is in binades: of each row of Q, 0 to
  // kInt8LargestShift. Rows with any other one are NaN.
  uint64_t query_shift;  // u8 [batch][heads_q][seqlen_q], by strides
  uint64_t query_shift_batch_stride;
  uint64_t query_shift_head_stride;
  // Multiplier form: what a key's scores are multiplied by, 1 to 255.
  uint64_t key_multiplier;  // u32 [batch][heads_kv][seqlen_kv], by strides
  uint64_t key_multiplier_batch_stride;
  uint64_t key_multiplier_head_stride;
};

enum AttentionFlags : uint32_t {
  kOutputFp8 = 1,
  kQueryDescaleByKvHead = 2,
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
// FP8: it moves when the new maximum would weigh more than this share of the
// row's sum so far.
inline constexpr float kMoveShare = 0.25f;

static_assert(sizeof(AttentionArgs) == 336);
static_assert(offsetof(AttentionArgs, query_descale) == 168);
static_assert(offsetof(AttentionArgs, query_seq_stride) == 120);
static_assert(offsetof(AttentionArgs, rescale_threshold) == 164);

}  // namespace zyfa

#endif  // ZYFA_VARIANT_ATTENTION_ARGS_H_
