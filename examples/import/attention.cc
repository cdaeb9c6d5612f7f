// Causal attention with grouped query heads: 8 query heads share 2 KV heads.

#include "zyfa/launch/attention.h"

#include <cstdint>
#include <cstdio>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/open_device.h"

absl::Status Run() {
  constexpr int64_t kBatch = 1, kSeqlen = 300, kHeadsQ = 8, kHeadsKv = 2;
  constexpr int64_t kHeadDim = 128;
  constexpr size_t kBytesQ = kBatch * kSeqlen * kHeadsQ * kHeadDim * 2;
  constexpr size_t kBytesKv = kBatch * kSeqlen * kHeadsKv * kHeadDim * 2;

  // A gfx950 GPU if there is one, else the emulator.
  auto device = zyfa::OpenDevice("auto");
  if (!device.ok()) return device.status();

  auto query = zyfa::DeviceBuffer::Create(**device, kBytesQ);
  auto key = zyfa::DeviceBuffer::Create(**device, kBytesKv);
  auto value = zyfa::DeviceBuffer::Create(**device, kBytesKv);
  auto output = zyfa::DeviceBuffer::Create(**device, kBytesQ);
  for (const auto* buffer : {&query, &key, &value, &output}) {
    if (!buffer->ok()) return buffer->status();
  }

  // Values are bf16. With V = 1 every output is 1, whatever Q and K are.
  const std::vector<uint16_t> ones(kBytesQ / 2, 0x3f80);
  const absl::Span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(ones.data()), kBytesQ);
  absl::Status status = (*device)->CopyToDevice(query->address(), bytes);
  status.Update((*device)->CopyToDevice(key->address(), bytes.first(kBytesKv)));
  status.Update(
      (*device)->CopyToDevice(value->address(), bytes.first(kBytesKv)));
  if (!status.ok()) return status;

  zyfa::AttentionParams params;
  params.query =
      zyfa::DenseTensor(query->address(), kBatch, kSeqlen, kHeadsQ, kHeadDim);
  params.key =
      zyfa::DenseTensor(key->address(), kBatch, kSeqlen, kHeadsKv, kHeadDim);
  params.value =
      zyfa::DenseTensor(value->address(), kBatch, kSeqlen, kHeadsKv, kHeadDim);
  params.output =
      zyfa::DenseTensor(output->address(), kBatch, kSeqlen, kHeadsQ, kHeadDim);
  params.mask = zyfa::Mask::kCausal;
  status = zyfa::AttentionForward(params, **device);
  if (!status.ok()) return status;
  status = (*device)->Synchronize();
  if (!status.ok()) return status;

  std::vector<uint16_t> result(kBytesQ / 2);
  status = (*device)->CopyFromDevice(
      absl::Span<uint8_t>(reinterpret_cast<uint8_t*>(result.data()), kBytesQ),
      output->address());
  if (!status.ok()) return status;
  if (result != ones) return absl::InternalError("an output is not 1");
  std::printf("%zu outputs are 1, on %s\n", result.size(),
              (*device)->properties().name.c_str());
  return absl::OkStatus();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
