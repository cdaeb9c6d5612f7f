#ifndef ZYFA_BENCH_INPUTS_H_
#define ZYFA_BENCH_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::bench {

// What a kernel is given, dense: query [batch][seqlen_q][heads_q][head_dim_qk],
// key [batch][seqlen_kv][heads_kv][head_dim_qk] and value likewise.
struct Inputs {
  std::vector<numerics::Bf16> query;
  std::vector<numerics::Bf16> key;
  std::vector<numerics::Bf16> value;
};

// Independent N(0, 1) rounded to bf16; the same bits on every machine.
Inputs GaussianInputs(const Case& c, uint32_t seed);

// InvalidArgument if the host has not memory enough to make them: it names the
// shape, the bytes and what there is.
absl::Status CheckInputsFit(const Case& c);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_INPUTS_H_
