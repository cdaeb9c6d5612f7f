#ifndef ZYFA_REFERENCE_INT8_MODEL_H_
#define ZYFA_REFERENCE_INT8_MODEL_H_

#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "zyfa/reference/fp8_scales.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::reference {

// s of a row: 2^s units of score are 1/8 binade. Above kInt8LargestShift the
// row is NaN. Called from several threads at once.
using Int8Shift =
    std::function<uint8_t(int64_t batch, int64_t query_head, int64_t position)>;
// m of a key: 1 .. 255. Called before any work, on one thread.
using Int8Multiplier =
    std::function<uint32_t(int64_t batch, int64_t kv_head, int64_t key)>;

// What one row did with one tile of keys.
struct Int8Tile {
  int64_t batch;
  int64_t head;
  int64_t position;                // of the query
  int64_t first_key;               // a multiple of kKeyTile
  bool moved;                      // the maximum became the base
  int32_t rise;                    // D, 0 if none
  int exponent;                    // e of the codes
  int32_t addend;                  // C of the codes
  int32_t fall;                    // F behind the tile, 0 if none
  std::span<const uint8_t> codes;  // e4m3, of the visible keys
};

struct Int8ModelOptions {
  Int8Shift shift = nullptr;            // must be set
  Int8Multiplier multiplier = nullptr;  // not set: the shift form
  Fp8Descale value_descale = nullptr;   // not set: 1
  Fp8Output output = Fp8Output::kBf16;
  float output_scale = 1.0f;  // for kE4m3; finite
  // probe_keys 0 .. 2048, start, least_distance and start_of_move 0 .. 16,
  // floor 0 .. 100, overshoot 0 .. 8, slack 0 .. 64, move_share 0 .. 2^40,
  // period from 0.
  Int8Rule rule = {};

  // Called for each row with a valid shift and each tile, a row's tiles in
  // order, from several threads at once.
  std::function<void(const Int8Tile&)> on_tile = nullptr;
  AttentionOptions attention = {};
};

// The numeric model of the INT8 kernels (int8-qk 1, 2.3 and 5), exact in every
// bit: Q and K are int8, V is finite e4m3. The softmax scale, its sign, log2(e)
// and K's scale are in Q's codes and shift; problem.softmax_scale does not
// matter. All integers are int32 and do not overflow. For each row
//
//   b = s + 3                    y * 2^-b are binades
//   top = 127 << s,  C0 = (253 << s) >> 1
//
//   Md = max y                   of the rule's probe, else of tile 0
//   distance                     log2(l * (move_share / 1.75)), at least 0 and
//                                at most 60, times 2^b, in float32, rounded
//                                towards 0; l without the tile
//   limit                        min(top - 1, C0 - (e << b) + distance), with
//                                the distance of the last tile that was beyond
//                                the limit or had a fall behind it
//
// and for each tile of kKeyTile keys, in ascending order, visible keys alone:
//
//   y = S                        S = Q K^T, exact
//   y = S * m                    multiplier form
//   tile 0                       M = max(Md, max y), e = 0
//   C = C0 - M - (e << b)
//   z = y + C,  Z = max z
//   if Z > limit, from tile 1 on
//     X = Z - C0 + (e << b)      how far Z is above M
//     if X > distance            M += X; l and O *= 2^-(X * 2^-b), a float32;
//                                e = start_of_move; distance = 0;
//                                lowest = max(lowest - (X >> b), -100);
//     else if Z >= top           D = ((Z - top) >> b) + 1 + overshoot; e += D
//     z, Z and C change with M and e
//   code = clamp(z >> s, 0, 255) never above 126
//   O += 2^(e-8) * codes V       exact sum, with O rounded to float32 once
//   behind tile 0                level = -((M - Md) >> b);
//                                lowest = max(level - floor, -100);
//                                e = max(level + start, -100);
//                                distance = least_distance << b;
//                                recent = none
//   behind all others            recent = max(recent, Z), of Z alone if M or e
//                                changed
//     fall, if the rule says so  F = ((top - 1 - recent) >> b) - slack, at
//                                least 0 and at most max(0, e - lowest);
//                                e -= F; recent = none; a new distance
//   l = fma(sum, 2^(e-8), l)     of the decoded codes, with the e they had
//
//   output = O * (value_descale * (1/l))
//   lse = fma(M, 2^-b, log2(l * (1/1.75))) * ln 2, M in float32
//
// A row that sees no key is 0, its lse -Inf, whatever its shift.
//
// Output and lse hold float32 values or those of the output format.
// InvalidArgument as Validate(), for other element types, for head_dim_qk above
// 192, where sums could overflow, and for options out of range.
absl::StatusOr<AttentionResult> Int8Attention(const AttentionProblem& problem,
                                              const TensorView& query,
                                              const TensorView& key,
                                              const TensorView& value,
                                              const Int8ModelOptions& options);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_INT8_MODEL_H_
