// Plans of INT8 calls: what they have beside FP8 ones.

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/plan.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/variant.h"

namespace zyfa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kQuery = 0x10000000000, kKey = 0x20000000000,
                   kValue = 0x30000000000, kOutput = 0x40000000000,
                   kLse = 0x50000000000, kShift = 0x1000000001,
                   kMultiplier = 0x2000000004, kScales = 0x3000000000;

AttentionParams Dense(int64_t batch, int64_t seqlen_q, int64_t seqlen_kv,
                      int64_t heads_q, int64_t heads_kv, bool multiply,
                      int64_t qk = 128, Mask mask = Mask::kCausal) {
  constexpr DataType kType = DataType::kInt8;
  AttentionParams params;
  params.query = DenseTensor(kQuery, batch, seqlen_q, heads_q, qk, kType);
  params.key = DenseTensor(kKey, batch, seqlen_kv, heads_kv, qk, kType);
  params.value =
      DenseTensor(kValue, batch, seqlen_kv, heads_kv, 128, DataType::kFp8);
  params.output = DenseTensor(kOutput, batch, seqlen_q, heads_q, 128);
  params.lse = DenseLse(kLse, batch, heads_q, seqlen_q);
  params.query_shift = DenseTokens(kShift, batch, heads_q, seqlen_q, 1);
  if (multiply) {
    params.key_multiplier =
        DenseTokens(kMultiplier, batch, heads_kv, seqlen_kv, 4);
  }
  params.mask = mask;
  return params;
}

AttentionParams Usual() { return Dense(2, 700, 500, 8, 2, /*multiply=*/true); }

AttentionArgs PlannedArgs(const AttentionParams& params) {
  const auto plan = PlanAttention(params);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? MakePiece(*plan, 0).args : AttentionArgs{};
}

std::string Message(const AttentionParams& params) {
  const absl::Status status = PlanAttention(params).status();
  if (!status.ok()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("; allowed: "));
  }
  return std::string(status.message());
}

TEST(PlanInt8Test, FillsTheArgumentBlock) {
  AttentionParams params = Usual();
  params.value_descale = ScaleView{kScales, 2, 2, 8, 4};
  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernel->name, "int8_multiply_d128_causal");
  ASSERT_EQ(PieceCount(*plan), 1);
  const AttentionPiece piece = MakePiece(*plan, 0);
  const AttentionArgs& a = piece.args;
  EXPECT_EQ(a.query, kQuery);
  EXPECT_EQ(a.key, kKey);
  EXPECT_EQ(a.value, kValue);
  EXPECT_EQ(a.output, kOutput);
  EXPECT_EQ(a.lse, kLse);
  EXPECT_EQ(a.query_batch_stride, 700u * 8 * 128);
  EXPECT_EQ(a.query_head_stride, 128u);
  EXPECT_EQ(a.query_seq_stride, 8u * 128);
  EXPECT_EQ(a.key_seq_stride, 2u * 128);
  EXPECT_EQ(a.value_seq_stride, 2u * 128);
  EXPECT_EQ(a.output_seq_stride, 8u * 256);
  EXPECT_EQ(a.seqlen_q, 700u);
  EXPECT_EQ(a.seqlen_kv, 500u);
  EXPECT_EQ(a.kv_head_multiplier, (1u << 30) + 1);
  EXPECT_EQ(a.query_shift, kShift);
  EXPECT_EQ(a.query_shift_batch_stride, 8u * 700);
  EXPECT_EQ(a.query_shift_head_stride, 700u);
  EXPECT_EQ(a.key_multiplier, kMultiplier);
  EXPECT_EQ(a.key_multiplier_batch_stride, 2u * 500 * 4);
  EXPECT_EQ(a.key_multiplier_head_stride, 500u * 4);
  EXPECT_EQ(a.value_descale, kScales);
  EXPECT_EQ(a.query_descale, 0u);
  EXPECT_EQ(a.key_descale, 0u);
  EXPECT_EQ(a.flags, 0u);
  EXPECT_EQ(a.items, 48u);
  EXPECT_EQ(a.groups, 48u);
  EXPECT_THAT(piece.shape.grid, ElementsAre(48, 1, 1));
  EXPECT_THAT(piece.shape.block, ElementsAre(512, 1, 1));
  // Those of BF16 kernels.
  EXPECT_EQ(a.scale_log2e, 0.0f);
  EXPECT_EQ(a.scale, 0.0f);
}

TEST(PlanInt8Test, StridesReachTheirOwnFields) {
  AttentionParams params = Usual();
  params.query_shift = {kShift, 2, 8, 700, 7001, 3};
  params.key_multiplier = {kMultiplier, 2, 2, 500, 0, int64_t{1} << 40};
  AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.query_shift_batch_stride, 7001u);
  EXPECT_EQ(a.query_shift_head_stride, 3u);
  EXPECT_EQ(a.key_multiplier_batch_stride, 0u);
  EXPECT_EQ(a.key_multiplier_head_stride, uint64_t{1} << 40);
  // Those of one element step nowhere.
  params = Dense(1, 700, 500, 1, 1, true);
  params.query_shift->batch_stride = params.query_shift->head_stride = -7;
  params.key_multiplier->batch_stride = params.key_multiplier->head_stride = -7;
  a = PlannedArgs(params);
  EXPECT_EQ(a.query_shift_batch_stride, 0u);
  EXPECT_EQ(a.query_shift_head_stride, 0u);
  EXPECT_EQ(a.key_multiplier_batch_stride, 0u);
  EXPECT_EQ(a.key_multiplier_head_stride, 0u);
}

TEST(PlanInt8Test, MultipliersPickTheVariant) {
  for (const int qk : {128, 192}) {
    for (const Mask mask : {Mask::kCausal, Mask::kFull}) {
      for (const bool multiply : {false, true}) {
        AttentionParams params = Dense(1, 10, 20, 4, 4, multiply, qk, mask);
        const Variant want = {
            DataType::kInt8, qk, 128, mask,
            multiply ? Probability::kMultiply : Probability::kShift};
        const auto plan = PlanAttention(params);
        ASSERT_TRUE(plan.ok()) << plan.status();
        EXPECT_EQ(plan->kernel->variant, want);
        EXPECT_EQ(plan->args.key_multiplier, multiply ? kMultiplier : 0);
        params.variant = VariantName(want);
        const auto named = PlanAttention(params);
        ASSERT_TRUE(named.ok()) << named.status();
        EXPECT_EQ(named->kernel->name, params.variant);
      }
    }
  }
}

// Neither form stands in for the other.
TEST(PlanInt8Test, AMissingKernelIsNamed) {
  std::vector<KernelEntry> entries;
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.variant.probability != Probability::kShift) {
      entries.push_back(entry);
    }
  }
  LaunchTarget target;
  target.kernels = entries;
  EXPECT_TRUE(PlanAttention(Usual(), target).ok());
  EXPECT_THAT(
      PlanAttention(Dense(1, 5, 5, 1, 1, false), target).status().message(),
      HasSubstr("query.data_type is int8; allowed: bf16, fp8"));
  AttentionParams params = Dense(1, 5, 5, 1, 1, true, 64);
  EXPECT_EQ(Message(params),
            "query.head_dim and value.head_dim are 64 and 128; allowed: 128 "
            "and 128, 192 and 128");
}

TEST(PlanInt8Test, OutputMayBeFp8) {
  AttentionParams params = Usual();
  params.output = DenseTensor(kOutput, 2, 700, 8, 128, DataType::kFp8);
  params.output_scale = -2.5f;
  const AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.flags, uint32_t{kOutputFp8});
  EXPECT_EQ(a.output_seq_stride, 8u * 128);
  EXPECT_EQ(a.output_scale_value, -2.5f);
}

struct Refusal {
  std::function<void(AttentionParams&)> change;
  std::vector<std::string> message;
};

TEST(PlanInt8Test, RefusalsNameArgumentValueAndWhatIsAllowed) {
  using P = AttentionParams;
  const Refusal kRefusals[] = {
      // Types.
      {[](P& p) { p.key.data_type = DataType::kFp8; },
       {"key.data_type is fp8", "int8, which is query.data_type"}},
      {[](P& p) { p.key.data_type = DataType::kBf16; },
       {"key.data_type is bf16", "int8, which is query.data_type"}},
      {[](P& p) { p.query.data_type = DataType::kFp8; },
       {"key.data_type is int8", "fp8, which is query.data_type"}},
      {[](P& p) { p.value.data_type = DataType::kInt8; },
       {"value.data_type is int8", "fp8, for query.data_type is int8"}},
      {[](P& p) { p.value.data_type = DataType::kBf16; },
       {"value.data_type is bf16", "fp8, for query.data_type is int8"}},
      {[](P& p) { p.output.data_type = DataType::kInt8; },
       {"output.data_type is int8", "bf16, fp8"}},
      {[](P& p) { p.query.data_type = p.key.data_type = DataType{7}; },
       {"query.data_type is 7", "bf16, fp8, int8"}},
      // What codes and shifts contain.
      {[](P& p) { p.softmax_scale = 0.125f; },
       {"softmax_scale is 0.125", "none with INT8 queries"}},
      {[](P& p) { p.softmax_scale = NAN; },
       {"softmax_scale is nan", "none with INT8 queries"}},
      {[](P& p) { p.query_descale = 1.0f; },
       {"query_descale is 1", "none, but for FP8 inputs"}},
      {[](P& p) { p.key_descale = ScaleView{kScales}; },
       {"key_descale is a tensor at 0x3000000000", "none, but for FP8 inputs"}},
      {[](P& p) { p.value_descale = NAN; },
       {"value_descale is nan", "any finite number"}},
      {[](P& p) { p.value_descale = DenseScales(kScales, 2, 8); },
       {"value_descale.heads is 8", "1, or 2, which is key.heads"}},
      {[](P& p) { p.output_scale = 1.0f; },
       {"output_scale is 1", "none, but for an FP8 output"}},
      // Shifts.
      {[](P& p) { p.query_shift.reset(); },
       {"query_shift is not given", "a shift for each row of query"}},
      {[](P& p) { p.query_shift->batch = 1; },
       {"query_shift.batch is 1", "2, which is query.batch"}},
      {[](P& p) { p.query_shift->heads = 2; },
       {"query_shift.heads is 2", "8, which is query.heads"}},
      {[](P& p) { p.query_shift->seqlen = 701; },
       {"query_shift.seqlen is 701", "700, which is query.seqlen"}},
      {[](P& p) { p.query_shift->address = 0; },
       {"query_shift.address is 0x0", "not 0"}},
      {[](P& p) { p.query_shift->head_stride = -1; },
       {"query_shift.head_stride is -1 bytes", "not negative"}},
      {[](P& p) { p.query_shift->batch_stride = INT64_MIN; },
       {"query_shift.batch_stride is -9223372036854775808 bytes",
        "not negative"}},
      {[](P& p) { p.query_shift->batch_stride = INT64_MAX; },
       {"query_shift.address is 0x1000000001 and the tensor's strides end it "
        "at 0x80000010000015e0",
        "an end at 2^48 at most"}},
      {[](P& p) {
         p.query_shift->address = (uint64_t{1} << 48) - 2 * 8 * 700 + 1;
       },
       {"query_shift.address is 0xffffffffd441", "2^48"}},
      // Multipliers.
      {[](P& p) { p.key_multiplier->batch = 3; },
       {"key_multiplier.batch is 3", "2, which is key.batch"}},
      {[](P& p) { p.key_multiplier->heads = 8; },
       {"key_multiplier.heads is 8", "2, which is key.heads"}},
      {[](P& p) { p.key_multiplier->seqlen = 499; },
       {"key_multiplier.seqlen is 499", "500, which is key.seqlen"}},
      {[](P& p) { p.key_multiplier->address = 0; },
       {"key_multiplier.address is 0x0", "multiples of 4, and not 0"}},
      {[](P& p) { p.key_multiplier->address += 2; },
       {"key_multiplier.address is 0x2000000006", "multiples of 4"}},
      {[](P& p) { p.key_multiplier->head_stride = 2001; },
       {"key_multiplier.head_stride is 2001 bytes", "multiples of 4"}},
      {[](P& p) { p.key_multiplier->batch_stride = -4; },
       {"key_multiplier.batch_stride is -4 bytes", "not negative"}},
      {[](P& p) {
         p.key_multiplier->address = (uint64_t{1} << 48) - 2 * 2 * 500 * 4 + 4;
       },
       {"key_multiplier.address is 0xffffffffe0c4", "2^48"}},
      // Variants.
      {[](P& p) { p.variant = "int8_shift_d128_causal"; },
       {"key_multiplier is given", "none, which is what variant int8_shift"}},
      {[](P& p) {
         p.variant = "int8_multiply_d128_causal";
         p.key_multiplier.reset();
       },
       {"key_multiplier is not given",
        "a tensor, which is what variant int8_multiply"}},
      {[](P& p) { p.variant = "int8_multiply_d128_full"; },
       {"mask is causal", "full, which is what variant int8_multiply_d128"}},
      {[](P& p) { p.variant = "int8_multiply_d192x128_causal"; },
       {"query.head_dim is 128", "192"}},
      {[](P& p) { p.variant = "fp8_lean_d128_causal"; },
       {"query.data_type is int8",
        "fp8, which is what variant fp8_lean_d128_causal takes"}},
      // Results upon them, the shifts' last byte included.
      {[](P& p) { p.query_shift->address = kOutput - 1; },
       {"output.address is", "overlaps query_shift"}},
      {[](P& p) { p.query_shift->address = kLse - 2 * 8 * 700 + 1; },
       {"lse.address is", "overlaps query_shift"}},
      {[](P& p) { p.key_multiplier->address = kOutput + 4096; },
       {"output.address is", "overlaps key_multiplier"}},
  };
  ASSERT_EQ(Message(Usual()), "");
  int index = 0;
  for (const Refusal& refusal : kRefusals) {
    AttentionParams params = Usual();
    refusal.change(params);
    const std::string message = Message(params);
    for (const std::string& part : refusal.message) {
      EXPECT_THAT(message, HasSubstr(part)) << "refusal " << index;
    }
    ++index;
  }
}

TEST(PlanInt8Test, AllowsWhatIsJustWithinTheRules) {
  using P = AttentionParams;
  const std::function<void(P&)> kChanges[] = {
      // Among the inputs, and upon each other.
      [](P& p) {
        p.query_shift->address = kKey + 1;
        p.key_multiplier->address = kKey + 4;
      },
      [](P& p) { p.query_shift->address = kOutput - 2 * 8 * 700; },
      [](P& p) {
        p.query_shift->address = (uint64_t{1} << 48) - 2 * 8 * 700;
        p.key_multiplier->address = (uint64_t{1} << 48) - 2 * 2 * 500 * 4;
      },
      // One for all heads and batch entries.
      [](P& p) {
        p.query_shift->batch_stride = p.query_shift->head_stride = 0;
        p.key_multiplier->batch_stride = p.key_multiplier->head_stride = 0;
      }};
  int index = 0;
  for (const auto& change : kChanges) {
    AttentionParams params = Usual();
    change(params);
    EXPECT_EQ(Message(params), "") << index++;
  }
}

TEST(PlanInt8Test, OtherCallsTakeNoTokens) {
  for (const DataType type : {DataType::kBf16, DataType::kFp8}) {
    AttentionParams plain;
    plain.query = DenseTensor(kQuery, 1, 10, 2, 128, type);
    plain.key = DenseTensor(kKey, 1, 10, 2, 128, type);
    plain.value = DenseTensor(kValue, 1, 10, 2, 128, type);
    plain.output = DenseTensor(kOutput, 1, 10, 2, 128);
    ASSERT_EQ(Message(plain), "");
    AttentionParams params = plain;
    params.query_shift = DenseTokens(kShift, 1, 2, 10, 1);
    EXPECT_EQ(Message(params),
              "query_shift is a tensor at 0x1000000001; allowed: none, but for "
              "INT8 queries and keys");
    params = plain;
    params.key_multiplier = DenseTokens(kMultiplier, 1, 2, 10, 4);
    EXPECT_EQ(Message(params),
              "key_multiplier is a tensor at 0x2000000004; allowed: none, but "
              "for INT8 queries and keys");
    params = plain;
    params.variant = "int8_shift_d128_causal";
    EXPECT_THAT(Message(params),
                HasSubstr("int8, which is what variant int8_shift_d128_causal "
                          "takes"));
    // Their plans have no INT8 field.
    const AttentionArgs args = PlannedArgs(plain);
    unsigned char bytes[sizeof(AttentionArgs)];
    std::memcpy(bytes, &args, sizeof(bytes));
    for (size_t i = offsetof(AttentionArgs, query_shift); i < sizeof(bytes);
         ++i) {
      EXPECT_EQ(bytes[i], 0) << i;
    }
  }
}

TEST(PlanInt8Test, EmptyCalls) {
  for (AttentionParams params :
       {Dense(0, 5, 5, 4, 2, true), Dense(2, 0, 5, 4, 2, true),
        Dense(2, 5, 5, 0, 2, true), Dense(2, 5, 5, 0, 0, true)}) {
    params.query_shift->address = 0;
    params.key_multiplier->address = 3;
    const auto plan = PlanAttention(params);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(PieceCount(*plan), 0);
  }
  // No keys: nothing of theirs is read, and rows still have shifts.
  AttentionParams params = Dense(2, 5, 0, 4, 2, true);
  params.key_multiplier->address = 3;
  params.key_multiplier->batch_stride = -5;
  const AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.key_multiplier, 0u);
  EXPECT_EQ(a.key_multiplier_batch_stride, 0u);
  EXPECT_EQ(a.query_shift, kShift);
  params.query_shift->address = 0;
  EXPECT_THAT(Message(params), HasSubstr("query_shift.address is 0x0"));
}

// Launches over parts of the batch and of the rows have the shifts of their
// rows and the multipliers of their batch entries.
TEST(PlanInt8Test, PiecesHaveTheirOwnTokens) {
  for (const bool multiply : {false, true}) {
    AttentionParams params =
        Dense(70000, 1, 9, 65536, 1, multiply, 128, Mask::kFull);
    params.query.batch_stride = params.query.head_stride = 0;
    params.output.address = uint64_t{1} << 47;
    params.output.data_type = DataType::kFp8;
    params.output.head_stride = 128;
    params.output.batch_stride = 65536 * 128;
    auto plan = PlanAttention(params);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(PieceCount(*plan), 3);  // 32767 batch entries at most
    for (int64_t i = 0; i < 3; ++i) {
      const AttentionArgs a = MakePiece(*plan, i).args;
      EXPECT_EQ(a.query_shift, kShift + i * 32767 * 65536);
      EXPECT_EQ(a.key_multiplier,
                multiply ? kMultiplier + i * 32767 * 9 * 4 : 0);
    }
    // Two launches of 32767 tiles of rows.
    constexpr int64_t kRows = 32767 * 256;
    params = Dense(1, kRows + 1, 700, 65536, 1, multiply, 128, Mask::kFull);
    params.query.head_stride = 0;
    params.query.seq_stride = 128;
    params.output.address = uint64_t{1} << 47;
    params.output.data_type = DataType::kFp8;
    params.output.head_stride = 128;
    params.output.seq_stride = 65536 * 128;
    params.lse.reset();
    plan = PlanAttention(params);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(PieceCount(*plan), 2);
    const AttentionArgs last = MakePiece(*plan, 1).args;
    EXPECT_EQ(last.query_shift, kShift + kRows);
    EXPECT_EQ(last.query_shift_head_stride, uint64_t{kRows} + 1);
    EXPECT_EQ(last.key_multiplier, multiply ? kMultiplier : 0);
  }
}

}  // namespace
}  // namespace zyfa
