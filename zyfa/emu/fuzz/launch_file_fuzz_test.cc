// Launch files that are damaged or ask for too much.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/fuzz/hostile.h"
#include "zyfa/emu/launch_file.h"

namespace zyfa::emu {
namespace {

std::string Directory() { return ::testing::TempDir(); }

absl::StatusOr<PreparedLaunch> Prepare(const std::string& text) {
  const std::string path = Directory() + "/fuzz.textproto";
  EXPECT_TRUE(WriteBytes(path, reinterpret_cast<const uint8_t*>(text.data()),
                         text.size())
                  .ok());
  auto launch = ReadLaunchFile(path);
  if (!launch.ok()) return launch.status();
  DeviceMemory memory;
  return PrepareLaunch(*launch, Directory(), memory);
}

const char kLaunch[] =
    "code_object: 'fuzz.co' kernel: 'k' grid { x: 3 z: 2 }\n"
    "workgroup { x: 64 y: 4 } dynamic_lds_bytes: 128 kernarg_bytes: 40\n"
    "arg { offset: 0 buffer { bytes: 8 file: 'fuzz.co' fill: 7 out: 'o' } }\n"
    "arg { offset: 8 i32: -5 } arg { offset: 12 f32: 1.5 }\n"
    "arg { offset: 32 u64: 0x123456789a } arg { offset: 16 u32: 7 }\n";

TEST(LaunchFileFuzz, DamagedText) {
  const uint8_t object[] = {'E', 'L', 'F'};
  ASSERT_TRUE(WriteBytes(Directory() + "/fuzz.co", object, 3).ok());
  ASSERT_TRUE(Prepare(kLaunch).ok());
  Random random(41);
  const std::string whole = kLaunch;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = "0123456789{}:'-.x "[random() % 18];
          break;
        case 2:
          text.insert(at, text, random() % text.size(), random() % 20);
          break;
        default:
          text.erase(at, random() % 20);
      }
      if (text.empty()) text = " ";
    }
    auto prepared = Prepare(text);
    if (prepared.ok()) continue;
    ++refused;
    EXPECT_FALSE(prepared.status().message().empty()) << text;
  }
  EXPECT_GT(refused, 1500);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    (void)Prepare(whole.substr(0, bytes));
  }
}

TEST(LaunchFileFuzz, HugeNumbers) {
  const std::string head = "code_object: 'fuzz.co' kernel: 'k' ";
  for (const char* tail :
       {"kernarg_bytes: 4294967295",
        "kernarg_bytes: 8 arg { offset: 4294967295 u64: 1 }",
        "kernarg_bytes: 8 arg { offset: 4294967292 u32: 1 }",
        "kernarg_bytes: 8 arg { buffer { bytes: 18446744073709551615 } }",
        "kernarg_bytes: 8 arg { buffer { bytes: 9223372036854775807 } }",
        "kernarg_bytes: 8 arg { buffer { bytes: 1152921504606846976 fill: 1 } "
        "}",
        "kernarg_bytes: 8 arg { buffer { bytes: 8 fill: 4294967295 } }"}) {
    auto prepared = Prepare(head + tail);
    ASSERT_FALSE(prepared.ok()) << tail;
    EXPECT_FALSE(prepared.status().message().empty());
  }
  // Nesting is for the parser to end.
  std::string nested = head;
  for (int i = 0; i < 20000; ++i) nested += "arg { buffer { ";
  EXPECT_FALSE(Prepare(nested).ok());
}

}  // namespace
}  // namespace zyfa::emu
