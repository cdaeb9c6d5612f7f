#include "zyfa/bench/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "absl/strings/str_format.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/random.h"
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

float Elements::operator[](size_t i) const {
  return std::visit([i](const auto& v) { return v[i].ToFloat(); }, values);
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

const char* GaussianDistribution(DataType type) {
  return type == DataType::kBf16
             ? "gaussian"
             : "gaussian, to e4m3 with a scale a tensor, softmax scale folded";
}

}  // namespace zyfa::bench
