// Modelled time of our kernels: sampling against the simulation of every single
// work-group, and what must hold of any such figure.

#include "zyfa/launch/attention_time.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/flip_sample.h"
#include "zyfa/emu/cycles/group_cost.h"
#include "zyfa/emu/cycles/kernel_clock.h"
#include "zyfa/emu/cycles/trace.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/attention_work.h"
#include "zyfa/launch/plan.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

enum class Numbers { kGaussian, kOnes };

// A call with tensors in an emulator's memory.
class Call {
 public:
  Call(Mask mask, int64_t seqlen_q, int64_t seqlen_kv, int64_t heads,
       Numbers numbers = Numbers::kGaussian)
      : numbers_(numbers) {
    AttentionParams params;
    params.mask = mask;
    params.query = Tensor(seqlen_q, heads);
    params.key = Tensor(seqlen_kv, heads);
    params.value = Tensor(seqlen_kv, heads);
    params.output = Tensor(seqlen_q, heads);
    const auto plan = PlanAttention(params);
    EXPECT_TRUE(plan.ok()) << plan.status();
    kernel_ = plan->kernel;
    piece_ = MakePiece(*plan, 0);
    code_ = *emu::CodeObject::Load(kernel_->code_object);
    bytes_.resize(sizeof(AttentionArgs));
    std::memcpy(bytes_.data(), &piece_.args, bytes_.size());
  }

  const emu::CodeObject& code() const { return *code_; }
  std::string kernel() const { return std::string(kernel_->symbol); }
  const Variant& variant() const { return kernel_->variant; }
  const AttentionPiece& piece() const { return piece_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  emu::DeviceMemory& memory() { return memory_; }

  absl::StatusOr<emu::KernelTime> Time(const emu::KernelTimeOptions& options) {
    return ModelAttentionTime(code(), kernel(), piece_.shape, bytes_, memory_,
                              options);
  }
  // Every work-group emulated and replayed, none taken for another.
  absl::StatusOr<emu::KernelTime> TimeInFull(emu::KernelTimeOptions options) {
    options.sampling.steps = INT64_MAX;
    options.hbm_bytes = TensorBytes(variant(), piece_.args, piece_.shape);
    const auto itself = [](uint64_t group) { return group; };
    const emu::EmulatedLaunch launch = {&code(), kernel(), Emulated(), bytes_,
                                        &memory_};
    return emu::ModelKernelTime(launch,
                                emu::CollectWork(
                                    Groups(),
                                    [](uint64_t group) {
                                      return emu::GroupWork{
                                          static_cast<uint32_t>(group), {1}};
                                    },
                                    itself),
                                options);
  }
  uint64_t Groups() const {
    return uint64_t{piece_.shape.grid[0]} * piece_.shape.grid[1] *
           piece_.shape.grid[2];
  }
  emu::LaunchShape Emulated() const {
    emu::LaunchShape shape;
    for (int i = 0; i < 3; ++i) {
      shape.grid[i] = piece_.shape.grid[i];
      shape.workgroup[i] = piece_.shape.block[i];
    }
    return shape;
  }

 private:
  TensorView Tensor(int64_t seqlen, int64_t heads) {
    std::normal_distribution<float> normal;
    std::vector<numerics::Bf16> values(
        static_cast<size_t>(seqlen * heads * 128));
    for (numerics::Bf16& value : values) {
      value = numerics::Bf16::FromFloat(
          numbers_ == Numbers::kOnes ? 1.0f : normal(bits_));
    }
    const auto address = memory_.Allocate(values.size() * 2);
    EXPECT_TRUE(address.ok()) << address.status();
    EXPECT_TRUE(
        memory_
            .Write(*address, {reinterpret_cast<const uint8_t*>(values.data()),
                              values.size() * 2})
            .ok());
    return DenseTensor(*address, 1, seqlen, heads, 128);
  }

  Numbers numbers_;
  std::mt19937 bits_{1};
  emu::DeviceMemory memory_;
  const KernelEntry* kernel_ = nullptr;
  AttentionPiece piece_;
  std::unique_ptr<emu::CodeObject> code_;
  std::vector<uint8_t> bytes_;
};

// Two XCDs of two compute units, so that a few work-groups take turns.
emu::KernelTimeOptions SmallMachine() {
  emu::KernelTimeOptions options;
  options.machine.xcds = 2;
  options.machine.compute_units = 2;
  options.constants.launch_overhead_us = 0;
  return options;
}

struct Shape {
  Mask mask;
  int64_t seqlen_q, seqlen_kv, heads;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << (shape.mask == Mask::kCausal ? "causal " : "full ") << shape.seqlen_q
       << " x " << shape.seqlen_kv << ", " << shape.heads << " heads";
}

class SamplingTest : public ::testing::TestWithParam<Shape> {};

TEST_P(SamplingTest, AgreesWithTheSimulationOfEveryGroup) {
  const Shape& shape = GetParam();
  Call call(shape.mask, shape.seqlen_q, shape.seqlen_kv, shape.heads);
  emu::KernelTimeOptions options = SmallMachine();
  options.sampling.steps = 0;  // three works of each kind
  const auto sampled = call.Time(options);
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  const auto full = call.TimeInFull(options);
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(full->samples.size(), call.Groups());
  EXPECT_LT(sampled->samples.size(), full->samples.size());
  RecordProperty("clocks", std::to_string(full->clocks));
  RecordProperty("ratio", std::to_string(sampled->clocks / full->clocks));
  EXPECT_NEAR(sampled->clocks / full->clocks, 1.0, 0.01);
  EXPECT_NEAR(sampled->l2_clocks / full->l2_clocks, 1.0, 0.01);
  EXPECT_NEAR(sampled->activity.matrix_busy / full->activity.matrix_busy, 1.0,
              0.01);
  EXPECT_NEAR(sampled->useful_busy / full->useful_busy, 1.0, 0.01);
  EXPECT_NEAR(sampled->milliseconds / full->milliseconds, 1.0, 0.01);
  EXPECT_EQ(sampled->groups, full->groups);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SamplingTest,
    ::testing::Values(Shape{Mask::kCausal, 4096, 4096, 1},
                      Shape{Mask::kCausal, 2304, 2304, 2},  // odd tiles
                      Shape{Mask::kCausal, 4000, 5000, 1},  // partial tiles
                      // From 4 to 32 key tiles a group: half of the rows
                      // see no key.
                      Shape{Mask::kCausal, 4096, 2048, 1},
                      // More keys than rows, and one tile alone: two totals.
                      Shape{Mask::kCausal, 2304, 6000, 1},
                      Shape{Mask::kFull, 1024, 1024, 2},
                      Shape{Mask::kFull, 1000, 700, 2},
                      Shape{Mask::kFull, 700, 3000, 2}));

// Key tiles that the wave of rows [first, first + 32) goes through: those that
// its last existing row sees.
int64_t WaveKeyTiles(const Shape& shape, int64_t first) {
  if (first >= shape.seqlen_q) return 0;
  const int64_t last = std::min(first + 32, shape.seqlen_q) - 1;
  int64_t keys = shape.seqlen_kv;
  if (shape.mask == Mask::kCausal) {
    keys = std::clamp<int64_t>(last + 1 + keys - shape.seqlen_q, 0, keys);
  }
  return (keys + 63) / 64;
}

// What the kernel executes says which query tiles a group has: for 64 keys and
// the 32 rows of a wave, 2 x 8 matrix instructions (K = 16) of QK and 4 x 4 of
// PV.
TEST(AttentionLaunchWorkTest, MatrixInstructionsFollowFromTheWork) {
  const Shape kShapes[] = {{Mask::kCausal, 1100, 1100, 2},
                           {Mask::kCausal, 1024, 1300, 1},
                           {Mask::kCausal, 600, 300, 1},
                           {Mask::kFull, 600, 500, 1}};
  for (const Shape& shape : kShapes) {
    Call call(shape.mask, shape.seqlen_q, shape.seqlen_kv, shape.heads);
    emu::TraceRecorder recorder;
    emu::RunOptions run;
    run.observers = {&recorder};
    const auto report = emu::Run(call.code(), call.kernel(), call.Emulated(),
                                 call.bytes(), call.memory(), run);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(recorder.groups().size(), call.Groups());
    for (const auto& [group, trace] : recorder.groups()) {
      int64_t executed = 0;
      for (const emu::WaveTrace& wave : trace.waves) {
        for (const emu::TraceEvent& event : wave.events) {
          executed += recorder.instructions()[event.step].matrix;
        }
      }
      int64_t expected = 0;
      for (const QueryTileWork& tile : WorkOfGroup(
               call.variant(), call.piece().args, call.piece().shape, group)) {
        // The tile with that many rows and key tiles; if several are alike,
        // all do the same.
        int64_t first = 0;
        while (std::min<int64_t>(256, shape.seqlen_q - first) != tile.rows ||
               WaveKeyTiles(shape, first + (tile.rows - 1) / 32 * 32) !=
                   tile.key_tiles) {
          first += 256;
          ASSERT_LT(first, shape.seqlen_q);
        }
        for (int64_t wave = 0; wave < 8; ++wave) {
          expected += 32 * WaveKeyTiles(shape, first + 32 * wave);
        }
      }
      EXPECT_EQ(executed, expected) << "group " << group;
    }
  }
}

// Tiles that lack rows or see no key are no points of a line through others.
TEST(AttentionLaunchWorkTest, KindsTellRowsAndEmptyTiles) {
  const auto works = [](int64_t seqlen_q, int64_t seqlen_kv) {
    Call call(Mask::kCausal, seqlen_q, seqlen_kv, 1);
    const emu::LaunchWork work = AttentionLaunchWork(
        call.variant(), call.piece().args, call.piece().shape);
    std::map<uint32_t, std::vector<std::vector<int64_t>>> by_kind;
    for (const emu::GroupWork& w : work.works) {
      by_kind[w.kind].push_back(w.steps);
    }
    std::vector<std::vector<std::vector<int64_t>>> kinds;
    for (const auto& [kind, lists] : by_kind) kinds.push_back(lists);
    return kinds;
  };
  using List = std::vector<int64_t>;
  // Seven tiles, the last of 200 rows; the one in the middle is alone.
  EXPECT_THAT(works(1736, 1736),
              UnorderedElementsAre(ElementsAre(List{28, 4}),
                                   ElementsAre(List{20, 12}, List{24, 8}),
                                   ElementsAre(List{16})));
  // Eight tiles, of which the first four see nothing.
  EXPECT_THAT(works(2048, 1024),
              UnorderedElementsAre(ElementsAre(List{4, 0}, List{8, 0},
                                               List{12, 0}, List{16, 0})));
  // The first two see nothing: two pairs with one such, two without.
  EXPECT_THAT(works(2048, 1536),
              UnorderedElementsAre(ElementsAre(List{20, 0}, List{24, 0}),
                                   ElementsAre(List{12, 8}, List{16, 4})));
}

// A later work-group of a compute unit takes what the second of two in a row
// takes, and the first one longer.
TEST(ModelAttentionTimeTest, WarmIsTheSecondOfTwo) {
  Call call(Mask::kFull, 256, 512, 1);
  emu::TraceRecorder recorder;
  emu::RunOptions run;
  run.observers = {&recorder};
  const auto report = emu::Run(call.code(), call.kernel(), call.Emulated(),
                               call.bytes(), call.memory(), run);
  ASSERT_TRUE(report.ok()) << report.status();
  const emu::GroupTrace& trace = recorder.groups().begin()->second;
  const std::vector<const emu::GroupTrace*> twice = {&trace, &trace};
  const emu::ComputeUnitReport row =
      emu::RunComputeUnit(recorder.instructions(), twice, {});
  const double first =
      static_cast<double>(row.groups[0].end - row.groups[0].start);
  const double second =
      static_cast<double>(row.groups[1].end - row.groups[1].start);
  const emu::GroupCost cost =
      emu::CostOfGroup(recorder.instructions(), trace, 1,
                       emu::CycleConstants::Defaults(), recorder.auxiliary());
  EXPECT_EQ(cost.cold, first);
  EXPECT_NEAR(cost.warm / second, 1.0, 0.002);
  EXPECT_GT(cost.cold, cost.warm + 500);  // a scalar load's miss alone
}

TEST(ModelAttentionTimeTest, DoesNotDependOnThreads) {
  Call call(Mask::kCausal, 2048, 2048, 1);
  emu::KernelTimeOptions options = SmallMachine();
  options.threads = 1;
  const auto one = call.Time(options);
  options.threads = 3;
  const auto three = call.Time(options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->clocks, three->clocks);
  EXPECT_EQ(one->milliseconds, three->milliseconds);
  EXPECT_EQ(one->useful_busy, three->useful_busy);
  EXPECT_EQ(one->shares.steady, three->shares.steady);
}

TEST(ModelAttentionTimeTest, LongerTakesLonger) {
  for (const Mask mask : {Mask::kCausal, Mask::kFull}) {
    double clocks = 0, ms = 0;
    for (const int64_t seqlen : {64, 300, 512, 1024, 2048, 2500}) {
      Call call(mask, seqlen, seqlen, 1);
      const auto time = call.Time(SmallMachine());
      ASSERT_TRUE(time.ok()) << time.status();
      EXPECT_GT(time->clocks, clocks) << seqlen;
      EXPECT_GT(time->milliseconds, ms) << seqlen;
      clocks = time->clocks;
      ms = time->milliseconds;
    }
  }
}

// No launch is faster than its matrix instructions alone: 32 clocks each, 32 of
// them for a wave and 64 keys, two waves on a SIMD.
TEST(ModelAttentionTimeTest, MatrixTimeIsALowerBound) {
  Call call(Mask::kFull, 512, 4096, 1);
  emu::KernelTimeOptions options = SmallMachine();
  const auto time = call.Time(options);
  ASSERT_TRUE(time.ok()) << time.status();
  // Two groups, on a compute unit each.
  const double matrix = 2.0 * 32 * 32 * 4096 / 64;
  EXPECT_GT(time->clocks, matrix);
  EXPECT_LT(time->clocks, 2 * matrix);
  // Two of four compute units work.
  EXPECT_NEAR(time->activity.matrix_busy, matrix / time->clocks / 2, 1e-9);
  EXPECT_NEAR(time->shares.tail, 0.5, 0.01);
}

// Which clock turns clocks into time changes nothing else.
TEST(ModelAttentionTimeTest, TheClockChangesTimeAlone) {
  emu::KernelTimeOptions options = SmallMachine();
  options.flops = 1e9;
  std::vector<emu::KernelTime> times;
  for (const char* name : {"line", "toggling", "1.5"}) {
    Call call(Mask::kCausal, 1024, 1024, 2);
    options.clock = *emu::ParseKernelClock(name);
    const auto time = call.Time(options);
    ASSERT_TRUE(time.ok()) << time.status();
    EXPECT_EQ(time->clock_name, name);
    EXPECT_EQ(time->flips.has_value(), options.clock.wants_flips);
    EXPECT_DOUBLE_EQ(time->milliseconds, time->clocks / time->clock_ghz * 1e-6);
    EXPECT_DOUBLE_EQ(time->tflops, 1e9 / time->milliseconds * 1e-9);
    times.push_back(*time);
  }
  EXPECT_EQ(times[2].clock_ghz, 1.5);
  for (size_t i = 1; i < times.size(); ++i) {
    EXPECT_EQ(times[i].clocks, times[0].clocks);
    EXPECT_EQ(times[i].schedule_clocks, times[0].schedule_clocks);
    EXPECT_EQ(times[i].activity.matrix_busy, times[0].activity.matrix_busy);
    EXPECT_EQ(times[i].activity.vector_busy, times[0].activity.vector_busy);
    EXPECT_EQ(times[i].activity.lds_busy, times[0].activity.lds_busy);
    EXPECT_EQ(times[i].useful_busy, times[0].useful_busy);
    EXPECT_NE(times[i].clock_ghz, times[0].clock_ghz);
  }
}

// Operands that never change: only the toggling clock tells them from others.
TEST(ModelAttentionTimeTest, ConstantOperandsHaveAHigherClock) {
  emu::KernelTimeOptions options = SmallMachine();
  options.clock = emu::TogglingClock();
  // A work-group on each compute unit: an idle one would leave power for the
  // peak. 40 tiles of 64 keys: 32 matrix instructions each, for each of 8
  // waves.
  Call gaussian(Mask::kFull, 1024, 2560, 1);
  Call ones(Mask::kFull, 1024, 2560, 1, Numbers::kOnes);
  const auto random = gaussian.Time(options);
  const auto constant = ones.Time(options);
  ASSERT_TRUE(random.ok()) << random.status();
  ASSERT_TRUE(constant.ok()) << constant.status();
  EXPECT_NEAR(constant->clocks / random->clocks, 1, 0.01);
  EXPECT_GT(constant->clock_ghz, random->clock_ghz + 0.1);
  for (const auto& time : {random, constant}) {
    EXPECT_EQ(time->flips->executed, 8u * 32 * 40);
    // Of the window of each wave; at its ends others come between.
    EXPECT_LE(time->flips->compared, 8 * emu::kFlipWindow);
    EXPECT_GT(time->flips->compared, 8 * emu::kFlipWindow * 9 / 10);
    EXPECT_DOUBLE_EQ(
        time->activity.flips_per_clock,
        time->flips->flips_per_busy_clock * time->activity.matrix_busy);
  }
  EXPECT_LT(constant->flips->flips_per_busy_clock, 5);
  // 256 would be random bits; signs and mantissas are, most of an exponent of
  // Gaussian numbers is not.
  EXPECT_GT(random->flips->flips_per_busy_clock, 256 * 8 / 16 / 2);
  EXPECT_LT(random->flips->flips_per_busy_clock, 256);
}

TEST(ModelAttentionTimeTest, RefusesOtherKernels) {
  Call call(Mask::kFull, 64, 64, 1);
  const auto other =
      ModelAttentionTime(call.code(), "other", call.piece().shape, call.bytes(),
                         call.memory(), SmallMachine());
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.status().message(), HasSubstr("kernel is other"));
  const auto short_block =
      ModelAttentionTime(call.code(), call.kernel(), call.piece().shape,
                         absl::MakeConstSpan(call.bytes()).first(100),
                         call.memory(), SmallMachine());
  EXPECT_EQ(short_block.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(short_block.status().message(), HasSubstr("100 bytes"));
}

// A kernel that reads what is not there has no time.
TEST(ModelAttentionTimeTest, FaultsAreErrors) {
  Call call(Mask::kFull, 64, 64, 1);
  std::vector<uint8_t> bytes = call.bytes();
  AttentionArgs args;
  std::memcpy(&args, bytes.data(), sizeof(args));
  args.output = 4096;
  std::memcpy(bytes.data(), &args, sizeof(args));
  const auto time =
      ModelAttentionTime(call.code(), call.kernel(), call.piece().shape, bytes,
                         call.memory(), SmallMachine());
  EXPECT_EQ(time.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(time.status().message(), HasSubstr("out-of-range"));
}

}  // namespace
}  // namespace zyfa
