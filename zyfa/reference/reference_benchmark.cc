// Multiply-adds per second of the float64 reference and of the BF16 model:
// causal, head dim 128, 16 query heads on 4 key heads, all processors.

#include <cstdint>
#include <span>
#include <vector>

#include "benchmark/benchmark.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/convert.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/bf16_model.h"
#include "zyfa/reference/problem.h"

namespace zyfa::reference {
namespace {

using numerics::Bf16;

std::vector<Bf16> Gaussian(uint64_t stream, int64_t size) {
  std::vector<float> values(size);
  numerics::FillGaussian(1, stream, values);
  std::vector<Bf16> rounded(size);
  if (!numerics::Convert(values, std::span(rounded)).ok()) rounded.clear();
  return rounded;
}

template <typename Model>
void Run(benchmark::State& state, Model model) {
  AttentionProblem problem;
  problem.heads_q = 16;
  problem.heads_kv = 4;
  problem.seqlen_q = problem.seqlen_kv = state.range(0);
  problem.softmax_scale = 0.0884;
  const int64_t n = problem.seqlen_q;
  const std::vector<Bf16> q = Gaussian(0, n * 16 * 128);
  const std::vector<Bf16> k = Gaussian(1, n * 4 * 128);
  const std::vector<Bf16> v = Gaussian(2, n * 4 * 128);
  for (auto _ : state) {
    const auto result = model(problem, TensorView::Dense(q.data(), n, 16, 128),
                              TensorView::Dense(k.data(), n, 4, 128),
                              TensorView::Dense(v.data(), n, 4, 128));
    if (!result.ok()) {
      state.SkipWithError("refused");
      return;
    }
    benchmark::DoNotOptimize(result->output.data());
  }
  const double macs = 16.0 * n * (n + 1) / 2 * (128 + 128);
  state.counters["GMAC/s"] = benchmark::Counter(
      macs * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_Float64(benchmark::State& state) {
  Run(state, [](const auto&... args) { return Attention(args...); });
}
void BM_Bf16Model(benchmark::State& state) {
  Run(state, [](const auto&... args) { return Bf16Attention(args...); });
}
BENCHMARK(BM_Float64)
    ->Arg(1024)
    ->Arg(4096)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Bf16Model)
    ->Arg(1024)
    ->Arg(4096)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zyfa::reference
