#include "zyfa/emu/launch_file.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/emu/report_json.h"

namespace zyfa::emu {
namespace {

std::string Directory() { return ::testing::TempDir(); }

void WriteText(const std::string& name, const std::string& text) {
  ASSERT_TRUE(WriteBytes(Directory() + "/" + name,
                         reinterpret_cast<const uint8_t*>(text.data()),
                         text.size())
                  .ok());
}

absl::StatusOr<PreparedLaunch> Prepare(const std::string& text,
                                       DeviceMemory& memory) {
  WriteText("launch.textproto", text);
  auto launch = ReadLaunchFile(Directory() + "/launch.textproto");
  if (!launch.ok()) return launch.status();
  return PrepareLaunch(*launch, Directory(), memory);
}

TEST(LaunchFile, FillsArgumentsAndBuffers) {
  WriteText("object.co", "ELF");
  WriteText("in.bin", "abcd");
  DeviceMemory memory;
  auto prepared = Prepare(
      "code_object: 'object.co' kernel: 'k' grid { x: 3 z: 2 }\n"
      "workgroup { x: 64 y: 4 } dynamic_lds_bytes: 128 kernarg_bytes: 40\n"
      "arg { offset: 0 buffer { bytes: 8 file: 'in.bin' fill: 0x7f "
      "out: 'out.bin' } }\n"
      "arg { offset: 8 i32: -5 } arg { offset: 12 f32: 1.5 }\n"
      "arg { offset: 32 u64: 0x123456789a } arg { offset: 16 u32: 7 }\n",
      memory);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(prepared->code_object.size(), 3u);
  EXPECT_EQ(prepared->shape.grid[0], 3u);
  EXPECT_EQ(prepared->shape.grid[1], 1u);
  EXPECT_EQ(prepared->shape.grid[2], 2u);
  EXPECT_EQ(prepared->shape.workgroup[1], 4u);
  EXPECT_EQ(prepared->shape.dynamic_lds_bytes, 128u);
  ASSERT_EQ(prepared->kernarg.size(), 40u);
  uint64_t address, wide;
  int32_t integer;
  float real;
  std::memcpy(&address, prepared->kernarg.data(), 8);
  std::memcpy(&integer, prepared->kernarg.data() + 8, 4);
  std::memcpy(&real, prepared->kernarg.data() + 12, 4);
  std::memcpy(&wide, prepared->kernarg.data() + 32, 8);
  EXPECT_EQ(integer, -5);
  EXPECT_EQ(real, 1.5f);
  EXPECT_EQ(wide, 0x123456789au);
  EXPECT_EQ(prepared->kernarg[24], 0);
  uint8_t content[8];
  ASSERT_TRUE(memory.Read(address, absl::MakeSpan(content)).ok());
  EXPECT_EQ(std::memcmp(content, "abcd\x7f\x7f\x7f\x7f", 8), 0);
  ASSERT_TRUE(WriteOutputs(*prepared, memory).ok());
  EXPECT_EQ(ReadBytes(Directory() + "/out.bin")->size(), 8u);
}

TEST(LaunchFile, SaysWhatIsWrong) {
  WriteText("object.co", "ELF");
  WriteText("in.bin", "abcd");
  const std::string head =
      "code_object: 'object.co' kernel: 'k' kernarg_bytes: 16\n";
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"kernel: 'k'", "code_object is missing"},
      {"code_object: 'object.co'", "kernel is missing"},
      {"code_object: 'none.co' kernel: 'k'", "none.co is no file"},
      {head + "grid { x: 0 }", "grid.x is 0"},
      {head + "workgroup { z: 0 }", "workgroup.z is 0"},
      {head + "arg { offset: 0 }", "arg[0] has no value"},
      {head + "arg { offset: 14 u32: 1 }", "ends at byte 18"},
      {head + "arg { offset: 4294967295 u64: 1 }", "kernarg_bytes is 16"},
      {head + "arg { offset: 0 u64: 1 } arg { offset: 4 u32: 1 }",
       "arg[1] at offset 4 overlaps"},
      {head + "arg { offset: 0 buffer { bytes: 3 file: 'in.bin' } }",
       "has 4 bytes, the buffer 3"},
      {head + "arg { offset: 0 buffer { bytes: 8 file: 'none' } }",
       "is no file"},
      {head + "arg { offset: 0 buffer { bytes: 8 fill: 256 } }",
       "a byte is 0 to 255"},
      {"code_object: 'object.co' kernel: 'k' kernarg_bytes: 1000000",
       "at most 65536"},
      {head + "unknown_field: 3", ":2:"},
  };
  for (const auto& c : cases) {
    DeviceMemory memory;
    const absl::Status status = Prepare(c.text, memory).status();
    EXPECT_NE(std::string(status.message()).find(c.message), std::string::npos)
        << c.text << "\n"
        << status;
  }
  EXPECT_EQ(ReadLaunchFile(Directory() + "/nowhere").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ReportJson, QuotesAndLists) {
  RunReport report;
  report.instructions = 12;
  report.instructions_by_class["valu"] = 12;
  Finding finding;
  finding.rule = "waitcnt";
  finding.detail = "a \"quoted\"\n\\ text";
  finding.lane = 3;
  report.findings = {finding, finding};
  const std::string json = ReportToJson(report);
  EXPECT_NE(json.find("\"instructions\": 12,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"valu\": 12}"), std::string::npos) << json;
  EXPECT_NE(json.find("a \\\"quoted\\\"\\u000a\\\\ text\"},"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"severity\": \"error\""), std::string::npos) << json;
  EXPECT_NE(FindingToText(finding).find("lane 3"), std::string::npos);
}

}  // namespace
}  // namespace zyfa::emu
