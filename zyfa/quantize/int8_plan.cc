#include "zyfa/quantize/int8_plan.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/refusal.h"
#include "zyfa/quantize/pass_plan.h"
#include "zyfa/quantize/score_factor.h"

namespace zyfa {
namespace {

absl::StatusOr<ScaledSizes> CheckKeySizes(
    const QuantizeKeysInt8Params& params) {
  const absl::Status status = CheckKeyInt8Options(params.options);
  if (!status.ok()) return status;
  const auto sizes =
      CheckPassSizes(params.input, params.output, DataType::kInt8);
  if (!sizes.ok()) return sizes.status();
  return CheckScales(params.options.granularity, params.calibrated, *sizes);
}

QuantizeWorkspace KeyWorkspace(const QuantizeKeysInt8Params& params,
                               const ScaledSizes& s) {
  if (params.calibrated) return {};
  const int64_t chunks = s.batch * s.heads * s.chunks;
  return WorkspaceOf(params.options.subtract_mean ? chunks * s.head_dim : 0,
                     chunks, 0);
}

// Adds numbers of tokens, all of the input's sizes.
absl::Status AddTokens(const std::string& name, TokenView view, int64_t bytes,
                       const PassSizes& s, Ranges& ranges, QuantizeArgs& args) {
  absl::Status status = MustEqual(absl::StrCat(name, ".batch"), view.batch,
                                  "input.batch", s.batch);
  status.Update(MustEqual(absl::StrCat(name, ".heads"), view.heads,
                          "input.heads", s.heads));
  status.Update(MustEqual(absl::StrCat(name, ".seqlen"), view.seqlen,
                          "input.seqlen", s.seqlen));
  if (!status.ok() || !s.any_rows()) return status;
  ranges.Add(RowsOf(name, view, bytes, /*written=*/true));
  args.tokens = view.address;
  args.tokens_batch_stride = static_cast<uint64_t>(view.batch_stride);
  args.tokens_head_stride = static_cast<uint64_t>(view.head_stride);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<QuantizeWorkspace> PlanQuantizeWorkspace(
    const QuantizeKeysInt8Params& params) {
  const auto sizes = CheckKeySizes(params);
  if (!sizes.ok()) return sizes.status();
  return KeyWorkspace(params, *sizes);
}

absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeKeysInt8Params& params) {
  const auto sizes = CheckKeySizes(params);
  if (!sizes.ok()) return sizes.status();
  const ScaledSizes& s = *sizes;
  const KeyInt8Options& options = params.options;
  const QuantizeWorkspace workspace = KeyWorkspace(params, s);
  Ranges ranges;
  QuantizeArgs args = AddTensors(params.input, params.output, s, ranges);
  AddMeasured(params.descale, params.mean, options.subtract_mean,
              params.calibrated, s, ranges, args);
  absl::Status status;
  if (options.token_multipliers) {
    status = AddTokens("multipliers", params.multipliers, sizeof(uint32_t), s,
                       ranges, args);
  }
  if (workspace.bytes > 0) {
    ranges.Add(ArrayOf("workspace", params.workspace, workspace.bytes,
                       kRowAlignment, true));
  }
  status.Update(ranges.Check());
  if (!status.ok()) return status;

  args.flags |= (options.rotate ? kQuantizeRotate : 0u) |
                (options.token_multipliers ? kQuantizeTokenMultipliers : 0u);
  args.sums = params.workspace + static_cast<uint64_t>(workspace.sums);
  args.maxima = params.workspace + static_cast<uint64_t>(workspace.maxima);
  SetScaleStrides(options.granularity, s.heads, s.seqlen, args);
  SetMaximaStrides(options.granularity, s, args);

  std::vector<QuantizeLaunch> launches;
  if (!params.calibrated) {
    if (options.subtract_mean) AddMean(args, s, launches);
    AddMaxima("quantize_scale_int8", args, s, launches);
  }
  AddOverBatch(KernelName("keys_int8", s), args, s, s.chunks, kQuantizeThreads,
               launches);
  return launches;
}

absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeQueriesInt8Params& params) {
  const auto sizes =
      CheckPassSizes(params.input, params.output, DataType::kInt8);
  if (!sizes.ok()) return sizes.status();
  const PassSizes& s = *sizes;
  const QueryInt8Options& options = params.options;
  absl::Status status = CheckQueryInt8Options(options, s.heads);
  if (params.lse_correction.has_value() && s.heads > 0) {
    const LseCorrection& lse = *params.lse_correction;
    status.Update(CheckLseCorrection(lse, params.input));
    status.Update(MustEqual("lse_correction.heads_kv", lse.heads_kv,
                            "options.heads_kv", options.heads_kv));
    if (status.ok() && lse.softmax_scale != options.softmax_scale) {
      status = Refuse(
          "lse_correction.softmax_scale", absl::StrCat(lse.softmax_scale),
          absl::StrCat("options.softmax_scale, ", options.softmax_scale));
    }
  }
  if (!status.ok()) return status;

  Ranges ranges;
  QuantizeArgs args = AddTensors(params.input, params.output, s, ranges);
  status = AddTokens("shifts", params.shifts, sizeof(uint8_t), s, ranges, args);
  if (!status.ok()) return status;
  if (!s.any_rows()) return std::vector<QuantizeLaunch>();
  ranges.Add(ArrayOf(
      "key_descale", params.key_descale,
      4 * ScaleCount(options.key_granularity, s.batch, options.heads_kv, 1),
      kFloatAlignment, false));
  if (params.lse_correction.has_value()) {
    AddLseCorrection(*params.lse_correction, s, ranges, args);
  }
  status = ranges.Check();
  if (!status.ok()) return status;

  const ScoreFactor score =
      ScoreFactorOf(options.softmax_scale, options.multipliers);
  args.flags |= options.rotate ? kQuantizeRotate : 0u;
  args.descale = params.key_descale;
  args.score_mantissa = score.mantissa;
  args.score_exponent = score.exponent;
  SetScaleStrides(options.key_granularity, options.heads_kv, 1, args);
  SetKeyHeads(s.heads, options.heads_kv, args);
  std::vector<QuantizeLaunch> launches;
  AddOverBatch(KernelName("queries_int8", s), args, s, s.chunks,
               kQuantizeThreads, launches);
  return launches;
}

}  // namespace zyfa
