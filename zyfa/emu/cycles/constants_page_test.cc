// The committed page has the table of the code, and explains its tags.
#include "zyfa/emu/cycles/constants_page.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/constants.h"

namespace zyfa::emu {
namespace {

using ::testing::HasSubstr;

std::string Page() {
  std::ifstream in("docs/cycle-model.md");
  return std::string(std::istreambuf_iterator<char>(in),
                     std::istreambuf_iterator<char>());
}

TEST(ConstantsPage, HasTheTable) {
  EXPECT_TRUE(absl::StrContains(Page(), ConstantsMarkdown()))
      << "write it anew: tools/refresh_page.py docs/cycle-model.md";
}

TEST(ConstantsPage, RowsHaveFiveCells) {
  const std::string table = ConstantsMarkdown();
  int rows = -2;  // head and rule
  for (const auto line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 6) << line;
    ++rows;
  }
  EXPECT_EQ(rows, static_cast<int>(CycleConstantTable().size()));
  EXPECT_THAT(table, HasSubstr("| `memory.return` | 2.84 | 2 to 3.5 | "
                               "measured | "));
  EXPECT_THAT(table, HasSubstr("| `lds.fifo` | 8 |  | measured | "));
}

// A tag has two capital letters: "GT-tcp", "LL-233721", "SPEC".
TEST(ConstantsPage, ExplainsEveryTag) {
  const std::string page = Page();
  // Abbreviations of other things.
  const std::string kWords[] = {"VALU", "VMEM", "MFMA", "MFMAs", "LDS",  "FP8",
                                "KB",   "FIFO", "GHz",  "SIMDs", "GEMM", "CU"};
  int tags = 0;
  for (const CycleConstant& row : CycleConstantTable()) {
    for (absl::string_view word :
         absl::StrSplit(row.source, absl::ByAnyChar(" ,:;."))) {
      const auto capitals = std::count_if(word.begin(), word.end(), [](char c) {
        return std::isupper(static_cast<unsigned char>(c));
      });
      word = absl::StripSuffix(word, "'s");
      if (capitals < 2 || std::count(std::begin(kWords), std::end(kWords),
                                     std::string(word)) > 0) {
        continue;
      }
      ++tags;
      // CDNA3 and the like are names of GPUs.
      if (absl::StartsWith(word, "CDNA")) continue;
      const bool numbered = absl::StartsWith(word, "LL-");
      EXPECT_TRUE(absl::StrContains(
          page, absl::StrCat("| ", numbered ? "LL-n" : word, " | ")))
          << row.name << ": " << word;
    }
  }
  EXPECT_GT(tags, 20);
}

}  // namespace
}  // namespace zyfa::emu
