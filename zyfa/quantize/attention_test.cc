// From bf16 to attention on the emulator: the device's quantiser, the FP8
// kernels, the LSE's correction; against float64 attention over the inputs as
// they were. Set M of numerics 8.

#include "zyfa/launch/attention.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/quantize/quantize.h"
#include "zyfa/quantize/softmax_fold.h"
#include "zyfa/reference/attention.h"

namespace zyfa {
namespace {

using numerics::Bf16;

constexpr int64_t kHeads = 2;
constexpr int64_t kSeqlen = 2048;
constexpr int64_t kValueDim = 128;

struct Input {
  int64_t head_dim;
  std::vector<Bf16> query, key, value;  // [seqlen][heads][head_dim]
  reference::AttentionResult exact;
};

Input MakeInput(int64_t head_dim) {
  constexpr float kGains[kHeads] = {0.8f, 1.25f};
  Input in;
  in.head_dim = head_dim;
  in.query.resize(static_cast<size_t>(kSeqlen * kHeads * head_dim));
  in.key.resize(in.query.size());
  in.value.resize(static_cast<size_t>(kSeqlen * kHeads * kValueDim));
  const auto params = numerics::RealLikeSet("M");
  for (int64_t h = 0; h < kHeads; ++h) {
    const auto head =
        numerics::MakeRealLikeHead(*params, kSeqlen, static_cast<int>(head_dim),
                                   kValueDim, static_cast<uint64_t>(h) + 1);
    const auto copy = [&](const std::vector<float>& from, int64_t dim,
                          float gain, std::vector<Bf16>& to) {
      for (int64_t i = 0; i < kSeqlen * dim; ++i) {
        const int64_t token = i / dim, channel = i % dim;
        to[static_cast<size_t>((token * kHeads + h) * dim + channel)] =
            Bf16::FromFloat(gain * from[static_cast<size_t>(i)]);
      }
    };
    copy(head->query, head_dim, 1 / kGains[h], in.query);
    copy(head->key, head_dim, kGains[h], in.key);
    copy(head->value, kValueDim, kGains[h], in.value);
  }
  reference::AttentionProblem problem;
  problem.heads_q = problem.heads_kv = kHeads;
  problem.seqlen_q = problem.seqlen_kv = kSeqlen;
  problem.head_dim_qk = head_dim;
  problem.head_dim_v = kValueDim;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  const auto view = [](const std::vector<Bf16>& x, int64_t dim) {
    return reference::TensorView::Dense(x.data(), kSeqlen, kHeads, dim);
  };
  const auto exact =
      reference::Attention(problem, view(in.query, head_dim),
                           view(in.key, head_dim), view(in.value, kValueDim));
  EXPECT_TRUE(exact.ok()) << exact.status();
  if (exact.ok()) in.exact = *exact;
  return in;
}

// What a caller chooses.
struct Choice {
  std::string variant;
  bool fold = true;
  bool rotate = false;
  bool subtract_mean = false;
};

struct Outcome {
  double error = NAN;                  // of the output, relative
  double lse_error = NAN;              // RMS
  double uncorrected_lse_error = NAN;  // the same, of what attention gives
  uint64_t vector_instructions = 0;
};

class AttentionTest : public ::testing::Test {
 protected:
  uint64_t Allocate(size_t bytes) {
    auto buffer = DeviceBuffer::Create(device_, bytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    if (!buffer.ok()) return 0;
    buffers_.push_back(std::make_unique<DeviceBuffer>(*std::move(buffer)));
    return buffers_.back()->address();
  }

  // A pass over a tensor; descales a head.
  QuantizeParams Pass(const std::vector<Bf16>& x, int64_t head_dim,
                      std::optional<float> unit, bool rotate) {
    QuantizeParams pass;
    pass.input =
        DenseTensor(Allocate(2 * x.size()), 1, kSeqlen, kHeads, head_dim);
    const absl::Status status = device_.CopyToDevice(
        pass.input.address,
        {reinterpret_cast<const uint8_t*>(x.data()), 2 * x.size()});
    EXPECT_TRUE(status.ok()) << status;
    pass.output = DenseTensor(Allocate(x.size()), 1, kSeqlen, kHeads, head_dim,
                              DataType::kFp8);
    pass.options.granularity = ScaleGranularity::kHead;
    pass.options.unit = unit;
    pass.options.rotate = rotate;
    pass.descale = Allocate(kHeads * 4);
    return pass;
  }

  void Start(QuantizeParams& pass) {
    const auto bytes = QuantizeWorkspaceBytes(pass);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    pass.workspace = Allocate(static_cast<size_t>(*bytes));
    const absl::Status status = Quantize(pass, device_);
    ASSERT_TRUE(status.ok()) << status;
  }

  template <typename T>
  std::vector<T> Download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    const absl::Status status = device_.CopyFromDevice(
        {reinterpret_cast<uint8_t*>(values.data()), count * sizeof(T)},
        address);
    EXPECT_TRUE(status.ok()) << status;
    return values;
  }

  Outcome Attend(const Input& in, const Choice& choice) {
    const float scale = 1 / std::sqrt(static_cast<float>(in.head_dim));
    const SoftmaxFold fold = *FoldSoftmaxScale(scale);
    const auto unit = [&](float folded) {
      return choice.fold ? std::optional<float>(folded) : std::nullopt;
    };
    QuantizeParams key = Pass(in.key, in.head_dim, unit(1.0f), choice.rotate);
    key.options.subtract_mean = choice.subtract_mean;
    if (choice.subtract_mean) {
      key.mean = Allocate(static_cast<size_t>(kHeads * in.head_dim * 4));
    }
    Start(key);
    QuantizeParams query =
        Pass(in.query, in.head_dim, unit(fold.unit), choice.rotate);
    constexpr size_t kRows = kHeads * kSeqlen;
    uint64_t correction = 0;
    if (choice.subtract_mean) {
      correction = Allocate(kRows * 4);
      query.lse_correction =
          LseCorrection{.output = DenseLse(correction, 1, kHeads, kSeqlen),
                        .key_mean = key.mean,
                        .heads_kv = kHeads,
                        .softmax_scale = scale};
    }
    Start(query);
    QuantizeParams value = Pass(in.value, kValueDim, std::nullopt, false);
    Start(value);

    AttentionParams params;
    params.query = query.output;
    params.key = key.output;
    params.value = value.output;
    params.output = DenseTensor(Allocate(kRows * kValueDim * 2), 1, kSeqlen,
                                kHeads, kValueDim);
    params.lse = DenseLse(Allocate(kRows * 4), 1, kHeads, kSeqlen);
    params.softmax_scale = choice.fold ? fold.softmax_scale : scale;
    params.query_descale = DenseScales(query.descale, 1, kHeads);
    params.key_descale = DenseScales(key.descale, 1, kHeads);
    params.value_descale = DenseScales(value.descale, 1, kHeads);
    params.variant = choice.variant;
    const absl::Status status = AttentionForward(params, device_);
    EXPECT_TRUE(status.ok()) << status;

    Outcome outcome;
    const auto counts = device_.last_report().instructions_by_class;
    const auto valu = counts.find("valu");
    if (valu != counts.end()) outcome.vector_instructions = valu->second;
    const auto output =
        Download<Bf16>(params.output.address, kRows * kValueDim);
    const auto error = numerics::CompareToReference(
        std::span<const Bf16>(output), in.exact.output, kValueDim);
    EXPECT_TRUE(error.ok()) << error.status();
    if (error.ok()) outcome.error = error->relative_rmse;
    const auto lse = Download<float>(params.lse->address, kRows);
    std::vector<float> add(kRows, 0.0f);
    if (choice.subtract_mean) add = Download<float>(correction, kRows);
    double sum = 0, uncorrected = 0;
    for (size_t i = 0; i < kRows; ++i) {
      const double off = lse[i] - in.exact.lse[i];
      uncorrected += off * off;
      sum += (off + add[i]) * (off + add[i]);
    }
    outcome.lse_error = std::sqrt(sum / kRows);
    outcome.uncorrected_lse_error = std::sqrt(uncorrected / kRows);
    std::printf(
        "%-24s fold %d rotate %d mean %d: error %.4f, LSE %.4f (%.4f), %llu\n",
        choice.variant.c_str(), choice.fold, choice.rotate,
        choice.subtract_mean, outcome.error, outcome.lse_error,
        outcome.uncorrected_lse_error,
        static_cast<unsigned long long>(outcome.vector_instructions));
    return outcome;
  }

  EmulatorDevice device_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

TEST_F(AttentionTest, ErrorsAreThoseOfTheInputs) {
  const Input in = MakeInput(128);
  for (const std::string p : {"lean", "exact"}) {
    const std::string variant = "fp8_" + p + "_d128_causal";
    const Outcome plain = Attend(in, {variant, true, false, false});
    const Outcome rotated = Attend(in, {variant, true, true, false});
    const Outcome mean = Attend(in, {variant, true, false, true});
    const Outcome both = Attend(in, {variant, true, true, true});
    // P adds less than .005, in squares.
    EXPECT_NEAR(plain.error, .074, .02);
    EXPECT_NEAR(rotated.error / plain.error, .044 / .074, .12);
    EXPECT_NEAR(mean.error / plain.error, .030 / .074, .12);
    EXPECT_NEAR(both.error / plain.error, .032 / .074, .12);
    // The LSE of a peaked row is off as its largest score is.
    EXPECT_LT(both.lse_error, .4 * plain.lse_error);
    EXPECT_LT(both.lse_error, .12);
    EXPECT_GT(both.uncorrected_lse_error, 1);
  }
}

TEST_F(AttentionTest, HeadDim192) {
  const Input in = MakeInput(192);
  for (const std::string p : {"lean", "exact"}) {
    const Outcome both =
        Attend(in, {"fp8_" + p + "_d192x128_causal", true, true, true});
    EXPECT_LT(both.error, .04);
    EXPECT_LT(both.lse_error, .12);
  }
}

// With a power of two for a scale of scores exact P needs no multiplication a
// score; lean P has one instruction for it all in any case.
TEST_F(AttentionTest, FoldingSavesExactKernelsAMultiplicationAScore) {
  const Input in = MakeInput(128);
  const auto run = [&](const char* variant, bool fold) {
    return Attend(in, {variant, fold, true, true});
  };
  const Outcome folded = run("fp8_exact_d128_causal", true);
  const Outcome plain = run("fp8_exact_d128_causal", false);
  EXPECT_NEAR(folded.error / plain.error, 1, .1);
  // A wave instruction has 64 scores; half of all pairs are visible, and masked
  // tiles, which multiply in any case, are few.
  constexpr double kScores = kHeads * kSeqlen * kSeqlen / 2.0;
  const auto saved = static_cast<double>(plain.vector_instructions) -
                     static_cast<double>(folded.vector_instructions);
  EXPECT_NEAR(saved / (kScores / 64), 1, .25);
  const Outcome lean = run("fp8_lean_d128_causal", true);
  const Outcome lean_plain = run("fp8_lean_d128_causal", false);
  EXPECT_NEAR(static_cast<double>(lean.vector_instructions) /
                  static_cast<double>(lean_plain.vector_instructions),
              1, .02);
}

}  // namespace
}  // namespace zyfa
