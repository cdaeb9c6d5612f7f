#include "zyfa/bench/rung_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/host_int8.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

// One head of a dense [seqlen][heads][dim].
std::vector<Bf16> Slice(const std::vector<Bf16>& all, int64_t heads,
                        int64_t dim, int64_t head) {
  std::vector<Bf16> out;
  out.reserve(all.size() / static_cast<size_t>(heads));
  for (auto row = all.begin() + head * dim; row < all.end();
       row += std::min<int64_t>(heads * dim, all.end() - row)) {
    out.insert(out.end(), row, row + dim);
  }
  return out;
}

float SoftmaxScale(const CapturedLayer& head) {
  return static_cast<float>(1.0 /
                            std::sqrt(static_cast<double>(head.head_dim_qk)));
}

QuantizeExtent Extent(const CapturedLayer& head) {
  return {1, head.seqlen, 1, head.head_dim_qk};
}

absl::StatusOr<QuantizedTensor> QuantiseValue(const CapturedLayer& head) {
  return QuantizeOnHost({}, {1, head.seqlen, 1, head.head_dim_v}, head.value);
}

absl::StatusOr<Inputs> Fp8Inputs(const Rung& rung, const CapturedLayer& head) {
  const auto fold = FoldSoftmaxScale(SoftmaxScale(head));
  if (!fold.ok()) return fold.status();
  auto query = QuantizeOnHost({.unit = fold->unit, .rotate = rung.prepared},
                              Extent(head), head.query);
  if (!query.ok()) return query.status();
  auto key = QuantizeOnHost(
      {.unit = 1.0f, .rotate = rung.prepared, .subtract_mean = rung.prepared},
      Extent(head), head.key);
  if (!key.ok()) return key.status();
  auto value = QuantiseValue(head);
  if (!value.ok()) return value.status();
  return Inputs{.query = std::move(query->codes),
                .key = std::move(key->codes),
                .value = std::move(value->codes),
                .softmax_scale = fold->softmax_scale,
                .query_descale = query->descales[0],
                .key_descale = key->descales[0],
                .value_descale = value->descales[0]};
}

absl::StatusOr<Inputs> Int8Inputs(const Rung& rung, const CapturedLayer& head) {
  const bool multiplies = rung.probability == Probability::kMultiply;
  auto key = QuantizeKeysInt8OnHost({.token_multipliers = multiplies,
                                     .rotate = rung.prepared,
                                     .subtract_mean = rung.prepared},
                                    Extent(head), head.key);
  if (!key.ok()) return key.status();
  auto query =
      QuantizeQueriesInt8OnHost({.rotate = rung.prepared,
                                 .softmax_scale = SoftmaxScale(head),
                                 .multipliers = multiplies},
                                Extent(head), head.query, key->descales);
  if (!query.ok()) return query.status();
  auto value = QuantiseValue(head);
  if (!value.ok()) return value.status();
  return Inputs{.query = std::move(query->codes),
                .key = std::move(key->codes),
                .value = std::move(value->codes),
                .softmax_scale = SoftmaxScale(head),
                .value_descale = value->descales[0],
                .query_shifts = std::move(query->shifts),
                .key_multipliers = std::move(key->multipliers)};
}

}  // namespace

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

absl::StatusOr<Inputs> RungInputs(const Rung& rung, const CapturedLayer& head) {
  switch (rung.data_type) {
    case DataType::kFp8:
      return Fp8Inputs(rung, head);
    case DataType::kInt8:
      return Int8Inputs(rung, head);
    case DataType::kBf16:
      break;
  }
  return Inputs{.query = head.query,
                .key = head.key,
                .value = head.value,
                .softmax_scale = SoftmaxScale(head)};
}

}  // namespace zyfa::bench
