#include "zyfa/emu/code_object_file.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/emu/launch_file.h"

namespace zyfa::emu {
namespace {

using ::testing::HasSubstr;

TEST(LoadCodeObject, ReadsAFile) {
  const auto code = LoadCodeObject("zyfa/emu/testdata/control.co");
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_NE((*code)->FindKernel("add_one"), nullptr);
}

TEST(LoadCodeObject, ErrorsNameTheFile) {
  const std::string directory = ::testing::TempDir();
  const std::string text = directory + "/text.co";
  const uint8_t byte = 'x';
  ASSERT_TRUE(WriteBytes(text, &byte, 1).ok());
  const struct {
    std::string path;
    absl::StatusCode code;
  } kBad[] = {{directory + "/none.co", absl::StatusCode::kNotFound},
              {directory, absl::StatusCode::kNotFound},
              {text, absl::StatusCode::kInvalidArgument}};
  for (const auto& bad : kBad) {
    const absl::Status status = LoadCodeObject(bad.path).status();
    EXPECT_EQ(status.code(), bad.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.path));
  }
}

}  // namespace
}  // namespace zyfa::emu
