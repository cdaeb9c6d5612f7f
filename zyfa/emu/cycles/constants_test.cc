#include "zyfa/emu/cycles/constants.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

TEST(CycleConstants, TableIsWhole) {
  std::set<std::string> names;
  std::set<std::ptrdiff_t> offsets;
  CycleConstants constants{};
  for (const CycleConstant& row : CycleConstantTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    offsets.insert(&(constants.*row.field) -
                   reinterpret_cast<double*>(&constants));
    EXPECT_LE(row.low, row.value) << row.name;
    EXPECT_LE(row.value, row.high) << row.name;
    EXPECT_GE(row.low, 0) << row.name;
    EXPECT_GT(std::strlen(row.source), 0u) << row.name;
    EXPECT_GT(std::strlen(ConfidenceName(row.confidence)), 0u) << row.name;
  }
  // The struct is doubles and nothing else: a row for each.
  EXPECT_EQ(offsets.size(), sizeof(CycleConstants) / sizeof(double));
  EXPECT_EQ(names.size(), offsets.size());
}

TEST(CycleConstants, DefaultsAreTheTables) {
  const CycleConstants constants = CycleConstants::Defaults();
  for (const CycleConstant& row : CycleConstantTable()) {
    EXPECT_EQ(constants.*row.field, row.value) << row.name;
  }
}

// Figures that cdna4-timing 8 recommends.
TEST(CycleConstants, DefaultsOfTheReference) {
  const CycleConstants c = CycleConstants::Defaults();
  EXPECT_EQ(c.vector_ordinary, 4);
  EXPECT_EQ(c.vector_transcendental, 8);
  EXPECT_EQ(c.vector_permlane_swap, 8);
  EXPECT_EQ(c.vector_packed_fp32, 4);
  EXPECT_EQ(c.vector_convert_fp8, 4);
  EXPECT_EQ(c.vector_convert_int, 4);
  EXPECT_EQ(c.matrix_scaled_idle, 4);
  EXPECT_EQ(c.port_three_source_lds, 1);
  EXPECT_EQ(c.issue_shared_memory_port, 1);
  EXPECT_EQ(c.lds_latency, 64);
  EXPECT_EQ(c.lds_fifo, 8);
  EXPECT_EQ(c.lds_path_bytes, 128);
  EXPECT_EQ(c.memory_wide_minimum, 16);
  EXPECT_EQ(c.memory_in_flight, 32 + c.memory_queue);
  // 44 KB in 1000 clocks, 8 lines a KB.
  EXPECT_NEAR(44 * 8 * c.memory_return, 1000, 1);
  EXPECT_GE(c.memory_round_trip, 600);
  EXPECT_LE(c.memory_round_trip, 1500);
}

// The file has one end of the range of every constant that has a range, and by
// it nothing gets faster: what takes clocks is at the high end, rates and
// capacities are at the low one.
TEST(PessimisticConstants, AreTheSlowEndOfEveryRange) {
  const auto c =
      LoadCycleConstants("zyfa/emu/cycles/pessimistic_constants.txt");
  ASSERT_TRUE(c.ok()) << c.status();
  const std::set<std::string> slow_when_low = {
      "hold.bytes_per_slot",   "convert_fp8.beside_matrix", "memory.in_flight",
      "memory.queue",          "memory.l1_lines",           "hbm.bytes_per_ns",
      "l2.bytes_per_clock_xcd"};
  for (const CycleConstant& row : CycleConstantTable()) {
    if (std::string(row.name) == "issue.oldest_first") {
      EXPECT_EQ((*c).*row.field, row.value);
      continue;
    }
    EXPECT_EQ((*c).*row.field,
              slow_when_low.count(row.name) != 0 ? row.low : row.high)
        << row.name;
  }
}

TEST(ChangedConstants, NamesWhatDiffers) {
  CycleConstants constants = CycleConstants::Defaults();
  EXPECT_TRUE(ChangedConstants(constants).empty());
  ASSERT_TRUE(
      ApplyOverrides("lds.fifo = 4\nbarrier.release = 40", constants).ok());
  EXPECT_EQ(ChangedConstants(constants),
            (std::vector<std::string>{"barrier.release = 40", "lds.fifo = 4"}));
}

TEST(ApplyOverrides, SetsWhatItNames) {
  CycleConstants constants = CycleConstants::Defaults();
  ASSERT_TRUE(ApplyOverrides("# a comment\n"
                             "\n"
                             "lds.latency = 80  # behind it\n"
                             "  vector.packed_fp32=8\t\n"
                             "lds.latency = 40\r\n"
                             "fetch.miss = 0",
                             constants)
                  .ok());
  CycleConstants want = CycleConstants::Defaults();
  want.lds_latency = 40;  // the later line
  want.vector_packed_fp32 = 8;
  want.fetch_miss = 0;
  for (const CycleConstant& row : CycleConstantTable()) {
    EXPECT_EQ(constants.*row.field, want.*row.field) << row.name;
  }
}

TEST(ApplyOverrides, EveryName) {
  for (const CycleConstant& row : CycleConstantTable()) {
    CycleConstants constants = CycleConstants::Defaults();
    ASSERT_TRUE(
        ApplyOverrides(std::string(row.name) + " = 12345.5", constants).ok());
    for (const CycleConstant& other : CycleConstantTable()) {
      EXPECT_EQ(constants.*other.field, &other == &row ? 12345.5 : other.value);
    }
  }
}

TEST(ApplyOverrides, RefusesWithTheLine) {
  struct Case {
    const char* text;
    const char* told;
  };
  for (const Case& c : {
           Case{"lds.latency = 64\nlds.latencies = 64", "line 2"},
           {"lds.latencies = 64", "lds.latencies"},
           {"lds.latency = many", "many"},
           {"lds.latency = ", "from 0 to 1e9"},
           {"lds.latency = -1", "-1"},
           {"lds.latency = nan", "nan"},
           {"lds.latency = inf", "inf"},
           {"lds.latency = 1e10", "1e10"},
           {"lds.latency 64", "lds.latency 64"},
           {"lds.latency", "from 0 to 1e9"},
           {"lds.latency = 64 = 65", "64 = 65"},
           {"= 64", "no constant is named"},
       }) {
    CycleConstants constants = CycleConstants::Defaults();
    const absl::Status status = ApplyOverrides(c.text, constants);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_NE(status.message().find(c.told), std::string::npos) << status;
    EXPECT_NE(status.message().find("line "), std::string::npos) << status;
    EXPECT_EQ(constants.lds_latency, 64);
  }
}

TEST(LoadCycleConstants, FromAFile) {
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR")) + "/overrides";
  std::ofstream(path) << "barrier.release = 40\n";
  const auto constants = LoadCycleConstants(path);
  ASSERT_TRUE(constants.ok()) << constants.status();
  EXPECT_EQ(constants->barrier_release, 40);
  std::ofstream(path) << "barrier.release = much\n";
  const auto bad = LoadCycleConstants(path);
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(bad.status().message().find(path), std::string::npos);
  EXPECT_EQ(LoadCycleConstants(std::getenv("TEST_TMPDIR")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadCycleConstants(path + ".none").status().code(),
            absl::StatusCode::kNotFound);
  const auto none = LoadCycleConstants("");
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->barrier_release, CycleConstants::Defaults().barrier_release);
}

}  // namespace
}  // namespace zyfa::emu
