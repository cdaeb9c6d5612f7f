#ifndef ZYFA_LAUNCH_ATTENTION_PARAMS_H_
#define ZYFA_LAUNCH_ATTENTION_PARAMS_H_

#include <optional>
#include <string>

#include "zyfa/launch/tensor.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// One attention call: output = softmax(scale * query key^T, masked) value, for
// every batch and query head; query head h uses KV head h / (heads_q /
// heads_kv).
//
// Sizes follow from the views:
//   query  [batch, seqlen_q,  heads_q,  head_dim_qk]
//   key    [batch, seqlen_kv, heads_kv, head_dim_qk]
//   value  [batch, seqlen_kv, heads_kv, head_dim_v]
//   output [batch, seqlen_q,  heads_q,  head_dim_v]
//   lse    [batch, heads_q, seqlen_q], if wanted
//
// Query, key and value are all bf16, or all FP8 (OCP e4m3), or query and key
// are INT8 and value is FP8. FP8 ones stand for real numbers, element *
// descale; the output is bf16 or, of FP8 values only, FP8, which then is
// e4m3(real number * output_scale), saturated.
//
// INT8 ones make scores: of a row with shift n and a key with multiplier m,
// query . key * m * 2^-(n + 3) ln 2, which scale and mask above take as they
// are. Their quantiser (docs/quantiser.md) has put the softmax scale and what
// elements stand for into them:
//   query_shift     u8 [batch, heads_q, seqlen_q]; rows where it is above 20
//                   are NaN, lse included, if they see a key
//   key_multiplier  u32 [batch, heads_kv, seqlen_kv], 1 to 255; without it all
//                   are 1, and another kernel runs
//
// Rules, all checked before anything is launched:
// - head dims 128/128 or 192/128 (what the linked kernels offer);
//   heads_q % heads_kv == 0, heads_q <= 65536; lengths 0 .. 2^31 - 513;
// - addresses and strides in use are multiples of 16 bytes (lse: 4),
//   strides are not negative, sequence strides are below 2^25 bytes, and every
//   tensor ends below address 2^48;
// - output and lse: rows do not overlap (taken by growing stride,
//   each dimension steps over all that the ones before it cover), and the bytes
//   from the first to the last of each touch no other tensor. Query, key and
//   value may overlap each other and have strides of 0;
// - any finite softmax scale, zero and negative ones included; none with INT8;
// - query_shift and key_multiplier: of INT8 inputs only, the former always.
//   Addresses and strides in use are multiples of an element, strides not
//   negative, every tensor ends below address 2^48. Their values are not looked
//   at: a multiplier above 255 may make a row NaN or wrong, one of 0 makes
//   scores 0;
// - descales and output scale: only where they have a meaning (FP8 inputs, of
//   INT8 ones the value's, FP8 output). Any finite number, or a tensor of such
//   numbers, which are not looked at; zero, denormal and negative ones
//   included. A tensor has 1 batch entry or `batch`, and 1 head or heads_kv,
//   query_descale also heads_q (where the two are one number, there is no
//   difference); output_scale has one element. Addresses and strides in use are
//   multiples of 4, strides not negative, and the tensor ends 2^32 bytes behind
//   its start at most. They may overlap each other and the inputs.
// No rows (batch, heads_q or seqlen_q of 0) is valid and does nothing. Rows
// that see no key (seqlen_kv of 0, or above a causal diagonal) get output 0 and
// lse -infinity. Masked keys have weight 0, but a weight of 0 times a NaN or an
// infinity of V is a NaN: values must be finite also where a row does not see
// them. FP8: a NaN of Q makes its row NaN, one of K the rows that see it.
// FP8: the LSE is right while |softmax_scale * query_descale * key_descale| is
// below 2^59; kernels take larger products for 2^60 / log2 e, at which all
// weight is on the largest score.
struct AttentionParams {
  TensorView query;
  TensorView key;
  TensorView value;
  TensorView output;
  std::optional<LseView> lse;
  // 1 / sqrt(head_dim_qk) if not given.
  std::optional<float> softmax_scale;
  Mask mask = Mask::kCausal;
  // Name of the kernel to use; empty: the one for this type, head dims and
  // mask. Of FP8 kernels, lean P for head dim 128 and exact P for 192/128; of
  // INT8 kernels, the one with or without multipliers.
  std::string variant;
  // 1 if not given.
  std::optional<Scale> query_descale;
  std::optional<Scale> key_descale;
  std::optional<Scale> value_descale;
  std::optional<Scale> output_scale;
  std::optional<TokenView> query_shift;
  std::optional<TokenView> key_multiplier;
};

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_ATTENTION_PARAMS_H_
