#include "zyfa/quantize/plan.h"

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kInput = 0x100000;
constexpr uint64_t kOutput = 0x200000;

// Tokens 100, heads 4 of 128.
QuantizeParams Params() {
  QuantizeParams p;
  p.input = DenseTensor(kInput, 2, 100, 4, 128);
  p.output = DenseTensor(kOutput, 2, 100, 4, 128, DataType::kFp8);
  p.descale = 0x300000;
  p.mean = 0x310000;
  p.workspace = 0x400000;
  return p;
}

LseCorrection Correction() {
  return {DenseLse(0x500000, 2, 4, 100), 0x600000, 2, 0.1f};
}

TEST(QuantizePlanTest, Launches) {
  const auto names = [](const QuantizeParams& p) {
    std::string out;
    const auto plan = PlanQuantize(p);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return out;
    for (const QuantizeLaunch& launch : *plan) {
      out += std::string(launch.kernel->name) + " ";
    }
    return out;
  };
  QuantizeParams p = Params();
  EXPECT_EQ(names(p), "quantize_max_d128 quantize_scale quantize_head_d128 ");
  p.options.subtract_mean = true;
  EXPECT_EQ(names(p),
            "quantize_sum_d128 quantize_mean quantize_max_d128 quantize_scale "
            "quantize_head_d128 ");
  p.options.granularity = ScaleGranularity::kToken;
  EXPECT_EQ(names(p), "quantize_sum_d128 quantize_mean quantize_token_d128 ");
  p.options.subtract_mean = false;
  EXPECT_EQ(names(p), "quantize_token_d128 ");
  EXPECT_EQ(PlanQuantizeWorkspace(p)->bytes, 0);
  p.input.heads = p.output.heads = 0;
  EXPECT_EQ(names(p), "");
  p = Params();
  p.options.subtract_mean = true;
  p.calibrated = true;
  p.workspace = 0;
  EXPECT_EQ(names(p), "quantize_head_d128 ");
  EXPECT_EQ(PlanQuantizeWorkspace(p)->bytes, 0);
}

TEST(QuantizePlanTest, ChunksStayInTheGrid) {
  for (const int64_t seqlen :
       {int64_t{1}, int64_t{256}, int64_t{257}, int64_t{65535} * 256,
        int64_t{65535} * 256 + 1, (int64_t{1} << 31) - 513}) {
    QuantizeParams p = Params();
    p.input = DenseTensor(kInput, 1, seqlen, 1, 128);
    p.output =
        DenseTensor(uint64_t{1} << 46, 1, seqlen, 1, 128, DataType::kFp8);
    p.descale = (uint64_t{1} << 45) - 256;
    p.workspace = uint64_t{1} << 45;
    const auto plan = PlanQuantize(p);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const QuantizeLaunch& first = plan->front();
    EXPECT_LE(first.shape.grid[1], 65535u);
    EXPECT_EQ(first.args.chunk_rows % kQuantizeStepRows, 0u);
    EXPECT_GE(int64_t{first.args.chunk_rows} * first.shape.grid[1], seqlen);
    EXPECT_LT(int64_t{first.args.chunk_rows} * (first.shape.grid[1] - 1),
              seqlen);
  }
}

TEST(QuantizePlanTest, BatchesBeyondTheGrid) {
  QuantizeParams p = Params();
  p.input = DenseTensor(kInput, 70000, 1, 1, 128);
  p.output = DenseTensor(0x80000000, 70000, 1, 1, 128, DataType::kFp8);
  p.options.granularity = ScaleGranularity::kBatchHead;
  p.descale = 0x90000000;
  p.workspace = 0xa0000000;
  const auto plan = PlanQuantize(p);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 5u);
  const QuantizeLaunch& second = (*plan)[1];
  EXPECT_EQ(second.args.input, kInput + 65535u * 256);
  EXPECT_EQ(second.args.maxima, p.workspace + 65535u * 4);
  EXPECT_EQ(second.shape.grid[2], 70000u - 65535u);
}

// What is not looked at may say anything.
TEST(QuantizePlanTest, NoRows) {
  for (const bool heads : {false, true}) {
    QuantizeParams p = Params();
    (heads ? p.input.heads : p.input.seqlen) = 0;
    (heads ? p.output.heads : p.output.seqlen) = 0;
    p.input.address = p.output.address = 3;
    p.input.seq_stride = -1;
    p.lse_correction = Correction();
    (heads ? p.lse_correction->output.heads : p.lse_correction->output.seqlen) =
        0;
    p.lse_correction->key_mean = 5;
    if (heads) p.lse_correction->heads_kv = INT64_MIN;
    const auto plan = PlanQuantize(p);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->size(), 1u);
    EXPECT_EQ(plan->front().kernel->name, "quantize_scale");
  }
}

TEST(QuantizePlanTest, Refusals) {
  using Change = std::function<void(QuantizeParams&)>;
  const struct {
    const char* argument;
    const char* value;
    Change change;
  } kBad[] = {
      {"input.data_type", "fp8",
       [](auto& p) { p.input.data_type = DataType::kFp8; }},
      {"output.data_type", "bf16",
       [](auto& p) { p.output.data_type = DataType::kBf16; }},
      {"input.head_dim", "64", [](auto& p) { p.input.head_dim = 64; }},
      {"output.seqlen", "99", [](auto& p) { p.output.seqlen = 99; }},
      {"output.batch", "1", [](auto& p) { p.output.batch = 1; }},
      {"output.heads", "5", [](auto& p) { p.output.heads = 5; }},
      {"output.head_dim", "192", [](auto& p) { p.output.head_dim = 192; }},
      {"input.seqlen", "-1", [](auto& p) { p.input.seqlen = -1; }},
      {"input.heads", "65537", [](auto& p) { p.input.heads = 65537; }},
      {"input.batch", "536870912",
       [](auto& p) { p.input.batch = p.output.batch = 536870912; }},
      {"input.batch * heads * seqlen", "1152921504606846976",
       [](auto& p) {
         p.input = DenseTensor(kInput, 1 << 29, 1 << 30, 2, 128);
         p.output = p.input;
         p.output.data_type = DataType::kFp8;
       }},
      {"input.seqlen", "33554432",
       [](auto& p) {
         p.input = DenseTensor(kInput, 8192, 1 << 25, 1, 128);
         p.output = p.input;
         p.output.data_type = DataType::kFp8;
       }},
      {"input.address", "0x100008", [](auto& p) { p.input.address += 8; }},
      {"input.address", "0x0", [](auto& p) { p.input.address = 0; }},
      {"input.seq_stride", "24", [](auto& p) { p.input.seq_stride = 24; }},
      {"input.seq_stride", "33554432",
       [](auto& p) { p.input.seq_stride = 33554432; }},
      {"input.head_stride", "-16", [](auto& p) { p.input.head_stride = -16; }},
      {"output.seq_stride", "496", [](auto& p) { p.output.seq_stride = 496; }},
      {"output.address", "0x100000",
       [](auto& p) { p.output.address = kInput; }},
      {"descale", "0x0", [](auto& p) { p.descale = 0; }},
      {"descale", "0x300002", [](auto& p) { p.descale += 2; }},
      {"descale", "0x1000000000000 and its bytes end at 0x1000000000004",
       [](auto& p) { p.descale = uint64_t{1} << 48; }},
      {"descale", "0x200010", [](auto& p) { p.descale = kOutput + 16; }},
      {"mean", "0x0",
       [](auto& p) {
         p.options.subtract_mean = true;
         p.mean = 0;
       }},
      {"workspace", "0x0", [](auto& p) { p.workspace = 0; }},
      {"workspace", "0x300000", [](auto& p) { p.workspace = 0x300000; }},
      {"options.unit", "1",
       [](auto& p) {
         p.calibrated = true;
         p.options.unit = 1.0f;
       }},
      {"options.granularity", "kToken",
       [](auto& p) {
         p.calibrated = true;
         p.options.granularity = ScaleGranularity::kToken;
       }},
      {"descale", "0x0",
       [](auto& p) {
         p.calibrated = true;
         p.descale = 0;
       }},
      {"output.address", "0x200000",
       [](auto& p) {
         p.calibrated = true;
         p.descale = kOutput + 16;
       }},
      {"options.unit", "0.5", [](auto& p) { p.options.unit = 0.5f; }},
      {"options.granularity", "7",
       [](auto& p) {
         p.options.granularity = static_cast<ScaleGranularity>(7);
       }},
      {"lse_correction", "given",
       [](auto& p) {
         p.options.subtract_mean = true;
         p.lse_correction = Correction();
       }},
      {"lse_correction.heads_kv", "3",
       [](auto& p) {
         p.lse_correction = Correction();
         p.lse_correction->heads_kv = 3;
       }},
      {"lse_correction.output.heads", "2",
       [](auto& p) {
         p.lse_correction = Correction();
         p.lse_correction->output.heads = 2;
       }},
      {"lse_correction.softmax_scale", "inf",
       [](auto& p) {
         p.lse_correction = Correction();
         p.lse_correction->softmax_scale = 1e38f * 10;
       }},
      {"lse_correction.key_mean", "0x0",
       [](auto& p) {
         p.lse_correction = Correction();
         p.lse_correction->key_mean = 0;
       }},
      {"lse_correction.output.head_stride", "396",
       [](auto& p) {
         p.lse_correction = Correction();
         p.lse_correction->output.head_stride = 396;
       }},
  };
  ASSERT_TRUE(PlanQuantize(Params()).ok());
  for (const auto& bad : kBad) {
    QuantizeParams p = Params();
    bad.change(p);
    const absl::Status status = PlanQuantize(p).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << bad.argument;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(std::string(bad.argument) + " is " + bad.value),
                      HasSubstr("allowed: ")));
  }
}

}  // namespace
}  // namespace zyfa
