#include "zyfa/reference/fp8_tensors.h"

#include <algorithm>
#include <cmath>

#include "zyfa/numerics/random.h"
#include "zyfa/reference/attention.h"

namespace zyfa::reference {
namespace {

using numerics::E4m3;

}  // namespace

absl::StatusOr<numerics::RealLikeHead> MakeHead(absl::string_view set,
                                                int64_t seqlen, int head_dim_qk,
                                                int head_dim_v, uint64_t seed) {
  if (set != "G") {
    const auto params = numerics::RealLikeSet(set);
    if (!params.ok()) return params.status();
    return numerics::MakeRealLikeHead(*params, seqlen, head_dim_qk, head_dim_v,
                                      seed);
  }
  numerics::RealLikeHead head;
  head.query.resize(seqlen * head_dim_qk);
  head.key.resize(seqlen * head_dim_qk);
  head.value.resize(seqlen * head_dim_v);
  numerics::FillGaussian(seed, 0, head.query);
  numerics::FillGaussian(seed, 1, head.key);
  numerics::FillGaussian(seed, 2, head.value);
  return head;
}

Fp8Tensor Fp8Tensor::Quantise(const std::vector<float>& values) {
  const float top = E4m3::Max().ToFloat();
  float largest = 0.0f;
  for (float x : values) largest = std::max(largest, std::abs(x));
  Fp8Tensor tensor;
  if (largest > 0.0f) tensor.descale = largest / top;
  tensor.codes.reserve(values.size());
  for (float x : values) {
    tensor.codes.push_back(
        E4m3::FromFloat(x / tensor.descale, numerics::Overflow::kSaturate));
  }
  return tensor;
}

absl::StatusOr<AttentionResult> Fp8Tensors::Float64(
    const AttentionOptions& options) const {
  const AttentionProblem& p = problem;
  AttentionProblem raw = p;
  raw.softmax_scale *= double{query.descale} * double{key.descale};
  auto result = Attention(
      raw, TensorView::Dense(query.codes.data(), p.seqlen_q, 1, p.head_dim_qk),
      TensorView::Dense(key.codes.data(), p.seqlen_kv, 1, p.head_dim_qk),
      TensorView::Dense(value.codes.data(), p.seqlen_kv, 1, p.head_dim_v),
      options);
  if (result.ok()) {
    for (double& x : result->output) x *= value.descale;
  }
  return result;
}

absl::StatusOr<AttentionResult> Fp8Tensors::Model(
    Fp8ModelOptions options) const {
  const AttentionProblem& p = problem;
  options.query_descale = [this](int64_t, int64_t) { return query.descale; };
  options.key_descale = [this](int64_t, int64_t) { return key.descale; };
  options.value_descale = [this](int64_t, int64_t) { return value.descale; };
  return Fp8Attention(
      p, TensorView::Dense(query.codes.data(), p.seqlen_q, 1, p.head_dim_qk),
      TensorView::Dense(key.codes.data(), p.seqlen_kv, 1, p.head_dim_qk),
      TensorView::Dense(value.codes.data(), p.seqlen_kv, 1, p.head_dim_v),
      options);
}

absl::StatusOr<Fp8Tensors> MakeFp8Tensors(absl::string_view set, int64_t seqlen,
                                          int head_dim_qk, int head_dim_v,
                                          uint64_t seed) {
  const auto head = MakeHead(set, seqlen, head_dim_qk, head_dim_v, seed);
  if (!head.ok()) return head.status();
  Fp8Tensors tensors;
  tensors.problem.seqlen_q = tensors.problem.seqlen_kv = seqlen;
  tensors.problem.head_dim_qk = head_dim_qk;
  tensors.problem.head_dim_v = head_dim_v;
  tensors.problem.softmax_scale =
      1.0 / std::sqrt(static_cast<double>(head_dim_qk));
  tensors.query = Fp8Tensor::Quantise(head->query);
  tensors.key = Fp8Tensor::Quantise(head->key);
  tensors.value = Fp8Tensor::Quantise(head->value);
  return tensors;
}

}  // namespace zyfa::reference
