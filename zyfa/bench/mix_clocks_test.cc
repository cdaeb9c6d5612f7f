#include "zyfa/bench/mix_clocks.h"

#include "gtest/gtest.h"
#include "zyfa/bench/run_case.h"
#include "zyfa/launch/emulator_device.h"

namespace zyfa::bench {
namespace {

constexpr Variant kLean = {.data_type = DataType::kFp8,
                           .head_dim_qk = 128,
                           .head_dim_v = 128,
                           .mask = Mask::kCausal,
                           .probability = Probability::kLean};
constexpr Variant kBf16 = {.data_type = DataType::kBf16,
                           .head_dim_qk = 128,
                           .head_dim_v = 128,
                           .mask = Mask::kCausal};

// More work-groups than compute units with three heads, fewer with one: a head
// more is not free.
constexpr int32_t kBatch = 64;
constexpr int32_t kTokens = 1024;

// A launch alone.
proto::Record Launch(const Variant& variant, int heads) {
  EmulatorDevice device;
  RunCaseOptions options;
  options.timing.only = true;
  return RunCase({.variant = variant,
                  .batch = kBatch,
                  .heads_q = heads,
                  .heads_kv = heads,
                  .seqlen_q = kTokens,
                  .seqlen_kv = kTokens},
                 device, options);
}

TEST(MixClocksTest, SumsOfLaunches) {
  EmulatorDevice device;
  MixClocks clocks(device, 0);
  const PassShape pass = {
      .layers = 2, .heads = 3, .batch = kBatch, .tokens = kTokens};
  // Layer 0 has one head in bf16, layer 1 all three.
  const auto mix = clocks.OfPass(pass, {{0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}},
                                 kBf16, kLean);
  ASSERT_TRUE(mix.ok()) << mix.status();
  const proto::Record one = Launch(kBf16, 1), two = Launch(kLean, 2),
                      three = Launch(kBf16, 3);
  ASSERT_TRUE(one.has_clocks() && two.has_clocks() && three.has_clocks());
  EXPECT_LT(one.clocks(), three.clocks());
  EXPECT_DOUBLE_EQ(mix->clocks, one.clocks() + two.clocks() + three.clocks());
  EXPECT_DOUBLE_EQ(mix->milliseconds,
                   one.gpu_time_ms() + two.gpu_time_ms() + three.gpu_time_ms());
  const auto none = clocks.OfPass(pass, {}, kBf16, kLean);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_DOUBLE_EQ(none->clocks, 2 * Launch(kLean, 3).clocks());
}

TEST(MixClocksTest, ErrorsComeBack) {
  EmulatorDevice device;
  MixClocks clocks(device, 0);
  Variant none = kLean;
  none.head_dim_qk = 64;
  EXPECT_FALSE(clocks
                   .OfPass({.layers = 1, .heads = 1, .batch = 1, .tokens = 256},
                           {}, kBf16, none)
                   .ok());
}

}  // namespace
}  // namespace zyfa::bench
