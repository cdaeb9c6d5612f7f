#include "zyfa/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace zyfa::cli {
namespace {

// What FlushOutput() says after `write` while standard output is `path`.
template <typename Write>
absl::Status After(const char* path, Write write) {
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  const int other = open(path, O_WRONLY);
  dup2(other, STDOUT_FILENO);
  write();
  const absl::Status status = FlushOutput();
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(other);
  std::clearerr(stdout);
  std::cout.clear();
  return status;
}

TEST(FlushOutput, SaysWhetherAllGotThere) {
  const auto print = [] { std::printf("text"); };
  const auto stream = [] { std::cout << "text"; };
  const auto flushed = [] {
    std::printf("text");
    std::fflush(stdout);
  };
  EXPECT_TRUE(After("/dev/full", [] {}).ok());
  EXPECT_TRUE(After("/dev/null", print).ok());
  EXPECT_TRUE(After("/dev/null", stream).ok());
  EXPECT_FALSE(After("/dev/full", print).ok());
  EXPECT_FALSE(After("/dev/full", stream).ok());
  EXPECT_FALSE(After("/dev/full", flushed).ok());
}

}  // namespace
}  // namespace zyfa::cli
