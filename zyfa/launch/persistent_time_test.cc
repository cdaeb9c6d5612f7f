// Modelled time of persistent work-groups, whose lists of tiles are long: what
// is sampled and interpolated against every single work-group.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/group_cost.h"
#include "zyfa/emu/cycles/group_sampling.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/emu/cycles/launch_work.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/attention_time.h"
#include "zyfa/launch/attention_work.h"
#include "zyfa/launch/plan.h"

namespace zyfa {
namespace {

using ::testing::ElementsAre;

struct Shape {
  Mask mask;
  int64_t seqlen_q, seqlen_kv, heads, batch;
  uint32_t compute_units = 256;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << (shape.mask == Mask::kCausal ? "causal " : "full ") << shape.seqlen_q
       << " x " << shape.seqlen_kv << ", " << shape.heads << " heads, batch "
       << shape.batch << ", " << shape.compute_units << " compute units";
}

struct Planned {
  Variant variant;
  AttentionPiece piece;

  uint64_t groups() const { return piece.shape.grid[0]; }
  emu::LaunchWork work() const {
    return AttentionLaunchWork(variant, piece.args, piece.shape);
  }
  // Every group a work of its own.
  emu::LaunchWork works_of_all() const {
    return emu::CollectWork(
        groups(),
        [](uint64_t group) {
          return emu::GroupWork{static_cast<uint32_t>(group), {1}};
        },
        [](uint64_t group) { return group; });
  }
};

Planned PlanFor(const Shape& shape) {
  AttentionParams params;
  params.mask = shape.mask;
  const auto tensor = [&](uint64_t address, int64_t seqlen, DataType type) {
    return DenseTensor(address, shape.batch, seqlen, shape.heads, 128, type);
  };
  params.query = tensor(1ull << 40, shape.seqlen_q, DataType::kFp8);
  params.key = tensor(2ull << 40, shape.seqlen_kv, DataType::kFp8);
  params.value = tensor(3ull << 40, shape.seqlen_kv, DataType::kFp8);
  params.output = tensor(4ull << 40, shape.seqlen_q, DataType::kBf16);
  LaunchTarget target;
  target.compute_units = shape.compute_units;
  const auto plan = PlanAttention(params, target);
  EXPECT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(PieceCount(*plan), 1);
  return {plan->kernel->variant, MakePiece(*plan, 0)};
}

// What a group may cost: tiles have a part that does not depend on the keys,
// odd numbers of steps cost a little more, and lacking rows less.
emu::GroupCost CostOf(const std::vector<QueryTileWork>& tiles) {
  emu::GroupCost cost;
  for (const QueryTileWork& tile : tiles) {
    const auto steps = static_cast<double>(tile.key_tiles);
    cost.warm += tile.key_tiles == 0
                     ? 300.0
                     : 1800 + 1100 * steps + 70 * (tile.key_tiles % 2) -
                           2.0 * (256 - double(tile.rows));
    cost.matrix += 4 * 1024 * steps;
    cost.memory_bytes += 64 * 256 * steps + 65536;
  }
  cost.useful = 0.9 * cost.matrix;
  cost.cold = cost.warm + 900;
  return cost;
}

// The kind of each group, numbered as they come.
std::vector<int> KindsOf(const Shape& shape) {
  const emu::LaunchWork work = PlanFor(shape).work();
  std::map<uint32_t, int> numbers;
  std::vector<int> kinds;
  for (const uint32_t index : work.order) {
    const int next = static_cast<int>(numbers.size());
    kinds.push_back(
        numbers.try_emplace(work.works[index].kind, next).first->second);
  }
  return kinds;
}

// Lists of other lengths, rows or empty tiles are no points of one line,
// wherever in a long list that is.
TEST(PersistentKindsTest, TellLengthsRowsAndEmptyTiles) {
  // 24 tiles a group. The last tiles of 12 heads, which lack rows, come first:
  // one for each of 8 groups, then 4 more.
  EXPECT_THAT(KindsOf({Mask::kCausal, 4000, 4000, 12, 1, 8}),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  // The same without a tile that lacks rows.
  EXPECT_THAT(KindsOf({Mask::kCausal, 4096, 4096, 12, 1, 8}),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  // 28 tiles of two heads without keys in the first of them: items 26 and 27.
  // Rounds of 8: the fourth has four items, which groups 0 to 3 take.
  EXPECT_THAT(KindsOf({Mask::kCausal, 14 * 256, 13 * 256, 2, 1, 8}),
              ElementsAre(0, 0, 1, 1, 2, 2, 2, 2));
  // 20 tiles without a mask: four groups have one more.
  EXPECT_THAT(KindsOf({Mask::kFull, 5 * 256, 700, 4, 1, 8}),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

class InterpolationTest : public ::testing::TestWithParam<Shape> {};

TEST_P(InterpolationTest, AgreesWithTheCostOfEveryGroup) {
  const Planned p = PlanFor(GetParam());
  const auto cost_of = [&](uint64_t group) {
    return CostOf(WorkOfGroup(p.variant, p.piece.args, p.piece.shape, group));
  };
  const emu::KernelTimeOptions options;
  std::vector<emu::GroupCost> all;
  for (uint64_t group = 0; group < p.groups(); ++group) {
    all.push_back(cost_of(group));
  }
  const auto full = emu::ScheduleKernel(p.works_of_all(), all, 1, options);
  ASSERT_TRUE(full.ok()) << full.status();

  const emu::LaunchWork work = p.work();
  ASSERT_TRUE(emu::CheckWork(work, p.groups()).ok());
  const std::vector<size_t> samples =
      emu::ChooseSamples(work.works, {.steps = 0});
  std::vector<emu::GroupCost> costs;
  for (const size_t sample : samples) {
    costs.push_back(cost_of(work.examples[sample]));
  }
  // A few kinds of three works each, whatever the shape.
  EXPECT_LE(samples.size(), 18u);
  const auto sampled = emu::ScheduleKernel(
      work, emu::InterpolateCosts(work.works, samples, costs), 1, options);
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  RecordProperty("samples", static_cast<int>(samples.size()));
  RecordProperty("works", static_cast<int>(work.works.size()));
  RecordProperty("ratio", std::to_string(sampled->clocks / full->clocks));
  EXPECT_NEAR(sampled->clocks / full->clocks, 1, 0.002);
  EXPECT_NEAR(sampled->l2_clocks / full->l2_clocks, 1, 0.002);
  EXPECT_NEAR(sampled->useful_busy, full->useful_busy, 0.002);
  EXPECT_NEAR(sampled->shares.tail, full->shares.tail, 0.002);
  EXPECT_EQ(sampled->groups, full->groups);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, InterpolationTest,
    ::testing::Values(
        // 4 and 8 tiles a group, whose totals are all alike.
        Shape{Mask::kCausal, 16384, 16384, 16, 1},
        Shape{Mask::kCausal, 32768, 32768, 16, 1},
        // A hundred different lists and totals, of 16 and 17 tiles.
        Shape{Mask::kCausal, 26112, 26112, 41, 1},
        Shape{Mask::kCausal, 9728, 9728, 37, 3},
        // The first tiles lack rows.
        Shape{Mask::kCausal, 16000, 16000, 40, 1},
        Shape{Mask::kCausal, 4000, 9000, 40, 4},
        Shape{Mask::kCausal, 1111, 1111, 150, 7},
        // The last ones see no key.
        Shape{Mask::kCausal, 16384, 9000, 40, 1},
        Shape{Mask::kCausal, 5000, 1000, 48, 5},
        // Fewer items than compute units.
        Shape{Mask::kCausal, 2048, 2048, 16, 1},
        Shape{Mask::kCausal, 500, 500, 5, 1},
        Shape{Mask::kFull, 16384, 16384, 16, 1},
        Shape{Mask::kFull, 5000, 3333, 40, 3},
        Shape{Mask::kFull, 5000, 0, 40, 3}));

// A kernel that goes by the same arguments and order of items, in its own
// words: what it executes is what WorkOfGroup() says, and a few of its groups
// tell the time of all.
class KernelTest : public ::testing::TestWithParam<Shape> {
 protected:
  KernelTest() : planned_(PlanFor(GetParam())) {
    std::ifstream in("zyfa/launch/persistent_kernel.co", std::ios::binary);
    bytes_.assign((std::istreambuf_iterator<char>(in)),
                  std::istreambuf_iterator<char>());
    code_ = *emu::CodeObject::Load(bytes_);
    kernarg_.resize(sizeof(AttentionArgs));
    std::memcpy(kernarg_.data(), &planned_.piece.args, kernarg_.size());
    launch_.code = code_.get();
    launch_.kernel = "persistent_kernel";
    for (int i = 0; i < 3; ++i) {
      launch_.shape.grid[i] = planned_.piece.shape.grid[i];
      launch_.shape.workgroup[i] = planned_.piece.shape.block[i];
    }
    launch_.kernarg = kernarg_;
    launch_.memory = &memory_;
    options_.machine.xcds = 2;
    options_.machine.compute_units = 4;
  }

  Planned planned_;
  std::vector<uint8_t> bytes_, kernarg_;
  std::unique_ptr<emu::CodeObject> code_;
  emu::DeviceMemory memory_;
  emu::EmulatedLaunch launch_;
  emu::KernelTimeOptions options_;
};

TEST_P(KernelTest, ExecutesTheWorkOfItsGroups) {
  emu::TraceRecorder recorder;
  emu::RunOptions run;
  run.observers = {&recorder};
  const auto report =
      emu::Run(*code_, launch_.kernel, launch_.shape, kernarg_, memory_, run);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(report->has_errors()) << report->findings[0].detail;
  ASSERT_EQ(recorder.groups().size(), planned_.groups());
  for (const auto& [group, trace] : recorder.groups()) {
    int64_t executed = 0, expected = 0;
    for (const emu::WaveTrace& wave : trace.waves) {
      for (const emu::TraceEvent& event : wave.events) {
        executed += recorder.instructions()[event.step].matrix;
      }
    }
    for (const QueryTileWork& tile :
         WorkOfGroup(planned_.variant, planned_.piece.args,
                     planned_.piece.shape, group)) {
      expected += 8 * 4 * tile.key_tiles;
    }
    EXPECT_EQ(executed, expected) << "group " << group;
  }
}

TEST_P(KernelTest, SamplesTellTheTimeOfAll) {
  options_.sampling.steps = 0;
  const auto sampled = emu::ModelKernelTime(launch_, planned_.work(), options_);
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  options_.sampling.steps = INT64_MAX;
  const auto full =
      emu::ModelKernelTime(launch_, planned_.works_of_all(), options_);
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(full->samples.size(), planned_.groups());
  RecordProperty("samples", static_cast<int>(sampled->samples.size()));
  RecordProperty("ratio", std::to_string(sampled->clocks / full->clocks));
  EXPECT_NEAR(sampled->clocks / full->clocks, 1, 0.005);
  EXPECT_NEAR(sampled->activity.matrix_busy, full->activity.matrix_busy, 0.005);
  EXPECT_GT(full->activity.matrix_busy, 0.05);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, KernelTest,
    ::testing::Values(Shape{Mask::kCausal, 4096, 4096, 8, 1, 8},  // 16 tiles
                      Shape{Mask::kCausal, 3000, 3000, 5, 2, 8},
                      Shape{Mask::kCausal, 2048, 1100, 7, 2, 8},
                      Shape{Mask::kCausal, 700, 900, 5, 3, 16},
                      Shape{Mask::kCausal, 700, 900, 2, 1, 8}));

}  // namespace
}  // namespace zyfa
