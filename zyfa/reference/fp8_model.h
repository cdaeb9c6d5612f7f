#ifndef ZYFA_REFERENCE_FP8_MODEL_H_
#define ZYFA_REFERENCE_FP8_MODEL_H_

#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "zyfa/reference/fp8_scales.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/variant.h"

namespace zyfa::reference {

// What one row did with one tile of keys.
struct Fp8Tile {
  int64_t batch;
  int64_t head;
  int64_t position;   // of the query
  int64_t first_key;  // a multiple of kKeyTile
  float distance;     // of the largest score from m, raw; in a row's first tile
                      // from 0
  float slack;        // a larger distance moves m; -Inf in a row's first tile
  bool moved;         // m
  float reference;    // m, a raw score, after the move
  int exponent;       // e
  std::span<const uint8_t> codes;  // e4m3, of the visible keys
};

struct Fp8ModelOptions {
  Probability probability = Probability::kLean;
  // Lean P: the code of the maximum plus half a code: [64.5, 126.875].
  float lean_top = 126.5f;
  Fp8Descale query_descale = nullptr;  // not set: 1
  Fp8Descale key_descale = nullptr;
  Fp8Descale value_descale = nullptr;
  Fp8Output output = Fp8Output::kBf16;
  float output_scale = 1.0f;  // for kE4m3; finite

  // ---- What the kernels have fixed ----
  // Exact P: the matrix core subtracts the reference: -m is the first addend of
  // a score's sum.
  bool subtract_in_product = true;
  // The reference moves to a new maximum that exceeds it by more than
  // max(lazy_binades, log2(weight of the row so far, in units of the
  // reference's own, * move_share)) binades. Both 0: to every new maximum.
  float move_share = kMoveShare;  // 0 .. 1
  float lazy_binades = 0.0f;      // 0 .. 64
  // Codes are relative to the power of two above the tile's maximum, else to
  // the reference alone.
  bool block_maximum = true;
  // The sum of the decoded codes divides the output, else that of the weights
  // before they became codes.
  bool rounded_sum = true;
  // Exact P: that power of two gets the code of 2^headroom: 0 .. 8.
  int headroom = 8;
  // c m is rounded up to an integer, so that no code depends on where in a
  // binade the maximum lies.
  bool integer_reference = false;

  // Called for each row and tile, a row's tiles in order, from several threads
  // at once.
  std::function<void(const Fp8Tile&)> on_tile = nullptr;
  AttentionOptions attention = {};
};

// The numeric model of the FP8 kernels, one rounding for each of theirs. Q, K
// and V must be finite e4m3. For each batch entry and head, in float32,
//
//   s = softmax_scale * 1.44269504f * query_descale * key_descale
//   c = |s|, clamped to [2^-50, 2^60]; Q is negated for a negative s
//
// and for each row and tile of kKeyTile keys,
//
//   S = Q K^T    exact sums over 64 channels after another, each with what came
//                before rounded to float32 once (MatrixModel::kExact)
//   M            largest S of the tile's visible keys
//   m            reference, a raw score: moves to M if there is none, or if M -
//                m > max(0, log2(l * (kMoveShare / unit))) * (1/c); then l and
//                O are multiplied by 2^-(c (M - m))
//   x(S)         lean: c S - c m in one fused step after c m was rounded, but
//                c (S - m) in careful rows, those with |c m| >= 2^12
//                exact: c z, where z = S - m by sums that start from -m; S - m
//                in careful rows. In a tile that moves m by d (M of such sums),
//                d is subtracted from z, and m becomes m + d
//   e            max(x(M) + r, -110) rounded to the nearest integer, of two to
//                the odd one. r is 15/32 for lean P, where r - c m is rounded
//                first, and 0 for exact P
//   code         lean: floor(lean_top + 8 (x - e)) in 0 .. 255, after
//                lean_top - 8 (c m + e), less c m in careful rows, and then the
//                sum were rounded to 1/256 of a code, nearest even
//                exact: e4m3(2^x * 2^(8-e)), nearest even, saturated; 2^x is
//                rounded to float32 and is 0 below 2^-126
//   l += 2^(e-8) * sum of decoded codes,  O += 2^(e-8) * codes V, as S above
//
//   output = O * (value_descale * (1/l))
//   lse = (c m + log2(l * (1/unit))) * ln 2, c m + log2 in one fused step
//
// `unit` is what the code of the reference itself adds to l: 1.75 for lean P
// and 1 for exact P. Without subtract_in_product, and with integer_reference,
// exact P has the x of lean P.
//
// Output and lse hold float32 values or those of the output format.
// InvalidArgument as Validate(), for inputs that are not e4m3 and for options
// out of range.
absl::StatusOr<AttentionResult> Fp8Attention(
    const AttentionProblem& problem, const TensorView& query,
    const TensorView& key, const TensorView& value,
    const Fp8ModelOptions& options = {});

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_FP8_MODEL_H_
