// Causal FP8 attention of bf16 tensors: Q, K and V are quantised on the device,
// with the softmax scale folded into Q's descale.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/quantize/quantize.h"
#include "zyfa/quantize/softmax_fold.h"

constexpr int64_t kBatch = 1, kSeqlen = 300, kHeads = 2, kHeadDim = 128;
constexpr int64_t kElements = kBatch * kSeqlen * kHeads * kHeadDim;

// Takes a bf16 tensor at `input` to e4m3 at `output`, with one descale a head.
absl::Status QuantizeTensor(const zyfa::DeviceBuffer& input,
                            const zyfa::DeviceBuffer& output,
                            const zyfa::DeviceBuffer& descales,
                            std::optional<float> unit, zyfa::Device& device) {
  zyfa::QuantizeParams pass;
  pass.input =
      zyfa::DenseTensor(input.address(), kBatch, kSeqlen, kHeads, kHeadDim);
  pass.output = zyfa::DenseTensor(output.address(), kBatch, kSeqlen, kHeads,
                                  kHeadDim, zyfa::DataType::kFp8);
  pass.options.granularity = zyfa::ScaleGranularity::kHead;
  pass.options.unit = unit;
  pass.descale = descales.address();
  const auto bytes = zyfa::QuantizeWorkspaceBytes(pass);
  if (!bytes.ok()) return bytes.status();
  const auto workspace =
      zyfa::DeviceBuffer::Create(device, static_cast<size_t>(*bytes));
  if (!workspace.ok()) return workspace.status();
  pass.workspace = workspace->address();
  absl::Status status = zyfa::Quantize(pass, device);
  // The workspace must outlive the pass.
  if (status.ok()) status = device.Synchronize();
  return status;
}

absl::Status Run() {
  auto device = zyfa::OpenDevice("auto");
  if (!device.ok()) return device.status();
  std::vector<zyfa::DeviceBuffer> buffers;
  for (const int64_t bytes :
       {2 * kElements, 2 * kElements, kElements, kElements, kElements,
        kHeads * 4, kHeads * 4, kHeads * 4, 2 * kElements}) {
    auto buffer =
        zyfa::DeviceBuffer::Create(**device, static_cast<size_t>(bytes));
    if (!buffer.ok()) return buffer.status();
    buffers.push_back(*std::move(buffer));
  }
  const auto &input = buffers[0], &ones = buffers[1], &query = buffers[2],
             &key = buffers[3], &value = buffers[4],
             &query_descale = buffers[5], &key_descale = buffers[6],
             &value_descale = buffers[7], &output = buffers[8];

  // bf16 numbers from 0.5 to 2 for Q and K. With V = 1 every output is 1.
  std::vector<uint16_t> numbers(kElements);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<uint16_t>(0x3f00 + i * i % 0x100);
  }
  const std::vector<uint16_t> all_ones(kElements, 0x3f80);
  const auto bytes = [](const std::vector<uint16_t>& v) {
    return absl::Span<const uint8_t>(reinterpret_cast<const uint8_t*>(v.data()),
                                     v.size() * 2);
  };
  absl::Status status =
      (*device)->CopyToDevice(input.address(), bytes(numbers));
  status.Update((*device)->CopyToDevice(ones.address(), bytes(all_ones)));
  if (!status.ok()) return status;

  const auto fold =
      zyfa::FoldSoftmaxScale(1 / std::sqrt(static_cast<float>(kHeadDim)));
  if (!fold.ok()) return fold.status();
  status = QuantizeTensor(input, query, query_descale, fold->unit, **device);
  status.Update(QuantizeTensor(input, key, key_descale, 1.0f, **device));
  status.Update(
      QuantizeTensor(ones, value, value_descale, std::nullopt, **device));
  if (!status.ok()) return status;

  const auto fp8 = [](const zyfa::DeviceBuffer& buffer) {
    return zyfa::DenseTensor(buffer.address(), kBatch, kSeqlen, kHeads,
                             kHeadDim, zyfa::DataType::kFp8);
  };
  zyfa::AttentionParams params;
  params.query = fp8(query);
  params.key = fp8(key);
  params.value = fp8(value);
  params.output =
      zyfa::DenseTensor(output.address(), kBatch, kSeqlen, kHeads, kHeadDim);
  params.softmax_scale = fold->softmax_scale;
  params.query_descale = zyfa::DenseScales(query_descale.address(), 1, kHeads);
  params.key_descale = zyfa::DenseScales(key_descale.address(), 1, kHeads);
  params.value_descale = zyfa::DenseScales(value_descale.address(), 1, kHeads);
  status = zyfa::AttentionForward(params, **device);
  if (status.ok()) status = (*device)->Synchronize();
  if (!status.ok()) return status;

  std::vector<uint16_t> result(kElements);
  status = (*device)->CopyFromDevice(
      absl::Span<uint8_t>(reinterpret_cast<uint8_t*>(result.data()),
                          result.size() * 2),
      output.address());
  if (!status.ok()) return status;
  for (const uint16_t number : result) {
    // Rounded sums: within a unit of the last place of bf16.
    if (number < 0x3f7f || number > 0x3f81) {
      return absl::InternalError("an output is not 1");
    }
  }
  std::printf("%zu outputs are 1, on %s\n", result.size(),
              (*device)->properties().name.c_str());
  return absl::OkStatus();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
