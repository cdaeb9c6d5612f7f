#include "zyfa/bench/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "zyfa/numerics/random.h"

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
                 [](float x) { return Bf16::FromFloat(x); });
  return rounded;
}

}  // namespace

absl::Status CheckInputsFit(const Case& c) {
  const double query_rows = 1.0 * c.batch * c.seqlen_q * c.heads_q;
  const double key_rows = 1.0 * c.batch * c.seqlen_kv * c.heads_kv;
  const double query = query_rows * c.variant.head_dim_qk;
  const double key = key_rows * c.variant.head_dim_qk;
  const double value = key_rows * c.variant.head_dim_v;
  // bf16 numbers, and the float32 numbers of one tensor that they come from.
  const double bytes = sizeof(Bf16) * (query + key + value) +
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
  return {
      .query = Gaussian(seed, kQueryStream, query_rows * c.variant.head_dim_qk),
      .key = Gaussian(seed, kKeyStream, key_rows * c.variant.head_dim_qk),
      .value = Gaussian(seed, kValueStream, key_rows * c.variant.head_dim_v)};
}

}  // namespace zyfa::bench
