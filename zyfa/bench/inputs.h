#ifndef ZYFA_BENCH_INPUTS_H_
#define ZYFA_BENCH_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// Numbers of a tensor as a kernel takes them.
struct Elements {
  Elements(std::vector<numerics::Bf16> v) : values(std::move(v)) {}
  Elements(std::vector<numerics::E4m3> v) : values(std::move(v)) {}
  Elements(std::vector<int8_t> v) : values(std::move(v)) {}

  size_t size() const;
  float operator[](size_t i) const;
  absl::Span<const uint8_t> bytes() const;

  std::variant<std::vector<numerics::Bf16>, std::vector<numerics::E4m3>,
               std::vector<int8_t>>
      values;
};

// What a kernel is given, dense: query [batch][seqlen_q][heads_q][head_dim_qk],
// key [batch][seqlen_kv][heads_kv][head_dim_qk] and value likewise.
struct Inputs {
  Elements query;
  Elements key;
  Elements value;
  // 1 / sqrt(head_dim_qk); of FP8, as near to it as SoftmaxFold is.
  float softmax_scale = 1;
  // FP8: number = element * descale.
  float query_descale = 1;
  float key_descale = 1;
  float value_descale = 1;
  // INT8 (AttentionParams), dense [batch][heads][seqlen]. No multipliers: 1.
  std::vector<uint8_t> query_shifts = {};
  std::vector<uint32_t> key_multipliers = {};

  // Sets softmax_scale and descales of the call.
  void SetScales(const Variant& variant, AttentionParams& params) const;
};

// What INT8 scores stand for: elements are `values` = code * 2^-(shift + 3) of
// Q and code * multiplier of K, exactly, and the softmax scale is ln 2.
std::vector<float> Int8QueryValues(const Case& c, const Inputs& inputs);
std::vector<float> Int8KeyValues(const Case& c, const Inputs& inputs);

// Independent N(0, 1) in bf16; the same bits on every machine. For FP8 variants
// these are quantised by the library's quantiser (zyfa/quantize), a scale for
// each tensor, the softmax scale folded into the query's; INT8 ones likewise,
// keys without their mean and Q and K rotated. Errors: the
// quantiser's, for sizes that it refuses.
absl::StatusOr<Inputs> GaussianInputs(const Case& c, uint32_t seed);

// Record.input_distribution of them.
const char* GaussianDistribution(const Variant& variant);

template <typename T>
absl::Span<const uint8_t> BytesOf(const std::vector<T>& values) {
  return absl::Span<const uint8_t>(
      reinterpret_cast<const uint8_t*>(values.data()),
      values.size() * sizeof(T));
}

// InvalidArgument if the host has not memory enough to make them: it names the
// shape, the bytes and what there is.
absl::Status CheckInputsFit(const Case& c);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_INPUTS_H_
