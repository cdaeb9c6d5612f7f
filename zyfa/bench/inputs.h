#ifndef ZYFA_BENCH_INPUTS_H_
#define ZYFA_BENCH_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"

namespace zyfa::bench {

// Numbers of a tensor as a kernel takes them.
struct Elements {
  Elements(std::vector<numerics::Bf16> v) : values(std::move(v)) {}
  Elements(std::vector<numerics::E4m3> v) : values(std::move(v)) {}

  size_t size() const;
  float operator[](size_t i) const;
  absl::Span<const uint8_t> bytes() const;

  std::variant<std::vector<numerics::Bf16>, std::vector<numerics::E4m3>> values;
};

// What a kernel is given, dense: query [batch][seqlen_q][heads_q][head_dim_qk],
// key [batch][seqlen_kv][heads_kv][head_dim_qk] and value likewise.
struct Inputs {
  Elements query;
  Elements key;
  Elements value;
};

// Independent N(0, 1) rounded to the variant's data type; the same bits on
// every machine. FP8 numbers stand for themselves: descales of 1.
Inputs GaussianInputs(const Case& c, uint32_t seed);

// InvalidArgument if the host has not memory enough to make them: it names the
// shape, the bytes and what there is.
absl::Status CheckInputsFit(const Case& c);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_INPUTS_H_
