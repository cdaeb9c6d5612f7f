#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "zyfa/emu/inspect/breakpoint.h"
#include "zyfa/emu/inspect/trace.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class AddOne : public TestDevice {
 public:
  AddOne() : TestDevice("control") {
    std::vector<float> values(256);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
    in = Upload(values);
    out = Upload(std::vector<float>(256));
  }
  RunReport RunWith(ObserverFactory& observer) {
    RunOptions options;
    options.observers.push_back(&observer);
    return RunClean(
        "add_one", Shape(1, 256),
        Kernarg().Add(out).Add(in).Add(uint32_t{200}).Add(uint32_t{0}),
        options);
  }
  // Byte of .text of the kernel's only `mnemonic`.
  uint64_t Place(const std::string& mnemonic) const {
    for (const Instruction& inst : code().instructions()) {
      if (inst.mnemonic == mnemonic) return inst.address;
    }
    return 0;
  }
  uint64_t in, out;
};

TEST(Trace, OneLineAnInstruction) {
  AddOne device;
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/trace";
  RunReport report;
  {
    auto trace = TraceWriter::Open(path, 0, -1);
    ASSERT_TRUE(trace.ok()) << trace.status();
    report = device.RunWith(**trace);
  }
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), report.instructions);
  EXPECT_EQ(lines[0].substr(0, 6), "wave 0");
  EXPECT_NE(lines[0].find("s_load_dwordx4 s[4:7], s[0:1], 0x0"),
            std::string::npos)
      << lines[0];
  // Lane 0 of wave 2 holds item 128: 128 + 1.
  bool seen = false;
  for (const std::string& line : lines) {
    if (line.find("v_add_f32_e32 v3, 1.0, v3") == std::string::npos) continue;
    if (line.substr(0, 6) != "wave 2") continue;
    seen = true;
    EXPECT_NE(line.find("v3[0] = 0x43010000"), std::string::npos) << line;
  }
  EXPECT_TRUE(seen);
  EXPECT_FALSE(TraceWriter::Open("/nowhere/at/all", 0, 0).ok());
}

TEST(Breakpoint, ShowsTheWaveBeforeTheInstruction) {
  AddOne device;
  Breakpoint breakpoint({device.Place("v_add_f32"), 1, 0, 3},
                        ParseDump("v3,s8,s2").value());
  device.RunWith(breakpoint);
  const std::string& text = breakpoint.text();
  // Items 192 to 199 of wave 3 are below 200.
  EXPECT_NE(text.find("exec 0xff "), std::string::npos) << text;
  EXPECT_NE(text.find("\nv3 43400000 43410000 43420000"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\ns8 0x000000c8\n"), std::string::npos) << text;
  EXPECT_NE(text.find("work-group (0, 0, 0) wave 3"), std::string::npos);

  Breakpoint never({device.Place("v_add_f32"), 2, 0, 3}, {});
  device.RunWith(never);
  EXPECT_EQ(never.text(), "");
}

TEST(Breakpoint, DumpRangesAreChecked) {
  EXPECT_EQ(ParseDump("v0:255,a0:255,s0:127,lds0:163839").value().size(), 4u);
  EXPECT_EQ(ParseDump("").value().size(), 0u);
  for (const char* bad : {"v256", "x1", "v5:4", "v1:2:3", "s128", "v", "v1-2",
                          "lds163840", "v-1"}) {
    EXPECT_FALSE(ParseDump(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace zyfa::emu
