#ifndef ZYFA_QUANTIZE_ACCURACY_CASE_H_
#define ZYFA_QUANTIZE_ACCURACY_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/extent.h"
#include "zyfa/reference/attention.h"

namespace zyfa::testing {

// Inputs of accuracy tests: a set of numerics 8, or "G" for Gaussian numbers,
// in 4 heads of different gains; causal self-attention over 4096 tokens.
inline constexpr int64_t kAccuracyHeads = 4;
inline constexpr int64_t kAccuracySeqlen = 4096;
inline constexpr int64_t kAccuracyValueDim = 128;

struct AccuracyInput {
  QuantizeExtent qk, v;
  std::vector<numerics::Bf16> query, key, value;
};

AccuracyInput MakeAccuracyInput(const std::string& set, int64_t head_dim);

std::vector<double> Plain(const std::vector<numerics::Bf16>& x);

// Attention in float64 over every 64th row; softmax scale 1 / sqrt(head_dim).
reference::AttentionResult AttendInDouble(const AccuracyInput& in,
                                          const std::vector<double>& query,
                                          const std::vector<double>& key,
                                          const std::vector<double>& value);

// Relative error of the output, printed behind `name`.
double PrintError(const std::string& name,
                  const reference::AttentionResult& got,
                  const reference::AttentionResult& exact);

}  // namespace zyfa::testing

#endif  // ZYFA_QUANTIZE_ACCURACY_CASE_H_
