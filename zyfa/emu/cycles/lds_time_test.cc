// LDS: cdna4-timing 4 and 8, expected numbers from there.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/lds_unit.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

const std::string kRead128 = "ds_read_b128 v[0:3], v4";
const std::string kRead64 = "ds_read_b64 v[0:1], v4";

// Clocks that a wave needs for one of a long row, when the FIFOs are full: over
// whole rounds of the FIFO.
double Spacing(const Timeline& timeline, size_t wave) {
  const std::vector<uint64_t> at = timeline.Of(wave);
  const size_t from = at.size() / 4 / 16 * 16, to = from + at.size() / 2;
  return static_cast<double>(at[to] - at[from]) /
         static_cast<double>(to - from);
}

// The same of waves on these SIMDs; all must need the same.
double SpacingOf(const Line& line, const std::vector<size_t>& simds,
                 const CycleConstants& constants = WarmCode()) {
  std::vector<Lines> waves(4);
  for (const size_t simd : simds) waves[simd] = Repeat(512, {line});
  const Timeline timeline = RunWaves(waves, constants);
  double most = 0;
  for (const size_t simd : simds) {
    most = std::max(most, Spacing(timeline, simd));
  }
  return most;
}
const std::vector<size_t> kAll = {0, 1, 2, 3};

TEST(LdsTime, ReadsOf16Bytes) {
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, kAll), 16);
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, {0}), 8);
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, {3}), 8);
  // Two SIMD pairs, each with a path of 128 B a clock.
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, {0, 1}), 16);
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, {2, 3}), 16);
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, {0, 2}), 8);
  EXPECT_DOUBLE_EQ(SpacingOf(kRead128, {1, 2}), 8);
}

TEST(LdsTime, ReadsOf8Bytes) {
  EXPECT_DOUBLE_EQ(SpacingOf(kRead64, kAll), 8);
  for (const std::string text :
       {"ds_read_b64_tr_b16 v[0:1], v4", "ds_read_b64_tr_b8 v[0:1], v4"}) {
    EXPECT_DOUBLE_EQ(SpacingOf(text, kAll), 8) << text;
  }
}

// 256 B a clock of a CU.
TEST(LdsTime, PeakOfReads) {
  const Timeline four =
      RunWaves(std::vector<Lines>(4, Repeat(512, {kRead128})));
  const double bytes = 4.0 * 512 * 1024;
  const auto clocks = static_cast<double>(four.report.clocks);
  EXPECT_LE(bytes / clocks, 256 * 1.02);  // what is under way at the end
  EXPECT_GE(bytes / clocks, 256 * 0.98);
}

// Addresses of which `ways` of a group that is served together share each
// bank: the groups are {0-3,12-15,20-27} {4-11,16-19,28-31} and both + 32.
std::array<uint32_t, 64> Conflicting(uint32_t ways) {
  std::array<uint32_t, 64> addresses{};
  std::array<uint32_t, 4> rank{};
  for (uint32_t lane = 0; lane < 64; ++lane) {
    const uint32_t low = lane % 32;
    const bool first =
        low < 4 || (low >= 12 && low < 16) || (low >= 20 && low < 28);
    const uint32_t r = rank[lane / 32 * 2 + (first ? 0 : 1)]++;
    const uint32_t places = 16 / ways;
    addresses[lane] = r / places * 256 + r % places * 16;
  }
  return addresses;
}

TEST(LdsTime, Conflicts) {
  struct Case {
    std::array<uint32_t, 64> addresses;
    double four_waves, one_wave;
  };
  std::array<uint32_t, 64> unaligned;
  for (uint32_t lane = 0; lane < 64; ++lane) unaligned[lane] = 16 * lane + 4;
  for (const Case& c :
       {Case{Conflicting(1), 16, 8}, Case{Conflicting(2), 32, 8},
        Case{Conflicting(4), 64, 16}, Case{Conflicting(8), 128, 32},
        Case{unaligned, 256, 64}}) {
    const Line line(kRead128, LdsLoad(AccessKind::kRead, 16, c.addresses));
    EXPECT_DOUBLE_EQ(SpacingOf(line, kAll), c.four_waves);
    EXPECT_DOUBLE_EQ(SpacingOf(line, {0}), c.one_wave);
  }
}

// 128 B a clock and CU: not doubled.
TEST(LdsTime, Writes) {
  EXPECT_DOUBLE_EQ(SpacingOf("ds_write_b32 v4, v0", kAll), 8);
  EXPECT_DOUBLE_EQ(SpacingOf("ds_write_b64 v4, v[0:1]", kAll), 16);
  EXPECT_DOUBLE_EQ(SpacingOf("ds_write_b128 v4, v[0:3]", kAll), 32);
  EXPECT_DOUBLE_EQ(SpacingOf("ds_write_b128 v4, v[0:3]", {0}), 8);
  // Phases of 16 lanes over 32 banks: two lanes of a phase in one bank.
  std::array<uint32_t, 64> twice;
  for (uint32_t lane = 0; lane < 64; ++lane) twice[lane] = 16 * lane;
  EXPECT_DOUBLE_EQ(SpacingOf({"ds_write_b64 v4, v[0:1]",
                              LdsLoad(AccessKind::kWrite, 8, twice)},
                             kAll),
                   32);
}

// Unloaded: 50 to 70 clocks to the first data, then 8 or 4 on the path.
TEST(LdsTime, Latency) {
  const CycleConstants constants = WarmCode();
  const auto latency = static_cast<uint64_t>(constants.lds_latency);
  ASSERT_GE(latency, 50u);
  ASSERT_LE(latency, 70u);
  EXPECT_EQ(IssuesOf({kRead128, "s_waitcnt lgkmcnt(0)"})[1], latency + 8);
  EXPECT_EQ(IssuesOf({kRead64, "s_waitcnt lgkmcnt(0)"})[1], latency + 4);
  // Counted in order: the first of four is there after 72, the last 24 later.
  const Lines four = Repeat(4, {kRead128});
  for (uint64_t left = 0; left < 4; ++left) {
    EXPECT_EQ(
        IssuesOf(
            Join({four, {"s_waitcnt lgkmcnt(" + std::to_string(left) + ")"}}))
            .back(),
        latency + 8 * (4 - left));
  }
  CycleConstants slow = constants;
  slow.lds_latency = 80;
  EXPECT_EQ(IssuesOf({kRead128, "s_waitcnt lgkmcnt(0)"}, slow)[1], 88u);
}

// ds_write_b32 to lgkmcnt 0: 36 to 48 clocks.
TEST(LdsTime, LatencyOfWrites) {
  const uint64_t at =
      IssuesOf({"ds_write_b32 v4, v0", "s_waitcnt lgkmcnt(0)"})[1];
  EXPECT_GE(at, 36u);
  EXPECT_LE(at, 48u);
}

// The first 8 at 4 to 8 clocks, then one per 16.
TEST(LdsTime, FifoOfAPair) {
  const Timeline four = RunWaves(std::vector<Lines>(4, Repeat(64, {kRead128})));
  for (size_t pair = 0; pair < 2; ++pair) {
    std::vector<uint64_t> both;
    for (size_t w = 2 * pair; w < 2 * pair + 2; ++w) {
      const std::vector<uint64_t> at = four.Of(w);
      for (size_t i = 1; i < 4; ++i) {
        EXPECT_GE(at[i] - at[i - 1], 4u);
        EXPECT_LE(at[i] - at[i - 1], 8u);
      }
      for (size_t i = 40; i < 64; ++i) EXPECT_EQ(at[i] - at[i - 1], 16u);
    }
  }
  // Requests of 64 turns each: eight wait behind the one that is served, and
  // the tenth waits for the second's start, a wave's stall of its own kind.
  const Line slow(kRead128, 64 | 8 << 16);
  const Timeline one = RunWaves({Repeat(12, {slow})});
  const std::vector<uint64_t> at = one.Of(0);
  for (size_t i = 1; i < 9; ++i) EXPECT_EQ(at[i], 4 * i);
  EXPECT_EQ(at[9], 4u + 64);
  EXPECT_EQ(at[10], 4u + 2 * 64);
  for (const WaitEvent& wait : one.waits) {
    EXPECT_EQ(wait.stall, Stall::kLdsQueue);
  }
  // The other pair's FIFO is its own.
  const Timeline pairs = RunWaves({Repeat(12, {slow}), {}, Repeat(8, {slow})});
  const std::vector<uint64_t> other = pairs.Of(2);
  for (size_t i = 1; i < 8; ++i) EXPECT_EQ(other[i] - other[i - 1], 4u);
}

// A stream on one pair leaves half of the banks' time; a read of the other pair
// meets at most one request.
TEST(LdsTime, PairsServeThemselves) {
  const Timeline two =
      RunWaves({Repeat(64, {kRead128}),
                {},
                {"s_nop 15", kRead128, "s_waitcnt lgkmcnt(0)"}});
  const std::vector<uint64_t> at = two.Of(2);
  EXPECT_GE(at[2] - at[1], 72u);
  EXPECT_LE(at[2] - at[1], 80u);
}

// A load straight into LDS writes 128 B a clock when it arrives, 8 clocks for a
// dwordx4 wherever the global addresses lie. Whether reads wait for that is a
// constant.
TEST(LdsTime, LoadsIntoLdsMayTakeBankTime) {
  CycleConstants constants = WarmCode();
  const auto end = [&constants](const std::string& load, uint32_t lines) {
    std::vector<Lines> waves(4, Repeat(512, {kRead128}));
    waves.push_back(Repeat(16, {Line(load, lines)}));
    const Timeline timeline = RunWaves(waves, constants);
    uint64_t last = 0;
    for (size_t w = 0; w < 4; ++w) last = std::max(last, timeline.Of(w).back());
    return static_cast<int64_t>(last);
  };
  const std::string plain = "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen";
  const std::string to_lds = "buffer_load_dwordx4 v4, s[0:3], 0 offen lds";
  const std::string narrow = "buffer_load_dword v4, s[0:3], 0 offen lds";
  const int64_t without = end(plain, 8);
  EXPECT_EQ(end(to_lds, 8), without);
  constants.lds_fill = 1;
  // A round of the four waves is 16 clocks.
  EXPECT_NEAR(end(to_lds, 8) - without, 16 * 8, 16);
  EXPECT_NEAR(end(to_lds, 16) - without, 16 * 8, 16);
  EXPECT_NEAR(end(narrow, 2) - without, 16 * 2, 16);
}

// The unit by itself: a request that arrives in free clocks before others that
// are booked takes them, in parts if it must.
TEST(LdsUnit, FillsTheGaps) {
  LdsUnit unit(WarmCode());
  // Pair 0: starts at 4, 12, 20, 28, on the banks for the first half of each.
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(unit.Issue(0, 0, 4, 8, false).first_data, 64 + 8 * i);
  }
  // Pair 1: eight turns go into the gaps from 8 and from 16.
  const LdsUnit::Service service = unit.Issue(2, 2, 8, 8, false);
  EXPECT_EQ(service.first_data, 8u + 60);
  EXPECT_EQ(service.done, 20u + 60);
}

}  // namespace
}  // namespace zyfa::emu
