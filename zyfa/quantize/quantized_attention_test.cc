// From bf16 to attention in one call, on the emulator: against float64
// attention over the inputs (set M of numerics 8), and what is refused.

#include "zyfa/quantize/quantized_attention.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/quantize/attention_run.h"
#include "zyfa/quantize/quantize.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using testing::kRunHeads;
using testing::kRunRows;
using testing::kRunSeqlen;
using testing::kRunValueDim;
using testing::MakeRunInput;
using testing::RunInput;

constexpr Precision kPrecisions[] = {Precision::kFp8Lean, Precision::kFp8Exact,
                                     Precision::kInt8Shift,
                                     Precision::kInt8Multiply};

class QuantizedAttentionTest : public testing::AttentionRun {
 protected:
  QuantizedAttentionParams Call(const RunInput& in) {
    QuantizedAttentionParams params;
    params.query = Upload(in.query, in.head_dim);
    params.key = Upload(in.key, in.head_dim);
    params.value = Upload(in.value, kRunValueDim);
    params.output = DenseTensor(Allocate(kRunRows * kRunValueDim * 2), 1,
                                kRunSeqlen, kRunHeads, kRunValueDim);
    params.lse = DenseLse(Allocate(kRunRows * 4), 1, kRunHeads, kRunSeqlen);
    params.lse_correction =
        DenseLse(Allocate(kRunRows * 4), 1, kRunHeads, kRunSeqlen);
    return params;
  }

  // With just the workspace that it asks for.
  void Run(QuantizedAttentionParams& params) {
    const auto bytes = QuantizedAttentionWorkspaceBytes(params);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    params.workspace = Allocate(static_cast<size_t>(*bytes));
    const absl::Status status = QuantizedAttentionForward(params, device());
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(device().last_report().findings.empty());
  }

  double Error(const RunInput& in, const QuantizedAttentionParams& params) {
    const auto output =
        Download<Bf16>(params.output.address, kRunRows * kRunValueDim);
    const auto error = numerics::CompareToReference(
        std::span<const Bf16>(output), in.exact.output, kRunValueDim);
    EXPECT_TRUE(error.ok()) << error.status();
    return error.ok() ? error->relative_rmse : NAN;
  }

  double LseError(const RunInput& in, const QuantizedAttentionParams& params) {
    const auto lse = Download<float>(params.lse->address, kRunRows);
    std::vector<float> add(kRunRows, 0.0f);
    if (params.lse_correction.has_value()) {
      add = Download<float>(params.lse_correction->address, kRunRows);
    }
    double sum = 0;
    for (size_t i = 0; i < kRunRows; ++i) {
      const double off = double{lse[i]} + double{add[i]} - in.exact.lse[i];
      sum += off * off;
    }
    return std::sqrt(sum / kRunRows);
  }
};

TEST_F(QuantizedAttentionTest, ErrorsAreThoseOfThePasses) {
  const RunInput in = MakeRunInput(128);
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(static_cast<int>(precision));
    // Once for each kind of pass nothing may be read that no pass has written.
    const bool strict = precision == Precision::kFp8Exact ||
                        precision == Precision::kInt8Multiply;
    device().set_options(strict ? emu::StrictOptions() : emu::RunOptions());
    QuantizedAttentionParams params = Call(in);
    params.precision = precision;
    Run(params);
    // As docs/quantiser.md has them: .032 of FP8; of INT8 P and V are left.
    const double error = Error(in, params);
    EXPECT_LT(error, .036);
    EXPECT_GT(error, .02);
    EXPECT_LT(LseError(in, params), .12);
  }
}

TEST_F(QuantizedAttentionTest, HeadDim192) {
  const RunInput in = MakeRunInput(192);
  for (const Precision precision :
       {Precision::kFp8Exact, Precision::kInt8Multiply}) {
    QuantizedAttentionParams params = Call(in);
    params.precision = precision;
    Run(params);
    EXPECT_LT(Error(in, params), .04);
    EXPECT_LT(LseError(in, params), .12);
  }
}

// Set M has outliers: both options show in the error.
TEST_F(QuantizedAttentionTest, OptionsReachThePasses) {
  const RunInput in = MakeRunInput(128);
  const auto error = [&](bool rotate, bool subtract_mean) {
    QuantizedAttentionParams params = Call(in);
    params.rotate = rotate;
    params.subtract_mean = subtract_mean;
    if (!subtract_mean) params.lse_correction = std::nullopt;
    Run(params);
    return Error(in, params);
  };
  const double plain = error(false, false);
  EXPECT_NEAR(error(true, false) / plain, .044 / .074, .12);
  EXPECT_NEAR(error(false, true) / plain, .030 / .074, .12);
}

// With a softmax scale that is folded, exact P needs a multiplication a score
// less.
TEST_F(QuantizedAttentionTest, ExactKernelsGetAFoldedScale) {
  const RunInput in = MakeRunInput(128);
  const auto instructions = [&] {
    return static_cast<double>(
        device().last_report().instructions_by_class.at("valu"));
  };
  QuantizedAttentionParams params = Call(in);
  params.precision = Precision::kFp8Exact;
  Run(params);
  const double folded = instructions();

  QuantizeParams query = Pass(in.query, 128), key = Pass(in.key, 128),
                 value = Pass(in.value, kRunValueDim);
  AttentionParams plain;
  plain.variant = "fp8_exact_d128_causal";
  for (QuantizeParams* pass : {&query, &key}) {
    pass->options.rotate = true;
    Start(*pass);
  }
  Start(value);
  plain.query = query.output;
  plain.key = key.output;
  plain.value = value.output;
  plain.query_descale = DenseScales(query.descale, 1, kRunHeads);
  plain.key_descale = DenseScales(key.descale, 1, kRunHeads);
  plain.value_descale = DenseScales(value.descale, 1, kRunHeads);
  Attend(in, plain, 0, "without folding");
  // A wave instruction has 64 scores, half of which a causal mask leaves.
  constexpr double kScores = kRunHeads * kRunSeqlen * kRunSeqlen / 2.0;
  EXPECT_NEAR((instructions() - folded) / (kScores / 64), 1, .35);
}

TEST_F(QuantizedAttentionTest, Refusals) {
  const RunInput in = MakeRunInput(128);
  const QuantizedAttentionParams right = Call(in);
  ASSERT_TRUE(QuantizedAttentionWorkspaceBytes(right).ok());
  const auto expect_refusal =
      [&](const std::string& words,
          const std::function<void(QuantizedAttentionParams&)>& alter) {
        QuantizedAttentionParams wrong = right;
        alter(wrong);
        const absl::Status status =
            QuantizedAttentionWorkspaceBytes(wrong).status();
        EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
        EXPECT_NE(status.message().find(words), absl::string_view::npos)
            << status;
      };
  using Params = QuantizedAttentionParams;
  // A call that the FP8 kernels would take.
  expect_refusal("query.data_type is fp8; allowed: bf16", [](Params& p) {
    p.query.data_type = p.key.data_type = p.value.data_type = DataType::kFp8;
  });
  expect_refusal("lse_correction is not given; allowed: a tensor",
                 [](Params& p) { p.lse_correction = std::nullopt; });
  expect_refusal("lse_correction is given; allowed: none",
                 [](Params& p) { p.subtract_mean = false; });
  expect_refusal("lse_correction is given; allowed: none",
                 [](Params& p) { p.lse = std::nullopt; });
  expect_refusal("key.heads is 3",
                 [](Params& p) { p.key.heads = p.value.heads = 3; });
  expect_refusal("softmax_scale is inf",
                 [](Params& p) { p.softmax_scale = INFINITY; });
  expect_refusal("query.seqlen", [](Params& p) { p.query.seqlen = INT64_MAX; });

  const auto forward = [&](uint64_t workspace) {
    QuantizedAttentionParams params = right;
    params.workspace = workspace;
    return QuantizedAttentionForward(params, device());
  };
  EXPECT_NE(forward(0).message().find("workspace is 0x0"),
            absl::string_view::npos);
  EXPECT_NE(forward(0x1010).message().find("multiples of 256"),
            absl::string_view::npos);
  // A workspace over the output is found before anything runs.
  EXPECT_EQ(forward(right.output.address & ~uint64_t{255}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(QuantizedAttentionTest, NoRowsAndNoKeys) {
  const RunInput in = MakeRunInput(128);
  for (const Precision precision : kPrecisions) {
    QuantizedAttentionParams params = Call(in);
    params.precision = precision;
    params.key.seqlen = params.value.seqlen = 0;
    Run(params);
    for (const Bf16 x :
         Download<Bf16>(params.output.address, kRunRows * kRunValueDim)) {
      ASSERT_EQ(x.ToFloat(), 0);
    }
    EXPECT_EQ(Download<float>(params.lse->address, 1)[0], -INFINITY);
    EXPECT_TRUE(
        std::isfinite(Download<float>(params.lse_correction->address, 1)[0]));
    params.query.batch = params.key.batch = params.value.batch =
        params.output.batch = params.lse->batch = params.lse_correction->batch =
            0;
    Run(params);
  }
}

}  // namespace
}  // namespace zyfa
