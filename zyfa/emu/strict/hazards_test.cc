#include "zyfa/emu/strict/hazards.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

struct Row {
  int states = 0;
  std::string code, rule, level;
};

// The rows of testdata/hazards.s.
std::vector<Row> ReadRows() {
  const std::vector<uint8_t> bytes = ReadData("zyfa/emu/testdata/hazards.s");
  const std::string text(bytes.begin(), bytes.end());
  const std::regex line(
      "\\n +row (\\d+), (\\d+), (\"[^\"]+\", \"[^\"]+\")"
      "(?:, \"([^\"]+)\", (error|warning)(?:, \\d+)?)?(?=\\n)");
  std::vector<Row> rows;
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end;
       ++it) {
    EXPECT_EQ(static_cast<size_t>(std::stoi((*it)[1])), rows.size());
    rows.push_back({std::stoi((*it)[2]), (*it)[3], (*it)[4], (*it)[5]});
  }
  return rows;
}

TEST(Hazards, OneStateTooFewIsFoundAndEnoughIsNot) {
  const std::vector<Row> rows = ReadRows();
  ASSERT_GT(rows.size(), 100u);
  TestDevice device("hazards");
  const uint64_t out = device.Upload(std::vector<uint32_t>(1024));
  const auto report =
      device.Run("hazards", Shape(1, 64), Kernarg().Add(out).Add(uint64_t{0}));
  ASSERT_TRUE(report.ok()) << report.status();

  // Byte of .text to what s90 said there.
  std::map<uint64_t, int> markers;
  for (const Instruction& inst : device.code().instructions()) {
    if (inst.mnemonic == "s_movk_i32") {
      markers[inst.address] = static_cast<int>(inst.operands[1].integer);
    }
  }
  std::map<int, std::vector<std::string>> found;
  for (const Finding& finding : report->findings) {
    if (finding.rule.compare(0, 7, "hazard-") != 0) continue;
    const auto after = markers.upper_bound(finding.pc);
    ASSERT_NE(after, markers.begin());
    found[std::prev(after)->second].push_back(
        finding.rule +
        (finding.severity == Severity::kError ? " error" : " warning"));
    EXPECT_EQ(finding.kernel, "hazards");
    EXPECT_EQ(finding.wave, 0);
    EXPECT_FALSE(finding.disassembly.empty());
    // Macros hold more instructions than the two.
    const Row& row = rows[static_cast<size_t>(std::prev(after)->second / 2)];
    if (row.code.find("product") != std::string::npos) continue;
    EXPECT_EQ(finding.detail.find(std::to_string(row.states) + " wait states"),
              0u)
        << finding.detail;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const auto& enough = found[static_cast<int>(2 * i + 1)];
    EXPECT_TRUE(enough.empty())
        << row.code << " with " << row.states << ": " << enough[0];
    if (row.states == 0) continue;
    const auto& few = found[static_cast<int>(2 * i)];
    ASSERT_FALSE(few.empty()) << row.code << " with fewer than " << row.states;
    for (const std::string& rule : few) {
      EXPECT_EQ(rule, row.rule + " " + row.level) << row.code;
    }
  }
}

// The end of hazards.s: forms that are wrong by themselves.
TEST(Hazards, FaultyFormsAndLanesThatAreOff) {
  TestDevice device("hazards");
  const uint64_t out = device.Upload(std::vector<uint32_t>(1024));
  const auto report =
      device.Run("hazards", Shape(1, 64), Kernarg().Add(out).Add(uint64_t{0}));
  ASSERT_TRUE(report.ok()) << report.status();
  uint64_t places[4] = {};  // of the markers 1000 to 1003
  for (const Instruction& inst : device.code().instructions()) {
    if (inst.mnemonic != "s_movk_i32") continue;
    const int64_t marker = inst.operands[1].integer - 1000;
    if (marker >= 0 && marker < 4) places[marker] = inst.address;
  }
  std::vector<std::string> found;
  for (const Finding& f : report->findings) {
    if (f.rule != "pk-fma-fault" && f.rule != "partial-exec") continue;
    EXPECT_EQ(f.severity, Severity::kError);
    const size_t first = f.rule == "pk-fma-fault" ? 0 : 2;
    EXPECT_GT(f.pc, places[first]);
    EXPECT_LT(f.pc, places[first + 1]);
    found.push_back(f.rule);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"pk-fma-fault", "partial-exec"}));
}

}  // namespace
}  // namespace zyfa::emu
