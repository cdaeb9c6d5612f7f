// What the recorder finds of accesses and operands (zyfa/emu/testdata/timing.s
// and kernels of others), and that it changes nothing.

#include "zyfa/emu/cycles/trace_recorder.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// Runs a kernel of timing.s and keeps its recorder.
struct Timing : TestDevice {
  explicit Timing(const std::string& kernel) : TestDevice("timing") {
    // Aligned to a line of 128 bytes, as device memory gives it out.
    in = Upload(std::vector<uint32_t>(4096));
    out = Upload(std::vector<uint32_t>(4096));
    RunOptions options;
    options.observers = {&recorder};
    const auto report =
        Run(kernel, Shape(1, 64), Kernarg().Add(out).Add(in), options);
    if (!report.ok()) ADD_FAILURE() << report.status();
    EXPECT_EQ(in % 128, 0u);
  }
  // Text and load of the only wave's instructions of which the text begins so.
  std::vector<std::pair<std::string, uint32_t>> Loads(
      const std::string& prefix) const {
    std::vector<std::pair<std::string, uint32_t>> loads;
    for (const TraceEvent& event : recorder.groups().at(0).waves.at(0).events) {
      const std::string& text = recorder.instructions()[event.step].text;
      if (text.rfind(prefix, 0) == 0) loads.emplace_back(text, event.load);
    }
    return loads;
  }
  void ExpectLoads(const std::string& prefix,
                   const std::vector<uint32_t>& want) const {
    const auto loads = Loads(prefix);
    ASSERT_EQ(loads.size(), want.size()) << prefix;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(loads[i].second, want[i]) << loads[i].first;
    }
  }

  TraceRecorder recorder;
  uint64_t in = 0, out = 0;
};

uint32_t Lds(uint32_t passes, uint32_t bytes) {
  return passes | bytes / 128 << 16;
}

// Turns of the banks by the groups of cdna4-timing 4, bytes over 128 beside.
TEST(TraceRecorder, LdsPasses) {
  const Timing device("accesses");
  device.ExpectLoads("ds_write", {Lds(4, 512), Lds(8, 1024), Lds(8, 512),
                                  // Rows of 256 bytes: 8 lanes in one bank.
                                  Lds(64, 1024)});
  device.ExpectLoads(
      "ds_read",
      {Lds(1, 256), Lds(2, 512), Lds(2, 512), Lds(4, 1024), Lds(4, 1024),
       // 16 lanes of each of four groups in the same banks.
       Lds(64, 1024),
       // Not aligned: a lane a turn.
       Lds(64, 1024),
       // Two reads of 8 bytes in one.
       Lds(4, 1024),
       // One dword for all.
       Lds(1, 256),
       // 32 lanes of 8 bytes.
       Lds(1, 256)});
}

// Distinct lines of 128 bytes.
TEST(TraceRecorder, LinesOfVectorMemory) {
  const Timing device("accesses");
  device.ExpectLoads("global_load", {8, 4, 2, 3, 64, 1, 65, 8, 1, 0});
  device.ExpectLoads("global_store", {8});
  // All loads and the store, in bytes.
  EXPECT_EQ(device.recorder.groups().at(0).memory_bytes,
            64u * (16 + 8 + 4 + 4 + 4 + 4 + 16 + 16) + 32 * 4 + 64 * 16);
}

TEST(TraceRecorder, OthersHaveNoLoad) {
  const Timing device("accesses");
  for (const std::string prefix : {"v_", "s_"}) {
    for (const auto& [text, load] : device.Loads(prefix)) {
      EXPECT_EQ(load, 0u) << text;
    }
  }
}

// A or B the same in all lanes, zero in half of them, or ones and zeros, each
// time.
TEST(TraceRecorder, AuxiliaryMatrixInstructions) {
  const Timing device("matrices");
  std::vector<bool> auxiliary;
  const auto& instructions = device.recorder.instructions();
  ASSERT_EQ(device.recorder.auxiliary().size(), instructions.size());
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].matrix) {
      auxiliary.push_back(device.recorder.auxiliary()[i]);
    }
  }
  // The last one: ones at first, then a product.
  EXPECT_EQ(auxiliary, (std::vector<bool>{false, true, true, true, false}));
}

// Its events are the instructions that the wave executed, in that order.
TEST(TraceRecorder, FollowsTheLoop) {
  const Timing device("matrices");
  const auto& instructions = device.recorder.instructions();
  const auto& events = device.recorder.groups().at(0).waves.at(0).events;
  std::vector<uint64_t> back;
  for (size_t i = 1; i < events.size(); ++i) {
    if (events[i].step != events[i - 1].step + 1) {
      EXPECT_EQ(instructions[events[i - 1].step].control, ControlKind::kBranch);
      back.push_back(events[i].step);
    }
  }
  EXPECT_EQ(back.size(), 1u);
  EXPECT_EQ(instructions[events.back().step].control, ControlKind::kEnd);
}

// A run gives the same bits and counts with the recorder as without.
TEST(TraceRecorder, ChangesNothing) {
  const uint32_t n = 64;
  std::vector<float> results[2];
  uint64_t instructions[2];
  for (const bool recorded : {false, true}) {
    TestDevice device("control");
    std::vector<float> values(256);
    std::iota(values.begin(), values.end(), 0.25f);
    const uint64_t in = device.Upload(values);
    const uint64_t out = device.Upload(std::vector<float>(256));
    TraceRecorder recorder;
    RunOptions options = StrictOptions();
    if (recorded) options.observers = {&recorder};
    const RunReport report = device.RunClean(
        "add_one", Shape(2, 128),
        Kernarg().Add(out).Add(in).Add(n).Add(uint32_t{0}), options);
    results[recorded] = device.Download<float>(out, 256);
    instructions[recorded] = report.instructions;
    if (!recorded) continue;
    uint64_t traced = 0;
    ASSERT_EQ(recorder.groups().size(), 2u);
    for (const auto& [id, group] : recorder.groups()) {
      EXPECT_EQ(group.group, id);
      EXPECT_EQ(group.waves.size(), 2u);
      traced += group.instructions();
    }
    EXPECT_EQ(traced, report.instructions);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(instructions[0], instructions[1]);
  EXPECT_EQ(results[1][3], 4.25f);
}

}  // namespace
}  // namespace zyfa::emu
