#include "zyfa/bench/layer_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/quantize/extent.h"
#include "zyfa/quantize/host_int8.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/host_rows.h"
#include "zyfa/quantize/options.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

// One head of a dense [seqlen][heads][dim].
template <typename T>
std::vector<T> Slice(const std::vector<T>& all, int64_t heads, int64_t dim,
                     int64_t head) {
  std::vector<T> out;
  out.reserve(all.size() / static_cast<size_t>(heads));
  for (auto row = all.begin() + head * dim; row < all.end();
       row += std::min<int64_t>(heads * dim, all.end() - row)) {
    out.insert(out.end(), row, row + dim);
  }
  return out;
}

Elements Slice(const Elements& all, int64_t heads, int64_t dim, int64_t head) {
  return std::visit(
      [&](const auto& v) -> Elements { return Slice(v, heads, dim, head); },
      all.values);
}

ScaleGranularity Granularity(ScalesOf scales) {
  switch (scales) {
    case ScalesOf::kTensor:
      return ScaleGranularity::kTensor;
    case ScalesOf::kHead:
      return ScaleGranularity::kHead;
    case ScalesOf::kToken:
      break;
  }
  return ScaleGranularity::kToken;
}

absl::string_view Name(ScalesOf scales) {
  switch (scales) {
    case ScalesOf::kTensor:
      return "a tensor";
    case ScalesOf::kHead:
      return "a head";
    case ScalesOf::kToken:
      break;
  }
  return "a token";
}

// Of V, which has no scales of tokens.
ScalesOf OfValue(ScalesOf scales) {
  return scales == ScalesOf::kToken ? ScalesOf::kHead : scales;
}

}  // namespace

double ExactSoftmaxScale(const CapturedLayer& layer) {
  return 1.0 / std::sqrt(static_cast<double>(layer.head_dim_qk));
}

std::string Quantisation(const Preparation& p) {
  std::string text;
  if (p.subtract_mean && p.rotate) {
    text = "mean key removed, Q and K rotated; ";
  } else if (p.subtract_mean) {
    text = "mean key removed; ";
  } else if (p.rotate) {
    text = "Q and K rotated; ";
  }
  switch (p.data_type) {
    case DataType::kBf16:
      return text.empty() ? "none" : text;
    case DataType::kFp8:
      return absl::StrCat(text, "e4m3: Q and K ",
                          p.scales == ScalesOf::kToken
                              ? "a scale a token"
                              : absl::StrCat("a power of two ", Name(p.scales),
                                             " with the softmax scale in Q's"),
                          ", V a scale ", Name(OfValue(p.scales)));
    case DataType::kInt8:
      break;
  }
  return absl::StrCat(text, "int8: Q a power of two a row, K a scale ",
                      p.scales == ScalesOf::kToken
                          ? "a head and a multiplier a token"
                          : Name(p.scales),
                      "; V e4m3, a scale a head");
}

float LayerInputs::Tensor::Descale(int64_t head, int64_t token,
                                   int64_t seqlen) const {
  switch (scales) {
    case ScalesOf::kTensor:
      return descales[0];
    case ScalesOf::kHead:
      return descales[static_cast<size_t>(head)];
    case ScalesOf::kToken:
      break;
  }
  return descales[static_cast<size_t>(head * seqlen + token)];
}

absl::StatusOr<LayerInputs> LayerInputs::Make(const CapturedLayer& layer,
                                              const Preparation& preparation) {
  LayerInputs inputs(layer, preparation);
  inputs.softmax_scale_ = static_cast<float>(ExactSoftmaxScale(layer));
  absl::Status status;
  switch (preparation.data_type) {
    case DataType::kBf16:
      inputs.query_ = {layer.query, {1.0f}};
      inputs.key_ = {layer.key, {1.0f}};
      inputs.value_ = {layer.value, {1.0f}};
      break;
    case DataType::kFp8:
      status = inputs.QuantiseFp8();
      break;
    case DataType::kInt8:
      status = inputs.QuantiseInt8();
      break;
  }
  if (!status.ok()) return status;
  return inputs;
}

absl::Status LayerInputs::QuantiseFp8() {
  const CapturedLayer& l = *layer_;
  const ScalesOf scales = preparation_.scales;
  std::optional<float> query_unit, key_unit;
  if (scales != ScalesOf::kToken) {
    const auto fold = FoldSoftmaxScale(softmax_scale_);
    if (!fold.ok()) return fold.status();
    softmax_scale_ = fold->softmax_scale;
    query_unit = fold->unit;
    key_unit = 1.0f;
  }
  auto query = QuantizeOnHost({.granularity = Granularity(scales),
                               .unit = query_unit,
                               .rotate = preparation_.rotate},
                              {1, l.seqlen, l.heads_q, l.head_dim_qk}, l.query);
  if (!query.ok()) return query.status();
  auto key = QuantizeOnHost({.granularity = Granularity(scales),
                             .unit = key_unit,
                             .rotate = preparation_.rotate,
                             .subtract_mean = preparation_.subtract_mean},
                            {1, l.seqlen, l.heads_kv, l.head_dim_qk}, l.key);
  if (!key.ok()) return key.status();
  auto value = QuantizeOnHost({.granularity = Granularity(OfValue(scales))},
                              {1, l.seqlen, l.heads_kv, l.head_dim_v}, l.value);
  if (!value.ok()) return value.status();
  query_ = {std::move(query->codes), std::move(query->descales), scales};
  key_ = {std::move(key->codes), std::move(key->descales), scales};
  value_ = {std::move(value->codes), std::move(value->descales),
            OfValue(scales)};
  key_mean_ = std::move(key->mean);
  return absl::OkStatus();
}

absl::Status LayerInputs::QuantiseInt8() {
  const CapturedLayer& l = *layer_;
  const bool multiplies = preparation_.scales == ScalesOf::kToken;
  const ScalesOf scales = OfValue(preparation_.scales);
  auto key =
      QuantizeKeysInt8OnHost({.granularity = Granularity(scales),
                              .token_multipliers = multiplies,
                              .rotate = preparation_.rotate,
                              .subtract_mean = preparation_.subtract_mean},
                             {1, l.seqlen, l.heads_kv, l.head_dim_qk}, l.key);
  if (!key.ok()) return key.status();
  auto query = QuantizeQueriesInt8OnHost(
      {.rotate = preparation_.rotate,
       .softmax_scale = softmax_scale_,
       .heads_kv = l.heads_kv,
       .multipliers = multiplies,
       .key_granularity = Granularity(scales)},
      {1, l.seqlen, l.heads_q, l.head_dim_qk}, l.query, key->descales);
  if (!query.ok()) return query.status();
  auto value = QuantizeOnHost({.granularity = ScaleGranularity::kHead},
                              {1, l.seqlen, l.heads_kv, l.head_dim_v}, l.value);
  if (!value.ok()) return value.status();
  query_ = {std::move(query->codes), {}};
  key_ = {std::move(key->codes), std::move(key->descales), scales};
  value_ = {std::move(value->codes), std::move(value->descales),
            ScalesOf::kHead};
  key_mean_ = std::move(key->mean);
  shifts_ = std::move(query->shifts);
  multipliers_ = std::move(key->multipliers);
  return absl::OkStatus();
}

int64_t LayerInputs::KvHead(int64_t head) const {
  return head / (layer_->heads_q / layer_->heads_kv);
}

Inputs LayerInputs::Head(int64_t head) const {
  const CapturedLayer& l = *layer_;
  const int64_t kv = KvHead(head);
  Inputs inputs{.query = Slice(query_.codes, l.heads_q, l.head_dim_qk, head),
                .key = Slice(key_.codes, l.heads_kv, l.head_dim_qk, kv),
                .value = Slice(value_.codes, l.heads_kv, l.head_dim_v, kv),
                .softmax_scale = softmax_scale_,
                .value_descale = value_.Descale(kv, 0, l.seqlen)};
  if (preparation_.data_type == DataType::kInt8) {
    inputs.query_shifts.assign(shifts_.begin() + head * l.seqlen,
                               shifts_.begin() + (head + 1) * l.seqlen);
    if (!multipliers_.empty()) {
      inputs.key_multipliers.assign(multipliers_.begin() + kv * l.seqlen,
                                    multipliers_.begin() + (kv + 1) * l.seqlen);
    }
  } else {
    inputs.query_descale = query_.Descale(head, 0, l.seqlen);
    inputs.key_descale = key_.Descale(kv, 0, l.seqlen);
  }
  return inputs;
}

std::vector<double> LayerInputs::Numbers(const Tensor& tensor, int64_t heads,
                                         int64_t dim, int64_t head) const {
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(layer_->seqlen * dim));
  for (int64_t t = 0; t < layer_->seqlen; ++t) {
    const double descale =
        tensor.descales.empty() ? 1.0 : tensor.Descale(head, t, layer_->seqlen);
    for (int64_t c = 0; c < dim; ++c) {
      numbers.push_back(
          descale *
          double{
              tensor.codes[static_cast<size_t>((t * heads + head) * dim + c)]});
    }
  }
  return numbers;
}

HeadNumbers LayerInputs::Rounded(int64_t head) const {
  const CapturedLayer& l = *layer_;
  const int64_t kv = KvHead(head);
  HeadNumbers numbers = {Numbers(query_, l.heads_q, l.head_dim_qk, head),
                         Numbers(key_, l.heads_kv, l.head_dim_qk, kv),
                         Numbers(value_, l.heads_kv, l.head_dim_v, kv)};
  const double scale = ExactSoftmaxScale(l);
  if (preparation_.data_type != DataType::kInt8) {
    for (double& x : numbers.query) x *= double{softmax_scale_} / scale;
    return numbers;
  }
  // Q's codes hold the softmax scale in binades and K's scale.
  const double unit = multipliers_.empty() ? 1.0 : 1.0 / 255;
  const double score = scale * unit * double{key_.Descale(kv, 0, l.seqlen)};
  for (int64_t t = 0; t < l.seqlen; ++t) {
    const int shift = shifts_[static_cast<size_t>(head * l.seqlen + t)];
    const double of_row = std::ldexp(numerics::kLn2 / score, -shift - 3);
    const double of_key =
        multipliers_.empty()
            ? 1.0
            : unit * multipliers_[static_cast<size_t>(kv * l.seqlen + t)];
    for (int64_t c = 0; c < l.head_dim_qk; ++c) {
      const auto at = static_cast<size_t>(t * l.head_dim_qk + c);
      numbers.query[at] *= of_row;
      numbers.key[at] *= of_key;
    }
  }
  return numbers;
}

absl::StatusOr<HeadNumbers> LayerInputs::Unrounded(int64_t head) const {
  const CapturedLayer of_head = HeadOf(*layer_, head);
  const QuantizeExtent extent = {1, of_head.seqlen, 1, of_head.head_dim_qk};
  const auto query =
      PrepareRows(extent, of_head.query, {}, preparation_.rotate);
  if (!query.ok()) return query.status();
  absl::Span<const float> mean = key_mean_;
  if (!mean.empty()) {
    mean = mean.subspan(static_cast<size_t>(KvHead(head) * of_head.head_dim_qk),
                        static_cast<size_t>(of_head.head_dim_qk));
  }
  const auto key = PrepareRows(extent, of_head.key, mean, preparation_.rotate);
  if (!key.ok()) return key.status();
  HeadNumbers numbers = {
      {query->begin(), query->end()}, {key->begin(), key->end()}, {}};
  for (const Bf16 x : of_head.value) {
    numbers.value.push_back(double{x.ToFloat()});
  }
  return numbers;
}

CapturedLayer HeadOf(const CapturedLayer& layer, int64_t head) {
  const int64_t kv = head / (layer.heads_q / layer.heads_kv);
  return {.seqlen = layer.seqlen,
          .heads_q = 1,
          .heads_kv = 1,
          .head_dim_qk = layer.head_dim_qk,
          .head_dim_v = layer.head_dim_v,
          .query = Slice(layer.query, layer.heads_q, layer.head_dim_qk, head),
          .key = Slice(layer.key, layer.heads_kv, layer.head_dim_qk, kv),
          .value = Slice(layer.value, layer.heads_kv, layer.head_dim_v, kv)};
}

}  // namespace zyfa::bench
