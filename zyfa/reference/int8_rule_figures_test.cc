#include "zyfa/reference/int8_rule_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::reference {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

// The base stays; tile 0 alone decides where a row starts.
constexpr Int8Rule kNoProbe = {.probe_keys = 0,
                               .start = 0,
                               .floor = 100,
                               .overshoot = 3,
                               .slack = 5,
                               .move_share = 0x1p20f,
                               .early_falls = 0};

numerics::RealLikeHead Head(const char* set, int64_t seqlen,
                            int head_dim_qk = 128) {
  return MakeHead(set, seqlen, head_dim_qk, 128, 100).value();
}

Int8Tensors Quantised(const numerics::RealLikeHead& head, bool multiplies,
                      int head_dim_qk = 128) {
  return Int8Tensors::Quantise(head, head_dim_qk, multiplies).value();
}

double RelativeRmse(const AttentionResult& actual,
                    const AttentionResult& expected) {
  return numerics::CompareToReference(actual.output, expected.output, 1)
      ->relative_rmse;
}

// int8-qk 3: .0081 (shift) of all Q and K, at 16K tokens; less for a scale of
// each token. V is given in e4m3.
TEST(Int8TensorsTest, IntegersStandForTheHead) {
  for (int dim : {128, 192}) {
    const auto head = Head("M", 1024, dim);
    double errors[2] = {};
    for (bool multiplies : {false, true}) {
      const Int8Tensors t = Quantised(head, multiplies, dim);
      const auto values = Fp8Tensor::Quantise(head.value);
      const auto exact = Attention(
          t.problem, TensorView::Dense(head.query.data(), 1024, 1, dim),
          TensorView::Dense(head.key.data(), 1024, 1, dim),
          TensorView::Dense(values.codes.data(), 1024, 1, 128));
      errors[multiplies] = RelativeRmse(*t.Float64(), *exact);

      EXPECT_EQ(t.multipliers.size(), multiplies ? 1024u : 0u);
      if (multiplies) {
        EXPECT_EQ(*std::max_element(t.multipliers.begin(), t.multipliers.end()),
                  255u);
      }
      int64_t full_rows = 0;
      for (int64_t i = 0; i < 1024; ++i) {
        int query = 0, key = 0;
        for (int64_t d = i * dim; d < (i + 1) * dim; ++d) {
          query = std::max(query, std::abs(int{t.query[d]}));
          key = std::max(key, std::abs(int{t.key[d]}));
        }
        ASSERT_THAT(query, AllOf(Gt(63), Lt(128)));
        full_rows += key == 127;
      }
      // With multipliers rounded up, all but some.
      EXPECT_EQ(full_rows > 300, multiplies) << full_rows;
    }
    EXPECT_THAT(errors[0], AllOf(Gt(0.003), Lt(0.015)));
    EXPECT_LT(errors[1], 0.8 * errors[0]);
  }
}

// Numerics 2.
TEST(Int8TensorsTest, ExactP) {
  const Int8Tensors t = Quantised(Head("G", 2048), false);
  AttentionOptions rows;
  rows.rows.emplace();
  for (int64_t i = 527; i < 2048; i += 16) rows.rows->push_back(i);
  EXPECT_NEAR(RelativeRmse(*t.ExactP(rows), *t.Float64(rows)), 0.0265, 0.002);
}

TEST(Int8TensorsTest, RefusalsNameTheArgument) {
  auto head = Head("G", 64);
  const auto message = [&](int dim) {
    return std::string(
        Int8Tensors::Quantise(head, dim, false).status().message());
  };
  EXPECT_THAT(message(64),
              HasSubstr("head_dim_qk is 64; allowed: 128 and 192"));
  EXPECT_THAT(message(192), HasSubstr("size of query is 8192; allowed: 192"));
  head.key[5] = std::nanf("");
  EXPECT_THAT(message(128), HasSubstr("an element of key is nan"));
}

// Scores of a tile are the same for all rows: 15 binades higher in tile 3.
TEST(Int8RuleFiguresTest, CountsWavesAndGroups) {
  const auto tensors = [](int64_t seqlen, const std::vector<int>& scores) {
    Int8Tensors t = Quantised(Head("G", seqlen), false);
    std::fill(t.query.begin(), t.query.end(), int8_t{0});
    std::fill(t.key.begin(), t.key.end(), int8_t{0});
    std::fill(t.shifts.begin(), t.shifts.end(), uint8_t{0});
    for (int64_t i = 0; i < seqlen; ++i) {
      t.query[i * 128] = 1;
      t.key[i * 128] = static_cast<int8_t>(scores[i / 64]);
    }
    return t;
  };
  const Int8Tensors t = tensors(512, {0, 0, 0, 120, 0, 0, 0, 0});
  const auto study = Int8RuleStudy::Make(t, 2);
  ASSERT_TRUE(study.ok()) << study.status();
  const auto figures = study->Measure(kNoProbe);
  ASSERT_TRUE(figures.ok()) << figures.status();
  // Waves of the first group see 0, 0, 1, 1, 2, 2, 3, 3 further tiles.
  EXPECT_EQ(figures->paths.wave.pairs, 12 + 44);
  EXPECT_EQ(figures->paths.group.pairs, 3 + 7);
  EXPECT_EQ(figures->paths.wave.rises, 2 + 8);
  EXPECT_EQ(figures->paths.wave.moves, 0);
  EXPECT_EQ(figures->paths.wave.changes, 2 + 8);
  EXPECT_EQ(figures->paths.group.rises, 2);
  EXPECT_EQ(figures->paths.group.Rises(), 200.0);
  EXPECT_NEAR(figures->paths.wave.Rises(), 1e4 / 56, 1e-9);
  EXPECT_EQ(figures->paths.group_inner.pairs, 0);
  EXPECT_EQ(figures->paths.group_inner.Changes(), 0.0);

  // The last group alone.
  const auto last = Int8RuleStudy::Make(t, 1)->Measure(kNoProbe);
  EXPECT_EQ(last->paths.wave.pairs, 44);
  EXPECT_EQ(last->paths.wave.rises, 8);
  Int8RuleFigures sum = *last;
  sum += *figures;
  EXPECT_EQ(sum.paths.wave.rises, 18);
  EXPECT_EQ(sum.paths.group.pairs, 17);

  // Moves instead, if 15 binades more weigh that much.
  Int8Rule moves = kNoProbe;
  moves.move_share = 0.25f;
  const auto moved = study->Measure(moves);
  EXPECT_EQ(moved->paths.wave.moves, 2 + 8);
  EXPECT_EQ(moved->paths.wave.rises, 0);
  EXPECT_EQ(moved->paths.wave.changes, 2 + 8);
  EXPECT_EQ(moved->paths.group.Moves(), 200.0);

  // Of 20 tiles that the last group sees, 9 and 10 are inner ones. It rises in
  // 8, which is none, and moves in 10.
  std::vector<int> scores(20, 0);
  scores[8] = 20;
  scores[10] = 127;
  moves.move_share = 2.0f;
  const auto inner =
      Int8RuleStudy::Make(tensors(64 * 20, scores), 1)->Measure(moves);
  EXPECT_EQ(inner->paths.group.pairs, 19);
  EXPECT_EQ(inner->paths.group.moves, 1);
  EXPECT_EQ(inner->paths.group.rises, 1);
  EXPECT_EQ(inner->paths.group.changes, 2);
  EXPECT_EQ(inner->paths.group_inner.pairs, 2);
  EXPECT_EQ(inner->paths.group_inner.moves, 1);
  EXPECT_EQ(inner->paths.group_inner.rises, 0);
  // Its waves see 17, 17, 18, 18, 19, 19, 20, 20 tiles.
  EXPECT_EQ(inner->paths.wave_inner.pairs, 2 * 1 + 2 * 2);
  Int8RuleFigures twice = *inner;
  twice += *inner;
  EXPECT_EQ(twice.paths.wave_inner.pairs, 12);
  EXPECT_EQ(twice.paths.group_inner.pairs, 4);
}

// The one of the model's outputs; and what the default rule is for.
TEST(Int8RuleFiguresTest, Errors) {
  const Int8Tensors t = Quantised(Head("M", 2048), false);
  const auto study = Int8RuleStudy::Make(t, 8);
  ASSERT_TRUE(study.ok()) << study.status();
  const auto figures = study->Measure({});
  const AttentionResult exact = *t.Float64();
  EXPECT_NEAR(figures->Error(), RelativeRmse(*t.Model(), exact), 1e-9);
  EXPECT_NEAR(figures->Error() / figures->ErrorOverExact(),
              RelativeRmse(*t.ExactP(), exact), 1e-9);
  EXPECT_THAT(figures->ErrorOverExact(), AllOf(Gt(1.1), Lt(1.55)));
  EXPECT_GT(study->Measure(kNoProbe)->ErrorOverExact(), 1.75);
}

TEST(Int8RuleFiguresTest, RefusalsNameTheArgument) {
  const Int8Tensors t = Quantised(Head("G", 512), false);
  for (int groups : {0, 3}) {
    EXPECT_THAT(
        Int8RuleStudy::Make(t, groups).status().message(),
        HasSubstr("groups is " + std::to_string(groups) + "; allowed: 1 .. 2"));
  }
  EXPECT_THAT(
      Int8RuleStudy::Make(t, 1)->Measure({.slack = -1}).status().message(),
      HasSubstr("rule.slack is -1"));
}

}  // namespace
}  // namespace zyfa::reference
