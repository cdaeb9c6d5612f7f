#include "zyfa/peers/aiter_verdict.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/error_bound.h"
#include "zyfa/peers/fmha_arguments.h"
#include "zyfa/reference/attention.h"

namespace zyfa::peers {
namespace {

const AiterKernel& Kernel(const char* flat_name) {
  const AiterKernel* kernel = FindByFlatFileName(flat_name);
  EXPECT_NE(kernel, nullptr) << flat_name;
  return *kernel;
}

// A launch whose outputs are written by hand.
struct Case {
  explicit Case(const char* flat_name) : kernel(Kernel(flat_name)) {
    problem.sequences =
        kernel.group ? std::vector<AiterProblem::Sequence>{{40, 40}, {24, 30}}
                     : std::vector<AiterProblem::Sequence>{{48, 64}, {48, 64}};
    problem.heads_q = 4;
    problem.heads_kv = 2;
    operands = MakeOperands(kernel, problem);
    launch = *PrepareAiterLaunch(kernel, problem, operands, memory);
    output.resize(static_cast<size_t>(problem.queries() * 4 * 128));
    lse.resize(static_cast<size_t>(problem.queries() * 4));
    int64_t query = 0, key = 0;
    for (const auto& s : problem.sequences) {
      reference::AttentionProblem attention = {
          .heads_q = 4,
          .heads_kv = 2,
          .seqlen_q = s.queries,
          .seqlen_kv = s.keys,
          .mask = kernel.mask,
          .softmax_scale = 1 / std::sqrt(128.0)};
      const auto view = [](const QuantizedTensor& t, int64_t at, int64_t n) {
        return reference::TensorView::Dense(
            t.values.data() + at * t.extent.heads * 128, n, t.extent.heads,
            128);
      };
      const auto result = *reference::Attention(
          attention, view(operands.query, query, s.queries),
          view(operands.key, key, s.keys), view(operands.value, key, s.keys));
      for (size_t i = 0; i < result.output.size(); ++i) {
        output[static_cast<size_t>(query * 512) + i] =
            numerics::Bf16::FromFloat(static_cast<float>(result.output[i]));
      }
      for (int64_t head = 0; head < 4; ++head) {
        for (int64_t i = 0; i < s.queries; ++i) {
          // As aiter_launch.h says.
          const int64_t at = kernel.group ? head * problem.queries() + query + i
                                          : query * 4 + head * s.queries + i;
          lse[static_cast<size_t>(at)] = static_cast<float>(
              result.lse[static_cast<size_t>(head * s.queries + i)]);
        }
      }
      query += s.queries;
      key += s.keys;
    }
  }
  AiterVerdict Judge(int64_t rows = 1000) {
    const auto write = [this](uint64_t address, const auto& values) {
      EXPECT_TRUE(memory
                      .Write(address, absl::MakeConstSpan(
                                          reinterpret_cast<const uint8_t*>(
                                              values.data()),
                                          values.size() * sizeof(values[0])))
                      .ok());
    };
    write(launch.output, output);
    write(launch.lse, lse);
    return *JudgeAiterLaunch(kernel, problem, operands, launch, memory, rows);
  }
  const AiterKernel& kernel;
  AiterProblem problem;
  AiterOperands operands;
  emu::DeviceMemory memory;
  AiterLaunch launch;
  std::vector<numerics::Bf16> output;
  std::vector<float> lse;
};

TEST(AiterVerdict, AcceptsTheReferenceAndNothingElse) {
  for (const char* name : {"fmha_v3_fwd__fwd_hd128_bf16.co",
                           "fmha_v3_fwd__fwd_hd128_bf16_causal_group.co"}) {
    Case c(name);
    const AiterVerdict good = c.Judge();
    EXPECT_TRUE(good.ok()) << good.max_share << " " << good.max_lse_error;
    EXPECT_EQ(good.rows, c.problem.queries() * 4);
    EXPECT_GT(good.max_output, 0.3);

    const numerics::Bf16 right = c.output[12345];
    c.output[12345] = numerics::Bf16::FromFloat(right.ToFloat() + 0.1f);
    EXPECT_FALSE(c.Judge().ok());
    EXPECT_NEAR(c.Judge().max_error, 0.1, 0.01);
    c.output[12345] =
        numerics::Bf16::FromFloat(std::numeric_limits<float>::quiet_NaN());
    EXPECT_FALSE(c.Judge().ok());
    c.output[12345] = right;
    EXPECT_TRUE(c.Judge().ok());

    c.lse[77] += 1e-4f;
    EXPECT_FALSE(c.Judge().ok());
  }
}

TEST(AiterVerdict, LooksAtTheFirstAndTheLastRow) {
  Case c("fmha_v3_fwd__fwd_hd128_bf16.co");
  EXPECT_EQ(c.Judge(8).rows, 2 * 8 * 4);
  c.output.back() = numerics::Bf16::FromFloat(3);
  EXPECT_FALSE(c.Judge(8).ok());
}

TEST(AiterLaunch, OutputsStartAsNan) {
  Case c("fmha_v3_fwd__fwd_hd128_bf16.co");
  emu::DeviceMemory fresh;
  const AiterLaunch launch =
      *PrepareAiterLaunch(c.kernel, c.problem, c.operands, fresh);
  EXPECT_FALSE(
      JudgeAiterLaunch(c.kernel, c.problem, c.operands, launch, fresh, 1000)
          ->ok());
}

TEST(AiterLaunch, ArgumentBlock) {
  Case c("fmha_v3_fwd__fwd_hd128_bf16_causal_group.co");
  ASSERT_EQ(c.launch.kernarg.size(), 512u);
  FmhaArguments args;
  std::memcpy(static_cast<void*>(&args), c.launch.kernarg.data(), 512);
  EXPECT_EQ(args.output.value, c.launch.output);
  EXPECT_EQ(args.query_seq_stride.value, 4u * 256);
  EXPECT_EQ(args.query_tile_stride.value, 256u * 4 * 256);
  EXPECT_EQ(args.key_seq_stride.value, 2u * 256);
  EXPECT_EQ(args.key_head_stride.value, 256u);
  EXPECT_EQ(args.head_ratio.value, 2u);
  EXPECT_EQ(args.tuning.value, 3u);
  EXPECT_EQ(args.lse_head_stride.value, 64u * 4);
  int32_t starts[3];
  ASSERT_TRUE(c.memory
                  .Read(args.key_starts.value,
                        absl::MakeSpan(reinterpret_cast<uint8_t*>(starts), 12))
                  .ok());
  EXPECT_EQ(starts[0], 0);
  EXPECT_EQ(starts[1], 40);
  EXPECT_EQ(starts[2], 70);
}

// cdna4-isa 6.3.
TEST(AiterLaunch, Grids) {
  const auto grid = [](const char* name, AiterProblem problem) {
    const emu::LaunchShape shape = AiterLaunchShape(Kernel(name), problem);
    return std::vector<uint32_t>{shape.grid[0], shape.grid[1], shape.grid[2]};
  };
  using V = std::vector<uint32_t>;
  const AiterProblem three = {
      .sequences = {{1025, 1025}, {1025, 1025}, {1025, 1025}}, .heads_q = 7};
  EXPECT_EQ(grid("fmha_v3_fwd__fwd_hd128_fp8.co", three), (V{5, 7, 3}));
  EXPECT_EQ(grid("fmha_v3_fwd__fwd_hd128_fp8_causal.co", three), (V{3, 7, 3}));
  EXPECT_EQ(grid("fmha_v3_fwd__fwd_hd192_hd128_bf16.co", three), (V{9, 7, 3}));
  EXPECT_EQ(grid("fmha_v3_fwd__fwd_hd192_hd128_bf16_causal.co", three),
            (V{5, 7, 3}));
  EXPECT_EQ(grid("fmha_v3_fwd__fwd_hd128_bf16_group.co", three), (V{7, 3, 13}));
  EXPECT_EQ(grid("fmha_v4_fwd__fwd_hd128_mxfp8.co", three), (V{5, 7, 3}));
}

TEST(AiterProblem, Validation) {
  const AiterKernel& batch = Kernel("fmha_v3_fwd__fwd_hd128_bf16_causal.co");
  const AiterKernel& tiled = Kernel("fmha_v4_fwd__fwd_hd128_f4f4.co");
  const auto message = [](const AiterKernel& kernel, AiterProblem problem) {
    return std::string(Validate(kernel, problem).message());
  };
  EXPECT_TRUE(Validate(batch, {.sequences = {{5, 9}}}).ok());
  EXPECT_NE(message(batch, {}).find("sequences is 0"), std::string::npos);
  EXPECT_NE(message(batch, {.sequences = {{9, 5}}}).find("queries is 9"),
            std::string::npos);
  EXPECT_NE(message(batch, {.sequences = {{5, 9}, {5, 8}}}).find("equal"),
            std::string::npos);
  EXPECT_NE(message(batch, {.sequences = {{5, 9}}, .heads_q = 3, .heads_kv = 2})
                .find("divisors"),
            std::string::npos);
  EXPECT_NE(message(tiled, {.sequences = {{5, 130}}}).find("multiples of 128"),
            std::string::npos);
  EXPECT_NE(
      message(tiled, {.sequences = {{5, 128}}, .heads_q = 2, .heads_kv = 1})
          .find("takes 1"),
      std::string::npos);
}

// The bound holds for probabilities that are off by what it allows, the worst
// way for one column.
TEST(ErrorBound, HoldsForPerturbedProbabilities) {
  const AiterKernel& kernel = Kernel("fmha_v3_fwd__fwd_hd128_fp8.co");
  std::vector<double> weights, values;
  for (int j = 0; j < 50; ++j) {
    weights.push_back(std::exp(-0.1 * j));
    values.push_back(std::sin(j * 1.7));
  }
  double sum = 0, exact = 0, off_sum = 0, off = 0;
  for (size_t j = 0; j < weights.size(); ++j) {
    sum += weights[j];
    exact += weights[j] * values[j];
  }
  exact /= sum;
  for (size_t j = 0; j < weights.size(); ++j) {
    const double e = ProbabilityError(kernel, -std::log2(weights[j]));
    EXPECT_GE(e, weights[j] / 16.001);
    const double p = weights[j] + (values[j] > exact ? e : -e);
    off_sum += p;
    off += p * values[j];
  }
  const double bound = RowErrorBound(kernel, weights, values.data(), 1,
                                     absl::MakeConstSpan(&exact, 1))[0];
  EXPECT_LE(std::fabs(off / off_sum - exact), bound);
  EXPECT_GE(std::fabs(off / off_sum - exact), bound / 4);
}

}  // namespace
}  // namespace zyfa::peers
