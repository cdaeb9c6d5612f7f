#include "zyfa/launch/open_device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

HipOptions Fake() {
  HipOptions options;
  options.library = "zyfa/launch/libfake_hip.so";
  return options;
}

HipOptions Absent() {
  HipOptions options;
  options.library = "/nonexistent/libamdhip64.so";
  return options;
}

TEST(OpenDeviceTest, ByName) {
  const auto emulator = OpenDevice("emulator", Fake());
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  EXPECT_EQ((*emulator)->properties().kind, "emulator");
  EXPECT_TRUE((*emulator)->properties().modelled);
  const auto hip = OpenDevice("hip", Fake());
  ASSERT_TRUE(hip.ok()) << hip.status();
  EXPECT_EQ((*hip)->properties().kind, "hip");
  EXPECT_FALSE((*hip)->properties().modelled);
  EXPECT_EQ(OpenDevice("hip", Absent()).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(OpenDeviceTest, AutoTakesHipIfUsable) {
  std::string why = "unchanged";
  const auto hip = OpenDevice("auto", Fake(), &why);
  ASSERT_TRUE(hip.ok()) << hip.status();
  EXPECT_EQ((*hip)->properties().kind, "hip");
  EXPECT_THAT(why, IsEmpty());
  const auto emulator = OpenDevice("auto", Absent(), &why);
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  EXPECT_EQ((*emulator)->properties().kind, "emulator");
  EXPECT_THAT(why, HasSubstr("/nonexistent/libamdhip64.so"));
}

TEST(OpenDeviceTest, RefusesOtherWords) {
  EXPECT_EQ(OpenDevice("cuda").status(),
            absl::InvalidArgumentError(
                "device is 'cuda'; allowed: auto, emulator, hip"));
}

}  // namespace
}  // namespace zyfa
