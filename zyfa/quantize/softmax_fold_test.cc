#include "zyfa/quantize/softmax_fold.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace zyfa {
namespace {

// What the attention kernels compute of the score (attention_args.h), with the
// power of two of Q's and K's descales.
float Factor(const SoftmaxFold& fold, int query_power, int key_power) {
  const float log2e = 1.44269504f;
  const float descale_q = std::ldexp(fold.unit, query_power);
  const float descale_k = std::ldexp(1.0f, key_power);
  float c = fold.softmax_scale * log2e;
  c = c * descale_q;
  return c * descale_k;
}

bool IsPowerOfTwo(float x) {
  return (std::bit_cast<uint32_t>(x) & 0x007fffff) == 0 && x > 0;
}

TEST(SoftmaxFoldTest, WhatIsLeftIsAPowerOfTwo) {
  int moved = 0;
  int tried = 0;
  for (uint32_t i = 0; i < 1u << 23; i += 37, ++tried) {
    const float scale = std::bit_cast<float>(0x3d800000u + i);
    const auto fold = FoldSoftmaxScale(scale);
    ASSERT_TRUE(fold.ok()) << fold.status();
    ASSERT_GE(fold->unit, 1.0f);
    ASSERT_LT(fold->unit, 2.0f);
    ASSERT_LE(std::fabs(fold->softmax_scale / scale - 1), 0x1p-20f);
    ASSERT_TRUE(IsPowerOfTwo(Factor(*fold, static_cast<int>(i % 40) - 20,
                                    static_cast<int>(i % 30) - 15)))
        << scale;
    if (fold->softmax_scale != scale) ++moved;
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, tried / 10);
}

TEST(SoftmaxFoldTest, CommonScalesStay) {
  for (const float scale :
       {1 / std::sqrt(64.0f), 1 / std::sqrt(128.0f), 1 / std::sqrt(192.0f),
        1 / std::sqrt(256.0f), 1.0f, 0.1f}) {
    const auto fold = FoldSoftmaxScale(scale);
    ASSERT_TRUE(fold.ok()) << fold.status();
    EXPECT_EQ(fold->softmax_scale, scale);
    EXPECT_TRUE(IsPowerOfTwo(Factor(*fold, 0, 0)));
  }
}

TEST(SoftmaxFoldTest, SignsAndEnds) {
  const auto minus = FoldSoftmaxScale(-0.1f);
  ASSERT_TRUE(minus.ok()) << minus.status();
  EXPECT_LT(minus->softmax_scale, 0);
  EXPECT_EQ(minus->unit, FoldSoftmaxScale(0.1f)->unit);
  EXPECT_TRUE(FoldSoftmaxScale(0x1p-60f).ok());
  EXPECT_TRUE(FoldSoftmaxScale(0x1p60f).ok());
  for (const float bad :
       {0.0f, 0x1p-61f, 0x1.8p60f, std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(FoldSoftmaxScale(bad).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace zyfa
