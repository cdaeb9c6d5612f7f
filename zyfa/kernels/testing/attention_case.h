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
#include "zyfa/launch/device.h"
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

// A scale of an FP8 case: a number, or float32 in device memory.
struct CaseScale {
  // A number, one element, one for each head, or for each batch entry and head.
  enum Form { kNumber, kTensor, kByHead, kByBatchAndHead };
  Form form = kNumber;
  // Heads of the last two forms; 0: those of the scale's own tensor. Query
  // scales may go by KV heads.
  int64_t heads = 0;
  // Value of element (batch, head), of which kNumber and kTensor have (0, 0)
  // only; 1 if unset.
  std::function<float(int64_t batch, int64_t head)> value;
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
  // Value of element (batch, row, head, channel) of a tensor, rounded to the
  // variant's data type (e4m3: saturated); Gaussian if unset.
  using Fill = std::function<float(int64_t batch, int64_t row, int64_t head,
                                   int64_t channel, float gaussian)>;
  Fill fill_query, fill_key, fill_value;

  // ---- FP8 variants ----
  CaseScale query_descale, key_descale, value_descale;
  // e4m3 output, with this scale; else bf16.
  bool output_fp8 = false;
  CaseScale output_scale;
  // Of the device that the launch is planned for: with few, its persistent
  // work-groups take many items each.
  uint32_t compute_units = kDefaultComputeUnits;
  // The fractions of the scores (in binades) are those of a few scores only, as
  // in cases that set them: no errors of P average out.
  bool few_scores = false;

  // ---- INT8 variants ----
  // Unset: fill_query and fill_key, Gaussian numbers of their own, are
  // quantised. Set: they are the codes of Q and K, and these the shift of a row
  // and the multiplier of a key, which only kernels that multiply are given.
  std::function<uint8_t(int64_t batch, int64_t head, int64_t row)> shift;
  std::function<uint32_t(int64_t batch, int64_t head, int64_t key)> multiplier;
  // A row is all of a head's; paddings and lead are multiples of 1 and 4.
  Layout query_shift, key_multiplier;

  std::string Name() const;
  reference::AttentionProblem Problem() const;
};

// Fills `c` so that logits lie near -20 (head dim 128): a key beyond the end,
// which arrives as zeros and scores 0, would outweigh all real ones.
void SetNegativeLogits(AttentionCase& c);

// Fills `c` so that query . key of key k is score(k) for every query: exactly
// if bf16 holds that or, in an FP8 case, if it is a whole number and not too
// large (2e7); others are rounded.
void SetScores(AttentionCase& c, std::function<double(int64_t key)> score);

// Fills `c` so that with a softmax scale of 1, which it sets, all scores are
// `level` but that of key 555, which is higher by `step`: the maximum of a row
// moves once, and most of the weight may lie under the old one.
void SetMovingMaximum(AttentionCase& c, float level, float step);

struct AttentionOutcome {
  // [batch][seqlen_q][heads_q][head_dim_v]; e4m3 outputs widened, still scaled.
  std::vector<numerics::Bf16> output;
  std::vector<float> lse;  // [batch][heads_q][seqlen_q]
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

// float64 attention on the same inputs, descales applied.
absl::StatusOr<reference::AttentionResult> Reference(const AttentionCase& c);

// The numeric model of BF16 attention on the same inputs; the running maximum
// moves when exceeded by more than rescale_binades.
absl::StatusOr<reference::AttentionResult> Model(const AttentionCase& c,
                                                 double rescale_binades);

// The numeric model of the FP8 or INT8 kernels on the same inputs.
absl::StatusOr<reference::AttentionResult> CodeModel(const AttentionCase& c);

// Runs the case and compares it: no findings, nothing written outside, relative
// RMSE, the worst row and the LSE within what the data type allows (BF16: LSE
// within 1e-4; FP8: error_limits.h). The message says what is wrong and where;
// "" if nothing is.
std::string Verify(const AttentionCase& c,
                   const emu::RunOptions& options = emu::StrictOptions(),
                   const emu::CodeObject* code = nullptr);

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_ATTENTION_CASE_H_
