#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "zyfa/launch/attention.h"
#include "zyfa/launch/c_device.h"
#include "zyfa/launch/c_read.h"
#include "zyfa/launch/hip_device.h"
#include "zyfa/launch/zyfa.h"

namespace zyfa {
namespace {

thread_local std::string last_error;

// Sizes of the structs' versions up to today's; they never change.
constexpr size_t kScaleSizes[] = {48}, kAttentionSizes[] = {64, 96, 112};
static_assert(sizeof(zyfa_scale) == 48 && sizeof(zyfa_attention) == 112);
static_assert(offsetof(zyfa_attention, query_descale) == 64 &&
              offsetof(zyfa_attention, query_shift) == 96);

// NULL: none.
absl::Status ReadScale(const std::string& argument, const zyfa_scale* from,
                       std::optional<Scale>& to) {
  if (from == nullptr) return absl::OkStatus();
  zyfa_scale scale;
  const absl::Status status = ReadStruct(argument, from, kScaleSizes, scale);
  if (!status.ok()) return status;
  if (scale.address == 0) {
    to = scale.value;
  } else {
    to = ScaleView{scale.address, scale.batch, scale.heads, scale.batch_stride,
                   scale.head_stride};
  }
  return absl::OkStatus();
}

absl::StatusOr<AttentionParams> ReadAttention(const zyfa_attention* from) {
  zyfa_attention attention;
  absl::Status status =
      ReadStruct("attention", from, kAttentionSizes, attention);
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
  status.Update(ReadLse("lse", attention.lse, params.lse));
  status.Update(
      ReadTokens("query_shift", attention.query_shift, params.query_shift));
  status.Update(ReadTokens("key_multiplier", attention.key_multiplier,
                           params.key_multiplier));
  status.Update(ReadMask(attention.mask, params.mask));
  if (!status.ok()) return status;
  if (attention.softmax_scale != nullptr) {
    params.softmax_scale = *attention.softmax_scale;
  }
  if (attention.variant != nullptr) params.variant = attention.variant;
  return params;
}

// Runs `call` on the device unless the pointer to it is null.
template <typename Call>
zyfa_status On(zyfa_device* device, Call call) {
  if (device == nullptr) return ToC(NullArgument("device"));
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
  if (out == nullptr) return ToC(NullArgument("device"));
  *out = nullptr;
  if (device.ok()) *out = new zyfa_device{*std::move(device)};
  return ToC(device.status());
}

}  // namespace zyfa

using zyfa::Device;
using zyfa::NullArgument;
using zyfa::On;
using zyfa::ToC;

uint32_t zyfa_api_version(void) { return ZYFA_API_VERSION; }

const char* zyfa_last_error(void) { return zyfa::last_error.c_str(); }

zyfa_status zyfa_open_hip(int32_t ordinal, zyfa_device** device) {
  if (device == nullptr) return ToC(NullArgument("device"));
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
  if (address == nullptr) return ToC(NullArgument("address"));
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
  if (source == nullptr && bytes > 0) return ToC(NullArgument("source"));
  return On(device, [&](Device& d) {
    return d.CopyToDevice(destination,
                          {static_cast<const uint8_t*>(source), bytes});
  });
}

zyfa_status zyfa_copy_from_device(zyfa_device* device, void* destination,
                                  uint64_t source, size_t bytes) {
  if (destination == nullptr && bytes > 0)
    return ToC(NullArgument("destination"));
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
  if (stream == nullptr) return ToC(NullArgument("stream"));
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
