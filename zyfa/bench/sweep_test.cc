#include "zyfa/bench/sweep.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string>& Available() {
  static const auto& names =
      *new std::vector<std::string>{"bf16_d128_causal", "bf16_d192x128_full"};
  return names;
}

SweepFlags Good() {
  return {.variants = "", .seqlens = "1024,4096", .batch = "2", .heads = "8/2"};
}

// The message of the refusal of `flags`.
std::string Refusal(const SweepFlags& flags) {
  const absl::Status status = ParseSweep(flags, Available()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(ParseSweep, TakesAllVariantsByDefault) {
  const auto cases = ParseSweep(Good(), Available());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 4u);
  const Case first = {.variant = {.head_dim_qk = 128, .mask = Mask::kCausal},
                      .batch = 2,
                      .heads_q = 8,
                      .heads_kv = 2,
                      .seqlen_q = 1024,
                      .seqlen_kv = 1024};
  EXPECT_EQ((*cases)[0], first);
  EXPECT_EQ(CaseLabel((*cases)[1]), "bf16_d128_causal 4096");
  EXPECT_EQ(CaseLabel((*cases)[2]), "bf16_d192x128_full 1024");
  EXPECT_EQ(CaseLabel((*cases)[3]), "bf16_d192x128_full 4096");
}

TEST(ParseSweep, OneHeadCountStandsForBoth) {
  SweepFlags flags = Good();
  flags.heads = "3";
  flags.variants = "bf16_d192x128_full";
  flags.seqlens = "7";
  const auto cases = ParseSweep(flags, Available());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 1u);
  EXPECT_EQ((*cases)[0].heads_q, 3);
  EXPECT_EQ((*cases)[0].heads_kv, 3);
}

TEST(ParseSweep, RefusalsNameFlagValueAndWhatIsAllowed) {
  for (const char* value :
       {"bf16_d64_causal", "bf16_d128_full", "bf16_d128_causal,", "all"}) {
    SweepFlags flags = Good();
    flags.variants = value;
    EXPECT_THAT(Refusal(flags), HasSubstr(std::string("--variants=") + value));
    EXPECT_THAT(Refusal(flags), HasSubstr("bf16_d192x128_full"));
  }
  for (const char* value : {"", "0", "-1", "1024,,4096", "1k", "99999999999",
                            "1048577", "1024;4096"}) {
    SweepFlags flags = Good();
    flags.seqlens = value;
    EXPECT_THAT(Refusal(flags), HasSubstr(std::string("--seqlens=") + value));
    EXPECT_THAT(Refusal(flags), HasSubstr("1 to 1048576"));
  }
  for (const char* value : {"", "0", "-3", "1.5", "65536"}) {
    SweepFlags flags = Good();
    flags.batch = value;
    EXPECT_THAT(Refusal(flags), HasSubstr(std::string("--batch=") + value));
    EXPECT_THAT(Refusal(flags), HasSubstr("from 1 to 65535"));
  }
  for (const char* value :
       {"", "/", "8/", "/2", "0/1", "8/0", "8/2/1", "x", "65536"}) {
    SweepFlags flags = Good();
    flags.heads = value;
    EXPECT_THAT(Refusal(flags), HasSubstr(std::string("--heads=") + value));
    EXPECT_THAT(Refusal(flags), HasSubstr("Q/KV"));
  }
  SweepFlags flags = Good();
  flags.heads = "8/3";
  EXPECT_THAT(Refusal(flags), HasSubstr("multiple"));
}

TEST(ParseNumber, TakesTheWholeRange) {
  EXPECT_EQ(*ParseNumber("runs", "1", 1, 9), 1);
  EXPECT_EQ(*ParseNumber("runs", "9", 1, 9), 9);
  EXPECT_EQ(ParseNumber("runs", "10", 1, 9).status().message(),
            "--runs=10: allowed is a whole number from 1 to 9");
}

}  // namespace
}  // namespace zyfa::bench
