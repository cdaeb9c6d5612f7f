#ifndef ZYFA_QUANTIZE_PASS_PLAN_H_
#define ZYFA_QUANTIZE_PASS_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/launch/tensor_rows.h"
#include "zyfa/quantize/options.h"
#include "zyfa/quantize/params.h"
#include "zyfa/quantize/plan.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa {

// What the plans of all passes have in common.

inline constexpr int64_t kRowAlignment = 16;
inline constexpr int64_t kFloatAlignment = 4;

// What follows from the sizes.
struct PassSizes {
  int64_t batch, seqlen, heads, head_dim;
  int64_t chunk_rows, chunks;

  bool any_rows() const { return batch > 0 && heads > 0 && seqlen > 0; }
  int64_t mean_bytes() const { return 4 * batch * heads * head_dim; }
};

// Types and sizes of the tensors.
absl::StatusOr<PassSizes> CheckPassSizes(const TensorView& input,
                                         const TensorView& output,
                                         DataType codes);

struct ScaledSizes : PassSizes {
  int64_t scales = 0;            // descales of the tensor
  int64_t maxima_per_scale = 0;  // 0 of kToken, and if calibrated
};
absl::StatusOr<ScaledSizes> CheckScales(ScaleGranularity granularity,
                                        bool calibrated,
                                        const PassSizes& sizes);

absl::Status CheckLseCorrection(const LseCorrection& lse,
                                const TensorView& input);

// A dense array.
Rows ArrayOf(const std::string& name, uint64_t address, int64_t bytes,
             int64_t alignment, bool written);

// Everything that a pass reads and writes, checked one by one and then against
// each other.
class Ranges {
 public:
  void Add(const Rows& rows);
  // The first of what was wrong.
  absl::Status Check() const;

 private:
  absl::Status status_;
  std::vector<ByteRange> written_, read_;
};

// Adds the input and the output of a pass and the addresses of its arguments:
// sizes, tensors, the strides of a dense mean.
QuantizeArgs AddTensors(TensorView input, TensorView output,
                        const PassSizes& sizes, Ranges& ranges);
// Adds descales and, if subtracted, the mean: what a pass measures or, if
// calibrated, reads.
void AddMeasured(uint64_t descale, uint64_t mean, bool subtract_mean,
                 bool calibrated, const ScaledSizes& sizes, Ranges& ranges,
                 QuantizeArgs& args);
// Arguments of an LSE correction of a pass that has rows.
void AddLseCorrection(LseCorrection lse, const PassSizes& sizes, Ranges& ranges,
                      QuantizeArgs& args);
// Strides of dense scales of `heads` heads.
void SetScaleStrides(ScaleGranularity granularity, int64_t heads,
                     int64_t seqlen, QuantizeArgs& args);
// Strides of the maxima, so that those of a scale are neighbours.
void SetMaximaStrides(ScaleGranularity granularity, const ScaledSizes& sizes,
                      QuantizeArgs& args);
void SetKeyHeads(int64_t heads, int64_t heads_kv, QuantizeArgs& args);

// Launches over heads, chunks and batch.
void AddOverBatch(const std::string& kernel, const QuantizeArgs& all,
                  const PassSizes& sizes, int64_t chunks, int64_t threads,
                  std::vector<QuantizeLaunch>& launches);
// Launches over scales.
void AddOverScales(const std::string& kernel, const QuantizeArgs& all,
                   int64_t scales, std::vector<QuantizeLaunch>& launches);
// What finds the mean, and then the descales.
void AddMean(const QuantizeArgs& all, const PassSizes& sizes,
             std::vector<QuantizeLaunch>& launches);
void AddMaxima(const std::string& scale_kernel, const QuantizeArgs& all,
               const ScaledSizes& sizes, std::vector<QuantizeLaunch>& launches);
// "quantize_WHAT_d128"
std::string KernelName(const std::string& what, const PassSizes& sizes);

// Places of what a pass needs; counts of float32.
QuantizeWorkspace WorkspaceOf(int64_t sums, int64_t maxima,
                              int64_t multipliers);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_PASS_PLAN_H_
