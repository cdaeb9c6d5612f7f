// Plans of FP8 calls.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/plan.h"
#include "zyfa/variant/item_order.h"

namespace zyfa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kQuery = 0x10000000000, kKey = 0x20000000000,
                   kValue = 0x30000000000, kOutput = 0x40000000000,
                   kLse = 0x50000000000, kScales = 0x1000000000;

LaunchTarget Target(uint32_t compute_units = 256) {
  LaunchTarget target;
  target.compute_units = compute_units;
  return target;
}

AttentionParams Dense(int64_t batch, int64_t seqlen_q, int64_t seqlen_kv,
                      int64_t heads_q, int64_t heads_kv, int64_t qk = 128,
                      Mask mask = Mask::kCausal,
                      DataType output = DataType::kBf16) {
  constexpr DataType kType = DataType::kFp8;
  AttentionParams params;
  params.query = DenseTensor(kQuery, batch, seqlen_q, heads_q, qk, kType);
  params.key = DenseTensor(kKey, batch, seqlen_kv, heads_kv, qk, kType);
  params.value = DenseTensor(kValue, batch, seqlen_kv, heads_kv, 128, kType);
  params.output = DenseTensor(kOutput, batch, seqlen_q, heads_q, 128, output);
  params.lse = DenseLse(kLse, batch, heads_q, seqlen_q);
  params.mask = mask;
  return params;
}

AttentionParams Usual() { return Dense(2, 700, 500, 8, 2); }

AttentionArgs PlannedArgs(const AttentionParams& params) {
  const auto plan = PlanAttention(params, Target());
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? MakePiece(*plan, 0).args : AttentionArgs{};
}

TEST(PlanFp8Test, FillsTheArgumentBlock) {
  LaunchTarget target = Target();
  target.lean_top = 126.0f;
  const auto plan = PlanAttention(Usual(), target);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernel->name, "fp8_lean_d128_causal");
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
  EXPECT_EQ(a.key_batch_stride, 500u * 2 * 128);
  EXPECT_EQ(a.key_seq_stride, 2u * 128);
  EXPECT_EQ(a.value_head_stride, 128u);
  EXPECT_EQ(a.output_batch_stride, 700u * 8 * 256);
  EXPECT_EQ(a.output_head_stride, 256u);
  EXPECT_EQ(a.output_seq_stride, 8u * 256);
  EXPECT_EQ(a.lse_head_stride, 700u * 4);
  EXPECT_EQ(a.seqlen_q, 700u);
  EXPECT_EQ(a.seqlen_kv, 500u);
  EXPECT_EQ(a.query_tiles, 3u);
  EXPECT_EQ(a.kv_head_multiplier, (1u << 30) + 1);
  // Those of BF16 kernels.
  EXPECT_EQ(a.negate_query, 0u);
  EXPECT_EQ(a.scale_log2e, 0.0f);
  EXPECT_EQ(a.scale, 0.0f);
  EXPECT_EQ(a.rescale_threshold, 0.0f);
  // Scales that are not given.
  for (uint64_t address :
       {a.query_descale, a.key_descale, a.value_descale, a.output_scale}) {
    EXPECT_EQ(address, 0u);
  }
  for (float value : {a.query_descale_value, a.key_descale_value,
                      a.value_descale_value, a.output_scale_value}) {
    EXPECT_EQ(value, 1.0f);
  }
  EXPECT_FLOAT_EQ(a.softmax_scale, 1 / std::sqrt(128.0));
  EXPECT_EQ(a.lean_top, 126.0f);
  EXPECT_EQ(a.flags, 0u);
  EXPECT_EQ(a.heads_q, 8u);
  EXPECT_EQ(a.columns, 16u);
  EXPECT_EQ(a.items, 48u);
  EXPECT_EQ(a.groups, 48u);
  EXPECT_EQ(a.reserved, 0u);
  EXPECT_THAT(piece.shape.grid, ElementsAre(48, 1, 1));
  EXPECT_THAT(piece.shape.block, ElementsAre(512, 1, 1));
  EXPECT_EQ(piece.shape.dynamic_lds_bytes, 0u);
  EXPECT_EQ(LaunchTarget().lean_top, 126.5f);
}

TEST(PlanFp8Test, PicksTheVariant) {
  for (int qk : {128, 192}) {
    for (Mask mask : {Mask::kCausal, Mask::kFull}) {
      AttentionParams params = Dense(1, 10, 20, 4, 4, qk, mask);
      const auto plan = PlanAttention(params, Target());
      ASSERT_TRUE(plan.ok()) << plan.status();
      const Probability usual =
          qk == 128 ? Probability::kLean : Probability::kExact;
      EXPECT_EQ(plan->kernel->variant,
                (Variant{DataType::kFp8, qk, 128, mask, usual}));
      EXPECT_FLOAT_EQ(plan->args.softmax_scale, 1 / std::sqrt(double(qk)));
      // By name, the other one too.
      for (Probability p : {Probability::kLean, Probability::kExact}) {
        params.variant = VariantName({DataType::kFp8, qk, 128, mask, p});
        const auto named = PlanAttention(params, Target());
        ASSERT_TRUE(named.ok()) << named.status();
        EXPECT_EQ(named->kernel->name, params.variant);
      }
    }
  }
}

// Another probability is another result: none stands in for the usual one.
TEST(PlanFp8Test, AMissingKernelIsNamed) {
  LaunchTarget target;
  std::vector<KernelEntry> entries;
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.variant.data_type == DataType::kBf16) entries.push_back(entry);
  }
  target.kernels = entries;
  EXPECT_THAT(PlanAttention(Usual(), target).status().message(),
              HasSubstr("query.data_type is fp8; allowed: bf16"));
  entries.clear();
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.name != "fp8_lean_d128_causal") entries.push_back(entry);
  }
  target.kernels = entries;
  EXPECT_THAT(PlanAttention(Usual(), target).status().message(),
              HasSubstr("query.head_dim and value.head_dim are 128 and 128; "
                        "allowed: 192 and 128"));
}

TEST(PlanFp8Test, AnyFiniteSoftmaxScale) {
  for (float scale : {0.0f, -0.25f, 1e-40f, 3e38f}) {
    AttentionParams params = Usual();
    params.softmax_scale = scale;
    const AttentionArgs a = PlannedArgs(params);
    if (std::abs(scale) < 2e38f) {
      EXPECT_EQ(a.softmax_scale, scale);
    } else {
      // The kernel's product with log2(e) stays finite.
      EXPECT_GT(a.softmax_scale, 2e38f);
      EXPECT_TRUE(std::isfinite(a.softmax_scale * 1.44269504f));
    }
    EXPECT_EQ(a.negate_query, 0u);
  }
}

TEST(PlanFp8Test, OutputMayBeFp8) {
  AttentionParams params =
      Dense(2, 700, 500, 8, 2, 128, Mask::kFull, DataType::kFp8);
  AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.flags, uint32_t{kOutputFp8});
  EXPECT_EQ(a.output_head_stride, 128u);
  EXPECT_EQ(a.output_seq_stride, 8u * 128);
  EXPECT_EQ(a.output_scale, 0u);
  EXPECT_EQ(a.output_scale_value, 1.0f);
  params.output_scale = -2.5f;
  EXPECT_EQ(PlannedArgs(params).output_scale_value, -2.5f);
  params.output_scale = ScaleView{kScales};
  a = PlannedArgs(params);
  EXPECT_EQ(a.output_scale, kScales);
  EXPECT_EQ(a.output_scale_value, 1.0f);
  // Rows of 128 bytes may touch, and not overlap.
  params.output.head_stride = 112;
  EXPECT_THAT(PlanAttention(params, Target()).status().message(),
              HasSubstr("output.head_stride is 112 bytes; allowed: at least "
                        "128"));
}

TEST(PlanFp8Test, NumbersAsDescales) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  AttentionParams params = Usual();
  params.query_descale = 0.0f;
  params.key_descale = -3.0f;
  params.value_descale = denormal;
  const AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.query_descale_value, 0.0f);
  EXPECT_EQ(a.key_descale_value, -3.0f);
  EXPECT_EQ(a.value_descale_value, denormal);
  for (uint64_t address : {a.query_descale, a.key_descale, a.value_descale}) {
    EXPECT_EQ(address, 0u);
  }
}

TEST(PlanFp8Test, TensorsAsDescalesReachTheirOwnFields) {
  AttentionParams params = Usual();  // batch 2, heads 8 and 2
  params.query_descale = ScaleView{kScales + 4, 2, 8, 128, 12};
  params.key_descale = ScaleView{kScales + 1024, 2, 2, 36, 16};
  params.value_descale = ScaleView{kScales + 2048, 2, 2, 20, 8};
  const AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.query_descale, kScales + 4);
  EXPECT_EQ(a.query_descale_batch_stride, 128u);
  EXPECT_EQ(a.query_descale_head_stride, 12u);
  EXPECT_EQ(a.key_descale, kScales + 1024);
  EXPECT_EQ(a.key_descale_batch_stride, 36u);
  EXPECT_EQ(a.key_descale_head_stride, 16u);
  EXPECT_EQ(a.value_descale, kScales + 2048);
  EXPECT_EQ(a.value_descale_batch_stride, 20u);
  EXPECT_EQ(a.value_descale_head_stride, 8u);
  EXPECT_EQ(a.flags, 0u);
}

TEST(PlanFp8Test, DescalesStandForOneOrForAll) {
  constexpr int64_t kJunk = -5;  // strides of one element
  const struct {
    ScaleView view;
    uint32_t batch_stride, head_stride, flags;
  } kCases[] = {{{kScales}, 0, 0, 0},
                {{kScales, 1, 1, kJunk, kJunk}, 0, 0, 0},
                {{kScales, 1, 8, kJunk, 4}, 0, 4, 0},
                {{kScales, 1, 2, kJunk, 4}, 0, 4, kQueryDescaleByKvHead},
                {{kScales, 2, 1, 8, kJunk}, 8, 0, 0},
                {DenseScales(kScales, 2, 8), 32, 4, 0},
                {DenseScales(kScales, 2, 2), 8, 4, kQueryDescaleByKvHead},
                {{kScales, 2, 8, 0, 0}, 0, 0, 0}};
  for (const auto& c : kCases) {
    AttentionParams params = Usual();
    params.query_descale = c.view;
    const AttentionArgs a = PlannedArgs(params);
    EXPECT_EQ(a.query_descale, kScales);
    EXPECT_EQ(a.query_descale_batch_stride, c.batch_stride);
    EXPECT_EQ(a.query_descale_head_stride, c.head_stride);
    EXPECT_EQ(a.flags, c.flags);
    if (c.view.heads == 8) continue;
    params = Usual();
    params.key_descale = c.view;
    params.value_descale = c.view;
    const AttentionArgs kv = PlannedArgs(params);
    EXPECT_EQ(kv.key_descale_batch_stride, c.batch_stride);
    EXPECT_EQ(kv.value_descale_head_stride, c.head_stride);
    EXPECT_EQ(kv.flags, 0u);
  }
  // As many heads of both: the query head's index is the KV head's.
  AttentionParams params = Dense(1, 5, 5, 4, 4);
  params.query_descale = DenseScales(kScales, 1, 4);
  EXPECT_EQ(PlannedArgs(params).flags, 0u);
}

struct Refusal {
  std::function<void(AttentionParams&)> change;
  std::vector<std::string> message;
};

TEST(PlanFp8Test, RefusalsNameArgumentValueAndWhatIsAllowed) {
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const float kInf = std::numeric_limits<float>::infinity();
  using P = AttentionParams;
  const Refusal kRefusals[] = {
      {[](P& p) { p.key.data_type = DataType::kBf16; },
       {"key.data_type is bf16", "fp8, which is query.data_type"}},
      {[](P& p) { p.value.data_type = DataType::kBf16; },
       {"value.data_type is bf16", "fp8, which is query.data_type"}},
      {[](P& p) { p.output.data_type = DataType{7}; },
       {"output.data_type is 7", "bf16, fp8"}},
      {[](P& p) { p.variant = "bf16_d128_causal"; },
       {"query.data_type is fp8",
        "bf16, which is what variant bf16_d128_causal takes"}},
      {[](P& p) { p.variant = "fp8_exact_d128_full"; },
       {"mask is causal", "full, which is what"}},
      {[=](P& p) { p.softmax_scale = kNan; },
       {"softmax_scale is nan", "any finite number"}},
      // 16-byte pieces of rows of 128 bytes.
      {[](P& p) { p.key.address += 8; }, {"key.address is", "multiples of 16"}},
      {[](P& p) { p.query.head_stride = 136; },
       {"query.head_stride is 136 bytes", "multiples of 16"}},
      {[](P& p) { p.value.seq_stride = 1 << 25; },
       {"value.seq_stride is 33554432 bytes", "less than 33554432"}},
      {[](P& p) { p.output.address = kQuery + 2 * 700 * 8 * 128 - 16; },
       {"output.address is 0x", "overlaps query"}},
      // Numbers.
      {[=](P& p) { p.query_descale = kNan; },
       {"query_descale is nan", "any finite number"}},
      {[=](P& p) { p.key_descale = -kInf; },
       {"key_descale is -inf", "any finite number"}},
      {[=](P& p) { p.value_descale = kInf; },
       {"value_descale is inf", "any finite number"}},
      {[](P& p) { p.output_scale = 2.0f; },
       {"output_scale is 2", "none, but for an FP8 output"}},
      {[](P& p) { p.output_scale = ScaleView{kScales}; },
       {"output_scale is a tensor at 0x1000000000",
        "none, but for an FP8 output"}},
      {[=](P& p) {
         p.output = DenseTensor(kOutput, 2, 700, 8, 128, DataType::kFp8);
         p.output_scale = kInf;
       },
       {"output_scale is inf", "any finite number"}},
      {[](P& p) {
         p.output = DenseTensor(kOutput, 2, 700, 8, 128, DataType::kFp8);
         p.output_scale = ScaleView{kScales, 2, 1, 4, 0};
       },
       {"output_scale.batch is 2", "allowed: 1"}},
      {[](P& p) {
         p.output = DenseTensor(kOutput, 2, 700, 8, 128, DataType::kFp8);
         p.output_scale = ScaleView{kScales, 1, 8, 0, 4};
       },
       {"output_scale.heads is 8", "allowed: 1"}},
      // Shapes.
      {[](P& p) { p.query_descale = DenseScales(kScales, 3, 8); },
       {"query_descale.batch is 3", "1, or 2, which is query.batch"}},
      {[](P& p) { p.key_descale = DenseScales(kScales, 0, 2); },
       {"key_descale.batch is 0", "1, or 2, which is query.batch"}},
      {[](P& p) { p.query_descale = DenseScales(kScales, 2, 4); },
       {"query_descale.heads is 4",
        "1, or 2, which is key.heads, or 8, which is query.heads"}},
      {[](P& p) { p.key_descale = DenseScales(kScales, 2, 8); },
       {"key_descale.heads is 8", "1, or 2, which is key.heads"}},
      {[](P& p) { p.value_descale = DenseScales(kScales, 1, -1); },
       {"value_descale.heads is -1", "1, or 2, which is key.heads"}},
      // Addresses and strides.
      {[](P& p) { p.query_descale = ScaleView{}; },
       {"query_descale.address is 0x0", "multiples of 4, and not 0"}},
      {[](P& p) { p.key_descale = ScaleView{kScales + 2}; },
       {"key_descale.address is 0x1000000002", "multiples of 4"}},
      {[](P& p) { p.value_descale = ScaleView{kScales, 2, 2, 8, 2}; },
       {"value_descale.head_stride is 2 bytes", "multiples of 4"}},
      {[](P& p) { p.value_descale = ScaleView{kScales, 2, 2, -4, 4}; },
       {"value_descale.batch_stride is -4 bytes", "not negative"}},
      {[](P& p) {
         p.key_descale = ScaleView{kScales, 2, 1, int64_t{1} << 32, 4};
       },
       {"key_descale.batch_stride is 4294967296 bytes",
        "less than 4294967296"}},
      {[](P& p) { p.query_descale = ScaleView{kScales, 1, 8, 0, 1 << 30}; },
       {"query_descale is a tensor of 7516192772 bytes",
        "4294967296 bytes at most"}},
      {[](P& p) {
         p.query_descale = ScaleView{(uint64_t{1} << 48) - 4, 1, 8, 0, 4};
       },
       {"query_descale.address is 0xfffffffffffc", "2^48"}},
      // Results upon scales.
      {[](P& p) { p.query_descale = ScaleView{kOutput + 4096}; },
       {"output.address is", "overlaps query_descale"}},
      {[](P& p) { p.value_descale = ScaleView{kLse - 4, 2, 2, 8, 4}; },
       {"lse.address is", "overlaps value_descale"}},
      {[](P& p) {
         p.output = DenseTensor(kOutput, 2, 700, 8, 128, DataType::kFp8);
         p.output_scale = ScaleView{kOutput};
       },
       {"output.address is", "overlaps output_scale"}},
  };
  const absl::Status good = PlanAttention(Usual(), Target()).status();
  ASSERT_TRUE(good.ok()) << good;
  int index = 0;
  for (const Refusal& refusal : kRefusals) {
    AttentionParams params = Usual();
    refusal.change(params);
    const absl::Status status = PlanAttention(params, Target()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << "refusal " << index << ", " << refusal.message[0];
    EXPECT_THAT(status.message(), HasSubstr("; allowed: "));
    for (const std::string& part : refusal.message) {
      EXPECT_THAT(status.message(), HasSubstr(part)) << "refusal " << index;
    }
    ++index;
  }
}

TEST(PlanFp8Test, AllowsWhatIsJustWithinTheRules) {
  const std::function<void(AttentionParams&)> kChanges[] = {
      // Scales among the inputs, and upon each other.
      [](AttentionParams& p) {
        p.query_descale = ScaleView{kQuery + 4};
        p.key_descale = p.value_descale = ScaleView{kKey};
      },
      [](AttentionParams& p) { p.query_descale = ScaleView{kOutput - 4}; },
      [](AttentionParams& p) {
        p.query_descale = ScaleView{kScales, 2, 1, (int64_t{1} << 32) - 4, 0};
      },
      [](AttentionParams& p) {
        p.query_descale = ScaleView{(uint64_t{1} << 48) - 32, 1, 8, 0, 4};
      }};
  int index = 0;
  for (const auto& change : kChanges) {
    AttentionParams params = Usual();
    change(params);
    const absl::Status status = PlanAttention(params, Target()).status();
    EXPECT_TRUE(status.ok()) << index << ": " << status;
    ++index;
  }
}

TEST(PlanFp8Test, Bf16CallsTakeNoScales) {
  AttentionParams bf16;
  bf16.query = DenseTensor(kQuery, 1, 10, 2, 128);
  bf16.key = DenseTensor(kKey, 1, 10, 2, 128);
  bf16.value = DenseTensor(kValue, 1, 10, 2, 128);
  bf16.output = DenseTensor(kOutput, 1, 10, 2, 128);
  const auto refusal = [](const AttentionParams& params) {
    return std::string(PlanAttention(params, Target()).status().message());
  };
  ASSERT_EQ(refusal(bf16), "");
  AttentionParams params = bf16;
  params.query_descale = 1.0f;
  EXPECT_THAT(refusal(params),
              HasSubstr("query_descale is 1; allowed: none, but for FP8"));
  params = bf16;
  params.key_descale = ScaleView{kScales};
  EXPECT_THAT(refusal(params), HasSubstr("key_descale is a tensor at 0x1"));
  params = bf16;
  params.value_descale = 2.0f;
  EXPECT_THAT(refusal(params), HasSubstr("value_descale is 2; allowed: none"));
  params = bf16;
  params.output_scale = 1.0f;
  EXPECT_THAT(refusal(params), HasSubstr("output_scale is 1; allowed: none"));
  params = bf16;
  params.output.data_type = DataType::kFp8;
  EXPECT_THAT(refusal(params), HasSubstr("output.data_type is fp8; allowed: "
                                         "bf16"));
  params = bf16;
  params.variant = "fp8_lean_d128_causal";
  EXPECT_THAT(refusal(params), HasSubstr("query.data_type is bf16; allowed: "
                                         "fp8, which is what variant"));
}

// Whatever the target, a BF16 plan is the same and has no FP8 field.
TEST(PlanFp8Test, Bf16PlansStayAsTheyAre) {
  AttentionParams params;
  params.query = DenseTensor(kQuery, 3, 1000, 4, 128);
  params.key = DenseTensor(kKey, 3, 1000, 2, 128);
  params.value = DenseTensor(kValue, 3, 1000, 2, 128);
  params.output = DenseTensor(kOutput, 3, 1000, 4, 128);
  const auto plan = PlanAttention(params, Target(17));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernel->name, "bf16_d128_causal");
  const AttentionPiece piece = MakePiece(*plan, 0);
  EXPECT_THAT(piece.shape.grid, ElementsAre(4, 2, 3));
  unsigned char bytes[sizeof(AttentionArgs)];
  std::memcpy(bytes, &piece.args, sizeof(bytes));
  for (size_t i = offsetof(AttentionArgs, query_descale); i < sizeof(bytes);
       ++i) {
    EXPECT_EQ(bytes[i], 0) << i;
  }
}

TEST(PlanFp8Test, EmptyCalls) {
  for (AttentionParams params : {Dense(0, 5, 5, 4, 2), Dense(2, 0, 5, 4, 2),
                                 Dense(2, 5, 5, 0, 2), Dense(2, 5, 5, 0, 0)}) {
    params.query.address = 0;
    params.key_descale = ScaleView{};  // not looked at either
    const auto plan = PlanAttention(params, Target());
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(PieceCount(*plan), 0);
  }
  // No keys: rows are still written, and the scales are a kernel's to read.
  AttentionParams params = Dense(2, 5, 0, 4, 2);
  params.key.address = 3;
  params.value.batch_stride = -5;
  params.key_descale = ScaleView{kScales, 1, 2, 0, 4};
  const AttentionArgs a = PlannedArgs(params);
  EXPECT_EQ(a.seqlen_kv, 0u);
  EXPECT_EQ(a.key, 0u);
  EXPECT_EQ(a.value_batch_stride, 0u);
  EXPECT_EQ(a.key_descale, kScales);
  EXPECT_EQ(a.items, 8u);
  params.key_descale = ScaleView{};
  EXPECT_FALSE(PlanAttention(params, Target()).ok());
}

TEST(PlanFp8Test, GroupsFollowFromItemsAndComputeUnits) {
  const auto groups = [](int64_t items, uint32_t compute_units) {
    const auto plan =
        PlanAttention(Dense(1, 256, 256, items, 1), Target(compute_units));
    EXPECT_TRUE(plan.ok()) << plan.status();
    const AttentionPiece piece = MakePiece(*plan, 0);
    EXPECT_EQ(piece.args.items, items);
    EXPECT_EQ(piece.shape.grid[0], piece.args.groups);
    return piece.args.groups;
  };
  EXPECT_EQ(groups(1, 256), 1u);
  EXPECT_EQ(groups(255, 256), 255u);
  EXPECT_EQ(groups(256, 256), 256u);
  EXPECT_EQ(groups(257, 256), 256u);
  EXPECT_EQ(groups(5000, 256), 256u);
  EXPECT_EQ(groups(5000, 304), 304u);
  EXPECT_EQ(groups(5000, 303), 296u);
  EXPECT_EQ(groups(302, 303), 302u);
  EXPECT_EQ(groups(303, 303), 296u);
  // Fewer than the order of items can do with.
  EXPECT_EQ(groups(100, 1), 8u);
  EXPECT_EQ(groups(100, 7), 8u);
  for (uint32_t compute_units : {1u, 4u, 7u, 8u}) {
    for (int64_t items = 1; items <= 8; ++items) {
      EXPECT_EQ(groups(items, compute_units), items) << compute_units;
    }
    EXPECT_EQ(groups(9, compute_units), 8u) << compute_units;
  }
}

TEST(PlanFp8Test, TheDevicesComputeUnitsReachThePlan) {
  DeviceProperties properties;
  EXPECT_EQ(TargetOf(properties).compute_units, 256u);
  properties.compute_units = 80;
  const LaunchTarget target = TargetOf(properties);
  EXPECT_EQ(target.compute_units, 80u);
  EXPECT_EQ(target.kernels.data(), AllKernels().data());
}

// Every item is done once, whatever the number of groups.
TEST(PlanFp8Test, GroupsShareOutAllItems) {
  for (const auto& [items, compute_units] :
       std::vector<std::pair<int64_t, uint32_t>>{
           {1, 256}, {255, 256}, {256, 256}, {700, 256}, {1000, 20}, {9, 3}}) {
    const auto plan =
        PlanAttention(Dense(1, 256, 256, items, 1), Target(compute_units));
    const AttentionArgs args = MakePiece(*plan, 0).args;
    std::multiset<uint64_t> done;
    for (uint32_t group = 0; group < args.groups; ++group) {
      for (uint64_t round = 0; round * args.groups < args.items; ++round) {
        const uint64_t item = ItemOfGroup(args, group, round);
        if (item < args.items) done.insert(item);
      }
    }
    ASSERT_EQ(done.size(), static_cast<size_t>(items));
    uint64_t next = 0;
    for (uint64_t item : done) EXPECT_EQ(item, next++);
  }
}

// Every (batch, row) is done by one launch, with the pointers, the scales and
// the last visible key that the whole call gives it.
void ExpectPiecesCover(AttentionParams params) {
  params.query_descale = ScaleView{kScales, params.query.batch, 1, 8, 0};
  params.key_descale = ScaleView{kScales, 1, params.key.heads, 0, 4};
  params.value_descale = ScaleView{kScales, params.query.batch, 1, 4, 0};
  const auto plan = PlanAttention(params, Target());
  ASSERT_TRUE(plan.ok()) << plan.status();
  const int64_t batch = params.query.batch;
  const int64_t rows = params.query.seqlen;
  const int64_t keys = params.key.seqlen;
  const bool causal = params.mask == Mask::kCausal;
  int64_t done = 0;
  for (int64_t i = 0; i < PieceCount(*plan); ++i) {
    const AttentionPiece piece = MakePiece(*plan, i);
    const AttentionArgs& a = piece.args;
    const int64_t batches = a.columns / a.heads_q;
    EXPECT_EQ(a.heads_q, params.query.heads);
    EXPECT_EQ(a.columns % a.heads_q, 0u);
    EXPECT_EQ(a.query_tiles, (a.seqlen_q + 255) / 256);
    ASSERT_LT(uint64_t{a.query_tiles} * a.columns, uint64_t{1} << 31);
    EXPECT_EQ(a.items, a.query_tiles * a.columns);
    EXPECT_THAT(piece.shape.grid, ElementsAre(a.groups, 1, 1));
    const int64_t offset = static_cast<int64_t>(a.query - params.query.address);
    const int64_t batch_stride =
        batch > 1 ? static_cast<int64_t>(a.query_batch_stride) : INT64_MAX;
    const int64_t b0 = offset / batch_stride;
    const int64_t r0 = offset % batch_stride / a.query_seq_stride;
    EXPECT_LE(b0 + batches, batch);
    EXPECT_LE(r0 + a.seqlen_q, rows);
    EXPECT_EQ(a.key, params.key.address + b0 * a.key_batch_stride);
    EXPECT_EQ(a.value, params.value.address + b0 * a.value_batch_stride);
    EXPECT_EQ(a.output, params.output.address + b0 * a.output_batch_stride +
                            r0 * a.output_seq_stride);
    EXPECT_EQ(a.lse, kLse + b0 * a.lse_batch_stride + r0 * 4);
    EXPECT_EQ(a.query_descale, kScales + 8 * b0);
    EXPECT_EQ(a.key_descale, kScales);
    EXPECT_EQ(a.value_descale, kScales + 4 * b0);
    for (int64_t row : {int64_t{0}, int64_t{a.seqlen_q} - 1}) {
      const auto last = [&](int64_t r, int64_t of_rows, int64_t of_keys) {
        return causal
                   ? std::clamp<int64_t>(r + of_keys - of_rows + 1, 0, of_keys)
                   : of_keys;
      };
      EXPECT_EQ(last(row, a.seqlen_q, a.seqlen_kv), last(r0 + row, rows, keys));
    }
    done += int64_t{a.seqlen_q} * batches;
  }
  EXPECT_EQ(done, batch * rows);
}

TEST(PlanFp8Test, ItemsBeyond31BitsAreSplit) {
  const auto pieces = [](const AttentionParams& params) {
    const auto plan = PlanAttention(params, Target());
    EXPECT_TRUE(plan.ok()) << plan.status();
    return PieceCount(*plan);
  };
  for (Mask mask : {Mask::kCausal, Mask::kFull}) {
    const auto call = [mask](int64_t batch, int64_t rows, int64_t keys,
                             int64_t heads) {
      AttentionParams params =
          Dense(batch, rows, keys, heads, 1, 128, mask, DataType::kFp8);
      params.output.address = uint64_t{1} << 46;
      // All heads upon one: a dense tensor would not end below 2^48.
      params.query.head_stride = 0;
      params.query.seq_stride = 128;
      params.query.batch_stride = rows * 128;
      return params;
    };
    const auto expect_pieces = [&](const AttentionParams& params, int count) {
      EXPECT_EQ(pieces(params), count);
      ExpectPiecesCover(params);
    };
    // By batch: 65536 heads leave 32767 batch entries of a tile.
    expect_pieces(call(32767, 1, 1, 65536), 1);
    expect_pieces(call(32768, 1, 1, 65536), 2);
    expect_pieces(call(70000, 1, 9, 65536), 3);
    expect_pieces(call(65535 * 3, 3, 5, 4), 1);
    // By rows, and then a launch has one batch entry.
    expect_pieces(call(1, 32767 * 256, 700, 65536), 1);
    expect_pieces(call(1, 32767 * 256 + 1, 700, 65536), 2);
    expect_pieces(call(1, 32767 * 256 + 1, 32767 * 256 + 300, 65536), 2);
    expect_pieces(call(3, 2147483135, 2147483135, 1), 1);
    expect_pieces(call(1, 2147483135, 9, 256), 1);
    expect_pieces(call(1, 2147483135, 9, 257), 2);
    expect_pieces(call(2, 2147483135, 2147480000, 257), 4);
    // 2^56 batch entries of 256 pieces: the product is 2^64, and yet not 0.
    EXPECT_THAT(
        PlanAttention(call(int64_t{1} << 56, 32767 * 65536, 1, 65536), Target())
            .status()
            .message(),
        HasSubstr("query.address is 0x10000000000 and the tensor's strides "
                  "end it at 2^64 or more; allowed: an end at 2^48"));
  }
}

}  // namespace
}  // namespace zyfa
