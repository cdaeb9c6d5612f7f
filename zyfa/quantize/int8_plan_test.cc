#include "zyfa/quantize/int8_plan.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

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
TensorView Input() { return DenseTensor(kInput, 2, 100, 4, 128); }
TensorView Output() {
  return DenseTensor(kOutput, 2, 100, 4, 128, DataType::kInt8);
}

QuantizeKeysInt8Params Keys() {
  QuantizeKeysInt8Params p;
  p.input = Input();
  p.output = Output();
  p.options = {ScaleGranularity::kHead, true, true, true};
  p.descale = 0x300000;
  p.mean = 0x310000;
  p.multipliers = DenseLse(0x320000, 2, 4, 100);
  p.workspace = 0x400000;
  return p;
}

QuantizeQueriesInt8Params Queries() {
  QuantizeQueriesInt8Params p;
  p.input = Input();
  p.output = Output();
  p.options.softmax_scale = 0.1f;
  p.options.heads_kv = 2;
  p.key_descale = 0x300000;
  p.shifts = {0x320001, 2, 4, 100, 400, 100};
  p.lse_correction = {DenseLse(0x500000, 2, 4, 100), 0x600000, 2, 0.1f};
  return p;
}

template <typename Params>
std::string Names(const Params& p) {
  std::string out;
  const auto plan = PlanQuantize(p);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return out;
  for (const QuantizeLaunch& launch : *plan) {
    out += std::string(launch.kernel->name) + " ";
  }
  return out;
}

TEST(Int8PlanTest, Launches) {
  QuantizeKeysInt8Params p = Keys();
  EXPECT_EQ(Names(p),
            "quantize_sum_d128 quantize_mean quantize_max_d128 "
            "quantize_scale_int8 quantize_keys_int8_d128 ");
  EXPECT_EQ(PlanQuantizeWorkspace(p)->bytes, 4 * 8 * 128 + 4 * 8);
  p.options.subtract_mean = false;
  EXPECT_EQ(Names(p),
            "quantize_max_d128 quantize_scale_int8 quantize_keys_int8_d128 ");
  EXPECT_EQ(PlanQuantizeWorkspace(p)->bytes, 4 * 8);
  p.options.subtract_mean = true;
  p.calibrated = true;
  EXPECT_EQ(Names(p), "quantize_keys_int8_d128 ");
  EXPECT_EQ(PlanQuantizeWorkspace(p)->bytes, 0);
  p.input = DenseTensor(kInput, 2, 100, 4, 192);
  p.output = DenseTensor(kOutput, 2, 100, 4, 192, DataType::kInt8);
  EXPECT_EQ(Names(p), "quantize_keys_int8_d192 ");
  p.input.heads = p.output.heads = p.multipliers.heads = 0;
  EXPECT_EQ(Names(p), "");
  QuantizeQueriesInt8Params q = Queries();
  EXPECT_EQ(Names(q), "quantize_queries_int8_d128 ");
}

// Sizes that a maximum for each chunk would be too much for.
TEST(Int8PlanTest, CalibratedTensorsMayBeLarger) {
  QuantizeKeysInt8Params p = Keys();
  p.options = {ScaleGranularity::kTensor};
  p.input = DenseTensor(kInput, 8192, 1 << 25, 1, 128);
  p.output =
      DenseTensor(uint64_t{1} << 47, 8192, 1 << 25, 1, 128, DataType::kInt8);
  p.descale = uint64_t{3} << 46;
  EXPECT_FALSE(PlanQuantize(p).ok());
  p.calibrated = true;
  const auto plan = PlanQuantize(p);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

// What is not looked at may say anything.
TEST(Int8PlanTest, WhatIsNotNeeded) {
  QuantizeKeysInt8Params p = Keys();
  p.options = {ScaleGranularity::kHead};
  p.calibrated = true;
  p.mean = 3;
  p.workspace = kInput;
  p.multipliers = {1, -1, 2, 3, 4, 5};
  const auto plan = PlanQuantize(p);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

TEST(Int8PlanTest, NoRows) {
  for (const bool heads : {false, true}) {
    for (const bool calibrated : {false, true}) {
      QuantizeKeysInt8Params p = Keys();
      (heads ? p.input.heads : p.input.seqlen) = 0;
      (heads ? p.output.heads : p.output.seqlen) = 0;
      (heads ? p.multipliers.heads : p.multipliers.seqlen) = 0;
      p.input.address = p.output.address = p.multipliers.address = 3;
      p.input.seq_stride = -1;
      p.calibrated = calibrated;
      if (calibrated) p.descale = p.mean = 5;
      p.options.granularity = ScaleGranularity::kTensor;
      const std::string names = Names(p);
      // Without tokens there are a mean and a descale still.
      EXPECT_EQ(names, calibrated ? ""
                       : heads    ? "quantize_scale_int8 "
                                  : "quantize_mean quantize_scale_int8 ");
    }
    QuantizeQueriesInt8Params q = Queries();
    (heads ? q.input.heads : q.input.seqlen) = 0;
    (heads ? q.output.heads : q.output.seqlen) = 0;
    (heads ? q.shifts.heads : q.shifts.seqlen) = 0;
    (heads ? q.lse_correction->output.heads : q.lse_correction->output.seqlen) =
        0;
    q.input.address = q.key_descale = q.lse_correction->key_mean = 3;
    if (heads) q.options.heads_kv = INT64_MIN;
    EXPECT_EQ(Names(q), "");
  }
}

TEST(Int8PlanTest, TokensAreAddressedByTheirStrides) {
  QuantizeKeysInt8Params p = Keys();
  p.calibrated = true;
  p.multipliers = {0x320004, 2, 4, 100, 404, 1000};
  const auto plan = PlanQuantize(p);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->back().args.tokens, 0x320004u);
  EXPECT_EQ(plan->back().args.tokens_batch_stride, 404u);
  EXPECT_EQ(plan->back().args.tokens_head_stride, 1000u);
}

TEST(Int8PlanTest, BatchesBeyondTheGrid) {
  constexpr uint64_t kFirst = 65535;
  QuantizeQueriesInt8Params p;
  p.input = DenseTensor(kInput, 70000, 1, 2, 128);
  p.output = DenseTensor(0x80000000, 70000, 1, 2, 128, DataType::kInt8);
  p.options.softmax_scale = 0.1f;
  p.options.key_granularity = ScaleGranularity::kBatchHead;
  p.key_descale = 0x90000000;
  p.shifts = {0xa0000000, 70000, 2, 1, 2, 1};
  p.lse_correction = {DenseLse(0xb0000000, 70000, 2, 1), 0xc0000000, 1, 0.1f};
  const auto plan = PlanQuantize(p);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 2u);
  const QuantizeLaunch& second = plan->back();
  EXPECT_EQ(second.shape.grid[2], 70000u - kFirst);
  EXPECT_EQ(second.args.input, kInput + kFirst * 512);
  EXPECT_EQ(second.args.output, 0x80000000 + kFirst * 256);
  EXPECT_EQ(second.args.descale, 0x90000000 + kFirst * 4);
  EXPECT_EQ(second.args.tokens, 0xa0000000 + kFirst * 2);
  EXPECT_EQ(second.args.lse_correction, 0xb0000000 + kFirst * 8);
  EXPECT_EQ(second.args.mean, 0xc0000000 + kFirst * 512);
}

template <typename Params>
struct Bad {
  const char* argument;
  const char* value;
  const char* allowed;
  std::function<void(Params&)> change;
};

template <typename Params>
void ExpectRefused(const std::vector<Bad<Params>>& all, Params (*good)()) {
  ASSERT_TRUE(PlanQuantize(good()).ok()) << PlanQuantize(good()).status();
  for (const Bad<Params>& bad : all) {
    Params p = good();
    bad.change(p);
    const absl::Status status = PlanQuantize(p).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << bad.argument;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(std::string(bad.argument) + " is " + bad.value),
                      HasSubstr("allowed: "), HasSubstr(bad.allowed)));
  }
}

TEST(Int8PlanTest, RefusalsOfKeys) {
  using P = QuantizeKeysInt8Params;
  ExpectRefused<P>(
      {{"input.data_type", "int8", "bf16",
        [](P& p) { p.input.data_type = DataType::kInt8; }},
       {"output.data_type", "fp8", "int8",
        [](P& p) { p.output.data_type = DataType::kFp8; }},
       {"input.head_dim", "64", "128, 192",
        [](P& p) { p.input.head_dim = 64; }},
       {"output.seqlen", "99", "100", [](P& p) { p.output.seqlen = 99; }},
       {"input.heads", "65537", "65536", [](P& p) { p.input.heads = 65537; }},
       {"input.seqlen", "33554432", "chunks",
        [](P& p) {
          p.options.granularity = ScaleGranularity::kTensor;
          p.input = DenseTensor(kInput, 8192, 1 << 25, 1, 128);
          p.output = p.input;
          p.output.data_type = DataType::kInt8;
        }},
       {"input.address", "0x100008", "16", [](P& p) { p.input.address += 8; }},
       {"output.seq_stride", "496", "512",
        [](P& p) { p.output.seq_stride = 496; }},
       {"output.address", "0x100000", "overlaps input",
        [](P& p) { p.output.address = kInput; }},
       {"options.granularity", "kToken", "kTensor, kHead, kBatchHead",
        [](P& p) { p.options.granularity = ScaleGranularity::kToken; }},
       {"options.granularity", "7", "kTensor, kHead, kBatchHead",
        [](P& p) { p.options.granularity = static_cast<ScaleGranularity>(7); }},
       {"descale", "0x0", "not 0", [](P& p) { p.descale = 0; }},
       {"descale", "0x300002", "4", [](P& p) { p.descale += 2; }},
       {"descale", "0x200010", "overlaps output",
        [](P& p) { p.descale = kOutput + 16; }},
       // Given, it is read only; but codes must not be written there.
       {"output.address", "0x200000", "overlaps descale",
        [](P& p) {
          p.calibrated = true;
          p.descale = kOutput + 16;
        }},
       {"descale", "0x0", "not 0",
        [](P& p) {
          p.calibrated = true;
          p.descale = 0;
        }},
       {"mean", "0x310008", "16", [](P& p) { p.mean += 8; }},
       {"mean", "0x0", "not 0",
        [](P& p) {
          p.calibrated = true;
          p.mean = 0;
        }},
       {"multipliers.batch", "1", "2", [](P& p) { p.multipliers.batch = 1; }},
       {"multipliers.heads", "3", "4", [](P& p) { p.multipliers.heads = 3; }},
       {"multipliers.seqlen", "101", "100",
        [](P& p) { p.multipliers.seqlen = 101; }},
       {"multipliers.address", "0x320002", "4",
        [](P& p) { p.multipliers.address += 2; }},
       {"multipliers.address", "0x0", "not 0",
        [](P& p) { p.multipliers.address = 0; }},
       {"multipliers.head_stride", "396", "400",
        [](P& p) { p.multipliers.head_stride = 396; }},
       {"multipliers.batch_stride", "-1600", "not negative",
        [](P& p) { p.multipliers.batch_stride = -1600; }},
       {"multipliers.address", "0x200000", "overlaps output",
        [](P& p) { p.multipliers.address = kOutput; }},
       {"workspace", "0x0", "not 0", [](P& p) { p.workspace = 0; }},
       {"workspace", "0x320000", "overlaps multipliers",
        [](P& p) { p.workspace = 0x320000; }}},
      Keys);
}

TEST(Int8PlanTest, RefusalsOfQueries) {
  using P = QuantizeQueriesInt8Params;
  ExpectRefused<P>(
      {{"output.data_type", "fp8", "int8",
        [](P& p) { p.output.data_type = DataType::kFp8; }},
       {"output.heads", "2", "4", [](P& p) { p.output.heads = 2; }},
       {"output.address", "0x100000", "overlaps input",
        [](P& p) { p.output.address = kInput; }},
       {"options.softmax_scale", "inf", "finite",
        [](P& p) {
          p.options.softmax_scale = std::numeric_limits<float>::infinity();
        }},
       {"options.softmax_scale", "nan", "finite",
        [](P& p) {
          p.options.softmax_scale = std::numeric_limits<float>::quiet_NaN();
        }},
       {"options.heads_kv", "3", "divisors of the query's heads, 4",
        [](P& p) { p.options.heads_kv = 3; }},
       {"options.heads_kv", "0", "divisors",
        [](P& p) { p.options.heads_kv = 0; }},
       {"options.key_granularity", "kToken", "kTensor, kHead, kBatchHead",
        [](P& p) { p.options.key_granularity = ScaleGranularity::kToken; }},
       {"key_descale", "0x0", "not 0", [](P& p) { p.key_descale = 0; }},
       {"key_descale", "0x300001", "4", [](P& p) { p.key_descale += 1; }},
       {"output.address", "0x200000", "overlaps key_descale",
        [](P& p) { p.key_descale = kOutput + 4; }},
       {"shifts.batch", "1", "2", [](P& p) { p.shifts.batch = 1; }},
       {"shifts.heads", "2", "4", [](P& p) { p.shifts.heads = 2; }},
       {"shifts.seqlen", "99", "100", [](P& p) { p.shifts.seqlen = 99; }},
       {"shifts.address", "0x0", "not 0", [](P& p) { p.shifts.address = 0; }},
       {"shifts.head_stride", "99", "100",
        [](P& p) { p.shifts.head_stride = 99; }},
       {"shifts.address", "0x300000", "overlaps key_descale",
        [](P& p) { p.shifts.address = 0x300000; }},
       {"lse_correction.heads_kv", "4", "options.heads_kv",
        [](P& p) { p.lse_correction->heads_kv = 4; }},
       {"lse_correction.heads_kv", "3", "divisors",
        [](P& p) { p.lse_correction->heads_kv = 3; }},
       {"lse_correction.softmax_scale", "-0.1", "options.softmax_scale, 0.1",
        [](P& p) { p.lse_correction->softmax_scale = -0.1f; }},
       {"lse_correction.key_mean", "0x0", "not 0",
        [](P& p) { p.lse_correction->key_mean = 0; }},
       {"lse_correction.output.seqlen", "1", "100",
        [](P& p) { p.lse_correction->output.seqlen = 1; }},
       {"lse_correction.output.address", "0x320000", "overlaps shifts",
        [](P& p) { p.lse_correction->output.address = 0x320000; }}},
      Queries);
}

}  // namespace
}  // namespace zyfa
