#include "zyfa/bench/input_statistics.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

constexpr int64_t kSeqlen = 256;
constexpr double kScale = 0.08838834764831845;  // 1 / sqrt(128)

// All zeros, two query heads on one KV head.
CapturedLayer Zeros() {
  CapturedLayer layer{.seqlen = kSeqlen,
                      .heads_q = 2,
                      .heads_kv = 1,
                      .head_dim_qk = 128,
                      .head_dim_v = 128};
  layer.query.assign(kSeqlen * 2 * 128, Bf16::FromFloat(0));
  layer.key.assign(kSeqlen * 128, Bf16::FromFloat(0));
  layer.value.assign(kSeqlen * 128, Bf16::FromFloat(1));
  return layer;
}

// Scores are a chosen multiple of channel 0 of the keys.
TEST(InputStatisticsTest, BlocksAndSinkByFormula) {
  CapturedLayer layer = Zeros();
  const double unit = 16.0;
  for (int64_t t = 0; t < kSeqlen; ++t) {
    for (int64_t h = 0; h < 2; ++h) {
      // Head 1 sees uniform keys.
      layer.query[static_cast<size_t>((t * 2 + h) * 128)] =
          Bf16::FromFloat(h == 0 ? 16.0f : 0.0f);
    }
    // Key 0 is 6 units above the keys of block 0, block 2 is 1 unit under
    // these.
    const float x = t == 0 ? 6.0f : t / 64 == 2 ? -1.0f : 0.0f;
    layer.key[static_cast<size_t>(t * 128)] = Bf16::FromFloat(x);
  }
  const auto s = StatisticsOf(layer, {200}, 2);
  // A unit of the keys is this many binades.
  const double b = unit * kScale * 1.4426950408889634;
  ASSERT_GT(6 * b, 8.0);
  const double top = std::exp2(6 * b), low = std::exp2(-b);
  const double total = top + (63 + 64 + 9) + 64 * low;
  // Row 200 sees 4 blocks; of head 0 all but that of key 0 are low.
  EXPECT_NEAR(s.low_block_share(), 3.0 / 8, 1e-12);
  EXPECT_NEAR(s.low_block_mass(), (64 + 9 + 64 * low) / total / 2, 1e-12);
  EXPECT_NEAR(s.largest_sink_mass(), top / total, 1e-12);
  EXPECT_NEAR(s.sink_mass(), (top / total + 1.0 / 201) / 2, 1e-12);
}

TEST(InputStatisticsTest, ChannelsAndTheMeanKey) {
  CapturedLayer layer = Zeros();
  for (int64_t t = 0; t < kSeqlen; ++t) {
    for (int64_t c = 0; c < 128; ++c) {
      const float sign = (t % 2 == 0) ? 1.0f : -1.0f;
      // Mean 3 in channel 5, and a deviation of 1 in all.
      layer.key[static_cast<size_t>(t * 128 + c)] =
          Bf16::FromFloat(sign + (c == 5 ? 3.0f : 0.0f));
      layer.value[static_cast<size_t>(t * 128 + c)] =
          Bf16::FromFloat(c == 9 ? 4.0f : 1.0f);
      for (int64_t h = 0; h < 2; ++h) {
        layer.query[static_cast<size_t>((t * 2 + h) * 128 + c)] =
            Bf16::FromFloat(h == 1 && c == 7 ? 24.0f : 2.0f);
      }
    }
  }
  const auto s = StatisticsOf(layer, {0}, 1);
  EXPECT_NEAR(s.query_outlier_ratio(), 12.0, 1e-12);
  EXPECT_NEAR(s.key_outlier_ratio(), std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(s.value_outlier_ratio(), 4.0, 1e-12);
  EXPECT_NEAR(s.key_mean_ratio(), 3 / std::sqrt(128.0), 1e-12);
}

}  // namespace
}  // namespace zyfa::bench
