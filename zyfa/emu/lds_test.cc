#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_group.h"

namespace zyfa::emu {
namespace {

// LDS byte i holds a value that differs from its neighbours'.
uint8_t Pattern(uint32_t i) { return static_cast<uint8_t>(i * 37 + i / 256); }

void Fill(TestGroup& g, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) g.group->lds[i] = Pattern(i);
}
uint32_t Dword(uint32_t at) {
  return Pattern(at) | Pattern(at + 1) << 8 | Pattern(at + 2) << 16 |
         static_cast<uint32_t>(Pattern(at + 3)) << 24;
}

TEST(Lds, ReadsOfEveryWidth) {
  TestGroup g(4096);
  Fill(g, 4096);
  for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[9][l] = (63 - l) * 20;
  const struct {
    const char* width;
    uint32_t dwords;
  } cases[] = {{"b32", 1}, {"b64", 2}, {"b96", 3}, {"b128", 4}};
  for (const auto& c : cases) {
    const std::string last = std::to_string(c.dwords - 1);
    const std::string to = c.dwords == 1 ? "v0" : "v[0:" + last + "]";
    g.Run(std::string("ds_read_") + c.width + " " + to + ", v9 offset:24");
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t d = 0; d < c.dwords; ++d) {
        ASSERT_EQ(g.wave->vgpr[d][l], Dword((63 - l) * 20 + 24 + 4 * d))
            << c.width << " lane " << l << " dword " << d;
      }
    }
  }
  // Into AGPRs, over the address register, and with half of the lanes.
  g.Run("ds_read_b128 a[4:7], v9");
  EXPECT_EQ(g.wave->vgpr[kVgprs + 7][5], Dword(58 * 20 + 12));
  g.wave->exec = 0xaaaaaaaaaaaaaaaa;
  g.Run("ds_read_b64 v[8:9], v9");
  EXPECT_EQ(g.wave->vgpr[9][62], 20u);
  EXPECT_EQ(g.wave->vgpr[9][63], Dword(4));
}

// What clang makes of an index that counts down: a negative register and an
// offset that brings the sum back into LDS.
TEST(Lds, AddressesWrap) {
  TestGroup g(1024);
  Fill(g, 1024);
  for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[9][l] = 0u - 8 * l;
  g.Run("ds_read_b64 v[0:1], v9 offset:504");
  g.Run("ds_read2_b32 v[2:3], v9 offset0:126 offset1:127");
  g.Run("ds_read_u8 v4, v9 offset:504");
  g.Run("ds_read_b64_tr_b8 v[6:7], v9 offset:504");
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t at = 504 - 8 * l;
    ASSERT_EQ(g.wave->vgpr[0][l], Dword(at)) << l;
    ASSERT_EQ(g.wave->vgpr[1][l], Dword(at + 4)) << l;
    ASSERT_EQ(g.wave->vgpr[2][l], Dword(at)) << l;
    ASSERT_EQ(g.wave->vgpr[3][l], Dword(at + 4)) << l;
    ASSERT_EQ(g.wave->vgpr[4][l], Pattern(at)) << l;
    g.wave->vgpr[10][l] = 7 * l;
    g.wave->vgpr[11][l] = l;
  }
  EXPECT_EQ(g.wave->vgpr[6][0] & 0xff, Pattern(504));
  g.Run("ds_write_b32 v9, v10 offset:508");
  g.Run("ds_write_b8 v9, v10 offset:507");
  g.Run("ds_add_u32 v9, v11 offset:508");
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t word;
    std::memcpy(&word, &g.group->lds[508 - 8 * l], 4);
    ASSERT_EQ(word, 8 * l) << l;
    ASSERT_EQ(g.group->lds[507 - 8 * l], uint8_t(7 * l)) << l;
  }
  EXPECT_EQ(g.RunForRule("ds_read_b32 v0, v9 offset:496"), "lds-out-of-range");
}

TEST(Lds, NarrowReads) {
  TestGroup g(1024);
  g.group->lds[8] = 0x85;
  g.group->lds[9] = 0xfe;
  const struct {
    const char* name;
    uint32_t want;
  } cases[] = {{"u8", 0x85},        {"i8", 0xffffff85},
               {"u16", 0xfe85},     {"i16", 0xfffffe85},
               {"u8_d16", 0x85},    {"u8_d16_hi", 0x850000},
               {"i8_d16", 0xff85},  {"i8_d16_hi", 0xff850000},
               {"u16_d16", 0xfe85}, {"u16_d16_hi", 0xfe850000}};
  for (const auto& c : cases) {
    g.wave->vgpr[0][3] = 0x12345678;
    g.Run(std::string("ds_read_") + c.name + " v0, v1 offset:8");
    EXPECT_EQ(g.wave->vgpr[0][3], c.want) << c.name;
  }
}

TEST(Lds, WritesAndPairs) {
  TestGroup g(16384);
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[9][l] = l * 16;
    for (uint32_t d = 0; d < 4; ++d) g.wave->vgpr[d][l] = l << 8 | d;
  }
  const auto lds = [&g](uint32_t at) {
    uint32_t value;
    std::memcpy(&value, g.group->lds.get() + at, 4);
    return value;
  };
  g.Run("ds_write_b128 v9, v[0:3] offset:32");
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t d = 0; d < 4; ++d) {
      ASSERT_EQ(lds(32 + 16 * l + 4 * d), l << 8 | d);
    }
  }
  g.Run("ds_write2_b64 v9, v[0:1], v[2:3] offset0:255 offset1:1");
  EXPECT_EQ(lds(16 * 7 + 255 * 8 + 4), 7u << 8 | 1);
  g.Run("ds_read2_b64 v[4:7], v9 offset0:1 offset1:255");
  EXPECT_EQ(g.wave->vgpr[6][7], 7u << 8 | 0);
  EXPECT_EQ(g.wave->vgpr[7][7], 7u << 8 | 1);
  g.Run("ds_write2st64_b32 v9, v0, v1 offset0:2 offset1:3");
  EXPECT_EQ(lds(2 * 256 + 16 * 5), 5u << 8);
  EXPECT_EQ(lds(3 * 256 + 16 * 5), 5u << 8 | 1);
  g.Run("ds_read2st64_b32 v[4:5], v9 offset0:3 offset1:2");
  EXPECT_EQ(g.wave->vgpr[4][5], 5u << 8 | 1);
  g.wave->vgpr[0][2] = 0xcafe1234;
  g.Run("ds_write_b16_d16_hi v9, v0 offset:4097");
  EXPECT_EQ(g.group->lds[4097 + 32], 0xfe);
  EXPECT_EQ(g.group->lds[4098 + 32], 0xca);
  g.wave->exec = uint64_t{1} << 2;
  g.Run("ds_write_b8 v9, v0 offset:5000");
  EXPECT_EQ(g.group->lds[5000 + 32], 0x34);
  EXPECT_EQ(g.group->lds[5000 + 33], 0);
  EXPECT_EQ(g.group->lds[5000 + 48], 0);  // lane 3 is off
}

TEST(Lds, BeyondTheAllocationIsReported) {
  TestGroup g(1000);
  for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[9][l] = 984;
  g.Run("ds_read_b128 v[0:3], v9");
  EXPECT_EQ(g.RunForRule("ds_read_b128 v[0:3], v9 offset:1"),
            "lds-out-of-range");
  EXPECT_EQ(g.wave->signal, WaveSignal::kFault);
  EXPECT_EQ(g.RunForRule("ds_write_b32 v9, v0 offset:13"), "lds-out-of-range");
  g.wave->vgpr[9][40] = 0xfffffff0;
  EXPECT_EQ(g.RunForRule("ds_read_b32 v0, v9"), "lds-out-of-range");
  EXPECT_EQ(g.group->findings.back().lane, 40);
  g.wave->exec = ~(uint64_t{1} << 40);
  g.Run("ds_read_b32 v0, v9");
}

// A row-major tile of 16 columns, every row `lanes_per_row` lanes of
// consecutive elements: after the read lane d of each block holds column d.
template <int kBits>
void CheckTranspose(const char* mnemonic, const char* destination,
                    uint32_t lane_bytes) {
  TestGroup g(65536);
  const uint32_t rows = kBits == 6 ? 16 : 64 / kBits;
  const uint32_t lanes_per_row = 16 / rows;
  const auto element = [](uint32_t block, uint32_t row, uint32_t column) {
    return (block * 31 + row * 7 + column * 3 + row * column) &
           ((1u << kBits) - 1);
  };
  for (uint32_t l = 0; l < kLanes; ++l) {
    // Scattered addresses: each lane has a place of its own.
    const uint32_t at = (l * 29 % 64) * 48 + 96;
    g.wave->vgpr[9][l] = at - 32;
    const uint32_t row = l % 16 / lanes_per_row;
    const uint32_t first = l % lanes_per_row * (16 / lanes_per_row);
    unsigned __int128 bits = 0;
    for (uint32_t e = 0; e < 16 / lanes_per_row; ++e) {
      bits |= static_cast<unsigned __int128>(element(l / 16, row, first + e))
              << (e * kBits);
    }
    std::memcpy(g.group->lds.get() + at, &bits, lane_bytes);
  }
  g.Run(std::string(mnemonic) + " " + destination + ", v9 offset:32");
  for (uint32_t l = 0; l < kLanes; ++l) {
    unsigned __int128 got = 0;
    for (uint32_t d = 0; d < lane_bytes / 4; ++d) {
      got |= static_cast<unsigned __int128>(g.wave->vgpr[2 + d][l]) << (32 * d);
    }
    for (uint32_t p = 0; p < rows; ++p) {
      ASSERT_EQ(static_cast<uint32_t>(got >> (p * kBits)) & ((1u << kBits) - 1),
                element(l / 16, p, l % 16))
          << mnemonic << " lane " << l << " element " << p;
    }
  }
}
TEST(Lds, TransposingReads) {
  CheckTranspose<16>("ds_read_b64_tr_b16", "v[2:3]", 8);
  CheckTranspose<8>("ds_read_b64_tr_b8", "v[2:3]", 8);
  CheckTranspose<4>("ds_read_b64_tr_b4", "v[2:3]", 8);
  CheckTranspose<6>("ds_read_b96_tr_b6", "v[2:4]", 12);
}

TEST(Lds, TransposingReadsAreStrict) {
  TestGroup g;
  g.wave->exec = 1;
  EXPECT_EQ(g.RunForRule("ds_read_b64_tr_b16 v[0:1], v9"), "partial-exec");
  g.wave->exec = ~uint64_t{0};
  EXPECT_EQ(g.RunForRule("ds_read_b64_tr_b8 v[0:1], v9 offset:4"),
            "misaligned");
}

TEST(Lds, Permutations) {
  TestGroup g(0);
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[1][l] = 4 * ((l * 5 + 3) % 64) + 256;
    g.wave->vgpr[2][l] = 1000 + l;
  }
  g.Run("ds_bpermute_b32 v0, v1, v2 offset:8");
  for (uint32_t l = 0; l < kLanes; ++l) {
    ASSERT_EQ(g.wave->vgpr[0][l], 1000 + (l * 5 + 5) % 64);
  }
  g.Run("ds_permute_b32 v0, v1, v2");
  for (uint32_t l = 0; l < kLanes; ++l) {
    ASSERT_EQ(g.wave->vgpr[0][(l * 5 + 3) % 64], 1000 + l);
  }
  g.wave->exec = ~uint64_t{0} << 1;  // lane 0 is off: as source it gives 0
  g.wave->vgpr[0][0] = 77;
  g.Run("ds_bpermute_b32 v0, v1, v2");
  EXPECT_EQ(g.wave->vgpr[0][0], 77u);
  EXPECT_EQ(g.wave->vgpr[0][25], 0u);  // 25 * 5 + 3 = 128
}

TEST(Lds, Atomics) {
  const struct {
    const char* text;
    uint32_t memory, data, want;
  } cases[] = {{"add_u32", 5, 7, 12},
               {"sub_u32", 5, 7, 0xfffffffe},
               {"rsub_u32", 5, 7, 2},
               {"inc_u32", 5, 7, 6},
               {"inc_u32", 7, 7, 0},
               {"dec_u32", 5, 7, 4},
               {"dec_u32", 0, 7, 7},
               {"dec_u32", 9, 7, 7},
               {"min_i32", 0xffffffff, 7, 0xffffffff},
               {"max_i32", 0xffffffff, 7, 7},
               {"min_u32", 0xffffffff, 7, 7},
               {"max_u32", 0xffffffff, 7, 0xffffffff},
               {"and_b32", 12, 10, 8},
               {"or_b32", 12, 10, 14},
               {"xor_b32", 12, 10, 6},
               {"add_f32", 0x3fc00000, 0x40200000, 0x40800000},
               {"min_f32", 0x3fc00000, 0xc0200000, 0xc0200000},
               // 1.5 + 2.5 in the high half; below, 1 and half a unit: to even.
               {"pk_add_bf16", 0x3fc03f80, 0x40203b80, 0x40803f80},
               {"pk_add_f16", 0x3c003e00, 0x10004100, 0x3c004400},
               // Nothing left in the low half, a denormal in the high.
               {"pk_add_f16", 0x04003c00, 0x8001bc00, 0x03ff0000}};
  for (const auto& c : cases) {
    TestGroup g(256);
    g.wave->exec = 0x10;
    g.wave->vgpr[1][4] = 16;
    g.wave->vgpr[2][4] = c.data;
    std::memcpy(g.group->lds.get() + 20, &c.memory, 4);
    g.Run(std::string("ds_") + c.text + " v1, v2 offset:4");
    uint32_t got;
    std::memcpy(&got, g.group->lds.get() + 20, 4);
    EXPECT_EQ(got, c.want) << c.text;
  }
  // All lanes on one word: the old values are all different.
  TestGroup g(256);
  for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[2][l] = 1;
  g.Run("ds_add_rtn_u32 v0, v1, v2");
  uint64_t seen = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    seen |= uint64_t{1} << g.wave->vgpr[0][l];
  }
  EXPECT_EQ(seen, ~uint64_t{0});
  // Comparand first, new value second.
  g.wave->exec = 1;
  g.wave->vgpr[2][0] = 64;
  g.wave->vgpr[3][0] = 5;
  g.Run("ds_cmpst_rtn_b32 v0, v1, v2, v3");
  EXPECT_EQ(g.wave->vgpr[0][0], 64u);
  g.Run("ds_cmpst_rtn_b32 v0, v1, v2, v3");
  EXPECT_EQ(g.wave->vgpr[0][0], 5u);
  g.Run("ds_add_rtn_u64 v[4:5], v1, v[2:3]");
  EXPECT_EQ(g.wave->vgpr[4][0], 5u);
}

}  // namespace
}  // namespace zyfa::emu
