#include "zyfa/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/reference/test_tensors.h"

namespace zyfa::reference {
namespace {

using numerics::Bf16;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The definition, element by element, from dense bf16 tensors.
AttentionResult Naive(const TestTensors& t) {
  const AttentionProblem& p = t.p;
  AttentionResult result;
  result.output.resize(p.batch * p.seqlen_q * p.heads_q * p.head_dim_v);
  result.lse.resize(p.batch * p.heads_q * p.seqlen_q);
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t h = 0; h < p.heads_q; ++h) {
      const int64_t hk = h * p.heads_kv / p.heads_q;
      for (int64_t i = 0; i < p.seqlen_q; ++i) {
        std::vector<double> scores(p.seqlen_kv, -kInf);
        double top = -kInf;
        for (int64_t j = 0; j < p.seqlen_kv; ++j) {
          if (p.mask == Mask::kCausal && j - i > p.seqlen_kv - p.seqlen_q) {
            continue;
          }
          double dot = 0.0;
          for (int64_t c = 0; c < p.head_dim_qk; ++c) {
            dot +=
                static_cast<double>(
                    t.q[((b * p.seqlen_q + i) * p.heads_q + h) * p.head_dim_qk +
                        c]
                        .ToFloat()) *
                t.k[((b * p.seqlen_kv + j) * p.heads_kv + hk) * p.head_dim_qk +
                    c]
                    .ToFloat();
          }
          scores[j] = dot * p.softmax_scale;
          top = std::max(top, scores[j]);
        }
        double* out = result.output.data() +
                      ((b * p.seqlen_q + i) * p.heads_q + h) * p.head_dim_v;
        double& lse = result.lse[(b * p.heads_q + h) * p.seqlen_q + i];
        lse = -kInf;
        if (top == -kInf) continue;
        double sum = 0.0;
        for (double s : scores) sum += std::exp(s - top);
        lse = top + std::log(sum);
        for (int64_t j = 0; j < p.seqlen_kv; ++j) {
          const double weight = std::exp(scores[j] - top) / sum;
          for (int64_t c = 0; c < p.head_dim_v; ++c) {
            out[c] +=
                weight *
                t.v[((b * p.seqlen_kv + j) * p.heads_kv + hk) * p.head_dim_v +
                    c]
                    .ToFloat();
          }
        }
      }
    }
  }
  return result;
}

AttentionResult Compute(const TestTensors& t,
                        const AttentionOptions& options = {}) {
  const auto result = Attention(t.p, t.query(), t.key(), t.value(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : AttentionResult();
}

void ExpectNear(const std::vector<double>& actual,
                const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;  // the infinities
    ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
  }
}

void ExpectEqualsNaive(const TestTensors& t) {
  const AttentionResult actual = Compute(t);
  const AttentionResult expected = Naive(t);
  ExpectNear(actual.output, expected.output, 1e-13);
  ExpectNear(actual.lse, expected.lse, 1e-12);
}

AttentionProblem Problem(int64_t seqlen_q, int64_t seqlen_kv,
                         Mask mask = Mask::kCausal) {
  AttentionProblem p;
  p.seqlen_q = seqlen_q;
  p.seqlen_kv = seqlen_kv;
  p.head_dim_qk = 16;
  p.head_dim_v = 8;
  p.mask = mask;
  p.softmax_scale = 0.25;
  return p;
}

TEST(AttentionTest, EqualsTheDefinitionAtAllSmallLengths) {
  for (Mask mask : {Mask::kCausal, Mask::kFull}) {
    for (int64_t sq : {0, 1, 2, 3, 5, 63, 64, 65, 130}) {
      for (int64_t skv : {0, 1, 2, 4, 7, 63, 64, 65, 127, 128, 129, 200}) {
        SCOPED_TRACE(testing::Message() << sq << " x " << skv);
        ExpectEqualsNaive(TestTensors(Problem(sq, skv, mask)));
      }
    }
  }
}

TEST(AttentionTest, EqualsTheDefinitionForAnyHeadDim) {
  for (int64_t qk : {1, 2, 7, 64, 129, 192}) {
    for (int64_t v : {1, 3, 15, 16, 17, 128}) {
      AttentionProblem p = Problem(70, 90);
      p.head_dim_qk = qk;
      p.head_dim_v = v;
      SCOPED_TRACE(testing::Message() << qk << " x " << v);
      ExpectEqualsNaive(TestTensors(p));
    }
  }
}

TEST(AttentionTest, EqualsTheDefinitionForGroupedHeads) {
  for (int64_t heads_kv : {1, 2, 3}) {
    for (int64_t ratio : {1, 2, 3, 5, 7, 16}) {
      AttentionProblem p = Problem(20, 33);
      p.batch = 2;
      p.heads_kv = heads_kv;
      p.heads_q = heads_kv * ratio;
      SCOPED_TRACE(testing::Message() << heads_kv << " x " << ratio);
      ExpectEqualsNaive(TestTensors(p));
    }
  }
}

TEST(AttentionTest, EqualsTheDefinitionForAnyScale) {
  for (double scale :
       {0.0, -0.0, 1.0, -1.0, -0.3, 1e-310, 5e-324, 3.0, -40.0}) {
    AttentionProblem p = Problem(70, 80);
    p.softmax_scale = scale;
    SCOPED_TRACE(scale);
    ExpectEqualsNaive(TestTensors(p));
  }
}

TEST(AttentionTest, HugeScalesPickTheTopKey) {
  for (double scale : {1e30, 1e308, -1e30, -1e308}) {
    AttentionProblem p = Problem(5, 200, Mask::kFull);
    p.softmax_scale = scale;
    const TestTensors t(p);
    const AttentionResult result = Compute(t);
    for (int64_t i = 0; i < 5; ++i) {
      int64_t best = 0;
      double best_score = -kInf;
      for (int64_t j = 0; j < 200; ++j) {
        double dot = 0.0;
        for (int c = 0; c < 16; ++c) {
          dot += double{t.q[i * 16 + c].ToFloat()} * t.k[j * 16 + c].ToFloat();
        }
        if (scale < 0) dot = -dot;
        if (dot > best_score) {
          best = j;
          best_score = dot;
        }
      }
      for (int c = 0; c < 8; ++c) {
        EXPECT_EQ(result.output[i * 8 + c], t.v[best * 8 + c].ToFloat());
      }
    }
  }
}

TEST(AttentionTest, OnesGiveOnes) {
  AttentionProblem p = Problem(100, 150);
  p.softmax_scale = 2.0;
  TestTensors t(p);
  t.SetValues(1.0f);
  for (double x : Compute(t).output) EXPECT_NEAR(x, 1.0, 1e-14);
}

TEST(AttentionTest, ZeroQueriesOrZeroScaleGiveTheMean) {
  for (bool zero_query : {true, false}) {
    AttentionProblem p = Problem(3, 1000);
    if (!zero_query) p.softmax_scale = 0.0;
    TestTensors t(p);
    if (zero_query) std::fill(t.q.begin(), t.q.end(), Bf16());
    const AttentionResult result = Compute(t);
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t seen = i + 1 + 997;
      for (int c = 0; c < 8; ++c) {
        double mean = 0.0;
        for (int64_t j = 0; j < seen; ++j) {
          mean += double{t.v[j * 8 + c].ToFloat()} / seen;
        }
        EXPECT_NEAR(result.output[i * 8 + c], mean, 1e-14);
      }
      EXPECT_NEAR(result.lse[i], std::log(seen), 1e-14);
    }
  }
}

TEST(AttentionTest, OneKeyGivesItsValue) {
  const TestTensors t(Problem(9, 1, Mask::kFull));
  const AttentionResult result = Compute(t);
  for (int64_t i = 0; i < 9 * 8; ++i) {
    EXPECT_EQ(result.output[i], t.v[i % 8].ToFloat());
  }
}

TEST(AttentionTest, RowsWithoutKeysAreZero) {
  // Ten queries, three keys: the first seven see none.
  TestTensors t(Problem(10, 3));
  const AttentionResult result = Compute(t);
  for (int64_t i = 0; i < 10; ++i) {
    for (int c = 0; c < 8; ++c) {
      const double x = result.output[i * 8 + c];
      if (i < 7) {
        EXPECT_EQ(x, 0.0);
        EXPECT_FALSE(std::signbit(x));
      } else if (i == 7) {
        EXPECT_EQ(x, t.v[c].ToFloat());
      } else {
        EXPECT_NE(x, 0.0);
      }
    }
    EXPECT_EQ(result.lse[i] == -kInf, i < 7);
  }
}

TEST(AttentionTest, LargeEqualLogits) {
  // All logits are 128 * 133120^2 * scale: no weight may be lost to rounding.
  AttentionProblem p = Problem(130, 130);
  p.head_dim_qk = p.head_dim_v = 128;
  p.softmax_scale = 1.0 / std::sqrt(128.0);
  TestTensors t(p);
  const Bf16 large = Bf16::FromFloat(133120.0f);
  ASSERT_EQ(large.ToFloat(), 133120.0f);
  for (auto* x : {&t.q, &t.k, &t.v}) std::fill(x->begin(), x->end(), large);
  const AttentionResult result = Compute(t);
  for (double x : result.output) EXPECT_NEAR(x, 133120.0, 1e-9);
  for (int64_t i = 0; i < 130; ++i) {
    const double expected =
        128 * 133120.0 * 133120.0 * p.softmax_scale + std::log(i + 1.0);
    EXPECT_NEAR(result.lse[i], expected, 1e-15 * expected);
  }
}

TEST(AttentionTest, LargeLogitsThatDifferByLittle) {
  // Scores 1e6 and 1e6 + log(3), exact in double inputs: weights 1/4 and 3/4.
  AttentionProblem p = Problem(1, 2);
  p.head_dim_qk = 2;
  p.head_dim_v = 1;
  p.softmax_scale = 1.0;
  const double q[] = {1e6, std::log(3.0)};
  const double k[] = {1, 0, 1, 1};
  const double v[] = {0, 1};
  const auto result =
      Attention(p, TensorView::Dense(q, 1, 1, 2), TensorView::Dense(k, 2, 1, 2),
                TensorView::Dense(v, 2, 1, 1));
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->output[0], 0.75, 1e-10);
  EXPECT_DOUBLE_EQ(result->lse[0], 1e6 + std::log(4.0));
}

TEST(AttentionTest, VeryNegativeLogits) {
  // All logits near -1e9.
  AttentionProblem p = Problem(66, 66);
  TestTensors t(p);
  for (Bf16& x : t.q) x = Bf16::FromFloat(-16384.0f);
  for (Bf16& x : t.k) x = Bf16::FromFloat(16384.0f);
  const AttentionResult result = Compute(t);
  for (int64_t i = 0; i < 66; ++i) {
    double mean = 0.0;
    for (int64_t j = 0; j <= i; ++j) mean += t.v[j * 8].ToFloat() / (i + 1.0);
    EXPECT_NEAR(result.output[i * 8], mean, 1e-14);
    EXPECT_DOUBLE_EQ(result.lse[i], -0x1p30 + std::log(i + 1.0));
  }
}

TEST(AttentionTest, UnseenKeysMayHoldAnything) {
  // Of 128 rows the first ones see little; poison what each may not see.
  const TestTensors clean(Problem(128, 128));
  const AttentionResult expected = Compute(clean);
  for (int64_t seen : {1, 2, 63, 64, 65, 100}) {
    TestTensors t = clean;
    for (int64_t j = seen; j < 128; ++j) {
      for (int c = 0; c < 16; ++c) t.k[j * 16 + c] = {0x7FC0};
      for (int c = 0; c < 8; ++c) t.v[j * 8 + c] = {0xFF80};
    }
    const AttentionResult result = Compute(t);
    for (int64_t i = 0; i < seen * 8; ++i) {
      ASSERT_EQ(result.output[i], expected.output[i]) << seen;
    }
    for (int64_t i = seen * 8; i < 128 * 8; ++i) {
      ASSERT_TRUE(std::isnan(result.output[i])) << seen << " " << i;
    }
  }
}

TEST(AttentionTest, FirstRowsHaveTheSameBitsForEveryLength) {
  AttentionProblem p = Problem(200, 200);
  const TestTensors longest(p);
  const AttentionResult expected = Compute(longest);
  for (int64_t n = 1; n < 200; n += 13) {
    TestTensors t = longest;
    t.p.seqlen_q = t.p.seqlen_kv = n;
    const AttentionResult result = Compute(t);
    EXPECT_TRUE(std::equal(result.output.begin(), result.output.end(),
                           expected.output.begin()));
    EXPECT_TRUE(
        std::equal(result.lse.begin(), result.lse.end(), expected.lse.begin()));
  }
}

TEST(AttentionTest, ThreadsDoNotMatter) {
  AttentionProblem p = Problem(150, 300);
  p.batch = 2;
  p.heads_q = 4;
  p.heads_kv = 2;
  const TestTensors t(p);
  const AttentionResult one = Compute(t, {.threads = 1});
  for (int threads : {0, 2, 3, 8, 100}) {
    const AttentionResult many = Compute(t, {.threads = threads});
    EXPECT_EQ(many.output, one.output);
    EXPECT_EQ(many.lse, one.lse);
  }
}

TEST(AttentionTest, SelectedRowsHaveTheSameBits) {
  AttentionProblem p = Problem(150, 300);
  p.batch = 2;
  p.heads_q = 2;
  const TestTensors t(p);
  const AttentionResult all = Compute(t);
  const std::vector<int64_t> rows = {149, 0, 7, 7, 100, 3, 64};
  AttentionOptions options;
  options.rows = rows;
  const AttentionResult some = Compute(t, options);
  const int64_t n = rows.size();
  ASSERT_EQ(some.output.size(), 2 * n * 2 * 8);
  ASSERT_EQ(some.lse.size(), 2 * 2 * n);
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t r = 0; r < n; ++r) {
        EXPECT_EQ(some.lse[(b * 2 + h) * n + r],
                  all.lse[(b * 2 + h) * 150 + rows[r]]);
        for (int c = 0; c < 8; ++c) {
          EXPECT_EQ(some.output[((b * n + r) * 2 + h) * 8 + c],
                    all.output[((b * 150 + rows[r]) * 2 + h) * 8 + c]);
        }
      }
    }
  }
  options.rows = std::vector<int64_t>();
  EXPECT_TRUE(Compute(t, options).output.empty());
}

// Copies of the tensors as T in [head][batch][seq], backwards along seq.
template <typename T, typename Convert>
void CheckStrides(Convert convert) {
  AttentionProblem p = Problem(40, 50);
  p.batch = 2;
  p.heads_q = 6;
  p.heads_kv = 2;
  const TestTensors t(p);
  const auto scatter = [&](const std::vector<Bf16>& from, int64_t seqlen,
                           int64_t heads, int64_t dim) {
    const int64_t row = dim + 3;
    std::vector<T> to(heads * 2 * seqlen * row, convert(Bf16{0x7FC0}));
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t s = 0; s < seqlen; ++s) {
        for (int64_t h = 0; h < heads; ++h) {
          for (int64_t c = 0; c < dim; ++c) {
            to[((h * 2 + b) * seqlen + seqlen - 1 - s) * row + c] =
                convert(from[((b * seqlen + s) * heads + h) * dim + c]);
          }
        }
      }
    }
    return to;
  };
  const auto view = [&](const std::vector<T>& data, int64_t seqlen,
                        int64_t dim) {
    const int64_t row = dim + 3;
    return TensorView(data.data() + (seqlen - 1) * row, seqlen * row, -row,
                      2 * seqlen * row);
  };
  const std::vector<T> q = scatter(t.q, 40, 6, 16);
  const std::vector<T> k = scatter(t.k, 50, 2, 16);
  const std::vector<T> v = scatter(t.v, 50, 2, 8);
  const auto result =
      Attention(p, view(q, 40, 16), view(k, 50, 16), view(v, 50, 8));
  ASSERT_TRUE(result.ok());
  const AttentionResult expected = Compute(t);
  EXPECT_EQ(result->output, expected.output);
  EXPECT_EQ(result->lse, expected.lse);
}

TEST(AttentionTest, StridesAndElementTypes) {
  CheckStrides<Bf16>([](Bf16 x) { return x; });
  CheckStrides<float>([](Bf16 x) { return x.ToFloat(); });
  CheckStrides<double>([](Bf16 x) { return double{x.ToFloat()}; });
}

TEST(AttentionTest, EightBitInputsAreWidened) {
  AttentionProblem p = Problem(30, 30);
  TestTensors t(p);
  std::vector<numerics::E4m3> q, k;
  std::vector<numerics::E5m2> v;
  const auto saturate = numerics::Overflow::kSaturate;
  for (Bf16& x : t.q) {
    q.push_back(numerics::E4m3::FromFloat(x.ToFloat(), saturate));
    x = Bf16::FromFloat(q.back().ToFloat());
  }
  for (Bf16& x : t.k) {
    k.push_back(numerics::E4m3::FromFloat(x.ToFloat(), saturate));
    x = Bf16::FromFloat(k.back().ToFloat());
  }
  for (Bf16& x : t.v) {
    v.push_back(numerics::E5m2::FromFloat(x.ToFloat(), saturate));
    x = Bf16::FromFloat(v.back().ToFloat());
  }
  const auto result = Attention(p, TensorView::Dense(q.data(), 30, 1, 16),
                                TensorView::Dense(k.data(), 30, 1, 16),
                                TensorView::Dense(v.data(), 30, 1, 8));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, Compute(t).output);
}

TEST(AttentionTest, RefusalsNameTheArgument) {
  const TestTensors t(Problem(4, 4));
  const auto message = [&](auto change, AttentionOptions options = {}) {
    AttentionProblem p = t.p;
    change(p);
    return std::string(Attention(p, t.query(), t.key(), t.value(), options)
                           .status()
                           .message());
  };
  const auto nothing = [](AttentionProblem&) {};
  EXPECT_EQ(message(nothing), "");
  EXPECT_THAT(message([](auto& p) { p.batch = -1; }),
              HasSubstr("batch is -1; allowed: 0 .."));
  EXPECT_THAT(message([](auto& p) { p.heads_q = -3; }),
              HasSubstr("heads_q is -3"));
  EXPECT_THAT(message([](auto& p) { p.heads_kv = 0; }),
              HasSubstr("heads_kv is 0; allowed: 1 .."));
  EXPECT_THAT(message([](auto& p) {
                p.heads_q = 5;
                p.heads_kv = 3;
              }),
              HasSubstr("heads_q is 5; allowed: multiples of heads_kv, 3"));
  EXPECT_THAT(message([](auto& p) { p.seqlen_q = -1; }),
              HasSubstr("seqlen_q is -1"));
  EXPECT_THAT(message([](auto& p) { p.seqlen_kv = -1; }),
              HasSubstr("seqlen_kv is -1"));
  EXPECT_THAT(message([](auto& p) { p.head_dim_qk = 0; }),
              HasSubstr("head_dim_qk is 0"));
  EXPECT_THAT(message([](auto& p) { p.head_dim_v = 65537; }),
              HasSubstr("head_dim_v is 65537; allowed: 1 .. 65536"));
  EXPECT_THAT(message([](auto& p) { p.mask = static_cast<Mask>(7); }),
              HasSubstr("mask is 7"));
  for (double scale : {kInf, -kInf, kNan}) {
    EXPECT_THAT(message([&](auto& p) { p.softmax_scale = scale; }),
                HasSubstr("softmax_scale is"));
  }
  EXPECT_THAT(message([](auto& p) {
                p.batch = p.heads_q = 1 << 20;
                p.seqlen_q = 1 << 30;
              }),
              HasSubstr("batch * heads_q * rows * head_dim_v is"));
  EXPECT_THAT(message(nothing, {.threads = -1}), HasSubstr("threads is -1"));
  for (int64_t row : {-1, 4}) {
    AttentionOptions options;
    options.rows = std::vector<int64_t>{0, row};
    EXPECT_THAT(message(nothing, options),
                HasSubstr("rows element is " + std::to_string(row) +
                          "; allowed: 0 .. seqlen_q - 1, 3"));
  }
  const TensorView null =
      TensorView::Dense(static_cast<const float*>(nullptr), 4, 1, 16);
  EXPECT_THAT(Attention(t.p, null, t.key(), t.value()).status().message(),
              HasSubstr("query is null"));
  EXPECT_THAT(Attention(t.p, t.query(), null, t.value()).status().message(),
              HasSubstr("key is null"));
  EXPECT_THAT(Attention(t.p, t.query(), t.key(), null).status().message(),
              HasSubstr("value is null"));
}

TEST(AttentionTest, EmptyProblemsNeedNoData) {
  const TensorView null =
      TensorView::Dense(static_cast<const float*>(nullptr), 0, 1, 16);
  for (int which = 0; which < 3; ++which) {
    AttentionProblem p = Problem(5, 5);
    if (which == 0) p.batch = 0;
    if (which == 1) p.heads_q = 0;
    if (which == 2) p.seqlen_q = 0;
    const auto result = Attention(p, null, null, null);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(result->output.empty());
  }
  const TestTensors t(Problem(5, 0, Mask::kFull));
  const auto result = Attention(t.p, t.query(), null, null);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->output, testing::Each(0.0));
  EXPECT_THAT(result->lse, testing::Each(-kInf));
}

}  // namespace
}  // namespace zyfa::reference
