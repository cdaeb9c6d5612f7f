// What FP8 inputs bring: descales in all their forms, e4m3 outputs, every code.
// Of INT8 kernels that is V; int8_edge_test has their Q and K.

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"
#include "zyfa/numerics/e4m3.h"

namespace zyfa::testing {
namespace {

using numerics::E4m3;

CaseScale Number(float value) {
  return {CaseScale::kNumber, 0, [value](int64_t, int64_t) { return value; }};
}

class Fp8EdgeTest : public KernelTest {
 protected:
  // Whether only V has a descale.
  bool int8() const { return GetParam().variant.data_type == DataType::kInt8; }
};
// Of Q and K.
class Fp8ScoreEdgeTest : public KernelTest {};

// Different for every batch entry and head, and for every tensor.
CaseScale Distinct(CaseScale::Form form, float unit, int64_t heads = 0) {
  return {form, heads, [unit](int64_t batch, int64_t head) {
            return unit * static_cast<float>(1 + 3 * batch + head) *
                   (head % 2 == 0 ? 1.0f : -1.0f);
          }};
}

TEST_P(Fp8EdgeTest, DescalesOfEveryForm) {
  AttentionCase c = Case(40, 100);
  c.batch = 2;
  c.heads_q = 6;
  c.heads_kv = 3;
  for (const CaseScale::Form form :
       {CaseScale::kNumber, CaseScale::kTensor, CaseScale::kByHead,
        CaseScale::kByBatchAndHead}) {
    // 0: query scales by query heads.
    for (const int64_t query_scale_heads : {0, 3}) {
      if (int8() && query_scale_heads != 0) continue;
      c.query_descale = Distinct(form, 0.5f, query_scale_heads);
      c.key_descale = Distinct(form, 0.3f);
      c.value_descale = Distinct(form, 0.7f);
      EXPECT_EQ(Verify(c), "") << form << " " << query_scale_heads;
    }
  }
  // One of each form.
  c.query_descale = Distinct(CaseScale::kByBatchAndHead, 0.5f);
  c.key_descale = Distinct(CaseScale::kNumber, 0.3f);
  c.value_descale = Distinct(CaseScale::kByHead, 0.7f);
  c.compute_units = 8;
  EXPECT_EQ(Verify(c), "");
}

TEST_P(Fp8EdgeTest, UnusualDescales) {
  const struct {
    float query, key, value;
  } kScales[] = {
      {0.0f, 1.0f, 1.0f},   {1.0f, 0.0f, 1.0f},    {1.0f, 1.0f, 0.0f},
      {-1.0f, 1.0f, 1.0f},  {1.0f, -2.0f, -3.0f},  {-1.0f, -1.0f, 1e30f},
      {1e-41f, 1.0f, 1.0f}, {1e-40f, 1e38f, 1.0f}, {1e20f, 1e-20f, 1e-30f}};
  for (const auto& s : kScales) {
    if (int8() && s.value == 1.0f) continue;
    for (const CaseScale::Form form :
         {CaseScale::kNumber, CaseScale::kTensor}) {
      AttentionCase c = Case(60, 130);
      // So small a scale leaves the scores where they are.
      c.few_scores = true;
      c.query_descale = Number(s.query);
      c.key_descale = Number(s.key);
      c.value_descale = Number(s.value);
      c.query_descale.form = c.key_descale.form = c.value_descale.form = form;
      EXPECT_EQ(Verify(c), "")
          << s.query << " " << s.key << " " << s.value << " form " << form;
    }
  }
}

// What counts is the product of the three, however large a part of it is.
TEST_P(Fp8ScoreEdgeTest, ScalesWhosePartsOverflow) {
  const struct {
    float softmax, query, key;
  } kScales[] = {{1e30f, 1e20f, 0.0f},     {-1e30f, 1e10f, 1e-41f},
                 {1e20f, 1e20f, 1e-40f},   {1e-30f, 1e-20f, 1e38f},
                 {1e-38f, -1e-38f, 1e38f}, {3e38f, 3e38f, 1e-45f}};
  for (const auto& s : kScales) {
    AttentionCase c = Case(60, 130);
    c.few_scores = true;
    c.softmax_scale = s.softmax;
    c.query_descale = Number(s.query);
    c.key_descale = Number(s.key);
    c.key_descale.form = CaseScale::kTensor;
    // The LSE is right up to its limit.
    c.want_lse = std::abs(double{s.softmax} * s.query * s.key) < 0x1p59;
    EXPECT_EQ(Verify(c), "") << s.softmax << " " << s.query << " " << s.key;
  }
}

// A denormal scale of V: outputs are multiples of the least bf16 number.
TEST_P(Fp8EdgeTest, DenormalValueDescale) {
  AttentionCase c = Case(60, 130);
  c.value_descale = Number(1e-39f);
  const auto got = RunCase(c);
  ASSERT_TRUE(got.ok()) << got.status();
  const auto want = Reference(c);
  ASSERT_TRUE(want.ok()) << want.status();
  for (size_t i = 0; i < got->output.size(); ++i) {
    ASSERT_NEAR(got->output[i].ToFloat(), want->output[i],
                0x1p-133 + 0.1 * 1e-39)
        << i;
  }
}

// Scales in device memory are not looked at: those that are no numbers make
// their heads' rows NaN, and no others.
TEST_P(Fp8EdgeTest, DescalesThatAreNoNumbers) {
  AttentionCase c = Case(40, 100);
  c.heads_q = c.heads_kv = 3;
  c.compute_units = 8;
  const auto plain = RunCase(c);
  ASSERT_TRUE(plain.ok()) << plain.status();
  for (CaseScale AttentionCase::* scale :
       {&AttentionCase::query_descale, &AttentionCase::key_descale,
        &AttentionCase::value_descale}) {
    if (int8() && scale != &AttentionCase::value_descale) continue;
    AttentionCase broken = c;
    broken.*scale = {
        CaseScale::kByHead, 0, [](int64_t, int64_t head) {
          return head == 1 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
        }};
    const auto got = RunCase(broken);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->report.findings.empty());
    const int64_t dim = c.variant.head_dim_v;
    for (int64_t row = 0; row < c.seqlen_q; ++row) {
      for (int64_t head = 0; head < 3; ++head) {
        const int64_t at = (row * 3 + head) * dim;
        if (head == 1) {
          for (int64_t i = 0; i < dim; ++i) {
            ASSERT_TRUE(std::isnan(got->output[at + i].ToFloat())) << row;
          }
        } else {
          ASSERT_EQ(std::memcmp(&got->output[at], &plain->output[at], 2 * dim),
                    0)
              << row << " " << head;
        }
      }
    }
  }
}

TEST_P(Fp8EdgeTest, Fp8Output) {
  AttentionCase c = Case(300, 200);
  c.batch = 2;
  c.heads_q = 2;
  c.heads_kv = 2;
  c.output_fp8 = true;
  c.output = {Layout::kBhsd, 32, 2064, 48};
  c.value_descale = Distinct(CaseScale::kByHead, 0.5f);
  for (const CaseScale::Form form : {CaseScale::kNumber, CaseScale::kTensor}) {
    for (const float scale : {60.0f, 1.0f, -7.5f, 1e4f, 0.0f}) {
      c.output_scale = Number(scale);
      c.output_scale.form = form;
      EXPECT_EQ(Verify(c), "") << scale << " form " << form;
    }
  }
  c.value_descale = Number(3e38f);
  c.output_scale = Number(0.0f);
  EXPECT_EQ(Verify(c), "");
  // Beyond float32 both together: numbers saturate, and 0 stays 0.
  c.fill_value = [](int64_t, int64_t, int64_t, int64_t channel, float g) {
    // Of one sign, which no rounding of P can turn.
    return channel == 5 ? 0.0f : std::abs(g) * (channel % 2 == 0 ? 1 : -1);
  };
  for (const float scale : {1e4f, -1e4f}) {
    c.output_scale = Number(scale);
    EXPECT_EQ(Verify(c), "") << scale;
  }
}

// All codes but the two NaNs, each in many places of Q, K and V.
TEST_P(Fp8EdgeTest, EveryFiniteCode) {
  AttentionCase c = Case(300, 300);
  c.softmax_scale = 1e-3f;
  const auto code_at = [](int64_t row, int64_t channel, int64_t step) {
    const int64_t code = (row * step + channel * 7) % 256;
    // 0x7f and 0xff.
    return E4m3{static_cast<uint8_t>(code % 128 == 127 ? code - 1 : code)}
        .ToFloat();
  };
  const auto fill = [&](int64_t step) {
    return [code_at, step](int64_t, int64_t row, int64_t, int64_t channel,
                           float) { return code_at(row, channel, step); };
  };
  c.fill_query = fill(11);
  c.fill_key = fill(13);
  c.fill_value = fill(29);
  c.few_scores = true;
  EXPECT_EQ(Verify(c), "");
}

// `c` with a NaN in channel 77 of a row of a tensor.
AttentionCase WithNaN(AttentionCase c,
                      AttentionCase::Fill AttentionCase::* fill, int64_t at) {
  c.*fill = [at](int64_t, int64_t row, int64_t, int64_t channel, float g) {
    return row == at && channel == 77 ? std::numeric_limits<float>::quiet_NaN()
                                      : g;
  };
  return c;
}

// A NaN of V is one in its column for every row that may read the key's tile.
TEST_P(Fp8EdgeTest, NaNOfV) {
  const AttentionCase c = Case(200, 200);
  const auto plain = RunCase(c);
  ASSERT_TRUE(plain.ok()) << plain.status();
  const auto value = RunCase(WithNaN(c, &AttentionCase::fill_value, 150));
  ASSERT_TRUE(value.ok()) << value.status();
  const int64_t dim = c.variant.head_dim_v;
  const bool causal = c.variant.mask == Mask::kCausal;
  for (int64_t row = 0; row < 200; ++row) {
    EXPECT_EQ(value->lse[row], plain->lse[row]);
    for (int64_t i = 0; i < dim; ++i) {
      if (i != 77 || (causal && row < 128)) {
        ASSERT_EQ(std::memcmp(&value->output[row * dim + i],
                              &plain->output[row * dim + i], 2),
                  0)
            << row << " " << i;
      } else if (!causal || row >= 150) {
        ASSERT_TRUE(std::isnan(value->output[row * dim + i].ToFloat())) << row;
      }
    }
  }
}

// One of Q is one in its row, one of K in the rows that see it.
TEST_P(Fp8ScoreEdgeTest, NaNOfQOrK) {
  const AttentionCase c = Case(200, 200);
  const auto plain = RunCase(c);
  ASSERT_TRUE(plain.ok()) << plain.status();
  const auto query = RunCase(WithNaN(c, &AttentionCase::fill_query, 33));
  ASSERT_TRUE(query.ok()) << query.status();
  // In the first block of a tile and in the second.
  const auto early_key = RunCase(WithNaN(c, &AttentionCase::fill_key, 133));
  ASSERT_TRUE(early_key.ok()) << early_key.status();
  const auto late_key = RunCase(WithNaN(c, &AttentionCase::fill_key, 165));
  ASSERT_TRUE(late_key.ok()) << late_key.status();
  const int64_t dim = c.variant.head_dim_v;
  const bool causal = c.variant.mask == Mask::kCausal;
  for (int64_t row = 0; row < 200; ++row) {
    const auto expect_nan = [&](const AttentionOutcome& other, bool nan) {
      SCOPED_TRACE(row);
      if (nan) {
        EXPECT_TRUE(std::isnan(other.lse[row]));
      } else {
        EXPECT_EQ(other.lse[row], plain->lse[row]);
      }
      for (int64_t i = 0; i < dim; ++i) {
        if (nan) {
          ASSERT_TRUE(std::isnan(other.output[row * dim + i].ToFloat()));
        } else {
          ASSERT_EQ(std::memcmp(&other.output[row * dim + i],
                                &plain->output[row * dim + i], 2),
                    0);
        }
      }
    };
    expect_nan(*query, row == 33);
    expect_nan(*early_key, !causal || row >= 133);
    expect_nan(*late_key, !causal || row >= 165);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Fp8EdgeTest, EveryPersistentKernel(),
                         KernelTestName);
INSTANTIATE_TEST_SUITE_P(Variants, Fp8ScoreEdgeTest, EveryFp8Kernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing
