#ifndef ZYFA_VARIANT_QUANTIZE_ARGS_H_
#define ZYFA_VARIANT_QUANTIZE_ARGS_H_

#include <cstddef>
#include <cstdint>

namespace zyfa {

// Kernel-argument block of all kernels of the quantiser (docs/quantiser.md), as
// it lies in the kernarg segment (little endian, no padding). Fields that a
// kernel has no use for are 0.
//
// All strides are in bytes. A chunk is `chunk_rows` tokens of a head, the last
// one what is left. Work-groups have 256 work-items, but those of quantize_mean
// head_dim. Grids:
//   sum, max, head, token, keys_int8, queries_int8:
//                       x = head, y = chunk, z = batch
//   mean:               x = head, z = batch
//   scale, scale_int8:  x = scale
struct QuantizeArgs {
  uint64_t input;   // bf16 [batch][seqlen][heads][head_dim], by strides
  uint64_t output;  // e4m3 or int8, the same sizes
  // f32 [batch][heads][head_dim], by strides: what `mean` writes; what is
  // subtracted from the input or, of keys, what queries are multiplied with.
  uint64_t mean;
  uint64_t sums;    // f32 [batch][heads][chunks][head_dim], dense
  uint64_t maxima;  // u32, bits of the largest |x| of a chunk; by strides
  // f32: code = e4m3(x * multiplier), or descales (kQuantizeCalibrated); by
  // scale strides.
  uint64_t multiplier;
  // f32: x = code * descale; `token`: [batch][heads][seqlen]; `queries_int8`:
  // the keys'.
  uint64_t descale;
  uint64_t lse_correction;  // f32 [batch][heads][seqlen], by strides
  // [batch][heads][seqlen], by strides: u32 multipliers of `keys_int8`, u8
  // shifts of `queries_int8`.
  uint64_t tokens;
  uint64_t input_batch_stride;
  uint64_t input_head_stride;
  uint64_t output_batch_stride;
  uint64_t output_head_stride;
  uint64_t mean_batch_stride;
  uint64_t mean_head_stride;
  uint64_t maxima_batch_stride;
  uint64_t maxima_head_stride;
  // Of multiplier; of the descale of `token`, `keys_int8` and `queries_int8`.
  uint64_t scale_batch_stride;
  uint64_t scale_head_stride;
  uint64_t lse_batch_stride;
  uint64_t lse_head_stride;
  uint64_t tokens_batch_stride;
  uint64_t tokens_head_stride;
  uint32_t input_seq_stride;
  uint32_t output_seq_stride;
  uint32_t seqlen;
  uint32_t chunk_rows;  // multiple of kQuantizeStepRows
  uint32_t chunks;
  uint32_t maxima_per_scale;
  uint32_t flags;  // QuantizeFlags
  // As AttentionArgs::kv_head_multiplier: the keys' head of a query's, for
  // `mean` and the descale of `queries_int8`.
  uint32_t kv_head_multiplier;
  float inverse_seqlen;
  float softmax_scale;
  // Descales are unit * 2^n (kQuantizeUnit), or else unit is 1 and matters only
  // where all is zero.
  float unit;
  float inverse_unit;
  // 2^23 - 1 minus the bits of 448 * unit: added to the bits of a maximum and
  // shifted by 23 it is n.
  uint32_t ceiling;
  uint32_t head_dim;
  uint32_t heads;
  // score_mantissa * 2^score_exponent = 8 log2(e) softmax scale, of keys with
  // multipliers / 255.
  float score_mantissa;
  int32_t score_exponent;
  uint32_t reserved;
};

// 1 / descale is this / (descale times this): a quotient that kernels round
// correctly.
inline constexpr float kQuantizeReciprocalFactor = 7.0f;

enum QuantizeFlags : uint32_t {
  kQuantizeRotate = 1,
  kQuantizeSubtractMean = 2,
  kQuantizeCorrectLse = 4,
  kQuantizeUnit = 8,
  kQuantizeTokenMultipliers = 16,
  kQuantizeCalibrated = 32,
};

// Tokens that a work-group takes at a time.
inline constexpr int kQuantizeStepRows = 64;
inline constexpr int kQuantizeThreads = 256;
// A maximum below this counts as this: the scales stay normal numbers.
inline constexpr float kQuantizeSmallestMaximum = 0x1p-100f;
// Descales that a pass is given count as NaN below the one and from the other
// on; those that a pass finds are inside.
inline constexpr float kQuantizeSmallestDescale = 0x1p-110f;
inline constexpr float kQuantizeDescaleLimit = 0x1p122f;

// int8: codes are -127 .. 127.
inline constexpr float kQuantizeInt8Largest = 127.0f;
// What the largest number of a query's row may come to before it is rounded.
inline constexpr float kQuantizeInt8QueryLargest = 127.49f;
// Shifts of queries; that of a row which means nothing.
inline constexpr int kQuantizeMostShift = 20;
inline constexpr int kQuantizeBadShift = 255;
// Multipliers of tokens of keys are 1 .. 255.
inline constexpr int kQuantizeMostTokenMultiplier = 255;

static_assert(sizeof(QuantizeArgs) == 256);
static_assert(offsetof(QuantizeArgs, input_seq_stride) == 184);

}  // namespace zyfa

#endif  // ZYFA_VARIANT_QUANTIZE_ARGS_H_
