#include "zyfa/bench/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "absl/strings/str_format.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/random.h"
#include "zyfa/quantize/host_int8.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;

// Streams of the generator. They are part of the records' meaning: the same
// seed must go on giving the same inputs.
constexpr uint64_t kQueryStream = 0;
constexpr uint64_t kKeyStream = 1;
constexpr uint64_t kValueStream = 2;

std::vector<Bf16> Gaussian(uint32_t seed, uint64_t stream, size_t count) {
  std::vector<float> values(count);
  numerics::FillGaussian(seed, stream, values);
  std::vector<Bf16> rounded(count);
  std::transform(values.begin(), values.end(), rounded.begin(),
                 Bf16::FromFloat);
  return rounded;
}

}  // namespace

size_t Elements::size() const {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

namespace {
float ToFloat(numerics::Bf16 x) { return x.ToFloat(); }
float ToFloat(numerics::E4m3 x) { return x.ToFloat(); }
float ToFloat(int8_t x) { return x; }
}  // namespace

float Elements::operator[](size_t i) const {
  return std::visit([i](const auto& v) { return ToFloat(v[i]); }, values);
}

void Inputs::SetScales(const Variant& variant, AttentionParams& params) const {
  if (variant.data_type != DataType::kInt8) {
    params.softmax_scale = softmax_scale;
  }
  if (variant.data_type == DataType::kFp8) {
    params.query_descale = query_descale;
    params.key_descale = key_descale;
  }
  if (IsPersistent(variant)) params.value_descale = value_descale;
}

std::vector<float> Int8QueryValues(const Case& c, const Inputs& inputs) {
  std::vector<float> values(inputs.query.size());
  const auto dim = static_cast<size_t>(c.variant.head_dim_qk);
  const auto heads = static_cast<size_t>(c.heads_q);
  const auto seqlen = static_cast<size_t>(c.seqlen_q);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t head = i / dim % heads;
    const size_t token = i / dim / heads % seqlen;
    const size_t batch = i / dim / heads / seqlen;
    const int shift =
        inputs.query_shifts[(batch * heads + head) * seqlen + token];
    values[i] = std::ldexp(inputs.query[i], -shift - 3);
  }
  return values;
}

std::vector<float> Int8KeyValues(const Case& c, const Inputs& inputs) {
  std::vector<float> values(inputs.key.size());
  const auto dim = static_cast<size_t>(c.variant.head_dim_qk);
  const auto heads = static_cast<size_t>(c.heads_kv);
  const auto seqlen = static_cast<size_t>(c.seqlen_kv);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = inputs.key[i];
    if (inputs.key_multipliers.empty()) continue;
    const size_t head = i / dim % heads;
    const size_t token = i / dim / heads % seqlen;
    const size_t batch = i / dim / heads / seqlen;
    values[i] *= static_cast<float>(
        inputs.key_multipliers[(batch * heads + head) * seqlen + token]);
  }
  return values;
}

absl::Span<const uint8_t> Elements::bytes() const {
  return std::visit(
      [](const auto& v) {
        return absl::Span<const uint8_t>(
            reinterpret_cast<const uint8_t*>(v.data()),
            v.size() * sizeof(v[0]));
      },
      values);
}

absl::Status CheckInputsFit(const Case& c) {
  const double query_rows = 1.0 * c.batch * c.seqlen_q * c.heads_q;
  const double key_rows = 1.0 * c.batch * c.seqlen_kv * c.heads_kv;
  const double query = query_rows * c.variant.head_dim_qk;
  const double key = key_rows * c.variant.head_dim_qk;
  const double value = key_rows * c.variant.head_dim_v;
  // The numbers, and those of one tensor that they come from, in float32 and
  // in bf16.
  const double bytes =
      static_cast<double>(BytesPerElement(c.variant.data_type)) *
          (query + key + value) +
      (sizeof(float) + sizeof(Bf16)) * std::max({query, key, value});
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "batch %d, seqlen %d x %d, heads %d/%d: the inputs take %.0f GB to make; "
      "allowed: what fits this host's memory, %.0f GB",
      c.batch, c.seqlen_q, c.seqlen_kv, c.heads_q, c.heads_kv, bytes / 1e9,
      memory / 1e9));
}

namespace {

absl::StatusOr<Inputs> Int8Inputs(const Case& c, const QuantizeExtent& query,
                                  const QuantizeExtent& key, float scale,
                                  const std::vector<Bf16>& query_values,
                                  const std::vector<Bf16>& key_values,
                                  QuantizedTensor value) {
  const bool multipliers = c.variant.probability == Probability::kMultiply;
  const absl::StatusOr<Int8Keys> k =
      QuantizeKeysInt8OnHost({.granularity = ScaleGranularity::kTensor,
                              .token_multipliers = multipliers,
                              .rotate = true,
                              .subtract_mean = true},
                             key, key_values);
  if (!k.ok()) return k.status();
  const absl::StatusOr<Int8Queries> q =
      QuantizeQueriesInt8OnHost({.rotate = true,
                                 .softmax_scale = scale,
                                 .heads_kv = c.heads_kv,
                                 .multipliers = multipliers,
                                 .key_granularity = ScaleGranularity::kTensor},
                                query, query_values, k->descales);
  if (!q.ok()) return q.status();
  return Inputs{.query = q->codes,
                .key = k->codes,
                .value = std::move(value.codes),
                .softmax_scale = scale,
                .value_descale = value.descales[0],
                .query_shifts = q->shifts,
                .key_multipliers = k->multipliers};
}

}  // namespace

absl::StatusOr<Inputs> GaussianInputs(const Case& c, uint32_t seed) {
  const QuantizeExtent query = {c.batch, c.seqlen_q, c.heads_q,
                                c.variant.head_dim_qk};
  const QuantizeExtent key = {c.batch, c.seqlen_kv, c.heads_kv,
                              c.variant.head_dim_qk};
  QuantizeExtent value = key;
  value.head_dim = c.variant.head_dim_v;
  const auto gaussian = [&](const QuantizeExtent& extent, uint64_t stream) {
    return Gaussian(seed, stream, static_cast<size_t>(extent.elements()));
  };
  const float scale =
      1.0f / std::sqrt(static_cast<float>(c.variant.head_dim_qk));
  if (c.variant.data_type == DataType::kBf16) {
    return Inputs{.query = gaussian(query, kQueryStream),
                  .key = gaussian(key, kKeyStream),
                  .value = gaussian(value, kValueStream),
                  .softmax_scale = scale};
  }

  if (c.variant.data_type == DataType::kInt8) {
    absl::StatusOr<QuantizedTensor> v =
        QuantizeOnHost({}, value, gaussian(value, kValueStream));
    if (!v.ok()) return v.status();
    return Int8Inputs(c, query, key, scale, gaussian(query, kQueryStream),
                      gaussian(key, kKeyStream), *std::move(v));
  }

  const absl::StatusOr<SoftmaxFold> fold = FoldSoftmaxScale(scale);
  if (!fold.ok()) return fold.status();
  const auto quantized = [&](const QuantizeExtent& extent, uint64_t stream,
                             std::optional<float> unit) {
    return QuantizeOnHost({.unit = unit}, extent, gaussian(extent, stream));
  };
  absl::StatusOr<QuantizedTensor> q =
      quantized(query, kQueryStream, fold->unit);
  if (!q.ok()) return q.status();
  absl::StatusOr<QuantizedTensor> k = quantized(key, kKeyStream, 1.0f);
  if (!k.ok()) return k.status();
  absl::StatusOr<QuantizedTensor> v =
      quantized(value, kValueStream, std::nullopt);
  if (!v.ok()) return v.status();
  return Inputs{.query = std::move(q->codes),
                .key = std::move(k->codes),
                .value = std::move(v->codes),
                .softmax_scale = fold->softmax_scale,
                .query_descale = q->descales[0],
                .key_descale = k->descales[0],
                .value_descale = v->descales[0]};
}

const char* GaussianDistribution(const Variant& variant) {
  switch (variant.data_type) {
    case DataType::kBf16:
      return "gaussian";
    case DataType::kFp8:
      return "gaussian, to e4m3 with a scale a tensor, softmax scale folded";
    case DataType::kInt8:
      return variant.probability == Probability::kMultiply
                 ? "gaussian, Q and K to int8 without mean key and rotated, "
                   "multipliers of tokens; V to e4m3"
                 : "gaussian, Q and K to int8 without mean key and rotated, K "
                   "with one scale; V to e4m3";
  }
  return "";
}

}  // namespace zyfa::bench
