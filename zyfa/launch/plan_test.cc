#include "zyfa/launch/plan.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/launch/attention.h"

namespace zyfa {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kQuery = 0x10000000000, kKey = 0x20000000000,
                   kValue = 0x30000000000, kOutput = 0x40000000000,
                   kLse = 0x50000000000;

AttentionParams Dense(int64_t batch, int64_t seqlen_q, int64_t seqlen_kv,
                      int64_t heads_q, int64_t heads_kv, int64_t qk = 128,
                      Mask mask = Mask::kCausal) {
  AttentionParams params;
  params.query = DenseTensor(kQuery, batch, seqlen_q, heads_q, qk);
  params.key = DenseTensor(kKey, batch, seqlen_kv, heads_kv, qk);
  params.value = DenseTensor(kValue, batch, seqlen_kv, heads_kv, 128);
  params.output = DenseTensor(kOutput, batch, seqlen_q, heads_q, 128);
  params.lse = DenseLse(kLse, batch, heads_q, seqlen_q);
  params.mask = mask;
  return params;
}

AttentionParams Usual() { return Dense(2, 300, 500, 8, 2); }

TEST(PlanTest, FillsTheArgumentBlock) {
  const auto plan = PlanAttention(Usual());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernel->name, "bf16_d128_causal");
  const AttentionArgs& a = plan->args;
  EXPECT_EQ(a.query, kQuery);
  EXPECT_EQ(a.key, kKey);
  EXPECT_EQ(a.value, kValue);
  EXPECT_EQ(a.output, kOutput);
  EXPECT_EQ(a.lse, kLse);
  EXPECT_EQ(a.query_batch_stride, 300u * 8 * 256);
  EXPECT_EQ(a.query_head_stride, 256u);
  EXPECT_EQ(a.query_seq_stride, 8u * 256);
  EXPECT_EQ(a.key_batch_stride, 500u * 2 * 256);
  EXPECT_EQ(a.key_head_stride, 256u);
  EXPECT_EQ(a.key_seq_stride, 2u * 256);
  EXPECT_EQ(a.value_batch_stride, 500u * 2 * 256);
  EXPECT_EQ(a.value_head_stride, 256u);
  EXPECT_EQ(a.value_seq_stride, 2u * 256);
  EXPECT_EQ(a.output_batch_stride, 300u * 8 * 256);
  EXPECT_EQ(a.output_head_stride, 256u);
  EXPECT_EQ(a.output_seq_stride, 8u * 256);
  EXPECT_EQ(a.lse_batch_stride, 8u * 300 * 4);
  EXPECT_EQ(a.lse_head_stride, 300u * 4);
  EXPECT_EQ(a.seqlen_q, 300u);
  EXPECT_EQ(a.seqlen_kv, 500u);
  EXPECT_EQ(a.query_tiles, 2u);
  EXPECT_EQ(a.kv_head_multiplier, (1u << 30) + 1);
  EXPECT_EQ(a.negate_query, 0u);
  const double scale = 1 / std::sqrt(128.0);
  EXPECT_FLOAT_EQ(a.scale, scale);
  EXPECT_FLOAT_EQ(a.scale_log2e, scale / std::log(2.0));
  EXPECT_FLOAT_EQ(a.rescale_threshold, 8 * std::log(2.0) / scale);

  ASSERT_EQ(PieceCount(*plan), 1);
  const AttentionPiece piece = MakePiece(*plan, 0);
  EXPECT_THAT(piece.shape.grid, ::testing::ElementsAre(8, 1, 2));
  EXPECT_THAT(piece.shape.block, ::testing::ElementsAre(512, 1, 1));
  EXPECT_EQ(piece.shape.dynamic_lds_bytes, 0u);
  EXPECT_EQ(std::memcmp(&piece.args, &plan->args, sizeof(AttentionArgs)), 0);
}

TEST(PlanTest, EveryStrideReachesItsOwnField) {
  AttentionParams params = Usual();
  // Distinct numbers within the rules: batch > sequence > head.
  int64_t next = 256;
  const auto set = [&](int64_t& stride, int64_t factor) {
    stride = (next += 16) * factor;
    return static_cast<uint64_t>(stride);
  };
  std::vector<uint64_t> expected;
  for (TensorView* t :
       {&params.query, &params.key, &params.value, &params.output}) {
    expected.push_back(set(t->head_stride, 1));
    expected.push_back(set(t->seq_stride, 16));
    expected.push_back(set(t->batch_stride, 16 * 512));
  }
  expected.push_back(set(params.lse->head_stride, 16));
  expected.push_back(set(params.lse->batch_stride, 16 * 8));
  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const AttentionArgs& a = plan->args;
  EXPECT_EQ((std::vector<uint64_t>{
                a.query_head_stride, a.query_seq_stride, a.query_batch_stride,
                a.key_head_stride, a.key_seq_stride, a.key_batch_stride,
                a.value_head_stride, a.value_seq_stride, a.value_batch_stride,
                a.output_head_stride, a.output_seq_stride,
                a.output_batch_stride, a.lse_head_stride, a.lse_batch_stride}),
            expected);
}

TEST(PlanTest, PicksTheVariant) {
  for (int qk : {128, 192}) {
    for (Mask mask : {Mask::kCausal, Mask::kFull}) {
      const auto plan = PlanAttention(Dense(1, 10, 20, 4, 4, qk, mask));
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->kernel->variant,
                (Variant{DataType::kBf16, qk, 128, mask}));
      EXPECT_FLOAT_EQ(plan->args.scale, 1 / std::sqrt(double(qk)));
    }
  }
  AttentionParams params = Usual();
  params.variant = "bf16_d128_causal";
  EXPECT_TRUE(PlanAttention(params).ok());
}

TEST(PlanTest, NoLseIsAddressZero) {
  AttentionParams params = Usual();
  params.lse.reset();
  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->args.lse, 0u);
}

// The kernel takes the high half of head * multiplier for head / ratio.
TEST(PlanTest, KvHeadMultiplierIsExact) {
  for (int64_t ratio = 2; ratio <= 65536; ratio += ratio < 300 ? 1 : 997) {
    const int64_t heads_kv = 65536 / ratio;
    const auto plan = PlanAttention(Dense(1, 1, 1, heads_kv * ratio, heads_kv));
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (uint64_t head = 0; head < static_cast<uint64_t>(heads_kv * ratio);
         ++head) {
      ASSERT_EQ(head * plan->args.kv_head_multiplier >> 32, head / ratio)
          << head << " / " << ratio;
    }
  }
  EXPECT_EQ(PlanAttention(Dense(1, 1, 1, 5, 5))->args.kv_head_multiplier, 0u);
}

TEST(PlanTest, SoftmaxScales) {
  const auto args = [](float scale) {
    AttentionParams params = Usual();
    params.softmax_scale = scale;
    const auto plan = PlanAttention(params);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? plan->args : AttentionArgs{};
  };
  EXPECT_EQ(args(0.5f).negate_query, 0u);
  EXPECT_EQ(args(-0.5f).negate_query, 0x80008000u);
  EXPECT_EQ(args(-0.5f).scale, 0.5f);
  EXPECT_FLOAT_EQ(args(-0.5f).scale_log2e, 0.5 * 1.4426950408889634);
  for (float zero : {0.0f, -0.0f}) {
    EXPECT_EQ(args(zero).negate_query, 0u);
    EXPECT_EQ(args(zero).scale, FLT_MIN);
    EXPECT_EQ(args(zero).scale_log2e, FLT_MIN);
    EXPECT_EQ(args(zero).rescale_threshold,
              std::numeric_limits<float>::infinity());
  }
  const float denormal = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(args(-denormal).negate_query, 0x80008000u);
  EXPECT_EQ(args(denormal).scale, FLT_MIN);
  EXPECT_EQ(args(denormal).scale_log2e, FLT_MIN);
  EXPECT_EQ(args(FLT_MAX).scale_log2e, FLT_MAX);
  EXPECT_FLOAT_EQ(args(FLT_MAX).rescale_threshold, 8 / double{FLT_MAX});
}

// Rules of refusal: a change to a valid call, and what the message must hold.
struct Refusal {
  std::function<void(AttentionParams&)> change;
  std::vector<std::string> message;
};

TEST(PlanTest, RefusalsNameArgumentValueAndWhatIsAllowed) {
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const float kInf = std::numeric_limits<float>::infinity();
  using P = AttentionParams;
  const Refusal kRefusals[] = {
      // Types.
      {[](P& p) { p.query.data_type = DataType{7}; },
       {"query.data_type is 7", "bf16"}},
      {[](P& p) { p.key.data_type = DataType{7}; },
       {"key.data_type is 7", "bf16"}},
      {[](P& p) { p.value.data_type = DataType{7}; },
       {"value.data_type is 7", "bf16"}},
      {[](P& p) { p.output.data_type = DataType{7}; },
       {"output.data_type is 7", "bf16"}},
      {[](P& p) { p.mask = Mask{9}; }, {"mask is 9", "causal, full"}},
      // Sizes.
      {[](P& p) { p.query.batch = -1; }, {"query.batch is -1", "0 to"}},
      {[](P& p) { p.key.batch = 3; },
       {"key.batch is 3", "2, which is query.batch"}},
      {[](P& p) { p.value.batch = 3; },
       {"value.batch is 3", "2, which is query.batch"}},
      {[](P& p) { p.output.batch = 3; },
       {"output.batch is 3", "2, which is query.batch"}},
      {[](P& p) { p.lse->batch = 3; },
       {"lse.batch is 3", "2, which is query.batch"}},
      {[](P& p) { p.query.seqlen = -5; },
       {"query.seqlen is -5", "0 to 2147483135"}},
      {[](P& p) { p.query.seqlen = 2147483136; },
       {"query.seqlen is 2147483136", "0 to 2147483135"}},
      {[](P& p) { p.key.seqlen = 2147483136; },
       {"key.seqlen is 2147483136", "0 to 2147483135"}},
      {[](P& p) { p.key.seqlen = -1; },
       {"key.seqlen is -1", "0 to 2147483135"}},
      {[](P& p) { p.value.seqlen = 499; },
       {"value.seqlen is 499", "500, which is key.seqlen"}},
      {[](P& p) { p.output.seqlen = 301; },
       {"output.seqlen is 301", "300, which is query.seqlen"}},
      {[](P& p) { p.lse->seqlen = 301; },
       {"lse.seqlen is 301", "300, which is query.seqlen"}},
      {[](P& p) { p.query.heads = 65537; },
       {"query.heads is 65537", "0 to 65536"}},
      {[](P& p) { p.query.heads = -8; }, {"query.heads is -8", "0 to 65536"}},
      {[](P& p) { p.key.heads = -2; }, {"key.heads is -2", "0 to 65536"}},
      {[](P& p) { p.key.heads = p.value.heads = 3; },
       {"key.heads is 3", "divisors of query.heads, 8"}},
      {[](P& p) { p.key.heads = p.value.heads = 0; },
       {"key.heads is 0", "divisors of query.heads, 8"}},
      {[](P& p) { p.key.heads = p.value.heads = 16; },
       {"key.heads is 16", "divisors of query.heads, 8"}},
      {[](P& p) { p.value.heads = 8; },
       {"value.heads is 8", "2, which is key.heads"}},
      {[](P& p) { p.output.heads = 2; },
       {"output.heads is 2", "8, which is query.heads"}},
      {[](P& p) { p.lse->heads = 2; },
       {"lse.heads is 2", "8, which is query.heads"}},
      {[](P& p) { p.key.head_dim = 192; },
       {"key.head_dim is 192", "128, which is query.head_dim"}},
      {[](P& p) { p.output.head_dim = 192; },
       {"output.head_dim is 192", "128, which is value.head_dim"}},
      {[](P& p) { p.query.head_dim = p.key.head_dim = 64; },
       {"query.head_dim and value.head_dim are 64 and 128",
        "128 and 128, 192 and 128"}},
      // Variant.
      {[](P& p) { p.variant = "bf16_d64_causal"; },
       {"variant is 'bf16_d64_causal'", "bf16_d128_causal, bf16_d128_full"}},
      {[](P& p) { p.variant = "bf16_d128_full"; },
       {"mask is causal", "full, which is what variant bf16_d128_full takes"}},
      {[](P& p) { p.variant = "bf16_d192x128_causal"; },
       {"query.head_dim is 128",
        "192, which is what variant bf16_d192x128_causal takes"}},
      // Scale.
      {[=](P& p) { p.softmax_scale = kNan; },
       {"softmax_scale is nan", "any finite number"}},
      {[=](P& p) { p.softmax_scale = -kInf; },
       {"softmax_scale is -inf", "any finite number"}},
      // Addresses.
      {[](P& p) { p.query.address = 0; },
       {"query.address is 0x0", "multiples of 16, and not 0"}},
      {[](P& p) { p.key.address += 8; },
       {"key.address is 0x20000000008", "multiples of 16"}},
      {[](P& p) { p.value.address += 2; },
       {"value.address is 0x30000000002", "multiples of 16"}},
      {[](P& p) { p.output.address += 4; },
       {"output.address is 0x40000000004", "multiples of 16"}},
      {[](P& p) { p.lse->address += 2; },
       {"lse.address is 0x50000000002", "multiples of 4"}},
      {[](P& p) { p.lse->address = 0; },
       {"lse.address is 0x0", "multiples of 4, and not 0"}},
      {[](P& p) { p.query.address = (uint64_t{1} << 48) - 4096; },
       {"query.address is 0xfffffffff000", "2^48"}},
      {[](P& p) { p.key.batch_stride = INT64_MAX - 15; },
       {"key.address is 0x20000000000", "end it at 0x80", "2^48"}},
      {[](P& p) {
         p.value.batch_stride = INT64_MAX - 15;
         p.value.head_stride = INT64_MAX - 15;
         p.value.address = UINT64_MAX - 15;
       },
       {"value.address is 0xfffffffffffffff0", "2^64 or more", "2^48"}},
      {[](P& p) { p.output.batch_stride = int64_t{1} << 62; },
       {"output.address is 0x40000000000", "2^48"}},
      {[](P& p) { p.lse->batch_stride = int64_t{1} << 62; },
       {"lse.address is 0x50000000000", "2^48"}},
      // Strides.
      {[](P& p) { p.query.seq_stride = 40; },
       {"query.seq_stride is 40 bytes", "multiples of 16", "33554432"}},
      {[](P& p) { p.key.seq_stride = 1 << 25; },
       {"key.seq_stride is 33554432 bytes", "less than 33554432"}},
      {[](P& p) { p.value.seq_stride = -256; },
       {"value.seq_stride is -256 bytes", "not negative"}},
      {[](P& p) { p.output.seq_stride = 1 << 25; },
       {"output.seq_stride is 33554432 bytes", "less than 33554432"}},
      {[](P& p) { p.query.batch_stride = -16; },
       {"query.batch_stride is -16 bytes", "not negative"}},
      {[](P& p) { p.key.head_stride = 8; },
       {"key.head_stride is 8 bytes", "multiples of 16"}},
      {[](P& p) { p.output.head_stride = 264; },
       {"output.head_stride is 264 bytes", "multiples of 16"}},
      {[](P& p) { p.lse->head_stride = 1202; },
       {"lse.head_stride is 1202 bytes", "multiples of 4"}},
      {[](P& p) { p.lse->batch_stride = -4; },
       {"lse.batch_stride is -4 bytes", "not negative"}},
      // Rows of results upon each other.
      {[](P& p) { p.output.batch_stride = 0; },
       {"output.batch_stride is 0 bytes", "at least 256",
        "rows of output overlap"}},
      {[](P& p) { p.output.seq_stride = 0; },
       {"output.seq_stride is 0 bytes", "at least 256"}},
      {[](P& p) { p.output.head_stride = 240; },
       {"output.head_stride is 240 bytes", "at least 256"}},
      {[](P& p) { p.output.seq_stride = 8 * 256 - 16; },
       {"output.seq_stride is 2032 bytes", "at least 2048"}},
      {[](P& p) { p.output.batch_stride = 300 * 8 * 256 - 16; },
       {"output.batch_stride is 614384 bytes", "at least 614400"}},
      {[](P& p) { p.lse->head_stride = 1196; },
       {"lse.head_stride is 1196 bytes", "at least 1200",
        "rows of lse overlap"}},
      {[](P& p) { p.lse->batch_stride = 0; },
       {"lse.batch_stride is 0 bytes", "at least 1200"}},
      {[](P& p) { p.lse->batch_stride = 9596; },
       {"lse.batch_stride is 9596 bytes", "at least 9600"}},
      // Results upon inputs.
      {[](P& p) { p.output.address = kQuery; },
       {"output.address is 0x10000000000", "overlaps query"}},
      {[](P& p) { p.output.address = kKey + 2 * 500 * 2 * 256 - 16; },
       {"output.address is 0x", "overlaps key"}},
      {[](P& p) { p.output.address = kValue - 2 * 300 * 8 * 256 + 16; },
       {"output.address is 0x", "overlaps value"}},
      {[](P& p) { p.lse->address = kQuery + 16; },
       {"lse.address is 0x10000000010", "overlaps query"}},
      {[](P& p) { p.lse->address = kOutput + 2 * 300 * 8 * 256 - 4; },
       {"lse.address is 0x", "overlaps output"}},
  };
  ASSERT_TRUE(Supports(Usual()).ok()) << Supports(Usual());
  int index = 0;
  for (const Refusal& refusal : kRefusals) {
    AttentionParams params = Usual();
    refusal.change(params);
    const absl::Status status = Supports(params);
    ASSERT_FALSE(status.ok())
        << "refusal " << index << ", " << refusal.message[0];
    EXPECT_EQ(status.code(), refusal.message[0].rfind("variant", 0) == 0
                                 ? absl::StatusCode::kNotFound
                                 : absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("; allowed: "));
    for (const std::string& part : refusal.message) {
      EXPECT_THAT(status.message(), HasSubstr(part)) << "refusal " << index;
    }
    ++index;
  }
}

TEST(PlanTest, AllowsWhatIsJustWithinTheRules) {
  const std::function<void(AttentionParams&)> kChanges[] = {
      [](AttentionParams& p) {  // broadcast inputs
        for (TensorView* t : {&p.query, &p.key, &p.value}) {
          t->batch_stride = t->head_stride = t->seq_stride = 0;
        }
      },
      [](AttentionParams& p) { p.key.address = p.value.address = kQuery; },
      [](AttentionParams& p) {  // neighbours without a gap
        p.output.address = kQuery + 2 * 300 * 8 * 256;
        p.lse->address = kQuery - 2 * 8 * 300 * 4;
      },
      [](AttentionParams& p) {  // BHSD
        p.output.head_stride = 300 * 256;
        p.output.seq_stride = 256;
      },
      [](AttentionParams& p) {  // batch innermost
        p.output.batch_stride = 256;
        p.output.head_stride = 512;
        p.output.seq_stride = 8 * 512;
        p.lse->batch_stride = 1200;
        p.lse->head_stride = 2400;
      },
      [](AttentionParams& p) { p.key.seq_stride = (1 << 25) - 16; },
      [](AttentionParams& p) {
        p.query.address = (uint64_t{1} << 48) - 2 * 300 * 8 * 256;
      },
  };
  int index = 0;
  for (const auto& change : kChanges) {
    AttentionParams params = Usual();
    change(params);
    EXPECT_TRUE(Supports(params).ok()) << index << ": " << Supports(params);
    ++index;
  }
  EXPECT_TRUE(Supports(Dense(1, 1, 2147483135, 65536, 1)).ok());
}

TEST(PlanTest, StridesOfOneElementDoNotMatter) {
  AttentionParams params = Dense(1, 1, 1, 1, 1);
  for (TensorView* t :
       {&params.query, &params.key, &params.value, &params.output}) {
    t->batch_stride = -7;
    t->head_stride = INT64_MIN;
    t->seq_stride = INT64_MAX;
  }
  params.lse->batch_stride = params.lse->head_stride = -1;
  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->args.query_batch_stride, 0u);
  EXPECT_EQ(plan->args.output_head_stride, 0u);
  EXPECT_EQ(plan->args.output_seq_stride, 256u);
  EXPECT_EQ(plan->args.key_seq_stride, 256u);
  EXPECT_EQ(plan->args.lse_head_stride, 0u);
}

TEST(PlanTest, EmptyCalls) {
  // No rows: nothing is launched and no pointer is looked at.
  for (AttentionParams params : {Dense(0, 5, 5, 4, 2), Dense(2, 0, 5, 4, 2),
                                 Dense(2, 5, 5, 0, 2), Dense(2, 5, 5, 0, 0)}) {
    for (TensorView* t :
         {&params.query, &params.key, &params.value, &params.output}) {
      t->address = 0;
      t->seq_stride = -1;
    }
    const auto plan = PlanAttention(params);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(PieceCount(*plan), 0);
  }
  // No keys: rows are still written; key and value may be anything.
  AttentionParams params = Dense(2, 5, 0, 4, 2);
  params.key.address = 3;
  params.value.batch_stride = -5;
  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(PieceCount(*plan), 1);
  EXPECT_EQ(plan->args.seqlen_kv, 0u);
  EXPECT_EQ(plan->args.key, 0u);
  EXPECT_EQ(plan->args.value_batch_stride, 0u);
  params.output.address = 3;
  EXPECT_FALSE(Supports(params).ok());
}

// Every (batch, row) must be done by exactly one work-group, with the pointers
// and the last visible key that the whole call gives it, and grids within HIP's
// limits.
void ExpectPiecesCover(const AttentionParams& params) {
  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const bool causal = params.mask == Mask::kCausal;
  const int64_t batch = params.query.batch;
  const int64_t rows = params.query.seqlen;
  int64_t done = 0;
  for (int64_t i = 0; i < PieceCount(*plan); ++i) {
    const AttentionPiece piece = MakePiece(*plan, i);
    const AttentionArgs& a = piece.args;
    EXPECT_EQ(piece.shape.grid[0], params.query.heads);
    ASSERT_LE(piece.shape.grid[1], 65535u);
    ASSERT_LE(piece.shape.grid[2], 65535u);
    EXPECT_EQ(a.query_tiles, (a.seqlen_q + 255) / 256);
    EXPECT_EQ(piece.shape.grid[1],
              causal ? (a.query_tiles + 1) / 2 : a.query_tiles);
    // Where the piece starts, from the query pointer.
    const int64_t offset = static_cast<int64_t>(a.query - params.query.address);
    const int64_t b0 = offset / params.query.batch_stride;
    const int64_t r0 =
        offset % params.query.batch_stride / params.query.seq_stride;
    EXPECT_LE(b0 + piece.shape.grid[2], batch);
    EXPECT_LE(r0 + a.seqlen_q, rows);
    if (params.key.seqlen > 0) {
      EXPECT_EQ(a.key, params.key.address + b0 * params.key.batch_stride);
      EXPECT_EQ(a.value, params.value.address + b0 * params.value.batch_stride);
    }
    EXPECT_EQ(a.output, params.output.address +
                            b0 * params.output.batch_stride +
                            r0 * params.output.seq_stride);
    EXPECT_EQ(a.lse,
              params.lse->address + b0 * params.lse->batch_stride + r0 * 4);
    for (int64_t row : {int64_t{0}, int64_t{a.seqlen_q} - 1}) {
      const int64_t keys = params.key.seqlen;
      const int64_t whole =
          causal ? std::clamp<int64_t>(r0 + row + keys - rows + 1, 0, keys)
                 : keys;
      const int64_t part_keys = a.seqlen_kv;
      const int64_t part =
          causal ? std::clamp<int64_t>(row + part_keys - a.seqlen_q + 1, 0,
                                       part_keys)
                 : part_keys;
      EXPECT_EQ(part, whole) << "row " << r0 + row;
    }
    done += int64_t{a.seqlen_q} * piece.shape.grid[2];
  }
  EXPECT_EQ(done, batch * rows);
}

TEST(PlanTest, LargeCallsAreSplit) {
  for (Mask mask : {Mask::kCausal, Mask::kFull}) {
    ExpectPiecesCover(Dense(65535, 3, 5, 4, 2, 128, mask));
    ExpectPiecesCover(Dense(65536, 3, 5, 4, 2, 128, mask));
    ExpectPiecesCover(Dense(200000, 3, 5, 4, 2, 128, mask));
    const int64_t most = 65535 * 256;  // rows of one tile a work-group
    for (int64_t rows :
         {most, most + 1, 2 * most, 2 * most + 1, 5 * most + 9}) {
      for (int64_t keys : {int64_t{0}, int64_t{77}, most + 3, 6 * most}) {
        ExpectPiecesCover(Dense(1, rows, keys, 1, 1, 128, mask));
      }
    }
  }
  EXPECT_EQ(PieceCount(*PlanAttention(Dense(65535, 3, 5, 4, 2))), 1);
  EXPECT_EQ(PieceCount(*PlanAttention(Dense(65536, 3, 5, 4, 2))), 2);
}

}  // namespace
}  // namespace zyfa
