#include "zyfa/bench/table.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

proto::Record Emulated() {
  proto::Record r;
  r.set_variant("bf16_d128_causal");
  r.set_device("emulator");
  r.set_modelled(true);
  r.set_batch(1);
  r.set_heads_q(8);
  r.set_heads_kv(2);
  r.set_seqlen_q(4096);
  r.set_seqlen_kv(4096);
  r.set_rel_rmse(0.00234);
  r.set_wall_seconds(3.456);
  r.set_outcome(proto::OUTCOME_OK);
  (*r.mutable_instructions())["valu"] = 12345678;
  (*r.mutable_instructions())["mfma"] = 999;
  (*r.mutable_instructions())["zzz"] = 1000;
  return r;
}

proto::Record Measured() {
  proto::Record r = Emulated();
  r.set_variant("bf16_d192x128_full");
  r.set_device("hip");
  r.set_modelled(false);
  r.set_seqlen_kv(100);
  r.clear_instructions();
  r.clear_wall_seconds();
  r.set_gpu_time_ms(0.98765);
  r.set_tflops(1234.567);
  return r;
}

std::vector<std::string> Lines(const std::string& table) {
  return absl::StrSplit(table, '\n', absl::SkipEmpty());
}

TEST(RenderTable, AlignsColumnsAndLeavesEmptyOnesOut) {
  const auto lines = Lines(RenderTable({Emulated(), Measured()}));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "variant             batch  heads      seqlen  device    figures   "
            "rel RMSE      ms  TFLOP/s  mfma   valu    zzz  wall s");
  EXPECT_EQ(lines[1],
            "bf16_d128_causal        1    8/2        4096  emulator  modelled  "
            "2.34e-03                    999  12.3M  1.00k    3.46");
  EXPECT_EQ(lines[2],
            "bf16_d192x128_full      1    8/2  4096 x 100  hip       measured  "
            "2.34e-03  0.9877  1234.57");
}

TEST(RenderTable, ShowsModelledTime) {
  proto::Record r = Emulated();
  r.clear_instructions();
  r.clear_wall_seconds();
  r.set_gpu_time_ms(0.5);
  r.set_clocks(1234567.8);
  r.set_busy(0.805);
  r.set_useful_busy(0.75);
  r.set_useful_occupied(0.825);
  r.set_clock_ghz(1.714);
  r.set_tflops(1258.3);
  r.set_peak_share(0.5);
  const auto lines = Lines(RenderTable({r}));
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("      ms   clocks   busy  useful  in groups "
                                  "   GHz  TFLOP/s   peak"));
  EXPECT_THAT(lines[1], HasSubstr("  0.5000  1234568  80.5%   75.0%      82.5% "
                                  " 1.714  1258.30  50.0%"));
}

TEST(RenderTable, SaysWhatModelledMeansOnlyWhereSomethingIs) {
  EXPECT_THAT(RenderTable({Emulated()}), HasSubstr("modelled: not run on a"));
  EXPECT_THAT(RenderTable({Measured()}), Not(HasSubstr("modelled")));
}

TEST(RenderTable, ShowsWhyACaseFailed) {
  proto::Record failed = Emulated();
  failed.clear_rel_rmse();
  failed.set_outcome(proto::OUTCOME_FAILED);
  failed.set_message("out of range at 0x10");
  proto::Record refused = Measured();
  refused.set_outcome(proto::OUTCOME_REFUSED);
  refused.set_message("head_dim 64");
  const std::string table = RenderTable({failed, refused});
  EXPECT_THAT(table, HasSubstr("  FAILED "));
  EXPECT_THAT(table, HasSubstr("  refused "));
  EXPECT_THAT(table,
              HasSubstr("bf16_d128_causal 4096: out of range at 0x10\n"));
  EXPECT_THAT(table, HasSubstr("bf16_d192x128_full 4096 x 100: head_dim 64\n"));
}

TEST(RenderTable, RoundsCountsWithoutAFourthDigit) {
  const auto cell = [](uint64_t count) {
    proto::Record r;
    (*r.mutable_instructions())["mfma"] = count;
    const auto lines = Lines(RenderTable({r}));
    return lines[1].substr(lines[1].rfind(' ') + 1);
  };
  EXPECT_EQ(cell(0), "0");
  EXPECT_EQ(cell(999), "999");
  EXPECT_EQ(cell(1000), "1.00k");
  EXPECT_EQ(cell(9994), "9.99k");
  EXPECT_EQ(cell(9996), "10.0k");
  EXPECT_EQ(cell(99960), "100k");
  EXPECT_EQ(cell(999600), "1.00M");
  EXPECT_EQ(cell(1234567890123), "1.23T");
}

TEST(RenderTable, NoRecordsNoTable) {
  EXPECT_EQ(Lines(RenderTable({})).size(), 0u);
}

}  // namespace
}  // namespace zyfa::bench
