// Bits that must not depend on anything but a row's own inputs, and work that
// must not exceed what the mask asks for.

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "zyfa/emu/schedules.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::testing {
namespace {

class DeterminismTest : public KernelTest {};

// "" if the first `rows` rows of two outcomes of one head have the same bits.
std::string FirstDifference(const AttentionOutcome& a,
                            const AttentionOutcome& b, int64_t rows,
                            int64_t head_dim) {
  for (int64_t i = 0; i < rows * head_dim; ++i) {
    if (std::memcmp(&a.output[i], &b.output[i], 2) != 0) {
      return absl::StrCat("row ", i / head_dim, " column ", i % head_dim, ": ",
                          a.output[i].ToFloat(), " and ",
                          b.output[i].ToFloat());
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (std::memcmp(&a.lse[i], &b.lse[i], 4) != 0) {
      return absl::StrCat("LSE of row ", i, ": ", a.lse[i], " and ", b.lse[i]);
    }
  }
  return "";
}

// The first finding of a run, "" if there is none.
std::string FirstFinding(const AttentionOutcome& outcome) {
  if (outcome.report.findings.empty()) return "";
  const emu::Finding& f = outcome.report.findings[0];
  return absl::StrCat(f.rule, " at 0x", absl::Hex(f.pc), " '", f.disassembly,
                      "' work-group ", f.workgroup[0], " wave ", f.wave, ": ",
                      f.detail);
}

TEST_P(DeterminismTest, EverySchedule) {
  for (auto [seqlen_q, seqlen_kv] :
       {std::pair<int64_t, int64_t>{700, 700}, {300, 1100}, {530, 333}}) {
    AttentionCase c = Case(seqlen_q, seqlen_kv);
    const auto first = RunCase(c);
    ASSERT_TRUE(first.ok()) << first.status();
    for (const emu::RunOptions& options :
         emu::AllSchedules(emu::StrictOptions())) {
      const auto other = RunCase(c, options);
      ASSERT_TRUE(other.ok()) << other.status();
      EXPECT_EQ(FirstFinding(*other), "");
      EXPECT_EQ(FirstDifference(*first, *other, seqlen_q, c.variant.head_dim_v),
                "")
          << emu::ScheduleName(options);
    }
  }
}

// Also that runs without the strict checks give the same bits as with them.
TEST_P(DeterminismTest, TwoRunsAndThreadCounts) {
  AttentionCase c = Case(600, 600);
  c.heads_q = c.heads_kv = 2;
  const auto first = RunCase(c);
  ASSERT_TRUE(first.ok()) << first.status();
  for (int threads : {0, 1, 2, 5}) {
    emu::RunOptions options;
    options.threads = threads;
    const auto again = RunCase(c, options);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(
        FirstDifference(*first, *again, 2 * c.seqlen_q, c.variant.head_dim_v),
        "");
    EXPECT_EQ(first->report.instructions, again->report.instructions);
  }
}

// A causal row depends on the keys before it only: its bits are the same for
// every total length. Full attention: for every number of queries.
TEST_P(DeterminismTest, PrefixOfEveryTotalLength) {
  const bool causal = GetParam().variant.mask == Mask::kCausal;
  // Scores far apart, so that running maxima move in rows of all lengths, and
  // some rows so large that they need care.
  const auto fill_query = [](int64_t, int64_t row, int64_t, int64_t, float g) {
    return row % 50 == 49 ? 1e7f * g : 2 * g;
  };
  AttentionCase whole = Case(600, 600);
  whole.fill_query = fill_query;
  // e4m3 ends at 448.
  if (IsPersistent(GetParam().variant)) whole.softmax_scale = 0.3f;
  const auto all = RunCase(whole);
  ASSERT_TRUE(all.ok()) << all.status();
  for (int64_t length : {1,   2,   15,  16,  17,  31,  32,  33,  47,  63,  64,
                         65,  95,  96,  97,  127, 128, 129, 191, 192, 193, 255,
                         256, 257, 300, 319, 320, 511, 512, 513, 599}) {
    AttentionCase part = Case(length, causal ? length : 600);
    part.fill_query = fill_query;
    part.softmax_scale = whole.softmax_scale;
    const auto got = RunCase(part);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_EQ(FirstDifference(*all, *got, length, whole.variant.head_dim_v), "")
        << "total length " << length;
  }
}

// Matrix instructions executed against those that the visible tiles need: masks
// cost only on the tiles that need them, and nothing behind the diagonal runs.
TEST_P(DeterminismTest, ExecutedTilesAreTheVisibleOnes) {
  const Variant v = GetParam().variant;
  for (auto [seqlen_q, seqlen_kv] : {std::pair<int64_t, int64_t>{1, 1},
                                     {256, 256},
                                     {700, 700},
                                     {100, 1000},
                                     {1000, 100},
                                     {1024, 1024}}) {
    const auto got = RunCase(Case(seqlen_q, seqlen_kv));
    ASSERT_TRUE(got.ok()) << got.status();
    int64_t tiles = 0, waves = 0;
    for (int64_t row0 = 0; row0 < seqlen_q; row0 += 32) {
      int64_t keys = seqlen_kv;
      if (v.mask == Mask::kCausal) {
        const int64_t last = std::min(row0 + 31, seqlen_q - 1);
        keys =
            std::clamp<int64_t>(last + 1 + seqlen_kv - seqlen_q, 0, seqlen_kv);
      }
      tiles += (keys + kKeyTile - 1) / kKeyTile;
      waves += keys > 0;
    }
    // Channels of a product; other kernels than BF16 also sum the codes of P,
    // and INT8 ones look at 64 keys before the first tile, if they see a key.
    const int depth = IsPersistent(v) ? 64 : 16;
    const bool int8 = v.data_type == DataType::kInt8;
    const int64_t scores =
        (kKeyTile / 32) * (v.head_dim_qk / (int8 ? 32 : depth));
    const int64_t per_tile = scores + (v.head_dim_v / 32) * (kKeyTile / depth) +
                             (IsPersistent(v) ? 1 : 0);
    EXPECT_EQ(got->report.instructions_by_class.at("mfma"),
              tiles * per_tile + (int8 ? waves * scores : 0))
        << seqlen_q << " x " << seqlen_kv;
  }
}

// FP8 and INT8 kernels have persistent work-groups.
class PersistentGroupTest : public KernelTest {};

// A row's bits do not depend on which work-group computes it, or behind what.
TEST_P(PersistentGroupTest, AnyNumberOfGroups) {
  AttentionCase c = Case(600, 500);
  c.batch = 2;
  c.heads_q = 6;
  c.heads_kv = 3;
  const auto first = RunCase(c);
  ASSERT_TRUE(first.ok()) << first.status();
  for (uint32_t compute_units : {8, 16, 24, 32}) {
    c.compute_units = compute_units;
    const auto other = RunCase(c);
    ASSERT_TRUE(other.ok()) << other.status();
    EXPECT_EQ(FirstFinding(*other), "");
    EXPECT_EQ(FirstDifference(*first, *other, c.batch * c.seqlen_q * c.heads_q,
                              c.variant.head_dim_v),
              "")
        << compute_units;
  }
  // The same for groups that go on under every order of waves and loads.
  c.batch = 1;
  c.heads_q = 3;
  c.compute_units = 8;
  c.seqlen_q = 1500;
  c.seqlen_kv = 200;
  const auto again = RunCase(c);
  ASSERT_TRUE(again.ok()) << again.status();
  for (const emu::RunOptions& options :
       emu::AllSchedules(emu::StrictOptions())) {
    const auto other = RunCase(c, options);
    ASSERT_TRUE(other.ok()) << other.status();
    EXPECT_EQ(FirstFinding(*other), "");
    EXPECT_EQ(FirstDifference(*again, *other, c.seqlen_q * c.heads_q,
                              c.variant.head_dim_v),
              "")
        << emu::ScheduleName(options);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, DeterminismTest, EveryKernel(),
                         KernelTestName);
INSTANTIATE_TEST_SUITE_P(Variants, PersistentGroupTest, EveryPersistentKernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing
