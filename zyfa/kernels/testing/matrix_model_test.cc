// What the summation of the matrix unit does to attention (numerics 9, "Effect
// on attention"): the schemes that keep 24 bits and more are invisible in BF16
// results, one that keeps 17 is not.

#include "zyfa/emu/matrix_model.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "gtest/gtest.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/variant/variant.h"

namespace zyfa::testing {
namespace {

AttentionCase SmallCase() {
  AttentionCase c;
  c.variant = ParseVariant("bf16_d128_causal").value();
  c.seqlen_q = c.seqlen_kv = 512;
  return c;
}

AttentionOutcome RunUnder(emu::MatrixModel model) {
  emu::RunOptions options;
  options.matrix_model = model;
  auto outcome = RunCase(SmallCase(), options);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->report.findings.empty());
  return *std::move(outcome);
}

struct Difference {
  double lse = 0;      // rms, absolute: float32, not rounded to BF16
  double changed = 0;  // share of BF16 outputs that are not the same
  double output = 0;   // relative rms of the outputs
};

Difference Compare(const AttentionOutcome& exact,
                   const AttentionOutcome& other) {
  Difference d;
  for (size_t i = 0; i < exact.lse.size(); ++i) {
    d.lse += std::pow(double{exact.lse[i]} - other.lse[i], 2);
  }
  d.lse = std::sqrt(d.lse / static_cast<double>(exact.lse.size()));
  double squares = 0;
  for (size_t i = 0; i < exact.output.size(); ++i) {
    const double x = exact.output[i].ToFloat(), y = other.output[i].ToFloat();
    if (x != y) ++d.changed;
    d.output += (x - y) * (x - y);
    squares += x * x;
  }
  d.changed /= static_cast<double>(exact.output.size());
  d.output = std::sqrt(d.output / squares);
  return d;
}

TEST(MatrixModelTest, EffectOnAttention) {
  const AttentionOutcome exact = RunUnder(emu::MatrixModel::kExact);
  const auto difference = [&](emu::MatrixModel model) {
    const Difference d = Compare(exact, RunUnder(model));
    const int number = static_cast<int>(model);
    std::printf("model %d: lse %.2e, outputs changed %.2e, output %.2e\n",
                number, d.lse, d.changed, d.output);
    return d;
  };
  // Scores of about 1e-7 binades, sums as good: LSE in [0, 8] has steps of up
  // to 5e-7. An output changes where it lay that near to a tie of BF16.
  for (const emu::MatrixModel model :
       {emu::MatrixModel::kCdna3, emu::MatrixModel::kGroups64,
        emu::MatrixModel::kFmaChain}) {
    const Difference d = difference(model);
    EXPECT_GT(d.lse, 1e-9);
    EXPECT_LT(d.lse, 1e-6);
    EXPECT_LT(d.changed, 0.01);
    EXPECT_LT(d.output, 3e-4);
  }
  // 3e-5 binades of score error, 5e-4 of output difference in float32.
  const Difference d = difference(emu::MatrixModel::kTruncated17);
  EXPECT_GT(d.lse, 3e-6);
  EXPECT_LT(d.lse, 3e-4);
  EXPECT_GT(d.changed, 0.01);
  EXPECT_LT(d.output, 3e-3);
}

}  // namespace
}  // namespace zyfa::testing
