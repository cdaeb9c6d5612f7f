#ifndef ZYFA_BENCH_RUNG_H_
#define ZYFA_BENCH_RUNG_H_

#include "absl/strings/string_view.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// A rung of the ladder from FP8 to BF16 (docs/int8-scores.md): a kernel and
// what its inputs are made by.
struct Rung {
  absl::string_view name;
  DataType data_type;
  Probability probability;
  // Mean key removed, Q and K rotated.
  bool prepared;
  // Of a plain trip of the kernel's loop, per score, row maximum included.
  double vector_clocks_per_score;
  // Record.quantisation.
  absl::string_view quantisation;

  // The causal kernel, for head_dim_qk 128 or 192.
  Variant VariantFor(int head_dim_qk) const {
    return {.data_type = data_type,
            .head_dim_qk = head_dim_qk,
            .head_dim_v = 128,
            .mask = Mask::kCausal,
            .probability = probability};
  }
};

// Vector clocks: those of phase vector_plain_1_of_0 of the generated text, 4 an
// instruction and 8 an exponential, but for the few a tile. FP8
// (docs/schedule.md): 2 for the maximum, lean 4 + 2, exact 8 + 2. INT8: half a
// v_max3_i32, half a v_ashr_pk_u8_i32, with multipliers a v_mad_i32_i24. 0: not
// counted.
inline constexpr Rung kRungs[] = {
    {"FP8 lean, as is", DataType::kFp8, Probability::kLean, false, 8,
     "e4m3: Q and K a power of two a head with the softmax scale in Q's, V a "
     "scale a head"},
    {"FP8 exact", DataType::kFp8, Probability::kExact, true, 12,
     "mean key removed, Q and K rotated; e4m3: Q and K a power of two a head "
     "with the softmax scale in Q's, V a scale a head"},
    {"FP8 lean", DataType::kFp8, Probability::kLean, true, 8,
     "mean key removed, Q and K rotated; e4m3: Q and K a power of two a head "
     "with the softmax scale in Q's, V a scale a head"},
    {"INT8 shift", DataType::kInt8, Probability::kShift, true, 4,
     "mean key removed, Q and K rotated; int8: Q a power of two a row, K a "
     "scale a head; V e4m3, a scale a head"},
    {"INT8 multiplier", DataType::kInt8, Probability::kMultiply, true, 8,
     "mean key removed, Q and K rotated; int8: Q a power of two a row, K a "
     "scale a head and a multiplier a token; V e4m3, a scale a head"},
    {"BF16", DataType::kBf16, Probability::kExact, false, 0, "none"},
};

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_RUNG_H_
