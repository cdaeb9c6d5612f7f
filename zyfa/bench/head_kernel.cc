#include "zyfa/bench/head_kernel.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/tensor.h"

namespace zyfa::bench {

using numerics::Bf16;

absl::StatusOr<std::vector<Bf16>> RunHeadKernel(const Variant& variant,
                                                const Inputs& inputs,
                                                int64_t seqlen,
                                                Device& device) {
  // All ones is a NaN: an element that the kernel leaves out shows.
  std::vector<Bf16> stored(static_cast<size_t>(seqlen * variant.head_dim_v),
                           Bf16{0xffff});
  DeviceBuffer query, key, value, output, shifts, multipliers;
  for (const auto& [bytes, buffer] :
       {std::pair(inputs.query.bytes(), &query),
        {inputs.key.bytes(), &key},
        {inputs.value.bytes(), &value},
        {BytesOf(stored), &output},
        {BytesOf(inputs.query_shifts), &shifts},
        {BytesOf(inputs.key_multipliers), &multipliers}}) {
    if (bytes.empty()) continue;
    auto made = DeviceBuffer::Create(device, bytes.size());
    if (!made.ok()) return made.status();
    *buffer = *std::move(made);
    absl::Status status = device.CopyToDevice(buffer->address(), bytes);
    if (!status.ok()) return status;
  }
  AttentionParams params;
  params.query = DenseTensor(query.address(), 1, seqlen, 1, variant.head_dim_qk,
                             variant.data_type);
  params.key = DenseTensor(key.address(), 1, seqlen, 1, variant.head_dim_qk,
                           variant.data_type);
  params.value = DenseTensor(value.address(), 1, seqlen, 1, variant.head_dim_v,
                             ValueType(variant));
  params.output =
      DenseTensor(output.address(), 1, seqlen, 1, variant.head_dim_v);
  params.mask = variant.mask;
  params.variant = VariantName(variant);
  inputs.SetScales(variant, params);
  if (!inputs.query_shifts.empty()) {
    params.query_shift = DenseTokens(shifts.address(), 1, 1, seqlen, 1);
  }
  if (!inputs.key_multipliers.empty()) {
    params.key_multiplier = DenseTokens(multipliers.address(), 1, 1, seqlen, 4);
  }
  absl::Status status = AttentionForward(params, device);
  if (status.ok()) status = device.Synchronize();
  if (status.ok()) {
    status = device.CopyFromDevice(
        absl::MakeSpan(reinterpret_cast<uint8_t*>(stored.data()),
                       stored.size() * sizeof(Bf16)),
        output.address());
  }
  if (!status.ok()) return status;
  return stored;
}

}  // namespace zyfa::bench
