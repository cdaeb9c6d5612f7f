#include "zyfa/launch/scale_arguments.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "zyfa/launch/refusal.h"

namespace zyfa {
namespace {

constexpr int64_t kScaleBytes = 4;
// Kernels add up offsets in 32-bit numbers.
constexpr int64_t kMaxExtent = int64_t{1} << 32;

// A scale of a call, and where it goes in the argument block.
struct ScaleArgument {
  const char* name;
  const std::optional<Scale>* scale;
  uint64_t AttentionArgs::* address;
  float AttentionArgs::* value;
  // None: a tensor of one element.
  uint32_t AttentionArgs::* batch_stride = nullptr;
  uint32_t AttentionArgs::* head_stride = nullptr;
  bool per_query_head = false;  // is allowed too

  bool is_descale() const { return batch_stride != nullptr; }
};

std::vector<ScaleArgument> ScaleArguments(const AttentionParams& params) {
  using Args = AttentionArgs;
  return {{"query_descale", &params.query_descale, &Args::query_descale,
           &Args::query_descale_value, &Args::query_descale_batch_stride,
           &Args::query_descale_head_stride, /*per_query_head=*/true},
          {"key_descale", &params.key_descale, &Args::key_descale,
           &Args::key_descale_value, &Args::key_descale_batch_stride,
           &Args::key_descale_head_stride},
          {"value_descale", &params.value_descale, &Args::value_descale,
           &Args::value_descale_value, &Args::value_descale_batch_stride,
           &Args::value_descale_head_stride},
          {"output_scale", &params.output_scale, &Args::output_scale,
           &Args::output_scale_value}};
}

std::string Text(const Scale& scale) {
  if (const float* value = std::get_if<float>(&scale)) {
    return absl::StrCat(*value);
  }
  return absl::StrCat("a tensor at 0x",
                      absl::Hex(std::get<ScaleView>(scale).address));
}

absl::Status CheckShape(const ScaleArgument& argument, const ScaleView& view,
                        const AttentionParams& params) {
  const int64_t batch = params.query.batch;
  const int64_t heads_q = params.query.heads, heads_kv = params.key.heads;
  const bool good_batch =
      view.batch == 1 || (argument.is_descale() && view.batch == batch);
  if (!good_batch) {
    return Refuse(absl::StrCat(argument.name, ".batch"),
                  absl::StrCat(view.batch),
                  argument.is_descale()
                      ? absl::StrCat("1, or ", batch, ", which is query.batch")
                      : "1");
  }
  const bool good_heads = view.heads == 1 ||
                          (argument.is_descale() && view.heads == heads_kv) ||
                          (argument.per_query_head && view.heads == heads_q);
  if (!good_heads) {
    std::string allowed = "1";
    if (argument.is_descale()) {
      absl::StrAppend(&allowed, ", or ", heads_kv, ", which is key.heads");
    }
    if (argument.per_query_head) {
      absl::StrAppend(&allowed, ", or ", heads_q, ", which is query.heads");
    }
    return Refuse(absl::StrCat(argument.name, ".heads"),
                  absl::StrCat(view.heads), allowed);
  }
  return absl::OkStatus();
}

// Whether the tensor of a descale is FP8.
bool HasDescale(const ScaleArgument& argument, const AttentionParams& params) {
  const TensorView& tensor =
      argument.scale == &params.value_descale ? params.value : params.query;
  return tensor.data_type == DataType::kFp8;
}

absl::Status CheckScale(const ScaleArgument& argument, const Scale& scale,
                        const AttentionParams& params) {
  if (argument.is_descale() && !HasDescale(argument, params)) {
    return Refuse(argument.name, Text(scale), "none, but for FP8 inputs");
  }
  if (!argument.is_descale() && params.output.data_type != DataType::kFp8) {
    return Refuse(argument.name, Text(scale), "none, but for an FP8 output");
  }
  if (const float* value = std::get_if<float>(&scale)) {
    if (std::isfinite(*value)) return absl::OkStatus();
    return Refuse(argument.name, Text(scale), "any finite number");
  }
  return CheckShape(argument, std::get<ScaleView>(scale), params);
}

absl::StatusOr<ByteRange> CheckView(const std::string& name, ScaleView& view) {
  Rows rows;
  rows.name = name;
  rows.address = view.address;
  rows.row_bytes = kScaleBytes;
  rows.alignment = kScaleBytes;
  rows.dimensions = {
      {name + ".batch_stride", view.batch, &view.batch_stride, kMaxExtent},
      {name + ".head_stride", view.heads, &view.head_stride, kMaxExtent}};
  view.batch_stride = view.batch > 1 ? view.batch_stride : 0;
  view.head_stride = view.heads > 1 ? view.head_stride : 0;
  auto range = CheckRows(rows);
  if (!range.ok()) return range;
  const uint64_t extent = range->end - range->begin;
  if (extent > static_cast<uint64_t>(kMaxExtent)) {
    return Refuse(name, absl::StrCat("a tensor of ", extent, " bytes"),
                  absl::StrCat(kMaxExtent, " bytes at most, gaps included"));
  }
  return range;
}

}  // namespace

absl::Status CheckScales(const AttentionParams& params) {
  for (const ScaleArgument& argument : ScaleArguments(params)) {
    if (!argument.scale->has_value()) continue;
    const absl::Status status = CheckScale(argument, **argument.scale, params);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status FillScales(const AttentionParams& params,
                        std::vector<ByteRange>& read, AttentionArgs& args) {
  for (const ScaleArgument& argument : ScaleArguments(params)) {
    args.*argument.value = 1;
    if (!argument.scale->has_value()) continue;
    const Scale& scale = **argument.scale;
    if (const float* value = std::get_if<float>(&scale)) {
      args.*argument.value = *value;
      continue;
    }
    ScaleView view = std::get<ScaleView>(scale);
    const auto range = CheckView(argument.name, view);
    if (!range.ok()) return range.status();
    read.push_back(*range);
    args.*argument.address = view.address;
    if (!argument.is_descale()) continue;
    args.*argument.batch_stride = static_cast<uint32_t>(view.batch_stride);
    args.*argument.head_stride = static_cast<uint32_t>(view.head_stride);
    if (argument.per_query_head && view.heads > 1 &&
        view.heads != params.query.heads) {
      args.flags |= kQueryDescaleByKvHead;
    }
  }
  return absl::OkStatus();
}

}  // namespace zyfa
