#include "zyfa/bench/head_model.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/reference/bf16_model.h"
#include "zyfa/reference/fp8_model.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/reference/published_fp8.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;
using numerics::E4m3;
using reference::AttentionResult;

template <typename T>
const std::vector<T>& As(const Elements& elements) {
  return std::get<std::vector<T>>(elements.values);
}

reference::Fp8ModelOptions Fp8Options(Arithmetic arithmetic) {
  reference::Fp8ModelOptions options;
  switch (arithmetic) {
    case Arithmetic::kAiterLike:
      return reference::AiterLikeFp8();
    case Arithmetic::kCkLike:
      return reference::CkLikeFp8();
    case Arithmetic::kLeanInteger:
      return reference::IntegerMaximumFp8(Probability::kLean);
    case Arithmetic::kExactInteger:
      return reference::IntegerMaximumFp8(Probability::kExact);
    case Arithmetic::kExact:
      options.probability = Probability::kExact;
      break;
    default:
      break;
  }
  return options;
}

absl::StatusOr<AttentionResult> RunBf16(
    const Inputs& in, const reference::AttentionProblem& problem,
    const reference::Bf16ModelOptions& options) {
  const auto view = [&](const Elements& elements, int64_t dim) {
    return reference::TensorView::Dense(As<Bf16>(elements).data(),
                                        problem.seqlen_kv, 1, dim);
  };
  return reference::Bf16Attention(problem, view(in.query, problem.head_dim_qk),
                                  view(in.key, problem.head_dim_qk),
                                  view(in.value, problem.head_dim_v), options);
}

}  // namespace

absl::StatusOr<AttentionResult> RunHeadModel(
    Arithmetic arithmetic, const Inputs& in,
    const reference::AttentionProblem& problem,
    const reference::AttentionOptions& attention,
    const std::function<void(const reference::Int8Tile&)>& on_tile) {
  switch (arithmetic) {
    case Arithmetic::kBf16:
      return RunBf16(in, problem,
                     {.rescale_binades = kRescaleBinades,
                      .round_output = false,
                      .attention = attention});
    case Arithmetic::kOtherBf16:
      return RunBf16(in, problem,
                     {.key_tile = 128,
                      .rescale_binades = 0,
                      .round_output = false,
                      .attention = attention});
    case Arithmetic::kInt8: {
      reference::Int8ModelOptions options;
      options.value_descale = [&](int64_t, int64_t) {
        return in.value_descale;
      };
      options.attention = attention;
      options.on_tile = on_tile;
      return Int8TensorsOf(in, problem).Model(options);
    }
    default:
      break;
  }
  reference::Fp8Tensors t;
  t.problem = problem;
  t.problem.softmax_scale = double{in.softmax_scale};
  t.query = {As<E4m3>(in.query), in.query_descale};
  t.key = {As<E4m3>(in.key), in.key_descale};
  t.value = {As<E4m3>(in.value), in.value_descale};
  reference::Fp8ModelOptions options = Fp8Options(arithmetic);
  options.output = reference::Fp8Output::kFloat32;
  options.attention = attention;
  return t.Model(options);
}

reference::Int8Tensors Int8TensorsOf(
    const Inputs& in, const reference::AttentionProblem& problem) {
  return {.problem = problem,
          .query = As<int8_t>(in.query),
          .key = As<int8_t>(in.key),
          .value = As<E4m3>(in.value),
          .shifts = in.query_shifts,
          .multipliers = in.key_multipliers};
}

}  // namespace zyfa::bench
