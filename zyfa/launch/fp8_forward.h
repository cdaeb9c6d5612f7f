#ifndef ZYFA_LAUNCH_FP8_FORWARD_H_
#define ZYFA_LAUNCH_FP8_FORWARD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/device.h"
#include "zyfa/reference/fp8_model.h"
#include "zyfa/reference/problem.h"

namespace zyfa::testing {

// What an FP8 call is told of a scale.
enum class ScaleForm {
  kNone,        // 1
  kNumber,      // a number of the host
  kOneElement,  // a tensor of one element
  kPerBatch,
  kPerHead,
  kPerBatchHead,
  kPerKvHead,       // of the query: by KV head
  kPerBatchKvHead,  // the same
};

// What Q and K are, beside V in FP8.
enum class ScoreForm {
  kFp8,
  kInt8Shift,
  kInt8Multiply,
};

// One FP8 or INT8 call on Gaussian inputs, dense.
struct Fp8Forward {
  ScoreForm scores = ScoreForm::kFp8;
  std::string variant;  // empty: the default
  int64_t head_dim_qk = 128;
  Mask mask = Mask::kCausal;
  int64_t batch = 1, seqlen_q = 0, seqlen_kv = 0, heads_q = 1, heads_kv = 1;
  // INT8: of the value only.
  ScaleForm query = ScaleForm::kNone, key = ScaleForm::kNone,
            value = ScaleForm::kNone;
  bool fp8_output = false;
  ScaleForm output = ScaleForm::kNone;  // kNone, kNumber or kOneElement
};

struct Fp8ForwardResult {
  // Of real numbers, [batch][seqlen_q][heads_q][128] and
  // [batch][heads_q][seqlen_q].
  std::vector<double> output;
  std::vector<float> lse;
  // Attention in float64 over the same codes, scales, shifts and multipliers.
  std::vector<double> expected_output;
  std::vector<double> expected_lse;
  // The largest relative RMSE of a head of a batch entry, and of its LSE's
  // finite numbers the largest difference.
  double worst_head = 0;
  double worst_lse = 0;
};

using Forward = std::function<absl::Status(const AttentionParams&, Device&)>;

// Runs the call with AttentionForward(), or `forward`. Errors: the call's.
absl::StatusOr<Fp8ForwardResult> RunFp8Forward(const Fp8Forward& c,
                                               Device& device,
                                               const Forward& forward = {});

// The kernels' numeric model of an FP8 call without scales; output in bf16.
absl::StatusOr<reference::AttentionResult> ModelFp8Forward(
    const Fp8Forward& c, const reference::Fp8ModelOptions& options);

}  // namespace zyfa::testing

#endif  // ZYFA_LAUNCH_FP8_FORWARD_H_
