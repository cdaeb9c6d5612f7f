#include "zyfa/bench/loss_options.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LossFlags Flags() {
  return {.models = "a/gqa,b/mla",
          .text = "",
          .segments = "16",
          .tokens = "2048",
          .attentions = "fp8_exact,bf16,float32,int8_shift:mean,fp8_exact",
          .comparisons = "",
          .bf16_shares = "0.5,0,0.25",
          .mixed = "fp8_lean",
          .ranking_segments = "0,8",
          .ranking_tokens = "1024",
          .clock_batch = "16",
          .clock_tokens = "4096",
          .threads = "2"};
}

std::vector<std::string> Names(const LossOptions& options) {
  std::vector<std::string> names;
  for (const LossAttention& a : options.attentions) names.push_back(a.name);
  return names;
}

TEST(LossOptionsTest, Lists) {
  LossFlags flags = Flags();
  flags.comparisons =
      "fp8_lean-fp8_exact,int8_multiply-bf16,int8_shift:mean-float32";
  const auto options = ParseLossFlags(flags);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->models, ElementsAre("a/gqa", "b/mla"));
  EXPECT_EQ(options->segments, 16);
  EXPECT_EQ(options->tokens, 2048);
  // References first, each once, --mixed behind them.
  EXPECT_THAT(Names(*options), ElementsAre("float32", "bf16", "fp8_exact",
                                           "int8_shift:mean", "fp8_lean"));
  EXPECT_EQ(options->mixed, 4u);
  EXPECT_THAT(options->bf16_shares, ElementsAre(0.25, 0.5));
  EXPECT_THAT(options->ranking_segments, ElementsAre(0, 8));
  EXPECT_EQ(options->ranking_tokens, 1024);
  EXPECT_EQ(options->clock_batch, 16);
  EXPECT_EQ(options->clock_tokens, 4096);
  EXPECT_EQ(options->threads, 2);
  // int8_multiply does not run.
  EXPECT_THAT(options->comparisons,
              ElementsAre(std::pair(4, 2), std::pair(3, 0)));
}

TEST(LossOptionsTest, NoMixes) {
  LossFlags flags = Flags();
  flags.bf16_shares = "";
  const auto options = ParseLossFlags(flags);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->bf16_shares, IsEmpty());
  EXPECT_EQ(options->mixed, std::nullopt);
  EXPECT_EQ(options->attentions.size(), 4u);
}

TEST(LossOptionsTest, Refusals) {
  const struct {
    std::string LossFlags::* flag;
    const char* value;
    const char* message;
  } cases[] = {
      {&LossFlags::models, "", "--models is missing"},
      {&LossFlags::segments, "0", "--segments=0"},
      {&LossFlags::tokens, "16385", "--tokens=16385"},
      {&LossFlags::tokens, "many", "--tokens=many"},
      {&LossFlags::attentions, "fp8_lean,fp9",
       "--attentions=fp8_lean,fp9: 'fp9' is no attention; allowed: float32"},
      {&LossFlags::comparisons, "bf16",
       "--comparisons=bf16: has 'bf16'; allowed: A-B"},
      {&LossFlags::comparisons, "bf16-fp9", "'fp9' is no attention"},
      {&LossFlags::bf16_shares, "0.5,1",
       "--bf16_shares=0.5,1: has '1'; allowed: 0 and more, below 1"},
      {&LossFlags::bf16_shares, "nan", "has 'nan'"},
      {&LossFlags::bf16_shares, "half", "has 'half'"},
      {&LossFlags::mixed, "fp9", "--mixed=fp9: 'fp9' is no attention"},
      {&LossFlags::mixed, "aiter_like",
       "--mixed=aiter_like: allowed: what a kernel"},
      {&LossFlags::ranking_segments, "",
       "--ranking_segments=: is needed with --bf16_shares"},
      {&LossFlags::ranking_segments, "0,x", "--ranking_segments=x"},
      {&LossFlags::ranking_tokens, "0", "--ranking_tokens=0"},
      {&LossFlags::clock_batch, "-1", "--clock_batch=-1"},
      {&LossFlags::clock_tokens, "0", "--clock_tokens=0"},
      {&LossFlags::threads, "-1", "--threads=-1"},
  };
  for (const auto& c : cases) {
    LossFlags flags = Flags();
    flags.*c.flag = c.value;
    const auto options = ParseLossFlags(flags);
    ASSERT_FALSE(options.ok()) << c.message;
    EXPECT_THAT(std::string(options.status().message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace zyfa::bench
