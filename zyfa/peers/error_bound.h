#ifndef ZYFA_PEERS_ERROR_BOUND_H_
#define ZYFA_PEERS_ERROR_BOUND_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"

namespace zyfa::peers {

// The largest absolute error that cdna4-isa 6.5 gives for kernels of this kind
// (another functional model, other random numbers); fmha_v4 with FP6 or FP4 is
// taken like FP8, as its probabilities have the same precision and the formats
// of Q, K and V do not count (the comparison is with their exact values). None
// for kernels and shapes that it did not run: fewer keys average out less.
std::optional<double> PublishedError(const AiterKernel& kernel,
                                     const AiterProblem& problem);

// Room for other random numbers than those of 6.5.
inline constexpr double kPublishedErrorRoom = 1.6;

// Of LSE, relative to max(1, |lse|).
double LseErrorBound(const AiterKernel& kernel);

// How far the kernel's probability may be from exp2(-octaves), that is from one
// `octaves` below the largest of its row, as a part of the largest:
//   BF16 P: half a unit of the last place, 2^-8 of itself.
//   E4M3 P from v_exp_f32: 2^-4 of itself, 2^-10 (half the smallest) at least.
//   E4M3 P of fmha_v4 with FP8 and INT8 Q, and in part of fmha_v3 with head dim
//     256: the exponential is a linear function
//     of the float's bits (3.1 % off at most, once centred), then the same.
//   E4M3 P of fmha_v4 with FP6 and FP4 Q: its code is a linear function,
//     55.5 - 8 octaves, clamped to 0; E4M3 has 7 * 8 codes down to 2^-6 and
//     falls off faster below.
double ProbabilityError(const AiterKernel& kernel, double octaves);

// Bounds |computed - exact| of one output row. weights: exp(logit - largest) of
// the visible keys; column d of key j is
// values[j * value_stride + d]; `exact` is the row. With
// |p'_j - p_j| <= e_j, both for the sum and for the row sum that divides it,
//   sum_j e_j (|v_jd| + |o_d|) / sum_j (p_j - e_j), and 2^-8 |o_d| for the
//   sum's
// rounding and that of the output to BF16.
std::vector<double> RowErrorBound(const AiterKernel& kernel,
                                  absl::Span<const double> weights,
                                  const double* values, int64_t value_stride,
                                  absl::Span<const double> exact);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_ERROR_BOUND_H_
