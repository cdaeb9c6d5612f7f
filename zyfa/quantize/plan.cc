#include "zyfa/quantize/plan.h"

#include <bit>
#include <string>

#include "absl/status/status.h"
#include "zyfa/launch/refusal.h"
#include "zyfa/quantize/pass_plan.h"

namespace zyfa {
namespace {

constexpr float kLargest = 448.0f;

absl::StatusOr<ScaledSizes> CheckSizes(const QuantizeParams& params) {
  const absl::Status status =
      CheckQuantizeOptions(params.options, params.calibrated);
  if (!status.ok()) return status;
  const auto sizes =
      CheckPassSizes(params.input, params.output, DataType::kFp8);
  if (!sizes.ok()) return sizes.status();
  return CheckScales(params.options.granularity, params.calibrated, *sizes);
}

QuantizeWorkspace Workspace(const QuantizeParams& params,
                            const ScaledSizes& s) {
  if (params.calibrated) return {};
  const int64_t chunks = s.batch * s.heads * s.chunks;
  const bool tokens = params.options.granularity == ScaleGranularity::kToken;
  return WorkspaceOf(params.options.subtract_mean ? chunks * s.head_dim : 0,
                     tokens ? 0 : chunks, tokens ? 0 : s.scales);
}

}  // namespace

absl::StatusOr<QuantizeWorkspace> PlanQuantizeWorkspace(
    const QuantizeParams& params) {
  const auto sizes = CheckSizes(params);
  if (!sizes.ok()) return sizes.status();
  return Workspace(params, *sizes);
}

absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeParams& params) {
  const auto sizes = CheckSizes(params);
  if (!sizes.ok()) return sizes.status();
  const ScaledSizes& s = *sizes;
  const QuantizeOptions& options = params.options;
  absl::Status status;
  if (params.lse_correction.has_value()) {
    if (options.subtract_mean) {
      return Refuse("lse_correction", "given",
                    "none with options.subtract_mean, which is for keys");
    }
    status = CheckLseCorrection(*params.lse_correction, params.input);
    if (!status.ok()) return status;
  }

  const QuantizeWorkspace workspace = Workspace(params, s);
  Ranges ranges;
  QuantizeArgs args = AddTensors(params.input, params.output, s, ranges);
  AddMeasured(params.descale, params.mean, options.subtract_mean,
              params.calibrated, s, ranges, args);
  if (params.lse_correction.has_value() && s.any_rows()) {
    AddLseCorrection(*params.lse_correction, s, ranges, args);
    SetKeyHeads(s.heads, params.lse_correction->heads_kv, args);
  }
  if (workspace.bytes > 0) {
    ranges.Add(ArrayOf("workspace", params.workspace, workspace.bytes,
                       kRowAlignment, true));
  }
  status = ranges.Check();
  if (!status.ok()) return status;

  args.flags |= (options.rotate ? kQuantizeRotate : 0u) |
                (params.calibrated ? kQuantizeCalibrated : 0u) |
                (options.unit.has_value() ? kQuantizeUnit : 0u);
  args.unit = options.unit.value_or(1.0f);
  args.inverse_unit = 1.0f / args.unit;
  args.ceiling = 0x7fffffu - std::bit_cast<uint32_t>(kLargest * args.unit);
  args.sums = params.workspace + static_cast<uint64_t>(workspace.sums);
  args.maxima = params.workspace + static_cast<uint64_t>(workspace.maxima);
  args.multiplier =
      params.calibrated
          ? params.descale
          : params.workspace + static_cast<uint64_t>(workspace.multipliers);
  SetScaleStrides(options.granularity, s.heads, s.seqlen, args);
  SetMaximaStrides(options.granularity, s, args);

  std::vector<QuantizeLaunch> launches;
  if (options.subtract_mean && !params.calibrated) AddMean(args, s, launches);
  if (options.granularity == ScaleGranularity::kToken) {
    AddOverBatch(KernelName("token", s), args, s, s.chunks, kQuantizeThreads,
                 launches);
    return launches;
  }
  if (!params.calibrated) AddMaxima("quantize_scale", args, s, launches);
  AddOverBatch(KernelName("head", s), args, s, s.chunks, kQuantizeThreads,
               launches);
  return launches;
}

}  // namespace zyfa
