#include "zyfa/bench/loss_study.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/bench/plain_kl.h"

namespace zyfa::bench {
namespace {

using models::AttentionFunction;
using models::LayerAttention;

// Exact attention times `factor`.
AttentionFunction Times(float factor) {
  return [factor](const LayerAttention& layer, absl::Span<float> output) {
    absl::Status status = models::Float32Attention(1)(layer, output);
    for (float& x : output) x *= factor;
    return status;
  };
}

class LossStudyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto model = models::Transformer::Load("zyfa/models/testdata/gqa");
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = std::make_unique<models::Transformer>(*std::move(model));
  }

  std::vector<float> Logits(const AttentionFunction& attention) const {
    return *model_->Logits(text_.tokens, attention, 1);
  }

  std::unique_ptr<models::Transformer> model_;
  const models::TextSegment text_ = {.tokens = {256, 84, 104, 101, 32},
                                     .targets = {84, 104, 101, 32, 115}};
};

TEST_F(LossStudyTest, AgainstPlainSums) {
  const std::vector<AttentionFunction> attentions = {Times(1), Times(0.9f),
                                                     Times(0.5f)};
  std::vector<size_t> order;
  const auto losses = MeasureSegment(*model_, text_, attentions, 1,
                                     [&](size_t i) { order.push_back(i); });
  ASSERT_TRUE(losses.ok()) << losses.status();
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2}));
  ASSERT_EQ(losses->size(), 3u);
  const std::vector<float> exact = Logits(attentions[0]);
  const std::vector<float> bf16 = Logits(attentions[1]);
  for (size_t i = 0; i < attentions.size(); ++i) {
    const std::vector<float> logits = Logits(attentions[i]);
    EXPECT_NEAR((*losses)[i].kl, PlainKl(exact, logits), 1e-12);
    EXPECT_NEAR((*losses)[i].kl_to_bf16, PlainKl(bf16, logits), 1e-12);
    double bits = 0;
    for (size_t t = 0; t < 5; ++t) {
      double sum = 0;
      for (size_t v = 0; v < 257; ++v) {
        sum += std::exp(double{logits[t * 257 + v]});
      }
      const auto target = static_cast<size_t>(text_.targets[t]);
      bits -= std::log2(std::exp(double{logits[t * 257 + target]}) / sum) / 5;
    }
    EXPECT_NEAR((*losses)[i].bits_per_byte, bits, 1e-12);
  }
  EXPECT_GT((*losses)[2].kl, (*losses)[1].kl);
  EXPECT_GT((*losses)[1].kl, 1e-6);
}

TEST_F(LossStudyTest, Errors) {
  const AttentionFunction fails = [](const LayerAttention&, absl::Span<float>) {
    return absl::DataLossError("gone");
  };
  EXPECT_EQ(
      MeasureSegment(*model_, text_, {Times(1), Times(1), fails}, 1).status(),
      absl::DataLossError("gone"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const absl::Status status =
      MeasureSegment(*model_, text_, {Times(1), Times(nan)}, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("is nan"));
}

}  // namespace
}  // namespace zyfa::bench
