#include "zyfa/cli/working_directory.h"

#include <cstdlib>
#include <filesystem>

#include "gtest/gtest.h"

namespace zyfa::cli {
namespace {

namespace fs = std::filesystem;

TEST(EnterUserDirectory, GoesByTheEnvironment) {
  const fs::path start = fs::current_path();
  const fs::path user = fs::canonical(::testing::TempDir());
  ASSERT_NE(start, user);

  unsetenv("BUILD_WORKING_DIRECTORY");
  EnterUserDirectory();
  EXPECT_EQ(fs::current_path(), start);

  setenv("BUILD_WORKING_DIRECTORY", "/absent", 1);
  EnterUserDirectory();
  EXPECT_EQ(fs::current_path(), start);

  setenv("BUILD_WORKING_DIRECTORY", user.c_str(), 1);
  EnterUserDirectory();
  EXPECT_EQ(fs::current_path(), user);
}

}  // namespace
}  // namespace zyfa::cli
