// Values that move between lanes: DPP, swaps, permutes, votes.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class CrossLane : public testing::TestWithParam<std::string> {};

TEST_P(CrossLane, Dpp) {
  TestDevice device(GetParam());
  std::vector<uint32_t> old(64), in(64);
  for (uint32_t l = 0; l < 64; ++l) old[l] = 1000 + l, in[l] = 2000 + l;
  constexpr int kNone = -1;
  struct Case {
    const char* name;
    std::function<int(int)> source;  // lane, kNone without one
    int row_mask = 15, bank_mask = 15;
    bool bound_control = false;
  };
  const auto in_row = [](int from, int lane) {
    return from >= 0 && from / 16 == lane / 16 ? from : kNone;
  };
  const std::vector<Case> cases = {
      {"quad_perm:[3,2,1,0]", [](int l) { return l ^ 3; }},
      {"quad_perm:[3,0,1,2]", [](int l) { return l / 4 * 4 + (l + 3) % 4; }, 5},
      {"row_shl:1", [&](int l) { return in_row(l + 1, l); }},
      {"row_shl:15", [&](int l) { return in_row(l + 15, l); }, 15, 15, true},
      {"row_shr:1", [&](int l) { return in_row(l - 1, l); }},
      {"row_shr:8", [&](int l) { return in_row(l - 8, l); }, 15, 15, true},
      {"row_shr:4", [&](int l) { return in_row(l - 4, l); }, 15, 6},
      {"row_ror:3", [](int l) { return l / 16 * 16 + (l + 13) % 16; }},
      {"wave_shl:1", [](int l) { return l < 63 ? l + 1 : kNone; }},
      {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
      {"wave_shr:1", [](int l) { return l - 1; }, 15, 15, true},
      {"wave_ror:1", [](int l) { return (l + 63) % 64; }},
      {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
      {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
      {"row_bcast:15", [](int l) { return l / 16 * 16 - 1; }, 10},
      {"row_bcast:31", [](int) { return 31; }, 12},
      {"row_newbcast:11", [](int l) { return l / 16 * 16 + 11; }},
      {"quad_perm:[2,3,0,1]", [](int l) { return l ^ 2; }, 15, 15, true}};
  const uint64_t out = device.Upload(std::vector<uint32_t>(64 * cases.size()));
  device.RunClean(
      "dpp", Shape(1, 64),
      Kernarg().Add(out).Add(device.Upload(old)).Add(device.Upload(in)));
  const auto got = device.Download<uint32_t>(out, 64 * cases.size());
  for (size_t c = 0; c < cases.size(); ++c) {
    for (int l = 0; l < 64; ++l) {
      const auto lane = static_cast<size_t>(l);
      const bool enabled = (cases[c].row_mask >> (l / 16) & 1) &&
                           (cases[c].bank_mask >> (l % 16 / 4) & 1);
      const int source = cases[c].source(l);
      uint32_t want = old[lane];
      if (enabled && source != kNone) {
        want = in[static_cast<size_t>(source)];
      } else if (enabled && cases[c].bound_control) {
        want = 0;
      }
      ASSERT_EQ(got[64 * c + lane], want) << cases[c].name << " lane " << l;
    }
  }
}

TEST_P(CrossLane, RunningSumsAndMaxima) {
  TestDevice device(GetParam());
  Noise noise(1);
  std::vector<int32_t> in(512);
  for (int32_t& x : in) x = noise.Between(-1000, 1000);
  const std::vector<float> floats = noise.Floats(512);
  const uint64_t sums = device.Upload(std::vector<int32_t>(512));
  const uint64_t maxima = device.Upload(std::vector<float>(8));
  device.RunClean("scan", Shape(2, 256),
                  Kernarg()
                      .Add(sums)
                      .Add(maxima)
                      .Add(device.Upload(in))
                      .Add(device.Upload(floats)));
  const auto got = device.Download<int32_t>(sums, 512);
  const auto got_max = device.Download<float>(maxima, 8);
  for (size_t wave = 0; wave < 8; ++wave) {
    int32_t sum = 0;
    for (size_t l = 0; l < 64; ++l) {
      sum += in[64 * wave + l];
      ASSERT_EQ(got[64 * wave + l], sum) << wave << " " << l;
    }
    const auto first = floats.begin() + static_cast<long>(64 * wave);
    EXPECT_EQ(got_max[wave], *std::max_element(first, first + 64));
  }
}

TEST_P(CrossLane, Swaps) {
  TestDevice device(GetParam());
  std::vector<uint32_t> d(64), s(64);
  for (uint32_t l = 0; l < 64; ++l) d[l] = 100 + l, s[l] = 200 + l;
  const uint64_t out = device.Upload(std::vector<uint32_t>(256));
  device.RunClean(
      "swaps", Shape(1, 64),
      Kernarg().Add(out).Add(device.Upload(d)).Add(device.Upload(s)));
  const auto got = device.Download<uint32_t>(out, 256);
  for (uint32_t l = 0; l < 64; ++l) {
    // The upper half of d changes places with the lower half of s, in each 32
    // lanes or in all 64.
    for (uint32_t half : {16u, 32u}) {
      const bool upper = l / half % 2 == 1;
      const size_t at = half == 16 ? l : 128 + l;
      EXPECT_EQ(got[at], upper ? s[l - half] : d[l]) << half << " " << l;
      EXPECT_EQ(got[at + 64], upper ? s[l] : d[l + half]) << half << " " << l;
    }
  }
}

TEST_P(CrossLane, Permutes) {
  TestDevice device(GetParam());
  Noise noise(2);
  std::vector<int32_t> values(64), lanes(64);
  for (size_t l = 0; l < 64; ++l) {
    values[l] = 500 + static_cast<int>(l);
    lanes[l] = noise.Between(0, 63);
  }
  const uint64_t out = device.Upload(std::vector<int32_t>(448));
  device.RunClean(
      "permutes", Shape(1, 64),
      Kernarg().Add(out).Add(device.Upload(values)).Add(device.Upload(lanes)));
  const auto got = device.Download<int32_t>(out, 448);
  for (size_t l = 0; l < 64; ++l) {
    const auto from = static_cast<size_t>(lanes[l]);
    EXPECT_EQ(got[l], values[from]);
    EXPECT_EQ(got[64 + (l * 11 + 5) % 64], values[l]);
    EXPECT_EQ(got[128 + l], values[l ^ 1]);
    EXPECT_EQ(got[192 + l], values[l ^ 16]);
    EXPECT_EQ(got[256 + l], values[(l & 32) | (l & 21)]);
    EXPECT_EQ(got[320 + l], values[l ^ 3]);
    EXPECT_EQ(got[384 + l],
              l % 2 == 1 ? -1 : (from % 2 == 0 ? values[from] : 0));
  }
}

TEST_P(CrossLane, Votes) {
  TestDevice device(GetParam());
  Noise noise(3);
  std::vector<int32_t> in(64);
  for (int32_t& x : in) x = noise.Between(0, 99);
  in[0] = 3;  // the first above 50 is not lane 0
  const uint64_t masks = device.Upload(std::vector<uint64_t>(3));
  const uint64_t out = device.Upload(std::vector<int32_t>(256, -5));
  device.RunClean(
      "votes", Shape(1, 64),
      Kernarg().Add(masks).Add(out).Add(device.Upload(in)).Add(int32_t{37}));
  const auto got_masks = device.Download<uint64_t>(masks, 3);
  const auto got = device.Download<int32_t>(out, 256);
  uint64_t odd = 0, above = 0, far_above = 0;
  for (size_t l = 0; l < 64; ++l) {
    if (in[l] % 2 != 0) odd |= uint64_t{1} << l;
    if (in[l] > 50) above |= uint64_t{1} << l;
    if (in[l] > 75) far_above |= uint64_t{1} << l;
  }
  EXPECT_EQ(got_masks[0], odd);
  EXPECT_EQ(got_masks[1], far_above);
  EXPECT_EQ(got_masks[2], above);
  for (size_t l = 0; l < 64; ++l) {
    EXPECT_EQ(got[l], in[37]);
    EXPECT_EQ(got[64 + l],
              __builtin_popcountll(odd & ((uint64_t{1} << l) - 1)));
    const auto first = static_cast<size_t>(__builtin_ctzll(above));
    EXPECT_EQ(got[128 + l], in[l] > 50 ? in[first] : -5);
    EXPECT_EQ(got[192 + l], __builtin_popcountll(odd) +
                                __builtin_ctzll(odd | uint64_t{1} << 63));
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, CrossLane,
                         testing::ValuesIn(BothLevels("cross_lane")));

}  // namespace
}  // namespace zyfa::emu
