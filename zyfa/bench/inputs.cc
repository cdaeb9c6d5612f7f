#include "zyfa/bench/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/random.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;
using numerics::E4m3;

// Streams of the generator. They are part of the records' meaning: the same
// seed must go on giving the same inputs.
constexpr uint64_t kQueryStream = 0;
constexpr uint64_t kKeyStream = 1;
constexpr uint64_t kValueStream = 2;

template <typename Element, typename Round>
Elements Rounded(const std::vector<float>& values, Round round) {
  std::vector<Element> rounded(values.size());
  std::transform(values.begin(), values.end(), rounded.begin(), round);
  return rounded;
}

Elements Gaussian(DataType type, uint32_t seed, uint64_t stream, size_t count) {
  std::vector<float> values(count);
  numerics::FillGaussian(seed, stream, values);
  if (type == DataType::kBf16) return Rounded<Bf16>(values, Bf16::FromFloat);
  return Rounded<E4m3>(values, [](float x) {
    return E4m3::FromFloat(x, numerics::Overflow::kSaturate);
  });
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
  // The numbers, and the float32 numbers of one tensor that they come from.
  const double bytes =
      static_cast<double>(BytesPerElement(c.variant.data_type)) *
          (query + key + value) +
      sizeof(float) * std::max({query, key, value});
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "batch %d, seqlen %d x %d, heads %d/%d: the inputs take %.0f GB to make; "
      "allowed: what fits this host's memory, %.0f GB",
      c.batch, c.seqlen_q, c.seqlen_kv, c.heads_q, c.heads_kv, bytes / 1e9,
      memory / 1e9));
}

Inputs GaussianInputs(const Case& c, uint32_t seed) {
  const size_t query_rows = size_t{1} * c.batch * c.seqlen_q * c.heads_q;
  const size_t key_rows = size_t{1} * c.batch * c.seqlen_kv * c.heads_kv;
  const DataType type = c.variant.data_type;
  return {
      .query = Gaussian(type, seed, kQueryStream,
                        query_rows * c.variant.head_dim_qk),
      .key = Gaussian(type, seed, kKeyStream, key_rows * c.variant.head_dim_qk),
      .value =
          Gaussian(type, seed, kValueStream, key_rows * c.variant.head_dim_v)};
}

}  // namespace zyfa::bench
