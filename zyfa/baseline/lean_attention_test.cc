#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/steady_state.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/schedules.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/attention.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/set_items.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using numerics::E4m3;

constexpr int kDim = 128;

struct Problem {
  int batch = 1, heads_q = 1, heads_kv = 1;
  int seqlen_q = 0, seqlen_kv = 0;
  bool causal = true;
  double softmax_scale = 0.0883883476;
  float descale_q = 1, descale_k = 1, descale_v = 1;
  int groups = 0;    // 0: one for each item
  float spread = 1;  // standard deviation of Q and K
  bool output_fp8 = false;

  std::string Name() const {
    return absl::StrCat(batch, "x", heads_q, "/", heads_kv, " ", seqlen_q, "x",
                        seqlen_kv, causal ? " causal" : " full");
  }
  int items() const { return (seqlen_q + 255) / 256 * heads_q * batch; }
};

std::vector<E4m3> Values(uint64_t stream, int64_t size, float spread) {
  std::vector<float> values(static_cast<size_t>(size));
  numerics::FillGaussian(7, stream, values, 0, spread);
  std::vector<E4m3> codes;
  for (float x : values) {
    codes.push_back(E4m3::FromFloat(x, numerics::Overflow::kSaturate));
  }
  return codes;
}

struct Tensors {
  explicit Tensors(const Problem& p)
      : q(Values(0, int64_t{p.batch} * p.seqlen_q * p.heads_q * kDim,
                 p.spread)),
        k(Values(1, int64_t{p.batch} * p.seqlen_kv * p.heads_kv * kDim,
                 p.spread)),
        v(Values(2, int64_t{p.batch} * p.seqlen_kv * p.heads_kv * kDim, 1)) {}
  std::vector<E4m3> q, k, v;  // dense [batch][seqlen][heads][kDim]
};

struct Result {
  std::vector<uint8_t> output;  // dense [batch][seqlen][heads][kDim]
  std::vector<float> lse;       // [batch][heads][seqlen]
  emu::RunReport report;
};

const emu::CodeObject& Code() {
  static const std::unique_ptr<emu::CodeObject>& code = *[] {
    std::ifstream file("zyfa/baseline/lean_attention.co", std::ios::binary);
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                     std::istreambuf_iterator<char>()};
    auto loaded = emu::CodeObject::Load(bytes);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return new std::unique_ptr<emu::CodeObject>(*std::move(loaded));
  }();
  return *code;
}

std::string KernelName(const Problem& p) {
  return p.causal ? "hip_lean_d128_causal" : "hip_lean_d128_full";
}

// A problem in the emulator's memory.
struct Launch {
  Launch(const Problem& p, const Tensors& t) : problem(p) {
    args.query = Upload(t.q);
    args.key = Upload(t.k);
    args.value = Upload(t.v);
    const size_t rows = static_cast<size_t>(p.batch) * p.seqlen_q * p.heads_q;
    output_bytes = rows * kDim * (p.output_fp8 ? 1 : 2);
    args.output = *memory.Allocate(output_bytes + 16);
    args.lse = *memory.Allocate(rows * 4);
    const auto strides = [](int heads, int seqlen, int bytes, uint64_t& batch,
                            uint64_t& head, uint32_t& seq) {
      head = static_cast<uint64_t>(kDim * bytes);
      seq = static_cast<uint32_t>(heads * kDim * bytes);
      batch = uint64_t{seq} * static_cast<uint64_t>(seqlen);
    };
    strides(p.heads_q, p.seqlen_q, 1, args.query_batch_stride,
            args.query_head_stride, args.query_seq_stride);
    strides(p.heads_kv, p.seqlen_kv, 1, args.key_batch_stride,
            args.key_head_stride, args.key_seq_stride);
    strides(p.heads_kv, p.seqlen_kv, 1, args.value_batch_stride,
            args.value_head_stride, args.value_seq_stride);
    strides(p.heads_q, p.seqlen_q, p.output_fp8 ? 1 : 2,
            args.output_batch_stride, args.output_head_stride,
            args.output_seq_stride);
    args.lse_head_stride = static_cast<uint64_t>(4 * p.seqlen_q);
    args.lse_batch_stride = args.lse_head_stride * p.heads_q;
    args.seqlen_q = p.seqlen_q;
    args.seqlen_kv = p.seqlen_kv;
    args.query_tiles = (p.seqlen_q + kQueryTile - 1) / kQueryTile;
    const int ratio = p.heads_q / p.heads_kv;
    args.kv_head_multiplier =
        ratio == 1 ? 0 : static_cast<uint32_t>((uint64_t{1} << 32) / ratio + 1);
    args.query_descale_value = p.descale_q;
    args.key_descale_value = p.descale_k;
    args.value_descale_value = p.descale_v;
    args.output_scale_value = 1;
    args.softmax_scale = static_cast<float>(p.softmax_scale);
    args.lean_top = 126.5f;
    args.flags = p.output_fp8 ? uint32_t{kOutputFp8} : 0;
    SetItems(static_cast<uint32_t>(p.heads_q), static_cast<uint32_t>(p.batch),
             args);
    args.groups = p.groups != 0 ? p.groups : p.items();
  }

  template <class T>
  uint64_t Upload(const std::vector<T>& values) {
    const size_t bytes = values.size() * sizeof(T);
    const uint64_t address = *memory.Allocate(bytes);
    EXPECT_TRUE(
        memory
            .Write(address,
                   {reinterpret_cast<const uint8_t*>(values.data()), bytes})
            .ok());
    return address;
  }

  emu::LaunchShape shape() const {
    emu::LaunchShape shape;
    shape.grid[0] = args.groups;
    shape.workgroup[0] = kThreadsPerGroup;
    return shape;
  }
  absl::Span<const uint8_t> kernarg() const {
    return {reinterpret_cast<const uint8_t*>(&args), sizeof(args)};
  }

  Result Run(const emu::RunOptions& options = emu::StrictOptions()) {
    auto report = emu::Run(Code(), KernelName(problem), shape(), kernarg(),
                           memory, options);
    EXPECT_TRUE(report.ok()) << report.status();
    Result result;
    result.report = *std::move(report);
    for (const emu::Finding& f : result.report.findings) {
      ADD_FAILURE() << problem.Name() << ": [" << f.rule << "] at " << f.pc
                    << " wave " << f.wave << ": " << f.disassembly << ": "
                    << f.detail;
    }
    result.output.resize(output_bytes);
    EXPECT_TRUE(memory.Read(args.output, absl::MakeSpan(result.output)).ok());
    result.lse.resize(static_cast<size_t>(problem.batch) * problem.heads_q *
                      problem.seqlen_q);
    EXPECT_TRUE(
        memory
            .Read(args.lse, {reinterpret_cast<uint8_t*>(result.lse.data()),
                             result.lse.size() * 4})
            .ok());
    return result;
  }

  Problem problem;
  emu::DeviceMemory memory;
  AttentionArgs args = {};
  size_t output_bytes = 0;
};

static_assert(sizeof(E4m3) == 1 && sizeof(Bf16) == 2);

std::vector<double> OutputOf(const Problem& p, const Result& result) {
  std::vector<double> values;
  for (size_t i = 0; i < result.output.size(); i += p.output_fp8 ? 1 : 2) {
    if (p.output_fp8) {
      values.push_back(E4m3{result.output[i]}.ToFloat());
    } else {
      values.push_back(Bf16{
          static_cast<uint16_t>(result.output[i] | result.output[i + 1] << 8)}
                           .ToFloat());
    }
  }
  return values;
}

reference::AttentionResult Expected(const Problem& p, const Tensors& t) {
  reference::AttentionProblem r;
  r.batch = p.batch;
  r.heads_q = p.heads_q;
  r.heads_kv = p.heads_kv;
  r.seqlen_q = p.seqlen_q;
  r.seqlen_kv = p.seqlen_kv;
  r.mask = p.causal ? reference::Mask::kCausal : reference::Mask::kFull;
  r.softmax_scale = p.softmax_scale * p.descale_q * p.descale_k;
  using reference::TensorView;
  auto result = reference::Attention(
      r, TensorView::Dense(t.q.data(), p.seqlen_q, p.heads_q, kDim),
      TensorView::Dense(t.k.data(), p.seqlen_kv, p.heads_kv, kDim),
      TensorView::Dense(t.v.data(), p.seqlen_kv, p.heads_kv, kDim));
  EXPECT_TRUE(result.ok()) << result.status();
  for (double& x : result->output) x *= p.descale_v;
  return *std::move(result);
}

// Lean P is off by 3.1 % rms a weight (numerics 2), fp8 output by 2.6 %.
void CheckAgainstReference(const Problem& p) {
  const Tensors tensors(p);
  const Result got = Launch(p, tensors).Run();
  const reference::AttentionResult want = Expected(p, tensors);
  const auto metrics =
      numerics::CompareToReference(OutputOf(p, got), want.output, kDim);
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_LT(metrics->relative_rmse, p.output_fp8 ? 0.046 : 0.037) << p.Name();
  EXPECT_LT(metrics->worst_row_relative_rmse, 0.11) << p.Name();
  for (size_t i = 0; i < want.lse.size(); ++i) {
    if (std::isinf(want.lse[i])) {
      ASSERT_EQ(got.lse[i], -INFINITY) << p.Name() << " row " << i;
    } else {
      ASSERT_NEAR(got.lse[i], want.lse[i], 0.05 + 2e-7 * std::abs(want.lse[i]))
          << p.Name() << " row " << i;
    }
  }
}

TEST(LeanAttentionTest, AgreesWithFloat64AtAllEdges) {
  for (int keys : {1, 2, 33, 63, 64, 65, 127, 129, 255, 257, 320, 511}) {
    for (bool causal : {true, false}) {
      CheckAgainstReference(
          {.seqlen_q = keys, .seqlen_kv = keys, .causal = causal});
    }
  }
}

TEST(LeanAttentionTest, AgreesWithFloat64AtUnequalLengths) {
  for (bool causal : {true, false}) {
    // Rows without keys, tiles without keys, and queries at the end of many.
    CheckAgainstReference({.seqlen_q = 100, .seqlen_kv = 37, .causal = causal});
    CheckAgainstReference({.seqlen_q = 600, .seqlen_kv = 70, .causal = causal});
    CheckAgainstReference({.seqlen_q = 40, .seqlen_kv = 700, .causal = causal});
    CheckAgainstReference({.seqlen_q = 1, .seqlen_kv = 1025, .causal = causal});
  }
}

TEST(LeanAttentionTest, HeadsBatchesAndRoundsOfItems) {
  for (bool causal : {true, false}) {
    Problem p = {.batch = 2,
                 .heads_q = 6,
                 .heads_kv = 2,
                 .seqlen_q = 300,
                 .seqlen_kv = 290,
                 .causal = causal};
    // 24 items: each group has one, several in one round, several rounds.
    p.groups = 24;
    CheckAgainstReference(p);
    p.groups = 8;
    CheckAgainstReference(p);
  }
}

TEST(LeanAttentionTest, ScalesOfAllSigns) {
  Problem p = {.seqlen_q = 200, .seqlen_kv = 330};
  p.descale_q = 0.5f;
  p.descale_k = -2.25f;
  p.descale_v = 0.125f;
  CheckAgainstReference(p);
  p.softmax_scale = 0;
  CheckAgainstReference(p);
}

// Scales of each (batch entry, head) as tensors give the bits that each head
// alone has with its numbers.
TEST(LeanAttentionTest, ScalesAsTensors) {
  Problem p = {.batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seqlen_q = 70,
               .seqlen_kv = 130};
  const Tensors tensors(p);
  for (const bool per_kv_head : {false, true}) {
    Launch launch(p, tensors);
    const std::vector<float> scales = {0.5f, 0.75f, 1.25f, 1.5f,
                                       2.0f, 1.0f,  0.25f, 0.625f};
    const uint64_t address = launch.Upload(scales);
    launch.args.query_descale = launch.args.key_descale =
        launch.args.value_descale = address;
    launch.args.query_descale_batch_stride = 16;
    launch.args.query_descale_head_stride = 4;
    launch.args.key_descale_batch_stride = 4;
    launch.args.key_descale_head_stride = 8;
    launch.args.value_descale_batch_stride = 0;
    launch.args.value_descale_head_stride = 4;
    launch.args.flags |= per_kv_head ? uint32_t{kQueryDescaleByKvHead} : 0;
    const Result together = launch.Run();
    for (int batch = 0; batch < 2; ++batch) {
      for (int head = 0; head < 4; ++head) {
        const int kv = head / 2;
        Problem one = p;
        one.descale_q = scales[batch * 4 + (per_kv_head ? kv : head)];
        one.descale_k = scales[batch + 2 * kv];
        one.descale_v = scales[kv];
        const Result alone = Launch(one, tensors).Run();
        for (int row = 0; row < p.seqlen_q; ++row) {
          const size_t at =
              ((static_cast<size_t>(batch) * p.seqlen_q + row) * 4 + head) *
              kDim * 2;
          ASSERT_TRUE(std::equal(alone.output.begin() + at,
                                 alone.output.begin() + at + kDim * 2,
                                 together.output.begin() + at))
              << batch << " " << head << " " << row;
        }
      }
    }
  }
}

TEST(LeanAttentionTest, Fp8Output) {
  CheckAgainstReference(
      {.seqlen_q = 150, .seqlen_kv = 150, .output_fp8 = true});
}

TEST(LeanAttentionTest, Fp8OutputSaturates) {
  const Problem p = {.seqlen_q = 64, .seqlen_kv = 64, .output_fp8 = true};
  Launch launch(p, Tensors(p));
  launch.args.output_scale_value = 0;  // the address wins
  launch.args.output_scale = launch.Upload(std::vector<float>{5000});
  int largest = 0;
  for (const double x : OutputOf(p, launch.Run())) {
    ASSERT_FALSE(std::isnan(x));
    largest += std::abs(x) == 448;
  }
  EXPECT_GT(largest, 64 * kDim / 2);
}

// Scores of thousands of binades and more: the reference moves often, and rows
// take the path for large c * m.
TEST(LeanAttentionTest, LargeScores) {
  CheckAgainstReference(
      {.seqlen_q = 300, .seqlen_kv = 300, .softmax_scale = 1e6, .spread = 3});
  CheckAgainstReference(
      {.seqlen_q = 300, .seqlen_kv = 300, .softmax_scale = 1, .spread = 3});
  CheckAgainstReference(
      {.seqlen_q = 300, .seqlen_kv = 300, .softmax_scale = 100, .spread = 3});
}

// Scores of known distance to the maximum, one column of V for each key: the
// output shows each code (numerics 11, test 4).
TEST(LeanAttentionTest, CodesOfTheFormula) {
  const struct {
    float x;  // score below the maximum, binades
    int code;
  } keys[] = {{0, 126},  {-0.125f, 125}, {-0.25f, 124}, {-1, 118}, {-2.5, 106},
              {-14, 14}, {-15, 6},       {-16, 0},      {-448, 0}};
  constexpr int kKeys = std::size(keys);
  Problem p = {.seqlen_q = 1, .seqlen_kv = kKeys, .causal = false};
  p.softmax_scale = 1 / 1.44269504f;
  Tensors tensors(p);
  for (auto* tensor : {&tensors.q, &tensors.k, &tensors.v}) {
    std::fill(tensor->begin(), tensor->end(), E4m3{});
  }
  const auto e4m3 = [](float x) {
    return E4m3::FromFloat(x, numerics::Overflow::kSaturate);
  };
  tensors.q[0] = e4m3(1);
  float sum = 0;
  for (size_t j = 0; j < kKeys; ++j) {
    tensors.k[j * kDim] = e4m3(keys[j].x);
    tensors.v[j * kDim + 5 * j] = e4m3(1);
    sum += E4m3{static_cast<uint8_t>(keys[j].code)}.ToFloat();
  }
  const std::vector<double> output = OutputOf(p, Launch(p, tensors).Run());
  for (size_t j = 0; j < kKeys; ++j) {
    const float weight = E4m3{static_cast<uint8_t>(keys[j].code)}.ToFloat();
    EXPECT_NEAR(output[5 * j], weight / sum, weight / sum * 0x1p-8)
        << keys[j].x;
  }
}

TEST(LeanAttentionTest, SumOfWeightsIsThatOfTheOutput) {
  const Problem p = {.seqlen_q = 257, .seqlen_kv = 400};
  Tensors tensors(p);
  std::fill(tensors.v.begin(), tensors.v.end(),
            E4m3::FromFloat(1, numerics::Overflow::kSaturate));
  for (double x : OutputOf(p, Launch(p, tensors).Run())) {
    ASSERT_NEAR(x, 1, 0x1p-7);
  }
}

TEST(LeanAttentionTest, SameBitsUnderEveryOrderOfWaves) {
  for (bool causal : {true, false}) {
    Problem p = {
        .heads_q = 9, .seqlen_q = 300, .seqlen_kv = 460, .causal = causal};
    p.groups = 8;
    const Tensors tensors(p);
    Result first;
    for (const emu::RunOptions& options :
         emu::AllSchedules(emu::StrictOptions())) {
      Result result = Launch(p, tensors).Run(options);
      if (first.output.empty()) first = result;
      EXPECT_EQ(result.output, first.output) << emu::ScheduleName(options);
      EXPECT_EQ(result.lse, first.lse) << emu::ScheduleName(options);
    }
  }
}

TEST(LeanAttentionTest, NoBankConflicts) {
  const Problem p = {.seqlen_q = 256, .seqlen_kv = 512, .causal = false};
  const emu::RunReport report = Launch(p, Tensors(p)).Run().report;
  EXPECT_EQ(report.lds_passes, report.lds_phases);
}

// What the generated kernels are compared with: four tiles of 64 keys a pass.
// The bound keeps the baseline from decaying.
TEST(LeanAttentionTest, SteadyState) {
  const Problem p = {.seqlen_q = 256, .seqlen_kv = 4096, .causal = false};
  Launch launch(p, Tensors(p));
  emu::TraceRecorder recorder;
  emu::RunOptions options;
  options.observers.push_back(&recorder);
  launch.Run(options);
  const emu::GroupTrace& trace = recorder.groups().at(0);
  const emu::TracedLoop loop = emu::FindLoops(trace).at(0);
  emu::ComputeUnitOptions unit;
  unit.marked_steps = {loop.head};
  unit.auxiliary = recorder.auxiliary();
  const emu::GroupTrace* traces[] = {&trace};
  const emu::SteadyState steady = emu::SteadyStateOf(
      emu::RunComputeUnit(recorder.instructions(), traces, unit), loop.head, 0);
  std::printf(
      "modelled: %.0f clocks a tile of 64 keys, matrix busy %.1f %%, useful "
      "%.1f %%, vector %.1f %%\n",
      steady.clocks_per_pass / 4, 100 * steady.matrix_busy,
      100 * steady.useful_busy, 100 * steady.vector_busy);
  EXPECT_NEAR(static_cast<double>(loop.passes), 4096 / 256, 2);
  // Eight useful products of 64 clocks for each of two waves.
  EXPECT_NEAR(steady.useful_busy * steady.clocks_per_pass / 4, 1024, 1);
  EXPECT_GT(steady.useful_busy, 0.75);
}

}  // namespace
}  // namespace zyfa
