#include "zyfa/bench/inputs.h"

#include <algorithm>
#include <cstddef>

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

Inputs GaussianInputs(const Case& c, uint32_t seed) {
  const size_t query_rows = size_t{1} * c.batch * c.seqlen_q * c.heads_q;
  const size_t key_rows = size_t{1} * c.batch * c.seqlen_kv * c.heads_kv;
  return {
      .query = Gaussian(seed, kQueryStream, query_rows * c.variant.head_dim_qk),
      .key = Gaussian(seed, kKeyStream, key_rows * c.variant.head_dim_qk),
      .value = Gaussian(seed, kValueStream, key_rows * c.variant.head_dim_v)};
}

}  // namespace zyfa::bench
