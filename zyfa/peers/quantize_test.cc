#include "zyfa/peers/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/numerics/random.h"
#include "zyfa/peers/element_codes.h"

namespace zyfa::peers {
namespace {

constexpr Extent kExtent = {.batch = 2, .seq = 70, .heads = 3, .dim = 64};

std::vector<float> Data() {
  std::vector<float> x(static_cast<size_t>(kExtent.elements()));
  numerics::FillGaussian(3, 0, x);
  return x;
}

TEST(ElementCodes, RoundTripAndExtremes) {
  for (const Format format :
       {Format::kE4m3, Format::kInt8, Format::kE2m3, Format::kE2m1}) {
    const int codes = 1 << ElementBits(format);
    for (int code = 0; code < codes; ++code) {
      const float x = Decode(format, static_cast<uint16_t>(code));
      // NaN, and the one code of int8 that scales never give.
      if (std::isnan(x) || x == -128) continue;
      EXPECT_EQ(Encode(format, x), code) << ToString(format);
    }
    const float largest = LargestNumber(format);
    EXPECT_EQ(Decode(format, Encode(format, largest)), largest);
    EXPECT_EQ(Decode(format, Encode(format, -2 * largest)), -largest);
  }
  EXPECT_EQ(LargestNumber(Format::kE4m3), 448);
  EXPECT_EQ(LargestNumber(Format::kE2m3), 7.5);
  EXPECT_EQ(LargestNumber(Format::kE2m1), 6);
  EXPECT_EQ(Encode(Format::kInt8, 2.5f), 2);  // ties to even
}

TEST(Quantize, PerTensorReachesTheLargestNumber) {
  const std::vector<float> x = Data();
  for (const Format format : {Format::kE4m3, Format::kInt8}) {
    const QuantizedTensor t = Quantize({format, Scaling::kPerTensor},
                                       BlockAxis::kHeadDim, kExtent, x);
    ASSERT_EQ(t.float_scales.size(), 1u);
    float largest = 0;
    for (const uint16_t code : t.codes) {
      largest = std::max(largest, std::fabs(Decode(format, code)));
    }
    EXPECT_EQ(largest, LargestNumber(format));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(t.values[i],
                double{Decode(format, t.codes[i])} * double{t.float_scales[0]});
    }
  }
}

// Independent of how scales are indexed: the largest of a block lies in the
// upper half of the range of its scale, and no element leaves it.
TEST(Quantize, BlockScalesFitTheirBlocks) {
  const std::vector<float> x = Data();
  for (const Format format : {Format::kE4m3, Format::kE2m3, Format::kE2m1}) {
    for (const BlockAxis axis : {BlockAxis::kHeadDim, BlockAxis::kSequence}) {
      const QuantizedTensor t =
          Quantize({format, Scaling::kPerBlock}, axis, kExtent, x);
      for (int64_t batch = 0; batch < 2; ++batch) {
        for (int64_t head = 0; head < 3; ++head) {
          for (int64_t seq = 0; seq < 70; ++seq) {
            for (int64_t dim = 0; dim < 64; ++dim) {
              // The block of this element.
              float largest = 0;
              for (int64_t i = 0; i < 32; ++i) {
                const int64_t s =
                    axis == BlockAxis::kSequence ? seq / 32 * 32 + i : seq;
                const int64_t d =
                    axis == BlockAxis::kHeadDim ? dim / 32 * 32 + i : dim;
                if (s >= 70) continue;
                largest = std::max(
                    largest, std::fabs(x[static_cast<size_t>(
                                 ((batch * 70 + s) * 3 + head) * 64 + d)]));
              }
              const int64_t index =
                  axis == BlockAxis::kHeadDim
                      ? ((batch * 70 + seq) * 3 + head) * 2 + dim / 32
                      : ((batch * 3 + head) * 3 + seq / 32) * 64 + dim;
              const float range =
                  t.block_scales[static_cast<size_t>(index)].ToFloat() *
                  LargestNumber(format);
              ASSERT_LE(largest, range);
              ASSERT_GT(largest, range / 2);
              const auto at = static_cast<size_t>(
                  ((batch * 70 + seq) * 3 + head) * 64 + dim);
              // Half a step at the top of the range.
              const int step_bits = ElementBits(format) == 4 ? 2 : 4;
              ASSERT_NEAR(t.values[at], x[at], range * std::exp2(-step_bits));
            }
          }
        }
      }
    }
  }
}

TEST(Quantize, PerChannelScalesAreOfHeadAndColumn) {
  std::vector<float> x = Data();
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 192 == 100) x[i] *= 100;  // head 1, column 36
  }
  const QuantizedTensor t = Quantize({Format::kE4m3, Scaling::kPerChannel},
                                     BlockAxis::kSequence, kExtent, x);
  ASSERT_EQ(t.float_scales.size(), 2u * 192);
  for (size_t i = 0; i < t.float_scales.size(); ++i) {
    EXPECT_EQ(t.float_scales[i] > 0.1f, i % 192 == 100) << i;
  }
}

}  // namespace
}  // namespace zyfa::peers
