#include "zyfa/probe/probe_run.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "zyfa/launch/device_buffer.h"

// The code objects that are linked into this program (gfx_kernel).
extern "C" {
extern const uint8_t zyfa_co_probe_int8_begin[];
extern const uint8_t zyfa_co_probe_int8_end[];
extern const uint8_t zyfa_co_probe_matrix_begin[];
extern const uint8_t zyfa_co_probe_matrix_end[];
extern const uint8_t zyfa_co_probe_sparse_begin[];
extern const uint8_t zyfa_co_probe_sparse_end[];
extern const uint8_t zyfa_co_probe_vector_begin[];
extern const uint8_t zyfa_co_probe_vector_end[];
}

namespace zyfa::probe {
namespace {

constexpr size_t kLanes = 64;

template <class Input, class Result>
absl::StatusOr<std::vector<Result>> RunKernel(
    Device& device, absl::Span<const uint8_t> code_object,
    const std::string& kernel, std::vector<Input> inputs) {
  const size_t count = inputs.size();
  const size_t groups = (count + kLanes - 1) / kLanes;
  if (groups == 0) return std::vector<Result>();
  inputs.resize(groups * kLanes);
  std::vector<Result> results(inputs.size());

  const absl::StatusOr<KernelHandle> handle =
      device.LoadOnce(code_object, kernel);
  if (!handle.ok()) return handle.status();
  const absl::StatusOr<DeviceBuffer> from =
      DeviceBuffer::Create(device, inputs.size() * sizeof(Input));
  if (!from.ok()) return from.status();
  const absl::StatusOr<DeviceBuffer> to =
      DeviceBuffer::Create(device, results.size() * sizeof(Result));
  if (!to.ok()) return to.status();
  absl::Status status = device.CopyToDevice(
      from->address(),
      {reinterpret_cast<const uint8_t*>(inputs.data()), from->size()});
  if (!status.ok()) return status;

  const ProbeArgs arguments = {from->address(), to->address()};
  LaunchShape shape;
  shape.grid[0] = static_cast<uint32_t>(groups);
  shape.block[0] = kLanes;
  status = device.Launch(
      *handle, shape,
      {reinterpret_cast<const uint8_t*>(&arguments), sizeof(arguments)},
      Stream());
  if (!status.ok()) return status;
  status = device.CopyFromDevice(
      {reinterpret_cast<uint8_t*>(results.data()), to->size()}, to->address());
  if (!status.ok()) return status;
  results.resize(count);
  return results;
}

uint8_t PowerOfTwo(int exponent) {
  return static_cast<uint8_t>(exponent < -6 ? 1 << (exponent + 9)
                                            : (exponent + 7) << 3);
}

}  // namespace

absl::StatusOr<std::vector<VectorResult>> RunVector(
    Device& device, absl::Span<const VectorInput> inputs) {
  return RunKernel<VectorInput, VectorResult>(
      device,
      absl::MakeConstSpan(zyfa_co_probe_vector_begin, zyfa_co_probe_vector_end),
      "zyfa_probe_vector", {inputs.begin(), inputs.end()});
}

Dot& Dot::Add(int k, int exponent, bool negative) {
  const int half = std::clamp(exponent / 2, -9, 8);
  const uint8_t sign = negative ? 0x80 : 0;
  codes[k] = {static_cast<uint8_t>(PowerOfTwo(half) | sign),
              PowerOfTwo(exponent - half)};
  return *this;
}

absl::StatusOr<std::vector<float>> RunDots(Device& device,
                                           absl::Span<const Dot> dots) {
  // Row and column 0 are in lanes 0 and 32 (cdna4-isa 1.1 and 1.2): byte e has
  // k = 32 * (e / 16) + 16 * (lane / 32) + e % 16; the lane has the scale of
  // k / 32 = lane / 32.
  std::vector<MatrixInput> inputs(dots.size() * kLanes);
  for (size_t i = 0; i < dots.size(); ++i) {
    MatrixInput* const lanes = &inputs[i * kLanes];
    for (const auto& [k, codes] : dots[i].codes) {
      MatrixInput& lane = lanes[k % 32 / 16 * 32];
      const int e = k / 32 * 16 + k % 16;
      lane.a[e / 4] |= uint32_t{codes.first} << e % 4 * 8;
      lane.b[e / 4] |= uint32_t{codes.second} << e % 4 * 8;
    }
    for (size_t l = 0; l < kLanes; ++l) {
      lanes[l].scale_a = dots[i].scale_a[l / 32];
      lanes[l].scale_b = dots[i].scale_b[l / 32];
    }
    lanes[0].c[0] = std::bit_cast<uint32_t>(dots[i].c);
  }
  const auto results = RunKernel<MatrixInput, MatrixResult>(
      device,
      absl::MakeConstSpan(zyfa_co_probe_matrix_begin, zyfa_co_probe_matrix_end),
      "zyfa_probe_matrix", std::move(inputs));
  if (!results.ok()) return results.status();
  std::vector<float> sums;
  for (size_t i = 0; i < dots.size(); ++i) {
    sums.push_back(std::bit_cast<float>((*results)[i * kLanes].d[0]));
  }
  return sums;
}

absl::StatusOr<std::vector<Int8Result>> RunInt8(
    Device& device, absl::Span<const Int8Input> lanes) {
  return RunKernel<Int8Input, Int8Result>(
      device,
      absl::MakeConstSpan(zyfa_co_probe_int8_begin, zyfa_co_probe_int8_end),
      "zyfa_probe_int8", {lanes.begin(), lanes.end()});
}

absl::StatusOr<std::vector<SparseResult>> RunSparse(
    Device& device, absl::Span<const SparseInput> lanes) {
  return RunKernel<SparseInput, SparseResult>(
      device,
      absl::MakeConstSpan(zyfa_co_probe_sparse_begin, zyfa_co_probe_sparse_end),
      "zyfa_probe_sparse", {lanes.begin(), lanes.end()});
}

}  // namespace zyfa::probe
