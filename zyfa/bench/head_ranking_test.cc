#include "zyfa/bench/head_ranking.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "zyfa/bench/plain_kl.h"
#include "zyfa/models/attention.h"

namespace zyfa::bench {
namespace {

using models::AttentionFunction;
using models::LayerAttention;

models::TextSegment Text(int32_t first) {
  return {.tokens = {256, first, 104, 101, 32}, .targets = {}};
}

// Exact attention times 0.9, of which layers of some heads alone are run.
AttentionFunction Weaker(const AttentionFunction& exact) {
  return [exact](const LayerAttention& layer, absl::Span<float> output) {
    absl::Status status = exact(layer, output);
    for (float& x : output) x *= 0.9f;
    return status;
  };
}

TEST(HeadRankingTest, EachHeadAlone) {
  const auto model = models::Transformer::Load("zyfa/models/testdata/gqa");
  ASSERT_TRUE(model.ok()) << model.status();
  const AttentionFunction exact = models::Float32Attention(1);
  const AttentionFunction weaker = Weaker(exact);
  const std::vector<models::TextSegment> texts = {Text(84), Text(65)};
  int calls = 0;
  const auto ranking =
      RankHeads(*model, texts, exact, weaker, 1, [&] { ++calls; });
  ASSERT_TRUE(ranking.ok()) << ranking.status();
  ASSERT_EQ(ranking->size(), 24u);
  EXPECT_EQ(calls, 24);
  HeadSet all;
  double before = HUGE_VAL;
  for (const RankedHead& ranked : *ranking) {
    all.insert(ranked.head);
    EXPECT_LE(ranked.kl, before);
    before = ranked.kl;
    // By a plug of its own: that head's output made smaller.
    const auto one = [&](const LayerAttention& layer,
                         absl::Span<float> output) {
      absl::Status status = exact(layer, output);
      if (layer.layer != ranked.head.layer) return status;
      for (size_t i = 0; i < output.size(); ++i) {
        if (static_cast<int64_t>(i) / 128 % 4 == ranked.head.head) {
          output[i] *= 0.9f;
        }
      }
      return status;
    };
    double expected = 0;
    for (const models::TextSegment& text : texts) {
      expected += PlainKl(*model->Logits(text.tokens, exact, 1),
                          *model->Logits(text.tokens, one, 1)) /
                  2;
    }
    EXPECT_NEAR(ranked.kl, expected, 1e-6 * expected + 1e-13);
  }
  EXPECT_EQ(all.size(), 24u);
  EXPECT_GT(ranking->front().kl, 2 * ranking->back().kl);
}

TEST(HeadRankingTest, ErrorsComeBack) {
  const auto model = models::Transformer::Load("zyfa/models/testdata/mla");
  ASSERT_TRUE(model.ok()) << model.status();
  const AttentionFunction fails = [](const LayerAttention&, absl::Span<float>) {
    return absl::DataLossError("gone");
  };
  const AttentionFunction exact = models::Float32Attention(1);
  const std::vector<models::TextSegment> texts = {Text(84)};
  EXPECT_EQ(RankHeads(*model, texts, fails, exact, 1).status(),
            absl::DataLossError("gone"));
  EXPECT_EQ(RankHeads(*model, texts, exact, fails, 1).status(),
            absl::DataLossError("gone"));
}

TEST(HeadRankingTest, FirstHeads) {
  std::vector<RankedHead> ranking;
  for (int64_t i = 0; i < 16; ++i) ranking.push_back({{3 - i / 4, i % 4}, 0});
  EXPECT_EQ(FirstHeads(ranking, 0), HeadSet());
  EXPECT_EQ(FirstHeads(ranking, 0.1), (HeadSet{{3, 0}, {3, 1}}));  // of 1.6
  EXPECT_EQ(FirstHeads(ranking, 0.25),
            (HeadSet{{3, 0}, {3, 1}, {3, 2}, {3, 3}}));
  EXPECT_EQ(FirstHeads(ranking, 0.9).size(), 14u);  // of 14.4
  EXPECT_EQ(FirstHeads(ranking, 1).size(), 16u);
}

}  // namespace
}  // namespace zyfa::bench
