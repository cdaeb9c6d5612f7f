#include "zyfa/quantize/pass_case.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/quantize/plan.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;
using numerics::E4m3;

}  // namespace

std::string PassCase::Name() const {
  return absl::StrCat(TensorCase::Name(),
                      " granularity=", static_cast<int>(options.granularity),
                      " unit=", options.unit.value_or(0),
                      " rotate=", options.rotate,
                      " mean=", options.subtract_mean, " heads_kv=", heads_kv,
                      " calibrated=", !descales.empty());
}

absl::StatusOr<PassResult> RunOnHost(const PassCase& c) {
  const std::vector<Bf16> input = PassInput(c);
  PassResult result;
  std::optional<QuantizeCalibration> calibration;
  if (!c.descales.empty()) {
    calibration = QuantizeCalibration{c.descales, c.mean};
  }
  absl::StatusOr<QuantizedTensor> tensor =
      QuantizeOnHost(c.options, c.extent, input, calibration);
  if (!tensor.ok()) return tensor.status();
  result.tensor = *std::move(tensor);
  if (c.heads_kv == 0) return result;
  const auto lse = LseCorrectionOnHost(
      c.extent, input, c.heads_kv, PassKeyMean(c, c.heads_kv), c.softmax_scale);
  if (!lse.ok()) return lse.status();
  result.lse_correction = *lse;
  return result;
}

absl::StatusOr<PassResult> RunOnEmulator(const PassCase& c,
                                         const emu::RunOptions& options,
                                         bool all_schedules) {
  const QuantizeExtent& e = c.extent;
  const int64_t means =
      c.options.subtract_mean ? e.batch * e.heads * e.head_dim : 0;
  const int64_t corrections = c.heads_kv > 0 ? e.batch * e.heads * e.seqlen : 0;
  const int64_t scales =
      ScaleCount(c.options.granularity, e.batch, e.heads, e.seqlen);
  PassRun run(c);
  QuantizeParams params;
  params.options = c.options;
  params.input = run.Input();
  params.output = run.Output(DataType::kFp8);
  params.calibrated = !c.descales.empty();
  params.descale =
      params.calibrated ? run.Array(c.descales) : run.Allocate(4 * scales);
  params.mean = params.calibrated ? run.Array(c.mean) : run.Allocate(4 * means);
  const uint64_t lse = run.Allocate(4 * corrections);
  if (c.heads_kv > 0) {
    params.lse_correction = {DenseLse(lse, e.batch, e.heads, e.seqlen),
                             run.Array(PassKeyMean(c, c.heads_kv)), c.heads_kv,
                             c.softmax_scale};
  }
  const auto workspace = PlanQuantizeWorkspace(params);
  if (!workspace.ok()) return workspace.status();
  params.workspace = run.Allocate(workspace->bytes);
  run.Run(PlanQuantize(params), options, all_schedules);

  PassResult result;
  result.tensor.codes = run.Codes<E4m3>();
  result.tensor.descales = run.Read<float>(params.descale, scales);
  result.tensor.mean = run.Read<float>(params.mean, means);
  result.lse_correction = run.Read<float>(lse, corrections);
  result.findings = run.findings();
  result.wrote_outside = run.wrote_outside();
  if (!run.status().ok()) return run.status();
  return result;
}

std::string Compare(const PassCase& c, bool all_schedules) {
  return CompareWithHost(
      c, all_schedules, [](const PassResult& got, const PassResult& want) {
        const QuantizedTensor &x = got.tensor, &y = want.tensor;
        return std::vector<std::string>{
            FirstDifference("mean", x.mean, y.mean),
            FirstDifference("descales", x.descales, y.descales),
            FirstDifference("codes", x.codes, y.codes),
            FirstDifference("lse_correction", got.lse_correction,
                            want.lse_correction)};
      });
}

}  // namespace zyfa::testing
