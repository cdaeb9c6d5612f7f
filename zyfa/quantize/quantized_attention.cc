#include "zyfa/quantize/quantized_attention.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/refusal.h"
#include "zyfa/quantize/quantize.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa {
namespace {

constexpr ScaleGranularity kGranularity = ScaleGranularity::kBatchHead;
constexpr int64_t kAlignment = 256;

bool IsInt8(Precision precision) {
  return precision == Precision::kInt8Shift ||
         precision == Precision::kInt8Multiply;
}

Probability ProbabilityOf(Precision precision) {
  switch (precision) {
    case Precision::kFp8Lean:
      return Probability::kLean;
    case Precision::kFp8Exact:
      return Probability::kExact;
    case Precision::kInt8Shift:
      return Probability::kShift;
    case Precision::kInt8Multiply:
      return Probability::kMultiply;
  }
  return Probability::kExact;
}

// Hands out parts of the workspace, one behind the other.
class Parts {
 public:
  explicit Parts(uint64_t begin) : begin_(begin) {}

  uint64_t Take(int64_t bytes) {
    const uint64_t at = begin_ + static_cast<uint64_t>(bytes_);
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  TensorView TakeCodes(const TensorView& of, DataType type) {
    return DenseTensor(Take(of.batch * of.seqlen * of.heads * of.head_dim),
                       of.batch, of.seqlen, of.heads, of.head_dim, type);
  }
  uint64_t TakeDescales(const TensorView& of) {
    return Take(of.batch * of.heads * 4);
  }
  TokenView TakeTokens(const TensorView& of, int64_t bytes) {
    return DenseTokens(Take(of.batch * of.heads * of.seqlen * bytes), of.batch,
                       of.heads, of.seqlen, bytes);
  }
  int64_t bytes() const { return bytes_; }

 private:
  uint64_t begin_;
  int64_t bytes_ = 0;
};

// The passes in their order, and the call. Of keys and queries one pass each is
// set.
struct Steps {
  std::optional<QuantizeParams> fp8_key, fp8_query;
  std::optional<QuantizeKeysInt8Params> int8_key;
  std::optional<QuantizeQueriesInt8Params> int8_query;
  QuantizeParams value;
  AttentionParams attention;
  int64_t workspace_bytes = 0;
};

// The call that the bf16 kernels would take, which has the same rules.
AttentionParams Bf16Call(const QuantizedAttentionParams& params) {
  AttentionParams call;
  call.query = params.query;
  call.key = params.key;
  call.value = params.value;
  call.output = params.output;
  call.lse = params.lse;
  call.softmax_scale = params.softmax_scale;
  call.mask = params.mask;
  return call;
}

absl::Status CheckBf16(const QuantizedAttentionParams& params) {
  for (const auto& [name, tensor] :
       {std::pair("query", &params.query), std::pair("key", &params.key),
        std::pair("value", &params.value),
        std::pair("output", &params.output)}) {
    if (tensor->data_type != DataType::kBf16) {
      return Refuse(absl::StrCat(name, ".data_type"),
                    DataTypeName(tensor->data_type), "bf16");
    }
  }
  const bool corrected = params.lse.has_value() && params.subtract_mean;
  if (params.lse_correction.has_value() != corrected) {
    return Refuse("lse_correction", corrected ? "not given" : "given",
                  corrected ? "a tensor, for lse is given and the mean key is "
                              "subtracted"
                            : "none, but with lse and a mean key");
  }
  return Supports(Bf16Call(params));
}

void SetFp8(const QuantizedAttentionParams& params, float softmax_scale,
            const std::optional<LseCorrection>& correction, uint64_t mean,
            Parts& parts, Steps& steps) {
  QuantizeParams key, query;
  key.input = params.key;
  key.output = parts.TakeCodes(params.key, DataType::kFp8);
  key.options = {kGranularity, std::nullopt, params.rotate,
                 params.subtract_mean};
  key.descale = parts.TakeDescales(params.key);
  key.mean = mean;
  query.input = params.query;
  query.output = parts.TakeCodes(params.query, DataType::kFp8);
  query.options = {kGranularity, std::nullopt, params.rotate, false};
  query.descale = parts.TakeDescales(params.query);
  query.lse_correction = correction;
  if (params.precision == Precision::kFp8Exact) {
    // Scales beyond what can be folded stay as they are.
    if (const auto fold = FoldSoftmaxScale(softmax_scale); fold.ok()) {
      softmax_scale = fold->softmax_scale;
      query.options.unit = fold->unit;
      key.options.unit = 1.0f;
    }
  }
  steps.attention.query = query.output;
  steps.attention.key = key.output;
  steps.attention.softmax_scale = softmax_scale;
  steps.attention.query_descale =
      DenseScales(query.descale, query.input.batch, query.input.heads);
  steps.attention.key_descale =
      DenseScales(key.descale, key.input.batch, key.input.heads);
  steps.fp8_key = key;
  steps.fp8_query = query;
}

void SetInt8(const QuantizedAttentionParams& params, float softmax_scale,
             const std::optional<LseCorrection>& correction, uint64_t mean,
             Parts& parts, Steps& steps) {
  const bool multipliers = params.precision == Precision::kInt8Multiply;
  QuantizeKeysInt8Params key;
  key.input = params.key;
  key.output = parts.TakeCodes(params.key, DataType::kInt8);
  key.options = {kGranularity, multipliers, params.rotate,
                 params.subtract_mean};
  key.descale = parts.TakeDescales(params.key);
  key.mean = mean;
  if (multipliers) {
    key.multipliers = parts.TakeTokens(params.key, 4);
    steps.attention.key_multiplier = key.multipliers;
  }
  QuantizeQueriesInt8Params query;
  query.input = params.query;
  query.output = parts.TakeCodes(params.query, DataType::kInt8);
  query.options = {params.rotate, softmax_scale, params.key.heads, multipliers,
                   kGranularity};
  query.key_descale = key.descale;
  query.shifts = parts.TakeTokens(params.query, 1);
  query.lse_correction = correction;
  steps.attention.query = query.output;
  steps.attention.key = key.output;
  steps.attention.softmax_scale = std::nullopt;
  steps.attention.query_shift = query.shifts;
  steps.int8_key = key;
  steps.int8_query = query;
}

absl::StatusOr<Steps> Plan(const QuantizedAttentionParams& params) {
  // From here on sizes are such that the products below do not overflow.
  absl::Status status = CheckBf16(params);
  if (!status.ok()) return status;
  const float softmax_scale = params.softmax_scale.value_or(static_cast<float>(
      1 / std::sqrt(static_cast<double>(params.query.head_dim))));
  Steps steps;
  steps.attention = Bf16Call(params);
  Parts parts(params.workspace);

  const uint64_t mean = params.subtract_mean
                            ? parts.Take(params.key.batch * params.key.heads *
                                         params.key.head_dim * 4)
                            : 0;
  std::optional<LseCorrection> correction;
  if (params.lse_correction.has_value()) {
    correction = {*params.lse_correction, mean, params.key.heads,
                  softmax_scale};
  }
  if (IsInt8(params.precision)) {
    SetInt8(params, softmax_scale, correction, mean, parts, steps);
  } else {
    SetFp8(params, softmax_scale, correction, mean, parts, steps);
  }
  steps.value.input = params.value;
  steps.value.output = parts.TakeCodes(params.value, DataType::kFp8);
  steps.value.options.granularity = kGranularity;
  steps.value.descale = parts.TakeDescales(params.value);
  steps.attention.value = steps.value.output;
  steps.attention.value_descale =
      DenseScales(steps.value.descale, params.value.batch, params.value.heads);

  Variant variant;
  variant.data_type =
      IsInt8(params.precision) ? DataType::kInt8 : DataType::kFp8;
  variant.head_dim_qk = static_cast<int>(params.query.head_dim);
  variant.head_dim_v = static_cast<int>(params.value.head_dim);
  variant.mask = params.mask;
  variant.probability = ProbabilityOf(params.precision);
  steps.attention.variant = VariantName(variant);

  // One after the other, the passes share what they tell their launches.
  int64_t scratch = 0;
  const auto measure = [&](const auto& pass) {
    const auto bytes = QuantizeWorkspaceBytes(pass);
    status.Update(bytes.status());
    if (bytes.ok()) scratch = std::max(scratch, *bytes);
  };
  measure(steps.value);
  if (steps.fp8_key.has_value()) measure(*steps.fp8_key);
  if (steps.fp8_query.has_value()) measure(*steps.fp8_query);
  if (steps.int8_key.has_value()) measure(*steps.int8_key);
  if (!status.ok()) return status;
  const uint64_t at = parts.Take(scratch);
  steps.value.workspace = at;
  if (steps.fp8_key.has_value()) steps.fp8_key->workspace = at;
  if (steps.fp8_query.has_value()) steps.fp8_query->workspace = at;
  if (steps.int8_key.has_value()) steps.int8_key->workspace = at;
  steps.workspace_bytes = parts.bytes();
  return steps;
}

}  // namespace

absl::StatusOr<int64_t> QuantizedAttentionWorkspaceBytes(
    const QuantizedAttentionParams& params) {
  // At an address that the rules for tensors allow.
  QuantizedAttentionParams elsewhere = params;
  elsewhere.workspace = 0;
  const auto steps = Plan(elsewhere);
  if (!steps.ok()) return steps.status();
  return steps->workspace_bytes;
}

absl::Status QuantizedAttentionForward(const QuantizedAttentionParams& params,
                                       Device& device, Stream stream) {
  if (params.workspace % kAlignment != 0 || params.workspace == 0) {
    return Refuse("workspace", absl::StrCat("0x", absl::Hex(params.workspace)),
                  absl::StrCat("multiples of ", kAlignment, " but 0"));
  }
  const auto steps = Plan(params);
  if (!steps.ok()) return steps.status();
  // Before anything is launched; what overlaps the workspace is found here.
  absl::Status status = Supports(steps->attention);
  const auto run = [&](const auto& pass) {
    if (status.ok()) status = Quantize(pass, device, stream);
  };
  // The queries' pass reads what the keys' has written.
  if (steps->fp8_key.has_value()) run(*steps->fp8_key);
  if (steps->int8_key.has_value()) run(*steps->int8_key);
  if (steps->fp8_query.has_value()) run(*steps->fp8_query);
  if (steps->int8_query.has_value()) run(*steps->int8_query);
  run(steps->value);
  if (!status.ok()) return status;
  return AttentionForward(steps->attention, device, stream);
}

}  // namespace zyfa
