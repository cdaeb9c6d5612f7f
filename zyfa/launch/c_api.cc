#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/c_device.h"
#include "zyfa/launch/hip_device.h"
#include "zyfa/launch/zyfa.h"

namespace zyfa {
namespace {

thread_local std::string last_error;

absl::Status Null(absl::string_view argument) {
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is NULL; allowed: a valid pointer"));
}

// Sizes of the structs' versions up to today's; they never change.
constexpr size_t kTensorSizes[] = {72}, kLseSizes[] = {56},
                 kTokensSizes[] = {56}, kScaleSizes[] = {48},
                 kAttentionSizes[] = {64, 96, 112};
static_assert(sizeof(zyfa_tensor) == 72 && sizeof(zyfa_lse) == 56 &&
              sizeof(zyfa_tokens) == 56 && sizeof(zyfa_scale) == 48 &&
              sizeof(zyfa_attention) == 112);
static_assert(offsetof(zyfa_attention, query_descale) == 64 &&
              offsetof(zyfa_attention, query_shift) == 96);

// Copies a struct of the caller's version into one of ours. An older one must
// be a whole version, not end within a pointer; what a newer one has more must
// be 0.
template <typename Struct, size_t n>
absl::Status Read(absl::string_view argument, const Struct* from,
                  const size_t (&versions)[n], Struct& to) {
  if (from == nullptr) return Null(argument);
  const size_t size = from->struct_size;
  constexpr size_t kMost = 65536;  // larger is no size but garbage
  const bool known = std::find(versions, versions + n, size) != versions + n;
  if (!known && (size < sizeof(Struct) || size > kMost)) {
    return absl::InvalidArgumentError(absl::StrCat(
        argument, ".struct_size is ", size,
        "; allowed: ", absl::StrJoin(versions, ", "), " to ", kMost));
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " has byte ", i, " set to ", int{bytes[i]},
                       "; allowed: 0, for this library knows only ",
                       sizeof(Struct), " bytes"));
    }
  }
  to = Struct{};
  std::memcpy(&to, from, std::min(size, sizeof(Struct)));
  return absl::OkStatus();
}

std::optional<DataType> TypeOf(uint32_t data_type) {
  switch (data_type) {
    case ZYFA_BF16:
      return DataType::kBf16;
    case ZYFA_FP8:
      return DataType::kFp8;
    case ZYFA_INT8:
      return DataType::kInt8;
    default:
      return std::nullopt;
  }
}

absl::Status ReadTensor(const std::string& argument, const zyfa_tensor* from,
                        TensorView& to) {
  zyfa_tensor tensor;
  const absl::Status status = Read(argument, from, kTensorSizes, tensor);
  if (!status.ok()) return status;
  const std::optional<DataType> type = TypeOf(tensor.data_type);
  if (!type.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        argument, ".data_type is ", tensor.data_type, "; allowed: ", ZYFA_BF16,
        " (bf16), ", ZYFA_FP8, " (fp8), ", ZYFA_INT8, " (int8)"));
  }
  to = {*type,
        tensor.address,
        tensor.batch,
        tensor.seqlen,
        tensor.heads,
        tensor.head_dim,
        tensor.batch_stride,
        tensor.seq_stride,
        tensor.head_stride};
  return absl::OkStatus();
}

// NULL: none.
absl::Status ReadScale(const std::string& argument, const zyfa_scale* from,
                       std::optional<Scale>& to) {
  if (from == nullptr) return absl::OkStatus();
  zyfa_scale scale;
  const absl::Status status = Read(argument, from, kScaleSizes, scale);
  if (!status.ok()) return status;
  if (scale.address == 0) {
    to = scale.value;
  } else {
    to = ScaleView{scale.address, scale.batch, scale.heads, scale.batch_stride,
                   scale.head_stride};
  }
  return absl::OkStatus();
}

// Of zyfa_lse or zyfa_tokens. NULL: none.
template <typename Struct, size_t n>
absl::Status ReadTokens(const std::string& argument, const Struct* from,
                        const size_t (&versions)[n],
                        std::optional<TokenView>& to) {
  if (from == nullptr) return absl::OkStatus();
  Struct tokens;
  const absl::Status status = Read(argument, from, versions, tokens);
  if (!status.ok()) return status;
  if (tokens.reserved != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        argument, ".reserved is ", tokens.reserved, "; allowed: 0"));
  }
  to = {tokens.address, tokens.batch,        tokens.heads,
        tokens.seqlen,  tokens.batch_stride, tokens.head_stride};
  return absl::OkStatus();
}

absl::StatusOr<AttentionParams> ReadAttention(const zyfa_attention* from) {
  zyfa_attention attention;
  absl::Status status = Read("attention", from, kAttentionSizes, attention);
  if (!status.ok()) return status;
  AttentionParams params;
  status.Update(ReadTensor("query", attention.query, params.query));
  status.Update(ReadTensor("key", attention.key, params.key));
  status.Update(ReadTensor("value", attention.value, params.value));
  status.Update(ReadTensor("output", attention.output, params.output));
  status.Update(ReadScale("query_descale", attention.query_descale,
                          params.query_descale));
  status.Update(
      ReadScale("key_descale", attention.key_descale, params.key_descale));
  status.Update(ReadScale("value_descale", attention.value_descale,
                          params.value_descale));
  status.Update(
      ReadScale("output_scale", attention.output_scale, params.output_scale));
  status.Update(ReadTokens("lse", attention.lse, kLseSizes, params.lse));
  status.Update(ReadTokens("query_shift", attention.query_shift, kTokensSizes,
                           params.query_shift));
  status.Update(ReadTokens("key_multiplier", attention.key_multiplier,
                           kTokensSizes, params.key_multiplier));
  if (!status.ok()) return status;
  if (attention.mask != ZYFA_CAUSAL && attention.mask != ZYFA_FULL) {
    return absl::InvalidArgumentError(
        absl::StrCat("mask is ", attention.mask, "; allowed: ", ZYFA_CAUSAL,
                     " (causal), ", ZYFA_FULL, " (full)"));
  }
  params.mask = attention.mask == ZYFA_CAUSAL ? Mask::kCausal : Mask::kFull;
  if (attention.softmax_scale != nullptr) {
    params.softmax_scale = *attention.softmax_scale;
  }
  if (attention.variant != nullptr) params.variant = attention.variant;
  return params;
}

// Runs `call` on the device unless the pointer to it is null.
template <typename Call>
zyfa_status On(zyfa_device* device, Call call) {
  if (device == nullptr) return ToC(Null("device"));
  return ToC(call(*device->device));
}

}  // namespace

zyfa_status ToC(const absl::Status& status) {
  last_error = std::string(status.message());
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ZYFA_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ZYFA_INVALID_ARGUMENT;
    case absl::StatusCode::kNotFound:
      return ZYFA_NOT_FOUND;
    case absl::StatusCode::kResourceExhausted:
      return ZYFA_RESOURCE_EXHAUSTED;
    case absl::StatusCode::kFailedPrecondition:
      return ZYFA_FAILED_PRECONDITION;
    case absl::StatusCode::kUnavailable:
      return ZYFA_UNAVAILABLE;
    default:
      return ZYFA_INTERNAL;
  }
}

zyfa_status ToC(absl::StatusOr<std::unique_ptr<Device>> device,
                zyfa_device** out) {
  if (out == nullptr) return ToC(Null("device"));
  *out = nullptr;
  if (device.ok()) *out = new zyfa_device{*std::move(device)};
  return ToC(device.status());
}

}  // namespace zyfa

using zyfa::Device;
using zyfa::Null;
using zyfa::On;
using zyfa::ToC;

uint32_t zyfa_api_version(void) { return ZYFA_API_VERSION; }

const char* zyfa_last_error(void) { return zyfa::last_error.c_str(); }

zyfa_status zyfa_open_hip(int32_t ordinal, zyfa_device** device) {
  if (device == nullptr) return ToC(Null("device"));
  zyfa::HipOptions options;
  options.ordinal = ordinal;
  return ToC(zyfa::OpenHipDevice(options), device);
}

void zyfa_close(zyfa_device* device) { delete device; }

const char* zyfa_device_kind(const zyfa_device* device) {
  return device == nullptr ? "" : device->device->properties().kind.c_str();
}

const char* zyfa_device_name(const zyfa_device* device) {
  return device == nullptr ? "" : device->device->properties().name.c_str();
}

int zyfa_device_is_modelled(const zyfa_device* device) {
  return device != nullptr && device->device->properties().modelled;
}

zyfa_status zyfa_allocate(zyfa_device* device, size_t bytes,
                          uint64_t* address) {
  if (address == nullptr) return ToC(Null("address"));
  return On(device, [&](Device& d) {
    const auto allocated = d.Allocate(bytes);
    *address = allocated.ok() ? *allocated : 0;
    return allocated.status();
  });
}

zyfa_status zyfa_free(zyfa_device* device, uint64_t address) {
  return On(device, [&](Device& d) { return d.Free(address); });
}

zyfa_status zyfa_copy_to_device(zyfa_device* device, uint64_t destination,
                                const void* source, size_t bytes) {
  if (source == nullptr && bytes > 0) return ToC(Null("source"));
  return On(device, [&](Device& d) {
    return d.CopyToDevice(destination,
                          {static_cast<const uint8_t*>(source), bytes});
  });
}

zyfa_status zyfa_copy_from_device(zyfa_device* device, void* destination,
                                  uint64_t source, size_t bytes) {
  if (destination == nullptr && bytes > 0) return ToC(Null("destination"));
  return On(device, [&](Device& d) {
    return d.CopyFromDevice({static_cast<uint8_t*>(destination), bytes},
                            source);
  });
}

zyfa_status zyfa_fill(zyfa_device* device, uint64_t address, uint8_t value,
                      size_t bytes) {
  return On(device, [&](Device& d) { return d.Fill(address, value, bytes); });
}

zyfa_status zyfa_create_stream(zyfa_device* device, void** stream) {
  if (stream == nullptr) return ToC(Null("stream"));
  return On(device, [&](Device& d) {
    const auto created = d.CreateStream();
    *stream = created.ok() ? created->native : nullptr;
    return created.status();
  });
}

zyfa_status zyfa_destroy_stream(zyfa_device* device, void* stream) {
  return On(device, [&](Device& d) { return d.DestroyStream({stream}); });
}

zyfa_status zyfa_synchronize_stream(zyfa_device* device, void* stream) {
  return On(device, [&](Device& d) { return d.SynchronizeStream({stream}); });
}

zyfa_status zyfa_synchronize(zyfa_device* device) {
  return On(device, [](Device& d) { return d.Synchronize(); });
}

zyfa_status zyfa_supports(const zyfa_attention* attention) {
  const auto params = zyfa::ReadAttention(attention);
  if (!params.ok()) return ToC(params.status());
  return ToC(zyfa::Supports(*params));
}

zyfa_status zyfa_attention_forward(zyfa_device* device,
                                   const zyfa_attention* attention,
                                   void* stream) {
  const auto params = zyfa::ReadAttention(attention);
  if (!params.ok()) return ToC(params.status());
  return On(device, [&](Device& d) {
    return zyfa::AttentionForward(*params, d, {stream});
  });
}
