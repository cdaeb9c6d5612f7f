// The kernels against the numeric model of what they compute: the same codes of
// P, so that results agree to float32. The outputs are rounded to bf16: of
// float32 numbers that differ by a share d of themselves, about one in
// 2^-8 / d falls on two sides of a rounding boundary. The LSE is float32.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"

namespace zyfa::testing {
namespace {

class CodeModelTest : public KernelTest {};

struct Agreement {
  double changed = 0;   // share of bf16 outputs that differ
  double farthest = 0;  // relative difference of an output
  double lse = 0;       // largest difference, relative to max(1, |lse|)
};

Agreement Compare(const AttentionCase& c) {
  Agreement a;
  const auto got = RunCase(c);
  const auto want = CodeModel(c);
  EXPECT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(want.ok()) << want.status();
  if (!got.ok() || !want.ok()) return a;
  EXPECT_TRUE(got->report.findings.empty());
  int64_t changed = 0;
  for (size_t i = 0; i < got->output.size(); ++i) {
    const double g = got->output[i].ToFloat();
    const double w = want->output[i];
    if (g == w) continue;
    ++changed;
    a.farthest =
        std::max(a.farthest, std::abs(g - w) / std::max(std::abs(w), 1e-30));
  }
  a.changed =
      static_cast<double>(changed) / static_cast<double>(got->output.size());
  for (size_t i = 0; i < got->lse.size(); ++i) {
    const double w = want->lse[i];
    if (std::isinf(w) && got->lse[i] == w) continue;
    a.lse =
        std::max(a.lse, std::abs(got->lse[i] - w) / std::max(1.0, std::abs(w)));
  }
  std::printf("%s: outputs that differ %.2e (by %.1e), LSE %.1e\n",
              c.Name().c_str(), a.changed, a.farthest, a.lse);
  return a;
}

// Of outputs that are 1e-6 of themselves apart.
constexpr double kChanged = 1e-6 * 256;
constexpr double kBf16Step = 0x1p-7;

void ExpectAgreement(const AttentionCase& c) {
  const Agreement a = Compare(c);
  EXPECT_LE(a.changed, kChanged);
  EXPECT_LE(a.farthest, kBf16Step);
  EXPECT_LE(a.lse, 1e-6);
}

TEST_P(CodeModelTest, Gaussian) {
  AttentionCase c = Case(700, 1200);
  c.heads_q = 2;
  ExpectAgreement(c);
}

// References that move, up and late.
TEST_P(CodeModelTest, WideScores) {
  AttentionCase c = Case(300, 700);
  c.softmax_scale = 0.5f;
  ExpectAgreement(c);
}

// Exact P: nothing to multiply by after the products.
TEST_P(CodeModelTest, ScaleThatIsAPowerOfTwo) {
  AttentionCase c = Case(300, 700);
  // The product with log2 e rounds to 1/8.
  c.softmax_scale = 0.125f / 1.44269504f;
  ExpectAgreement(c);
}

TEST_P(CodeModelTest, Descales) {
  AttentionCase c = Case(300, 300);
  c.heads_q = 4;
  c.heads_kv = 2;
  const auto scale = [](float unit) {
    return CaseScale{CaseScale::kByHead, 0, [unit](int64_t, int64_t head) {
                       return head % 2 == 0 ? unit : -1.7f * unit;
                     }};
  };
  c.query_descale = scale(0.9f);
  c.key_descale = scale(1.1f);
  c.value_descale = scale(0.3f);
  ExpectAgreement(c);
}

TEST_P(CodeModelTest, Fp8Output) {
  AttentionCase c = Case(300, 300);
  c.output_fp8 = true;
  c.output_scale.value = [](int64_t, int64_t) { return 60.0f; };
  c.value_descale.value = [](int64_t, int64_t) { return -0.7f; };
  ExpectAgreement(c);
}

// So large that their rounding matters.
TEST_P(CodeModelTest, CarefulRows) {
  AttentionCase c = Case(200, 700);
  c.fill_query = [](int64_t, int64_t row, int64_t, int64_t, float g) {
    return row % 3 == 0 ? 100 * g : g;
  };
  c.fill_key = [](int64_t, int64_t, int64_t, int64_t, float g) {
    return 8 * g;
  };
  c.softmax_scale = 0.4f;
  ExpectAgreement(c);
}

// Scores that climb by 150 binades, 2 1/7 a tile: no maximum weighs much more
// than the tile before it.
TEST_P(CodeModelTest, Ramp) {
  AttentionCase c = Case(40, 4480);
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t channel, float) {
    return channel == 0 ? 1.0f : 0.0f;
  };
  c.fill_key = [](int64_t, int64_t row, int64_t, int64_t channel, float) {
    return channel == 0 ? static_cast<float>(row - 2240) / 2240.0f : 0.0f;
  };
  c.softmax_scale = 52.0f;
  ExpectAgreement(c);
}

INSTANTIATE_TEST_SUITE_P(Variants, CodeModelTest, EveryPersistentKernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing
