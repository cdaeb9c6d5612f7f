#include "zyfa/bench/loss_attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "zyfa/bench/head_kernel.h"
#include "zyfa/bench/head_model.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/problem.h"

namespace zyfa::bench {
namespace {

using models::LayerAttention;
using numerics::Bf16;

constexpr int64_t kHeadDimV = 128;

// Before the name's preparation.
constexpr Contender kModels[] = {
    {"bf16", Arithmetic::kBf16, {}},
    {"bf16_other", Arithmetic::kOtherBf16, {}},
    {"fp8_lean", Arithmetic::kLean, kFp8Prepared},
    {"fp8_exact", Arithmetic::kExact, kFp8Prepared},
    {"aiter_like", Arithmetic::kAiterLike, kFp8Prepared},
    {"ck_like", Arithmetic::kCkLike, kFp8Prepared},
    {"int8_shift", Arithmetic::kInt8, kInt8Shift},
    {"int8_multiply", Arithmetic::kInt8, kInt8Multiply},
};

// Takes ":..." off the end of `name`; false for anything else than what
// there is.
bool TakePreparation(absl::string_view& name, bool& subtract_mean,
                     bool& rotate) {
  const size_t colon = name.find(':');
  if (colon == absl::string_view::npos) return true;
  const absl::string_view word = name.substr(colon + 1);
  name = name.substr(0, colon);
  subtract_mean = word == "mean";
  rotate = word == "rotated";
  return subtract_mean || rotate || word == "as_is";
}

reference::AttentionProblem HeadProblem(const LayerAttention& layer) {
  reference::AttentionProblem problem;
  problem.seqlen_q = problem.seqlen_kv = layer.seqlen;
  problem.head_dim_qk = layer.head_dim_qk;
  problem.head_dim_v = layer.head_dim_v;
  problem.softmax_scale = layer.softmax_scale;
  return problem;
}

// What LayerInputs takes for granted.
absl::Status CheckLayer(const LayerAttention& layer,
                        const models::CapturedLayer& rounded) {
  if ((layer.head_dim_qk != 128 && layer.head_dim_qk != 192) ||
      layer.head_dim_v != kHeadDimV) {
    return absl::InvalidArgumentError(
        absl::StrCat("head dims are ", layer.head_dim_qk, " and ",
                     layer.head_dim_v, "; allowed: 128 or 192, and 128"));
  }
  const double scale = ExactSoftmaxScale(rounded);
  if (std::abs(layer.softmax_scale - scale) > 1e-6 * scale) {
    return absl::InvalidArgumentError(
        absl::StrCat("softmax scale is ", layer.softmax_scale,
                     "; allowed: 1/sqrt(head_dim_qk), ", scale));
  }
  return absl::OkStatus();
}

// [seqlen][head_dim_v] of one head.
absl::StatusOr<std::vector<Bf16>> RunHead(const LossAttention& attention,
                                          const LayerAttention& layer,
                                          const Inputs& inputs, int threads,
                                          Device* emulator) {
  if (attention.computed_by == ComputedBy::kKernel) {
    return RunHeadKernel(
        *KernelOf(attention, static_cast<int>(layer.head_dim_qk)), inputs,
        layer.seqlen, *emulator);
  }
  const auto result = RunHeadModel(attention.contender.arithmetic, inputs,
                                   HeadProblem(layer), {.threads = threads});
  if (!result.ok()) return result.status();
  std::vector<Bf16> rounded;
  rounded.reserve(result->output.size());
  for (const double x : result->output) {
    rounded.push_back(Bf16::FromFloat(static_cast<float>(x)));
  }
  return rounded;
}

absl::Status RunLayer(const LossAttention& attention,
                      const LayerAttention& layer, int threads,
                      Device* emulator, absl::Span<float> output) {
  const models::CapturedLayer rounded = models::RoundLayer(layer);
  absl::Status status = CheckLayer(layer, rounded);
  if (!status.ok()) return status;
  const auto inputs =
      LayerInputs::Make(rounded, attention.contender.preparation);
  if (!inputs.ok()) return inputs.status();
  for (int64_t head = 0; head < layer.heads_q; ++head) {
    const auto of_head =
        RunHead(attention, layer, inputs->Head(head), threads, emulator);
    if (!of_head.ok()) return of_head.status();
    for (int64_t t = 0; t < layer.seqlen; ++t) {
      float* to = output.data() + (t * layer.heads_q + head) * layer.head_dim_v;
      for (int64_t c = 0; c < layer.head_dim_v; ++c) {
        to[c] =
            (*of_head)[static_cast<size_t>(t * layer.head_dim_v + c)].ToFloat();
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunFloat64(const LayerAttention& layer, int threads,
                        absl::Span<float> output) {
  reference::AttentionProblem problem = HeadProblem(layer);
  problem.heads_q = layer.heads_q;
  problem.heads_kv = layer.heads_kv;
  const auto view = [&](absl::Span<const float> data, int64_t heads,
                        int64_t dim) {
    return reference::TensorView::Dense(data.data(), layer.seqlen, heads, dim);
  };
  const auto result = reference::Attention(
      problem, view(layer.query, layer.heads_q, layer.head_dim_qk),
      view(layer.key, layer.heads_kv, layer.head_dim_qk),
      view(layer.value, layer.heads_kv, layer.head_dim_v),
      {.threads = threads});
  if (!result.ok()) return result.status();
  std::copy(result->output.begin(), result->output.end(), output.begin());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LossAttention> ParseLossAttention(absl::string_view name) {
  const absl::Status wrong = absl::InvalidArgumentError(absl::StrCat(
      "'", name, "' is no attention; allowed: ", kLossAttentionNames));
  LossAttention attention;
  attention.name = std::string(name);
  if (name == "float32") return attention;
  if (name == "float64") {
    attention.computed_by = ComputedBy::kFloat64;
    return attention;
  }
  attention.computed_by = absl::ConsumePrefix(&name, "emulated:")
                              ? ComputedBy::kKernel
                              : ComputedBy::kModel;
  const bool has_preparation = name.find(':') != absl::string_view::npos;
  bool subtract_mean = true, rotate = true;
  if (!TakePreparation(name, subtract_mean, rotate)) return wrong;
  const auto at =
      std::find_if(std::begin(kModels), std::end(kModels),
                   [&](const Contender& c) { return c.name == name; });
  if (at == std::end(kModels)) return wrong;
  attention.contender = *at;
  Preparation& preparation = attention.contender.preparation;
  if (preparation.data_type == DataType::kBf16) {
    if (has_preparation) return wrong;
  } else {
    preparation.subtract_mean = subtract_mean;
    preparation.rotate = rotate;
  }
  if (attention.computed_by == ComputedBy::kKernel &&
      !KernelOf(attention, 128).has_value()) {
    return wrong;
  }
  return attention;
}

std::string VariantOf(const LossAttention& attention, int head_dim_qk) {
  switch (attention.computed_by) {
    case ComputedBy::kFloat32:
      return "float32";
    case ComputedBy::kFloat64:
      return "float64";
    case ComputedBy::kModel:
    case ComputedBy::kKernel:
      break;
  }
  return VariantOf(attention.contender, head_dim_qk);
}

std::string QuantisationOf(const LossAttention& attention) {
  return Quantisation(attention.contender.preparation);
}

std::string ComputedByName(const LossAttention& attention) {
  switch (attention.computed_by) {
    case ComputedBy::kFloat32:
    case ComputedBy::kFloat64:
      return "reference";
    case ComputedBy::kModel:
      return "model";
    case ComputedBy::kKernel:
      break;
  }
  return "kernel";
}

std::optional<Variant> KernelOf(const LossAttention& attention,
                                int head_dim_qk) {
  const auto variant = ParseVariant(VariantOf(attention, head_dim_qk));
  if (!variant.ok()) return std::nullopt;
  return *variant;
}

models::AttentionFunction MakeAttention(const LossAttention& attention,
                                        int threads, Device* emulator) {
  switch (attention.computed_by) {
    case ComputedBy::kFloat32:
      return models::Float32Attention(threads);
    case ComputedBy::kFloat64:
      return [threads](const LayerAttention& layer, absl::Span<float> output) {
        return RunFloat64(layer, threads, output);
      };
    case ComputedBy::kModel:
    case ComputedBy::kKernel:
      break;
  }
  return [attention, threads, emulator](const LayerAttention& layer,
                                        absl::Span<float> output) {
    return RunLayer(attention, layer, threads, emulator, output);
  };
}

}  // namespace zyfa::bench
