// The numeric models that the accuracy laboratory computes with are the
// kernels: on captured layers, every causal kernel on the emulator against its
// model, output by output.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "zyfa/bench/contender.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/bench/layer_runs.h"
#include "zyfa/bench/row_errors.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

constexpr int64_t kTokens = 512;

// The layers of the model on the first tokens of the text.
std::vector<CapturedLayer> Captured(const std::string& model) {
  const std::string data = "zyfa/models/testdata/";
  const auto transformer = models::Transformer::Load(data + model);
  EXPECT_TRUE(transformer.ok()) << transformer.status();
  const auto text = models::ReadTextSegment(data + "val_256k.txt", 0, kTokens,
                                            transformer->config().bos);
  EXPECT_TRUE(text.ok()) << text.status();
  const auto layers = models::CaptureLayers(*transformer, text->tokens);
  EXPECT_TRUE(layers.ok()) << layers.status();
  return *layers;
}

DeviceBuffer Upload(Device& device, absl::Span<const uint8_t> bytes) {
  auto buffer = DeviceBuffer::Create(device, bytes.size());
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_TRUE(device.CopyToDevice(buffer->address(), bytes).ok());
  return *std::move(buffer);
}

// The kernel's output, [token][channel].
std::vector<double> RunKernel(const std::string& variant, const Variant& v,
                              const Inputs& in) {
  EmulatorDevice device;
  const DeviceBuffer query = Upload(device, in.query.bytes());
  const DeviceBuffer key = Upload(device, in.key.bytes());
  const DeviceBuffer value = Upload(device, in.value.bytes());
  std::vector<Bf16> stored(kTokens * 128, Bf16{0xffff});
  const DeviceBuffer output = Upload(device, BytesOf(stored));
  DeviceBuffer shifts, multipliers;
  AttentionParams params;
  params.query =
      DenseTensor(query.address(), 1, kTokens, 1, v.head_dim_qk, v.data_type);
  params.key =
      DenseTensor(key.address(), 1, kTokens, 1, v.head_dim_qk, v.data_type);
  params.value = DenseTensor(value.address(), 1, kTokens, 1, 128, ValueType(v));
  params.output = DenseTensor(output.address(), 1, kTokens, 1, 128);
  params.mask = v.mask;
  params.variant = variant;
  in.SetScales(v, params);
  if (!in.query_shifts.empty()) {
    shifts = Upload(device, in.query_shifts);
    params.query_shift = DenseTokens(shifts.address(), 1, 1, kTokens, 1);
  }
  if (!in.key_multipliers.empty()) {
    multipliers = Upload(device, BytesOf(in.key_multipliers));
    params.key_multiplier =
        DenseTokens(multipliers.address(), 1, 1, kTokens, 4);
  }
  absl::Status status = AttentionForward(params, device);
  status.Update(device.Synchronize());
  status.Update(device.CopyFromDevice(
      absl::MakeSpan(reinterpret_cast<uint8_t*>(stored.data()),
                     stored.size() * sizeof(Bf16)),
      output.address()));
  EXPECT_TRUE(status.ok()) << status;
  std::vector<double> numbers;
  for (const Bf16 x : stored) numbers.push_back(double{x.ToFloat()});
  return numbers;
}

void ExpectModelsAreKernels(const CapturedLayer& head) {
  auto runs = LayerRuns::Make(head, {.rows_per_head = kTokens});
  ASSERT_TRUE(runs.ok()) << runs.status();
  int kernels = 0;
  for (const Contender& contender : kContenders) {
    const std::string name =
        VariantOf(contender, static_cast<int>(head.head_dim_qk));
    const auto variant = ParseVariant(name);
    if (!variant.ok()) continue;  // no kernel of ours
    ++kernels;
    SCOPED_TRACE(name + ", " + Quantisation(contender.preparation));
    const auto inputs = runs->Prepare(contender.preparation);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    const auto model = runs->Model(contender.arithmetic, contender.preparation);
    ASSERT_TRUE(model.ok()) << model.status();
    const bool bf16 = variant->data_type == DataType::kBf16;
    const auto given =
        runs->Float64(contender.preparation, bf16 ? kNothing : kAllRounded);
    ASSERT_TRUE(given.ok()) << given.status();
    const std::vector<double> want = RoundedToBf16(**model);
    const std::vector<double> got =
        RunKernel(name, *variant, (*inputs)->Head(0));
    ASSERT_EQ(got.size(), want.size());
    int changed = 0;
    for (size_t i = 0; i < got.size(); ++i) changed += got[i] != want[i];
    const double apart = CompareRows(got, want, 128).rel_rmse;
    const double kernel_error = CompareRows(got, **given, 128).rel_rmse;
    const double model_error = CompareRows(want, **given, 128).rel_rmse;
    std::printf(
        "%s: %d of %zu outputs differ, by %.1e in all; errors %.7f and "
        "%.7f\n",
        name.c_str(), changed, got.size(), apart, kernel_error, model_error);
    EXPECT_LE(std::abs(kernel_error - model_error), 1e-6);
    // The BF16 model does not have the matrix core's order of sums: some P
    // round to the other neighbour.
    EXPECT_LE(apart, bf16 ? 3e-4 : 1e-4);
    // Of outputs that are 1e-6 of themselves apart, as many round differently.
    if (!bf16) {
      EXPECT_LE(changed, 256e-6 * static_cast<double>(got.size()));
    }
  }
  EXPECT_EQ(kernels, 7);
}

// Of each model a head with a sink, whose maximum stays in the first tile, and
// a local one, whose references move.
TEST(CapturedModelTest, HeadDim128) {
  const std::vector<CapturedLayer> layers = Captured("gqa");
  ExpectModelsAreKernels(HeadOf(layers[4], 1));
  ExpectModelsAreKernels(HeadOf(layers[5], 0));
}

TEST(CapturedModelTest, HeadDim192) {
  const std::vector<CapturedLayer> layers = Captured("mla");
  ExpectModelsAreKernels(HeadOf(layers[2], 3));
  ExpectModelsAreKernels(HeadOf(layers[3], 0));
}

}  // namespace
}  // namespace zyfa::bench
