#include "zyfa/models/text_segment.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two segments and a part of a third.
class TextSegmentTest : public ::testing::Test {
 protected:
  TextSegmentTest() : path_(::testing::TempDir() + "/text") {
    std::string bytes(2 * kSegmentBytes + 100, 'x');
    bytes.replace(0, 4, "abcd");
    bytes.replace(kSegmentBytes, 4, "\xFF\0e\n", 4);
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  const std::string path_;
};

TEST_F(TextSegmentTest, TokensLagOneBehindTargets) {
  const auto first = ReadTextSegment(path_, 0, 3, 256);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(first->tokens, ElementsAre(256, 'a', 'b'));
  EXPECT_THAT(first->targets, ElementsAre('a', 'b', 'c'));
  const auto second = ReadTextSegment(path_, 1, 4, 9);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(second->tokens, ElementsAre(9, 255, 0, 'e'));
  EXPECT_THAT(second->targets, ElementsAre(255, 0, 'e', '\n'));
}

TEST_F(TextSegmentTest, AWholeSegment) {
  const auto text = ReadTextSegment(path_, 0, kSegmentBytes, 256);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->tokens.size(), 16384u);
  EXPECT_EQ(text->targets.size(), 16384u);
  EXPECT_EQ(text->targets.back(), 'x');
}

TEST_F(TextSegmentTest, TheEndOfASegment) {
  const auto text = ReadTextSegmentEnd(path_, 0, kSegmentBytes - 2, 256);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->targets.size(), 16382u);
  EXPECT_EQ(text->tokens.front(), 256);
  EXPECT_EQ(text->targets[0], 'c');
  EXPECT_EQ(text->tokens[1], 'c');
  EXPECT_EQ(text->targets[1], 'd');
  EXPECT_EQ(text->targets.back(), 'x');
}

TEST_F(TextSegmentTest, RefusesWhatIsNotThere) {
  for (const int64_t segment : {-1, 2}) {
    const auto text = ReadTextSegment(path_, segment, 1, 256);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(text.status().message()),
                AllOf(HasSubstr(path_),
                      HasSubstr("segment is " + std::to_string(segment) +
                                "; allowed: 0 and more, below 2, ")));
  }
  for (const int64_t tokens : {0, 16385}) {
    const auto text = ReadTextSegment(path_, 0, tokens, 256);
    EXPECT_THAT(std::string(text.status().message()),
                HasSubstr("tokens is " + std::to_string(tokens) +
                          "; allowed: 1 .. 16384"));
  }
  for (const std::string& path : {path_ + "absent", ::testing::TempDir()}) {
    const auto text = ReadTextSegment(path, 0, 1, 256);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(text.status().message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace zyfa::models
