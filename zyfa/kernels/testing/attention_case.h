#ifndef ZYFA_KERNELS_TESTING_ATTENTION_CASE_H_
#define ZYFA_KERNELS_TESTING_ATTENTION_CASE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/reference/problem.h"
#include "zyfa/variant/variant.h"

namespace zyfa::testing {

// Where a tensor [batch, seqlen, heads, head_dim] lies. Padding bytes are
// filled with NaNs (0xff), and so is memory in front of and behind the tensor,
// up to the exact end of the allocation.
struct Layout {
  enum Order { kBshd, kBhsd };
  Order order = kBshd;
  int64_t row_padding = 0;    // bytes behind each row, multiple of 16
  int64_t outer_padding = 0;  // bytes behind each head (kBhsd) or batch entry
  int64_t lead = 0;           // bytes in front of the tensor, multiple of 16
};

// One attention problem, its inputs and where they lie.
struct AttentionCase {
  Variant variant;
  int64_t batch = 1;
  int64_t heads_q = 1;
  int64_t heads_kv = 1;
  int64_t seqlen_q = 0;
  int64_t seqlen_kv = 0;
  std::optional<float> softmax_scale;
  bool want_lse = true;
  Layout query, key, value, output;
  uint64_t seed = 1;
  // Value of element (batch, row, head, channel) of a tensor; Gaussian if
  // unset.
  using Fill = std::function<float(int64_t batch, int64_t row, int64_t head,
                                   int64_t channel, float gaussian)>;
  Fill fill_query, fill_key, fill_value;

  std::string Name() const;
  reference::AttentionProblem Problem() const;
};

// Fills `c` so that logits lie near -20 (head dim 128): a key beyond the end,
// which arrives as zeros and scores 0, would outweigh all real ones.
void SetNegativeLogits(AttentionCase& c);

// Fills `c` so that with a softmax scale of 1, which it sets, all scores are
// `level` but that of key 555, which is higher by `step`: the maximum of a row
// moves once, and most of the weight may lie under the old one.
void SetMovingMaximum(AttentionCase& c, float level, float step);

struct AttentionOutcome {
  std::vector<numerics::Bf16> output;  // [batch][seqlen_q][heads_q][head_dim_v]
  std::vector<float> lse;              // [batch][heads_q][seqlen_q]
  emu::RunReport report;
  // Something outside the output's rows was written.
  bool wrote_outside = false;
};

// The code object of the linked kernel, decoded once per program.
const emu::CodeObject& LinkedKernel(const Variant& variant);

// Runs the case on the emulator, by the launch plan of the public API, with
// `code` or the linked kernel.
absl::StatusOr<AttentionOutcome> RunCase(
    const AttentionCase& c,
    const emu::RunOptions& options = emu::StrictOptions(),
    const emu::CodeObject* code = nullptr);

// float64 attention on the same inputs.
absl::StatusOr<reference::AttentionResult> Reference(const AttentionCase& c);

// The numeric model of BF16 attention on the same inputs; the running maximum
// moves when exceeded by more than rescale_binades.
absl::StatusOr<reference::AttentionResult> Model(const AttentionCase& c,
                                                 double rescale_binades);

// Runs the case and compares it: no findings, nothing written outside, relative
// RMSE and the worst row within what BF16 allows, LSE within 1e-4. The message
// says what is wrong and where; "" if nothing is.
std::string Verify(const AttentionCase& c,
                   const emu::RunOptions& options = emu::StrictOptions(),
                   const emu::CodeObject* code = nullptr);

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_ATTENTION_CASE_H_
