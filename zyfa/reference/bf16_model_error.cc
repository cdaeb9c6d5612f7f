// Error of the BF16 numeric model against float64 attention on the same inputs,
// causal, one head: 128 query rows spread over the sequence. Arguments:
// sequence lengths, by default 1024 4096.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/convert.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/random.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/bf16_model.h"
#include "zyfa/reference/problem.h"

namespace zyfa::reference {
namespace {

using numerics::Bf16;

constexpr uint64_t kSeed = 100;
constexpr int64_t kMeasuredRows = 128;

absl::StatusOr<numerics::RealLikeHead> MakeHead(const std::string& set,
                                                int64_t seqlen, int dim_qk,
                                                int dim_v) {
  if (set != "G") {
    const auto params = numerics::RealLikeSet(set);
    if (!params.ok()) return params.status();
    return numerics::MakeRealLikeHead(*params, seqlen, dim_qk, dim_v, kSeed);
  }
  numerics::RealLikeHead head;
  head.query.resize(seqlen * dim_qk);
  head.key.resize(seqlen * dim_qk);
  head.value.resize(seqlen * dim_v);
  numerics::FillGaussian(kSeed, 0, head.query);
  numerics::FillGaussian(kSeed, 1, head.key);
  numerics::FillGaussian(kSeed, 2, head.value);
  return head;
}

absl::StatusOr<numerics::ErrorMetrics> Measure(const std::string& set,
                                               int64_t seqlen, int dim_qk,
                                               int dim_v,
                                               double rescale_binades) {
  const auto head = MakeHead(set, seqlen, dim_qk, dim_v);
  if (!head.ok()) return head.status();
  std::vector<Bf16> q(head->query.size());
  std::vector<Bf16> k(head->key.size());
  std::vector<Bf16> v(head->value.size());
  for (const absl::Status& status :
       {numerics::Convert(head->query, std::span(q)),
        numerics::Convert(head->key, std::span(k)),
        numerics::Convert(head->value, std::span(v))}) {
    if (!status.ok()) return status;
  }
  AttentionProblem problem;
  problem.seqlen_q = problem.seqlen_kv = seqlen;
  problem.head_dim_qk = dim_qk;
  problem.head_dim_v = dim_v;
  problem.softmax_scale = 1.0 / std::sqrt(static_cast<double>(dim_qk));
  Bf16ModelOptions options;
  options.rescale_binades = rescale_binades;
  options.attention.rows.emplace();
  for (int64_t i = 1; i <= kMeasuredRows; ++i) {
    options.attention.rows->push_back(seqlen * i / kMeasuredRows - 1);
  }
  const auto query = TensorView::Dense(q.data(), seqlen, 1, dim_qk);
  const auto key = TensorView::Dense(k.data(), seqlen, 1, dim_qk);
  const auto value = TensorView::Dense(v.data(), seqlen, 1, dim_v);
  const auto exact = Attention(problem, query, key, value, options.attention);
  if (!exact.ok()) return exact.status();
  const auto model = Bf16Attention(problem, query, key, value, options);
  if (!model.ok()) return model.status();
  return numerics::CompareToReference(model->output, exact->output, dim_v);
}

int Main(int argc, char** argv) {
  std::vector<int64_t> seqlens;
  for (int i = 1; i < argc; ++i) {
    int64_t seqlen = 0;
    if (!absl::SimpleAtoi(argv[i], &seqlen) || seqlen < kMeasuredRows ||
        seqlen > 1048576) {
      std::fprintf(stderr,
                   "seqlen is '%s'; allowed: numbers from %d to 1048576\n",
                   argv[i], static_cast<int>(kMeasuredRows));
      return 2;
    }
    seqlens.push_back(seqlen);
  }
  if (seqlens.empty()) seqlens = {1024, 4096};
  std::printf("%-4s %-8s %8s %8s %10s %10s %10s %12s\n", "set", "head_dim",
              "seqlen", "lazy_max", "rel_rmse", "worst_row", "max_abs",
              "1-cosine");
  for (int64_t seqlen : seqlens) {
    for (int dim_qk : {128, 192}) {
      for (const char* set : {"G", "M", "X", "V", "D", "E"}) {
        for (double rescale_binades : {0.0, 8.0}) {
          const auto metrics =
              Measure(set, seqlen, dim_qk, 128, rescale_binades);
          if (!metrics.ok()) {
            std::fprintf(stderr, "%s\n", metrics.status().ToString().c_str());
            return 1;
          }
          std::printf("%-4s %-8s %8lld %8g %10.3e %10.3e %10.3e %12.3e\n", set,
                      dim_qk == 128 ? "128" : "192x128",
                      static_cast<long long>(seqlen), rescale_binades,
                      metrics->relative_rmse, metrics->worst_row_relative_rmse,
                      metrics->max_abs_error, 1.0 - metrics->cosine);
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace zyfa::reference

int main(int argc, char** argv) { return zyfa::reference::Main(argc, argv); }
