#include "zyfa/bench/mixed_attention.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "zyfa/models/attention.h"

namespace zyfa::bench {
namespace {

using models::AttentionFunction;
using models::LayerAttention;

// Numbers by their place: layer 1 of a model with 4 query and 2 KV heads.
class MixedAttentionTest : public ::testing::Test {
 protected:
  MixedAttentionTest() {
    const auto fill = [](std::vector<float>& x, int size) {
      for (int i = 0; i < size; ++i) {
        x.push_back(0.01f * static_cast<float>((i * 37) % 101 - 50));
      }
    };
    fill(query_, 5 * 4 * 8);
    fill(key_, 5 * 2 * 8);
    fill(value_, 5 * 2 * 3);
    layer_ = {.layer = 1,
              .seqlen = 5,
              .heads_q = 4,
              .heads_kv = 2,
              .head_dim_qk = 8,
              .head_dim_v = 3,
              .softmax_scale = 3,
              .query = query_,
              .key = key_,
              .value = value_};
  }

  std::vector<float> Run(const AttentionFunction& attention) const {
    std::vector<float> output(5 * 4 * 3);
    const absl::Status status = attention(layer_, absl::MakeSpan(output));
    EXPECT_TRUE(status.ok()) << status;
    return output;
  }

  std::vector<float> query_, key_, value_;
  LayerAttention layer_;
};

// All of its output is `x`.
AttentionFunction Constant(float x) {
  return [x](const LayerAttention&, absl::Span<float> output) {
    std::fill(output.begin(), output.end(), x);
    return absl::OkStatus();
  };
}

TEST_F(MixedAttentionTest, EachHeadHasItsAttention) {
  const std::vector<float> output = Run(MixedAttention(
      {{1, 0}, {1, 3}, {0, 1}, {2, 2}}, Constant(1), Constant(2)));
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t head = i / 3 % 4;
    EXPECT_EQ(output[i], head == 0 || head == 3 ? 1.0f : 2.0f) << i;
  }
}

// Of parts alone, the same bits as of the whole.
TEST_F(MixedAttentionTest, HeadsGetTheirNumbers) {
  const AttentionFunction exact = models::Float32Attention(1);
  const std::vector<float> whole = Run(exact);
  for (const HeadSet& chosen :
       {HeadSet{}, HeadSet{{1, 1}}, HeadSet{{1, 0}, {1, 2}, {1, 3}},
        HeadSet{{1, 0}, {1, 1}, {1, 2}, {1, 3}}}) {
    EXPECT_EQ(Run(MixedAttention(chosen, exact, exact)), whole)
        << chosen.size();
  }
}

TEST_F(MixedAttentionTest, ErrorsComeBack) {
  const AttentionFunction fails = [](const LayerAttention&, absl::Span<float>) {
    return absl::DataLossError("gone");
  };
  std::vector<float> output(5 * 4 * 3);
  const absl::Span<float> span = absl::MakeSpan(output);
  const HeadSet first = {{1, 0}};
  for (const AttentionFunction& attention :
       {MixedAttention(first, fails, Constant(0)),
        MixedAttention(first, Constant(0), fails)}) {
    EXPECT_EQ(attention(layer_, span), absl::DataLossError("gone"));
  }
  // Nobody asks it for no heads.
  EXPECT_TRUE(MixedAttention({}, fails, Constant(0))(layer_, span).ok());
}

}  // namespace
}  // namespace zyfa::bench
