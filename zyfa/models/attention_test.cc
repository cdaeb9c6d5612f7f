#include "zyfa/models/attention.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::models {
namespace {

struct Problem {
  int64_t seqlen, heads_q, heads_kv, head_dim_qk, head_dim_v;
  double softmax_scale;
  // Standard deviation of queries: how far scores spread.
  float spread;
};

class Tensors {
 public:
  explicit Tensors(const Problem& problem) : problem_(problem) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    query_.resize(problem.seqlen * problem.heads_q * problem.head_dim_qk);
    key_.resize(problem.seqlen * problem.heads_kv * problem.head_dim_qk);
    value_.resize(problem.seqlen * problem.heads_kv * problem.head_dim_v);
    for (float& x : query_) x = problem.spread * normal(random);
    for (float& x : key_) x = normal(random);
    for (float& x : value_) x = normal(random);
  }

  LayerAttention Layer() const {
    return {.layer = 0,
            .seqlen = problem_.seqlen,
            .heads_q = problem_.heads_q,
            .heads_kv = problem_.heads_kv,
            .head_dim_qk = problem_.head_dim_qk,
            .head_dim_v = problem_.head_dim_v,
            .softmax_scale = problem_.softmax_scale,
            .query = query_,
            .key = key_,
            .value = value_};
  }

  std::vector<double> Float64() const {
    using reference::TensorView;
    const auto result = reference::Attention(
        {.heads_q = problem_.heads_q,
         .heads_kv = problem_.heads_kv,
         .seqlen_q = problem_.seqlen,
         .seqlen_kv = problem_.seqlen,
         .head_dim_qk = problem_.head_dim_qk,
         .head_dim_v = problem_.head_dim_v,
         .softmax_scale = problem_.softmax_scale},
        TensorView::Dense(query_.data(), problem_.seqlen, problem_.heads_q,
                          problem_.head_dim_qk),
        TensorView::Dense(key_.data(), problem_.seqlen, problem_.heads_kv,
                          problem_.head_dim_qk),
        TensorView::Dense(value_.data(), problem_.seqlen, problem_.heads_kv,
                          problem_.head_dim_v));
    EXPECT_TRUE(result.ok()) << result.status();
    return result->output;
  }

  std::vector<float> Float32(int threads) const {
    std::vector<float> output(problem_.seqlen * problem_.heads_q *
                              problem_.head_dim_v);
    EXPECT_TRUE(
        Float32Attention(threads)(Layer(), absl::MakeSpan(output)).ok());
    return output;
  }

 private:
  const Problem problem_;
  std::vector<float> query_, key_, value_;
};

TEST(AttentionTest, IsFloat64AttentionUpToRounding) {
  for (const Problem& problem : {Problem{1, 1, 1, 16, 16, 1.0, 1.0f},
                                 Problem{333, 4, 2, 128, 128, 0.088, 1.0f},
                                 Problem{200, 4, 4, 192, 128, 0.072, 3.0f},
                                 // Weights below float32's range beside a 1.
                                 Problem{300, 2, 1, 64, 32, 1.0, 5.0f}}) {
    SCOPED_TRACE(problem.seqlen);
    const Tensors tensors(problem);
    const std::vector<double> expected = tensors.Float64();
    const std::vector<float> output = tensors.Float32(0);
    ASSERT_EQ(output.size(), expected.size());
    double worst = 0;
    for (size_t i = 0; i < output.size(); ++i) {
      worst = std::max(worst, std::abs(output[i] - expected[i]));
    }
    // A score's rounding, some 2^-24 of its size, is a weight's relative error.
    EXPECT_LT(worst, 2e-6 * (1 + 20 * problem.spread * problem.softmax_scale));
  }
}

TEST(AttentionTest, BitsDoNotDependOnThreads) {
  const Tensors tensors({333, 4, 2, 128, 128, 0.088, 1.0f});
  EXPECT_EQ(tensors.Float32(1), tensors.Float32(3));
}

TEST(AttentionTest, PassesRefusalsOn) {
  const Tensors tensors({16, 3, 1, 16, 16, 1.0, 1.0f});
  LayerAttention layer = tensors.Layer();
  layer.heads_kv = 2;
  std::vector<float> output(16 * 3 * 16);
  const absl::Status status = Float32Attention()(layer, absl::MakeSpan(output));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace zyfa::models
