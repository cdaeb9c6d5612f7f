#include "zyfa/gen/clock/clock_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace zyfa::gen {
namespace {

using ::testing::HasSubstr;

// A and B of every instruction in the loop, as the text has them.
std::vector<std::string> Operands(const std::string& text,
                                  const std::string& mnemonic) {
  std::vector<std::string> operands;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StrContains(line, mnemonic)) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, ", ");
    operands.push_back(absl::StrCat(parts.at(1), " ", parts.at(2)));
  }
  return operands;
}

TEST(ClockLoop, NoInstructionRepeatsTheOperandsOfTheOneBefore) {
  const struct {
    const char* name;
    const char* mnemonic;
  } kLoops[] = {{"clock_bf16", "v_mfma_f32_32x32x16_bf16"},
                {"clock_fp8", "v_mfma_f32_32x32x64_f8f6f4"}};
  for (const auto& loop : kLoops) {
    const absl::StatusOr<std::string> text = ClockLoop(loop.name);
    ASSERT_TRUE(text.ok()) << text.status();
    const std::vector<std::string> operands = Operands(*text, loop.mnemonic);
    ASSERT_EQ(operands.size(), 8u);
    for (size_t i = 0; i < operands.size(); ++i) {
      EXPECT_NE(operands[i], operands[(i + 1) % operands.size()]) << i;
    }
  }
}

TEST(ClockLoop, OtherNamesAreRefused) {
  const absl::StatusOr<std::string> text = ClockLoop("clock_fp4");
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("clock_fp4"));
}

}  // namespace
}  // namespace zyfa::gen
