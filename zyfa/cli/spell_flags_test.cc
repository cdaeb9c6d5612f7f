#include "zyfa/cli/spell_flags.h"

#include <string>

#include "gtest/gtest.h"

namespace zyfa::cli {
namespace {

std::string Spelled(std::string argument) {
  std::string program = "-p-r";
  char* argv[] = {program.data(), argument.data()};
  SpellFlags(2, argv);
  EXPECT_EQ(program, "-p-r");
  return argument;
}

TEST(SpellFlags, NamesAloneChange) {
  EXPECT_EQ(Spelled("--dma-landing=at-issue"), "--dma_landing=at-issue");
  EXPECT_EQ(Spelled("--no-strict"), "--no_strict");
  EXPECT_EQ(Spelled("a-b"), "a-b");
  EXPECT_EQ(Spelled("-"), "-");
}

}  // namespace
}  // namespace zyfa::cli
