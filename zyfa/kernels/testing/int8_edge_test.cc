// What INT8 queries and keys bring: every code, shift and multiplier, the
// largest sums, and shifts that make a row NaN.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"

namespace zyfa::testing {
namespace {

class Int8EdgeTest : public KernelTest {
 protected:
  // Gaussian codes of that standard deviation.
  static AttentionCase::Fill Codes(float deviation) {
    return [deviation](int64_t, int64_t, int64_t, int64_t, float g) {
      return std::min(std::max(std::nearbyint(deviation * g), -128.0f), 127.0f);
    };
  }
  // Scores of about a binade: sums of Gaussian codes come to 2^14 and, with
  // multipliers, to 2^21.
  uint8_t usual_shift() const {
    return GetParam().variant.probability == Probability::kMultiply ? 18 : 11;
  }
  // A case of codes.
  AttentionCase Raw(int64_t seqlen_q, int64_t seqlen_kv) const {
    AttentionCase c = Case(seqlen_q, seqlen_kv);
    c.fill_query = c.fill_key = Codes(40);
    c.shift = [shift = usual_shift()](int64_t, int64_t, int64_t) {
      return shift;
    };
    c.multiplier = [](int64_t batch, int64_t head, int64_t key) {
      return static_cast<uint32_t>(1 + (37 * key + 5 * head + batch) % 255);
    };
    return c;
  }
};

// The row alone, its LSE with it, and only if it sees a key.
TEST_P(Int8EdgeTest, ShiftsAbove20MakeTheirRowsNaN) {
  const std::map<int64_t, uint8_t> kShifts = {
      {10, 255}, {49, 21}, {50, 21},  {51, 20},   {64, 32},
      {83, 33},  {95, 64}, {127, 84}, {128, 128}, {199, 255}};
  AttentionCase c = Raw(200, 150);
  c.heads_q = 2;
  for (const bool output_fp8 : {false, true}) {
    c.output_fp8 = output_fp8;
    AttentionCase other = c;
    // 20 is no larger: it gives another row, and a finite one.
    other.shift = [&](int64_t, int64_t head, int64_t row) {
      const auto found = kShifts.find(row);
      return head == 1 && found != kShifts.end() ? found->second
                                                 : usual_shift();
    };
    const auto plain = RunCase(c);
    ASSERT_TRUE(plain.ok()) << plain.status();
    const auto got = RunCase(other);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->report.findings.empty());
    EXPECT_FALSE(got->wrote_outside);
    const int64_t dim = c.variant.head_dim_v;
    const int64_t first_with_key =
        c.variant.mask == Mask::kCausal ? c.seqlen_q - c.seqlen_kv : 0;
    for (int64_t row = 0; row < c.seqlen_q; ++row) {
      for (int64_t head = 0; head < 2; ++head) {
        SCOPED_TRACE(row);
        const int64_t at = (row * 2 + head) * dim;
        const int64_t lse = head * c.seqlen_q + row;
        const bool changed = head == 1 && kShifts.count(row) != 0;
        if (row < first_with_key) {
          EXPECT_EQ(got->lse[lse], -INFINITY);
          for (int64_t i = 0; i < dim; ++i) {
            ASSERT_EQ(got->output[at + i].ToFloat(), 0) << i;
          }
        } else if (changed) {
          const bool nan = kShifts.at(row) > 20;
          EXPECT_EQ(std::isnan(got->lse[lse]), nan);
          for (int64_t i = 0; i < dim; ++i) {
            ASSERT_EQ(std::isnan(got->output[at + i].ToFloat()), nan) << i;
          }
        } else {
          EXPECT_EQ(got->lse[lse], plain->lse[lse]);
          ASSERT_EQ(std::memcmp(&got->output[at], &plain->output[at], 2 * dim),
                    0);
        }
      }
    }
  }
}

// Each of the 256 in many places.
TEST_P(Int8EdgeTest, EveryCode) {
  AttentionCase c = Raw(300, 300);
  const auto codes = [](int64_t step) {
    return [step](int64_t, int64_t row, int64_t, int64_t channel, float) {
      return static_cast<float>((row * step + channel * channel * 7) % 256 -
                                128);
    };
  };
  c.fill_query = codes(11);
  c.fill_key = codes(13);
  c.few_scores = true;
  EXPECT_EQ(Verify(c), "");
}

TEST_P(Int8EdgeTest, EveryShiftAndMultiplier) {
  AttentionCase c = Raw(126, 510);
  c.shift = [](int64_t, int64_t, int64_t row) {
    return static_cast<uint8_t>(row % 21);
  };
  c.few_scores = true;
  EXPECT_EQ(Verify(c), "");
}

// As far from 0 as scores come, and from each other: nothing overflows. The
// largest come behind a tile of the least; of 100 keys, in a tile with masked
// ones, which are further down still.
TEST_P(Int8EdgeTest, LargestScores) {
  for (const int64_t keys : {100, 300}) {
    for (const int shift : {0, 7, 20}) {
      AttentionCase c = Raw(100, keys);
      c.shift = [shift](int64_t, int64_t, int64_t) {
        return static_cast<uint8_t>(shift);
      };
      c.multiplier = [](int64_t, int64_t, int64_t) { return 255; };
      c.fill_query = [](int64_t, int64_t, int64_t, int64_t, float) {
        return -128.0f;
      };
      c.fill_key = [](int64_t, int64_t row, int64_t, int64_t, float) {
        return row < 64 ? 127.0f : row % 3 == 0 ? -128.0f : 1.0f;
      };
      c.few_scores = true;
      EXPECT_EQ(Verify(c), "") << keys << " " << shift;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Int8EdgeTest, EveryInt8Kernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing
