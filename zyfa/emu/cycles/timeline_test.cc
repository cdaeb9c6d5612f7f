#include "zyfa/emu/cycles/timeline.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/period_csv.h"
#include "zyfa/emu/cycles/phases_replay.h"
#include "zyfa/emu/cycles/region_account.h"
#include "zyfa/emu/cycles/trace_json.h"

namespace zyfa::emu {
namespace {

void ExpectApart(const std::vector<Slice>& slices, const std::string& track) {
  for (size_t i = 0; i < slices.size(); ++i) {
    EXPECT_GT(slices[i].clocks, 0u) << track << " " << i;
    if (i == 0) continue;
    EXPECT_GE(slices[i].start, slices[i - 1].start + slices[i - 1].clocks)
        << track << " at " << slices[i].start;
  }
}

Timeline Recorded(const PhasesReplay& replay, ClockWindow window) {
  Timeline timeline(replay.recorder().instructions(), window);
  replay.Run(&timeline);
  timeline.Finish();
  return timeline;
}

TimelineNames NamesOf(const PhasesReplay& replay) {
  return {replay.kernel().name,
          replay.recorder().instructions(),
          replay.phases(),
          {0}};
}

TEST(Timeline, PipesDoOneThingAtATime) {
  const PhasesReplay replay("phased", 512, 6);
  const Timeline timeline = Recorded(replay, {});
  for (size_t simd = 0; simd < kSimds; ++simd) {
    for (int p = 0; p < kPipes; ++p) {
      const Pipe pipe = static_cast<Pipe>(p);
      ExpectApart(timeline.pipe(simd, pipe),
                  absl::StrCat("SIMD ", simd, " ", PipeName(pipe)));
    }
    // Two waves, 9 in each pass.
    EXPECT_EQ(timeline.pipe(simd, Pipe::kMatrix).size(), 2u * 6 * 9);
    EXPECT_EQ(timeline.pipe(simd, Pipe::kMatrix)[0].clocks, 32u);
    EXPECT_TRUE(timeline.pipe(simd, Pipe::kLds).empty());
  }
}

// What a wave does not issue, it waits for: its slices leave no gap.
TEST(Timeline, WavesAreFullyAccountedFor) {
  const PhasesReplay replay("phased", 512, 6);
  const Timeline timeline = Recorded(replay, {});
  RegionAccount account(replay.recorder().instructions(), {}, {});
  replay.Run(&account);
  account.Finish();
  ASSERT_EQ(timeline.waves().size(), 8u);
  std::set<std::pair<uint16_t, uint16_t>> order;
  for (const std::vector<Slice>& slices : timeline.waves()) {
    const uint16_t number = slices.front().wave;
    ExpectApart(slices, absl::StrCat("wave ", number));
    uint64_t clocks = 0;
    for (const Slice& slice : slices) clocks += slice.clocks;
    EXPECT_EQ(clocks, account.waves()[number].clocks) << number;
    EXPECT_EQ(clocks,
              slices.back().start + slices.back().clocks - slices.front().start)
        << number;
    EXPECT_EQ(slices.front().simd, number % kSimds);
    order.emplace(slices.front().simd, number);
    EXPECT_EQ(*order.rbegin(), std::pair(slices.front().simd, number));
  }
}

TEST(Timeline, WindowKeepsWhatReachesIn) {
  const PhasesReplay replay("phased", 512, 6);
  const Timeline all = Recorded(replay, {});
  const ClockWindow window = {1500, 2100};
  const Timeline some = Recorded(replay, window);
  size_t expected = 0;
  for (const Slice& slice : all.pipe(1, Pipe::kMatrix)) {
    const bool in =
        slice.start < window.to && slice.start + slice.clocks > window.from;
    expected += in;
  }
  EXPECT_GT(expected, 0u);
  EXPECT_LT(expected, all.pipe(1, Pipe::kMatrix).size());
  EXPECT_EQ(some.pipe(1, Pipe::kMatrix).size(), expected);
}

TEST(SteadyWindow, WholePasses) {
  const PhasesReplay replay("unnamed", 64, 12);
  const ComputeUnitReport report = replay.Run(nullptr);
  const uint32_t head = replay.loops().at(0).head;
  const std::optional<ClockWindow> window = SteadyWindow(report, head, 0, 2);
  ASSERT_TRUE(window.has_value());
  // 7 matrix instructions until the last issues, 8 clocks behind it the first
  // exponential, 11 more, then subtraction, comparison, and the branch.
  const CycleConstants c = CycleConstants::Defaults();
  const double pass =
      7 * 32 + 8 + 11 * c.vector_transcendental + 3 * 4 + c.branch_taken;
  EXPECT_EQ(static_cast<double>(window->to - window->from), 2 * pass);
  EXPECT_GT(window->from, 4 * static_cast<uint64_t>(pass));
  EXPECT_LT(window->to, report.clocks - 4 * static_cast<uint64_t>(pass));
  EXPECT_FALSE(SteadyWindow(report, head, 0, 12).has_value());
  EXPECT_FALSE(SteadyWindow(report, head, 1, 1).has_value());
}

// The file as a reader of the format would see it, through protobuf's parser.
TEST(TraceEventJson, IsValidAndItsTracksDoNotOverlap) {
  const PhasesReplay replay("phased", 512, 6);
  const Timeline timeline = Recorded(replay, {1000, 3000});
  const auto json = TraceEventJson(timeline, NamesOf(replay));
  ASSERT_TRUE(json.ok()) << json.status();
  google::protobuf::Struct root;
  const auto parsed = google::protobuf::util::JsonStringToMessage(*json, &root);
  ASSERT_TRUE(parsed.ok()) << parsed.ToString();
  const auto& fields = root.fields();
  ASSERT_TRUE(fields.contains("traceEvents"));
  EXPECT_EQ(fields.at("otherData")
                .struct_value()
                .fields()
                .at("source")
                .string_value(),
            "modelled");

  std::map<std::pair<double, double>, std::string> tracks;
  std::map<std::pair<double, double>, double> ends;
  std::set<std::string> instructions, waits;
  for (const auto& value : fields.at("traceEvents").list_value().values()) {
    const auto& event = value.struct_value().fields();
    const std::string name = event.at("name").string_value();
    const std::string ph = event.at("ph").string_value();
    const auto& args = event.at("args").struct_value().fields();
    if (ph == "M") {
      if (name == "thread_name") {
        tracks[{event.at("pid").number_value(),
                event.at("tid").number_value()}] =
            args.at("name").string_value();
      }
      continue;
    }
    ASSERT_EQ(ph, "X");
    const std::pair track = {event.at("pid").number_value(),
                             event.at("tid").number_value()};
    ASSERT_TRUE(tracks.contains(track)) << *json;
    const double start = event.at("ts").number_value();
    const double clocks = event.at("dur").number_value();
    EXPECT_GT(clocks, 0);
    if (ends.contains(track)) {
      EXPECT_GE(start, ends[track]) << tracks[track];
    }
    ends[track] = start + clocks;
    (event.at("cat").string_value() == "wait" ? waits : instructions)
        .insert(name);
    EXPECT_EQ(args.at("address").string_value().substr(0, 2), "0x");
    const std::string phase = args.at("phase").string_value();
    if (name == "v_exp_f32_e32") {
      EXPECT_EQ(phase, "soften");
    }
    if (name == "v_mfma_f32_32x32x16_bf16") {
      EXPECT_EQ(args.at("instruction").string_value().substr(0, 25),
                name + " ");
      EXPECT_TRUE(phase == "multiply" || phase == "row_sums") << phase;
    }
  }
  std::multiset<std::string> names;
  for (const auto& [track, name] : tracks) names.insert(name);
  EXPECT_EQ(names.count("matrix pipe"), 4u);
  EXPECT_EQ(names.count("vector pipe"), 4u);
  EXPECT_EQ(names.count("scalar issue"), 4u);
  for (int wave = 0; wave < 8; ++wave) {
    EXPECT_EQ(names.count(absl::StrCat("group 0 wave ", wave)), 1u) << wave;
  }
  EXPECT_TRUE(instructions.contains("v_exp_f32_e32"));
  EXPECT_TRUE(instructions.contains("s_cbranch_scc1"));
  EXPECT_TRUE(waits.contains("matrix pipe"));
  EXPECT_TRUE(waits.contains("barrier"));
}

TEST(PeriodCsv, OneSimd) {
  const PhasesReplay replay("phased", 512, 6);
  const Timeline timeline = Recorded(replay, {1000, 3000});
  const std::string csv =
      PeriodCsv(timeline, NamesOf(replay), replay.recorder().auxiliary(), 2);
  std::vector<std::string> lines = absl::StrSplit(csv, '\n');
  ASSERT_GT(lines.size(), 20u);
  EXPECT_EQ(lines[0], "# kernel: phased");
  EXPECT_EQ(lines[1], "# simd: 2");
  EXPECT_EQ(lines[2], "# from: 1000");
  EXPECT_EQ(lines[3], "# clocks: 2000");
  EXPECT_EQ(lines[4], "track,start,clocks,what,phase,name,address");
  EXPECT_EQ(lines.back(), "");
  std::set<std::string> tracks, classes;
  size_t matrix = 0;
  for (size_t i = 5; i + 1 < lines.size(); ++i) {
    const std::vector<std::string> cells = absl::StrSplit(lines[i], ',');
    ASSERT_EQ(cells.size(), 7u) << lines[i];
    tracks.insert(cells[0]);
    classes.insert(cells[3]);
    matrix += cells[0] == "matrix pipe";
    int64_t start = 0;
    ASSERT_TRUE(absl::SimpleAtoi(cells[1], &start)) << lines[i];
    EXPECT_LT(start, 2000) << lines[i];
    EXPECT_EQ(cells[3] == "auxiliary",
              cells[4] == "row_sums" && cells[3] != "wait")
        << lines[i];
  }
  EXPECT_EQ(tracks, (std::set<std::string>{"matrix pipe", "vector pipe",
                                           "wave 2", "wave 6"}));
  EXPECT_EQ(classes,
            (std::set<std::string>{"matrix", "auxiliary", "transcendental",
                                   "scalar", "control", "wait"}));
  EXPECT_EQ(matrix, timeline.pipe(2, Pipe::kMatrix).size());
}

}  // namespace
}  // namespace zyfa::emu
