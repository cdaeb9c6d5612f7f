#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/c_device.h"
#include "zyfa/launch/c_read.h"
#include "zyfa/quantize/quantized_attention.h"
#include "zyfa/quantize/zyfa_quantize.h"

namespace zyfa {
namespace {

// Sizes of the struct's versions up to today's; they never change.
constexpr size_t kSizes[] = {88};
static_assert(sizeof(zyfa_quantized_attention) == 88 &&
              offsetof(zyfa_quantized_attention, precision) == 64);

absl::Status ReadFlag(const char* argument, uint32_t from, bool& to) {
  if (from > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(argument, " is ", from, "; allowed: 0, 1"));
  }
  to = from == 1;
  return absl::OkStatus();
}

absl::Status ReadPrecision(uint32_t from, Precision& to) {
  switch (from) {
    case ZYFA_FP8_LEAN:
      to = Precision::kFp8Lean;
      return absl::OkStatus();
    case ZYFA_FP8_EXACT:
      to = Precision::kFp8Exact;
      return absl::OkStatus();
    case ZYFA_INT8_SHIFT:
      to = Precision::kInt8Shift;
      return absl::OkStatus();
    case ZYFA_INT8_MULTIPLY:
      to = Precision::kInt8Multiply;
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("precision is ", from, "; allowed: ", ZYFA_FP8_LEAN,
                       " (FP8, lean P), ", ZYFA_FP8_EXACT, " (FP8, exact P), ",
                       ZYFA_INT8_SHIFT, " (INT8, shift form), ",
                       ZYFA_INT8_MULTIPLY, " (INT8, multiplier form)"));
  }
}

absl::StatusOr<QuantizedAttentionParams> ReadCall(
    const zyfa_quantized_attention* from) {
  zyfa_quantized_attention call;
  absl::Status status = ReadStruct("attention", from, kSizes, call);
  if (!status.ok()) return status;
  QuantizedAttentionParams params;
  status.Update(ReadTensor("query", call.query, params.query));
  status.Update(ReadTensor("key", call.key, params.key));
  status.Update(ReadTensor("value", call.value, params.value));
  status.Update(ReadTensor("output", call.output, params.output));
  status.Update(ReadLse("lse", call.lse, params.lse));
  status.Update(
      ReadLse("lse_correction", call.lse_correction, params.lse_correction));
  status.Update(ReadMask(call.mask, params.mask));
  status.Update(ReadPrecision(call.precision, params.precision));
  status.Update(ReadFlag("rotate", call.rotate, params.rotate));
  status.Update(
      ReadFlag("subtract_mean", call.subtract_mean, params.subtract_mean));
  if (status.ok() && call.reserved != 0) {
    status = absl::InvalidArgumentError(
        absl::StrCat("reserved is ", call.reserved, "; allowed: 0"));
  }
  if (!status.ok()) return status;
  if (call.softmax_scale != nullptr) params.softmax_scale = *call.softmax_scale;
  params.workspace = call.workspace;
  return params;
}

}  // namespace
}  // namespace zyfa

using zyfa::NullArgument;
using zyfa::ToC;

zyfa_status zyfa_quantized_attention_workspace(
    const zyfa_quantized_attention* attention, size_t* bytes) {
  if (bytes == nullptr) return ToC(NullArgument("bytes"));
  *bytes = 0;
  const auto params = zyfa::ReadCall(attention);
  if (!params.ok()) return ToC(params.status());
  const auto needed = zyfa::QuantizedAttentionWorkspaceBytes(*params);
  if (needed.ok()) *bytes = static_cast<size_t>(*needed);
  return ToC(needed.status());
}

zyfa_status zyfa_quantized_attention_forward(
    zyfa_device* device, const zyfa_quantized_attention* attention,
    void* stream) {
  const auto params = zyfa::ReadCall(attention);
  if (!params.ok()) return ToC(params.status());
  if (device == nullptr) return ToC(NullArgument("device"));
  return ToC(
      zyfa::QuantizedAttentionForward(*params, *device->device, {stream}));
}
