#ifndef ZYFA_BENCH_NAIVE_ATTENTION_H_
#define ZYFA_BENCH_NAIVE_ATTENTION_H_

#include <vector>

#include "zyfa/bench/inputs.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::bench {

// For tests: attention straight from its definition in double, rounded to bf16.
// Independent of zyfa/reference. Dense [batch][seqlen_q][heads_q][head_dim_v];
// every query must see a key.
std::vector<numerics::Bf16> NaiveOutput(const Case& c, const Inputs& inputs,
                                        double softmax_scale);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_NAIVE_ATTENTION_H_
