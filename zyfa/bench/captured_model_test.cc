// The numeric models that the accuracy laboratory computes with are the
// kernels: on captured layers, every causal kernel on the emulator against its
// model, output by output.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/bench/contender.h"
#include "zyfa/bench/head_kernel.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/bench/layer_runs.h"
#include "zyfa/bench/row_errors.h"
#include "zyfa/launch/emulator_device.h"
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

// The kernel's output, [token][channel].
std::vector<double> RunKernel(const Variant& variant, const Inputs& in) {
  EmulatorDevice device;
  const auto stored = RunHeadKernel(variant, in, kTokens, device);
  EXPECT_TRUE(stored.ok()) << stored.status();
  std::vector<double> numbers;
  for (const Bf16 x : *stored) numbers.push_back(double{x.ToFloat()});
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
    const std::vector<double> got = RunKernel(*variant, (*inputs)->Head(0));
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
