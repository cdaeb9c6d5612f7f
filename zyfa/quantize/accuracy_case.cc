#include "zyfa/quantize/accuracy_case.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>

#include "gtest/gtest.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/random.h"
#include "zyfa/numerics/real_like.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;

constexpr int64_t kHeads = kAccuracyHeads;
constexpr int64_t kSeqlen = kAccuracySeqlen;
constexpr int64_t kValueDim = kAccuracyValueDim;
// e^(0.35 N) of four quantiles of N.
constexpr float kGains[kHeads] = {0.67f, 0.89f, 1.12f, 1.49f};

numerics::RealLikeHead MakeHead(const std::string& set, int64_t head_dim,
                                uint64_t seed) {
  if (set != "G") {
    const auto params = numerics::RealLikeSet(set);
    return *numerics::MakeRealLikeHead(
        *params, kSeqlen, static_cast<int>(head_dim), kValueDim, seed);
  }
  numerics::RealLikeHead head;
  uint64_t stream = 0;
  for (std::vector<float>* x : {&head.query, &head.key, &head.value}) {
    x->resize(static_cast<size_t>(kSeqlen *
                                  (x == &head.value ? kValueDim : head_dim)));
    numerics::FillGaussian(seed, stream++, *x);
  }
  return head;
}

}  // namespace

AccuracyInput MakeAccuracyInput(const std::string& set, int64_t head_dim) {
  AccuracyInput in;
  in.qk = {1, kSeqlen, kHeads, head_dim};
  in.v = {1, kSeqlen, kHeads, kValueDim};
  in.query.resize(static_cast<size_t>(in.qk.elements()));
  in.key.resize(in.query.size());
  in.value.resize(static_cast<size_t>(in.v.elements()));
  for (int64_t h = 0; h < kHeads; ++h) {
    const numerics::RealLikeHead head =
        MakeHead(set, head_dim, static_cast<uint64_t>(h) + 1);
    const auto copy = [&](const std::vector<float>& from, int64_t dim,
                          float gain, std::vector<Bf16>& to) {
      for (int64_t s = 0; s < kSeqlen; ++s) {
        for (int64_t c = 0; c < dim; ++c) {
          to[static_cast<size_t>((s * kHeads + h) * dim + c)] =
              Bf16::FromFloat(gain * from[static_cast<size_t>(s * dim + c)]);
        }
      }
    };
    // The product of Q's and K's gains is 1: the scores stay those of the set.
    copy(head.query, head_dim, 1 / kGains[h], in.query);
    copy(head.key, head_dim, kGains[h], in.key);
    copy(head.value, kValueDim, kGains[kHeads - 1 - h], in.value);
  }
  return in;
}

std::vector<double> Plain(const std::vector<Bf16>& x) {
  std::vector<double> out;
  out.reserve(x.size());
  for (const Bf16 v : x) out.push_back(double{v.ToFloat()});
  return out;
}

reference::AttentionResult AttendInDouble(const AccuracyInput& in,
                                          const std::vector<double>& q,
                                          const std::vector<double>& k,
                                          const std::vector<double>& v) {
  reference::AttentionProblem p;
  p.heads_q = p.heads_kv = kHeads;
  p.seqlen_q = p.seqlen_kv = kSeqlen;
  p.head_dim_qk = in.qk.head_dim;
  p.head_dim_v = kValueDim;
  p.softmax_scale = 1 / std::sqrt(static_cast<double>(in.qk.head_dim));
  reference::AttentionOptions options;
  std::vector<int64_t> rows;
  for (int64_t row = 31; row < kSeqlen; row += 64) rows.push_back(row);
  options.rows = rows;
  const auto view = [&](const std::vector<double>& x, int64_t dim) {
    return reference::TensorView::Dense(x.data(), kSeqlen, kHeads, dim);
  };
  const auto result =
      reference::Attention(p, view(q, in.qk.head_dim), view(k, in.qk.head_dim),
                           view(v, kValueDim), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(reference::AttentionResult{});
}

double PrintError(const std::string& name,
                  const reference::AttentionResult& got,
                  const reference::AttentionResult& exact) {
  const auto error = numerics::CompareToReference(
      std::span<const double>(got.output),
      std::span<const double>(exact.output), kValueDim);
  EXPECT_TRUE(error.ok()) << error.status();
  const double rmse = error.ok() ? error->relative_rmse : NAN;
  std::printf("%-40s %.4f\n", name.c_str(), rmse);
  return rmse;
}

}  // namespace zyfa::testing
