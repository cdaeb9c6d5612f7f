#ifndef ZYFA_BENCH_CONTENDER_H_
#define ZYFA_BENCH_CONTENDER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/bench/layer_runs.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// What the accuracy laboratory compares: a kernel's arithmetic and how its
// inputs are made.
struct Contender {
  absl::string_view name;
  Arithmetic arithmetic;
  Preparation preparation;
};

inline constexpr Preparation kFp8Prepared = Prepared(DataType::kFp8);
inline constexpr Preparation kFp8AsIs = {.data_type = DataType::kFp8};
inline constexpr Preparation kInt8Shift = Prepared(DataType::kInt8);
inline constexpr Preparation kInt8Multiply =
    Prepared(DataType::kInt8, ScalesOf::kToken);

inline constexpr Contender kContenders[] = {
    {"FP8 lean", Arithmetic::kLean, kFp8Prepared},
    {"FP8 exact", Arithmetic::kExact, kFp8Prepared},
    {"FP8 lean, integer maximum", Arithmetic::kLeanInteger, kFp8Prepared},
    {"FP8 exact, integer maximum", Arithmetic::kExactInteger, kFp8Prepared},
    {"AITER-like", Arithmetic::kAiterLike, kFp8Prepared},
    {"CK-like", Arithmetic::kCkLike, kFp8Prepared},
    {"FP8 lean, as is", Arithmetic::kLean, kFp8AsIs},
    {"FP8 exact, as is", Arithmetic::kExact, kFp8AsIs},
    {"AITER-like, as is", Arithmetic::kAiterLike, kFp8AsIs},
    {"CK-like, as is", Arithmetic::kCkLike, kFp8AsIs},
    {"INT8 shift", Arithmetic::kInt8, kInt8Shift},
    {"INT8 multiplier", Arithmetic::kInt8, kInt8Multiply},
    {"BF16", Arithmetic::kBf16, {}},
};

// Record.variant: our kernel's name, or what stands for another kernel.
std::string VariantOf(const Contender& contender, int head_dim_qk);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_CONTENDER_H_
