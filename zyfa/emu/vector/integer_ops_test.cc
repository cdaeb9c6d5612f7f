// Integer instructions against formulas of their own, lane by lane.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

using U = uint32_t;
using Formula = std::function<U(U a, U b, U c)>;

struct Case {
  std::string name;
  int sources;
  Formula formula;
};

int32_t I(U x) { return static_cast<int32_t>(x); }
int64_t L(U x) { return static_cast<int32_t>(x); }
U Clamp(int64_t x, int64_t low, int64_t high) {
  return static_cast<U>(std::clamp(x, low, high));
}
int64_t S16(U x) { return static_cast<int16_t>(x); }
int64_t S24(U x) { return L(x << 8) >> 8; }
U Byte(U x, int i) { return x >> (8 * i) & 255; }
U Sad(U a, U b, bool masked) {
  U sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (masked && Byte(b, i) == 0) continue;
    sum += std::abs(int(Byte(a, i)) - int(Byte(b, i)));
  }
  return sum;
}
U FirstBit(U x, bool from_top) {
  for (int i = 0; i < 32; ++i) {
    if (x >> (from_top ? 31 - i : i) & 1) return i;
  }
  return ~0u;
}

const std::vector<Case>& Cases() {
  static const auto* cases = new std::vector<Case>{
      {"v_add_u32", 2, [](U a, U b, U) { return a + b; }},
      {"v_sub_u32", 2, [](U a, U b, U) { return a - b; }},
      {"v_subrev_u32", 2, [](U a, U b, U) { return b - a; }},
      {"v_and_b32", 2, [](U a, U b, U) { return a & b; }},
      {"v_or_b32", 2, [](U a, U b, U) { return a | b; }},
      {"v_xor_b32", 2, [](U a, U b, U) { return a ^ b; }},
      {"v_xnor_b32", 2, [](U a, U b, U) { return ~(a ^ b); }},
      {"v_not_b32", 1, [](U a, U, U) { return ~a; }},
      {"v_lshlrev_b32", 2, [](U a, U b, U) { return b << (a % 32); }},
      {"v_lshrrev_b32", 2, [](U a, U b, U) { return b >> (a % 32); }},
      {"v_ashrrev_i32", 2, [](U a, U b, U) { return U(L(b) >> (a % 32)); }},
      {"v_lshl_add_u32", 3, [](U a, U b, U c) { return (a << (b % 32)) + c; }},
      {"v_add_lshl_u32", 3, [](U a, U b, U c) { return (a + b) << (c % 32); }},
      {"v_add3_u32", 3, [](U a, U b, U c) { return a + b + c; }},
      {"v_lshl_or_b32", 3, [](U a, U b, U c) { return a << (b % 32) | c; }},
      {"v_and_or_b32", 3, [](U a, U b, U c) { return (a & b) | c; }},
      {"v_or3_b32", 3, [](U a, U b, U c) { return a | b | c; }},
      {"v_xad_u32", 3, [](U a, U b, U c) { return (a ^ b) + c; }},
      {"v_mul_lo_u32", 2, [](U a, U b, U) { return a * b; }},
      {"v_mul_hi_u32", 2, [](U a, U b, U) { return U(uint64_t(a) * b >> 32); }},
      {"v_mul_hi_i32", 2, [](U a, U b, U) { return U(L(a) * L(b) >> 32); }},
      {"v_mul_i32_i24", 2, [](U a, U b, U) { return U(S24(a) * S24(b)); }},
      {"v_mul_hi_i32_i24", 2,
       [](U a, U b, U) { return U(S24(a) * S24(b) >> 32); }},
      {"v_mul_u32_u24", 2,
       [](U a, U b, U) {
         return U(uint64_t(a % (1 << 24)) * (b % (1 << 24)));
       }},
      {"v_mul_hi_u32_u24", 2,
       [](U a, U b, U) {
         return U(uint64_t(a % (1 << 24)) * (b % (1 << 24)) >> 32);
       }},
      {"v_mad_u32_u24", 3,
       [](U a, U b, U c) { return (a % (1 << 24)) * (b % (1 << 24)) + c; }},
      {"v_mad_i32_i24", 3,
       [](U a, U b, U c) { return U(S24(a) * S24(b) + L(c)); }},
      {"v_mad_u32_u16", 3,
       [](U a, U b, U c) { return (a % 65536) * (b % 65536) + c; }},
      {"v_mad_i32_i16", 3,
       [](U a, U b, U c) { return U(S16(a) * S16(b) + L(c)); }},
      {"v_max_u32", 2, [](U a, U b, U) { return std::max(a, b); }},
      {"v_min_u32", 2, [](U a, U b, U) { return std::min(a, b); }},
      {"v_max_i32", 2, [](U a, U b, U) { return U(std::max(I(a), I(b))); }},
      {"v_min_i32", 2, [](U a, U b, U) { return U(std::min(I(a), I(b))); }},
      {"v_max3_i32", 3,
       [](U a, U b, U c) { return U(std::max({I(a), I(b), I(c)})); }},
      {"v_min3_u32", 3, [](U a, U b, U c) { return std::min({a, b, c}); }},
      {"v_med3_i32", 3,
       [](U a, U b, U c) {
         std::vector<int32_t> x = {I(a), I(b), I(c)};
         std::sort(x.begin(), x.end());
         return U(x[1]);
       }},
      {"v_bfe_u32", 3,
       [](U a, U b, U c) {
         return (a >> (b % 32)) & U((uint64_t{1} << (c % 32)) - 1);
       }},
      {"v_bfe_i32", 3,
       [](U a, U b, U c) {
         const int width = c % 32;
         if (width == 0) return 0u;
         const int64_t shifted = L(a) >> (b % 32);
         return U(int64_t(uint64_t(shifted) << (64 - width)) >> (64 - width));
       }},
      {"v_bfi_b32", 3, [](U a, U b, U c) { return (a & b) | (~a & c); }},
      {"v_bfm_b32", 2,
       [](U a, U b, U) {
         return U((uint64_t{1} << (a % 32)) - 1) << (b % 32);
       }},
      {"v_bfrev_b32", 1,
       [](U a, U, U) {
         U result = 0;
         for (int i = 0; i < 32; ++i) result |= (a >> i & 1) << (31 - i);
         return result;
       }},
      {"v_ffbh_u32", 1, [](U a, U, U) { return FirstBit(a, true); }},
      {"v_ffbl_b32", 1, [](U a, U, U) { return FirstBit(a, false); }},
      {"v_ffbh_i32", 1,
       [](U a, U, U) { return FirstBit(I(a) < 0 ? ~a : a, true); }},
      {"v_bcnt_u32_b32", 2,
       [](U a, U b, U) { return U(std::popcount(a)) + b; }},
      {"v_alignbit_b32", 3,
       [](U a, U b, U c) {
         return c % 32 == 0 ? b : b >> (c % 32) | a << (32 - c % 32);
       }},
      {"v_alignbyte_b32", 3,
       [](U a, U b, U c) {
         return c % 4 == 0 ? b : b >> (8 * (c % 4)) | a << (32 - 8 * (c % 4));
       }},
      {"v_sad_u8", 3, [](U a, U b, U c) { return Sad(a, b, false) + c; }},
      {"v_msad_u8", 3, [](U a, U b, U c) { return Sad(a, b, true) + c; }},
      {"v_sad_hi_u8", 3,
       [](U a, U b, U c) { return (Sad(a, b, false) << 16) + c; }},
      {"v_sad_u32", 3,
       [](U a, U b, U c) { return (a > b ? a - b : b - a) + c; }},
      {"v_cvt_pk_u16_u32", 2,
       [](U a, U b, U) {
         return std::min(a, 65535u) | std::min(b, 65535u) << 16;
       }},
      {"v_cvt_pk_i16_i32", 2,
       [](U a, U b, U) {
         return (Clamp(L(a), -32768, 32767) & 65535) |
                Clamp(L(b), -32768, 32767) << 16;
       }},
      {"v_prng_b32", 1,
       [](U a, U, U) { return I(a) < 0 ? (2 * a) ^ 0xc5 : 2 * a; }},
      {"v_add_u16", 2, [](U a, U b, U) { return (a + b) & 65535; }},
      {"v_sub_u16", 2, [](U a, U b, U) { return (a - b) & 65535; }},
      {"v_mul_lo_u16", 2, [](U a, U b, U) { return (a * b) & 65535; }},
      {"v_lshlrev_b16", 2, [](U a, U b, U) { return (b << (a % 16)) & 65535; }},
      {"v_lshrrev_b16", 2, [](U a, U b, U) { return (b & 65535) >> (a % 16); }},
      {"v_ashrrev_i16", 2,
       [](U a, U b, U) { return U(S16(b) >> (a % 16)) & 65535; }},
      {"v_max_i16", 2,
       [](U a, U b, U) { return U(std::max(S16(a), S16(b))) & 65535; }},
      {"v_min_u16", 2,
       [](U a, U b, U) { return std::min(a & 65535, b & 65535); }},
      {"v_sat_pk_u8_i16", 1,
       [](U a, U,
          U) { return Clamp(S16(a), 0, 255) | Clamp(S16(a >> 16), 0, 255) << 8; }},
  };
  return *cases;
}

TEST(IntegerOpsTest, Formulas) {
  TestWave wave;
  Random random(1);
  for (const Case& c : Cases()) {
    for (int trial = 0; trial < 20; ++trial) {
      for (int r = 1; r <= 3; ++r) {
        for (int l = 0; l < kLanes; ++l) {
          // Small and negative numbers as often as any.
          const U any = random.Next32();
          wave->vgpr[r][l] = any % 3 == 0   ? random.Next32()
                             : any % 3 == 1 ? random.Next32() % 40
                                            : U(-random.Between(0, 70000));
        }
      }
      std::string text = c.name + " v0, v1";
      for (int i = 1; i < c.sources; ++i) text += ", v" + std::to_string(1 + i);
      const auto before = std::make_unique<Wave>(*wave);
      wave->exec = trial % 2 ? random.Next64() : ~uint64_t{0};
      const uint64_t exec = wave->exec;
      ASSERT_NO_FATAL_FAILURE(wave.Run(text));
      for (int l = 0; l < kLanes; ++l) {
        const U expected =
            exec >> l & 1 ? c.formula(before->vgpr[1][l], before->vgpr[2][l],
                                      before->vgpr[3][l])
                          : before->vgpr[0][l];
        ASSERT_EQ(wave->vgpr[0][l], expected)
            << text << std::hex << " " << before->vgpr[1][l] << " "
            << before->vgpr[2][l] << " " << before->vgpr[3][l];
      }
    }
  }
}

struct IntegerOpsFixture : ::testing::Test {
  U One(const std::string& text, U a, U b = 0, U c = 0) {
    wave->vgpr[1][9] = a;
    wave->vgpr[2][9] = b;
    wave->vgpr[3][9] = c;
    wave.Run(text);
    return wave->vgpr[0][9];
  }
  TestWave wave;
};

TEST_F(IntegerOpsFixture, ScalarsConstantsAndLiterals) {
  wave->sgpr[5] = 7;
  wave->sgpr[kM0] = 9;
  wave->exec = 0xffffffff00000000;
  wave->scc = true;
  const auto lane40 = [&](const std::string& text) {
    wave->vgpr[1][40] = 100;
    wave.Run(text);
    return wave->vgpr[0][40];
  };
  EXPECT_EQ(lane40("v_add_u32_e32 v0, s5, v1"), 107u);
  EXPECT_EQ(lane40("v_add_u32_e32 v0, -16, v1"), 84u);
  EXPECT_EQ(lane40("v_add_u32_e32 v0, 0x12345678, v1"), 0x12345678u + 100);
  EXPECT_EQ(lane40("v_add_u32_e32 v0, m0, v1"), 109u);
  EXPECT_EQ(lane40("v_or_b32_e32 v0, exec_hi, v1"), 0xffffffffu);
  EXPECT_EQ(lane40("v_mov_b32_e32 v0, 1.0"), 0x3f800000u);
  EXPECT_EQ(lane40("v_mov_b32_e32 v0, 0.15915494"), 0x3e22f983u);
  EXPECT_EQ(lane40("v_add_u32_e32 v0, src_scc, v1"), 101u);
}

TEST_F(IntegerOpsFixture, SaturatingForms) {
  EXPECT_EQ(One("v_add_u32_e64 v0, v1, v2 clamp", 0xfffffff0, 0x20),
            0xffffffffu);
  EXPECT_EQ(One("v_sub_u32_e64 v0, v1, v2 clamp", 3, 5), 0u);
  EXPECT_EQ(One("v_add_i32 v0, v1, v2 clamp", 0x7fffffff, 5), 0x7fffffffu);
  EXPECT_EQ(One("v_sub_i32 v0, v1, v2 clamp", 0x80000000, 5), 0x80000000u);
  EXPECT_EQ(One("v_add_u16_e64 v0, v1, v2 clamp", 0xfff0, 0x20), 0xffffu);
  EXPECT_EQ(One("v_add_i16 v0, v1, v2 clamp", 0x7fff, 5), 0x7fffu);
  EXPECT_EQ(One("v_mad_u32_u24 v0, v1, v2, v3 clamp", 0xffffff, 0xffffff, 1),
            0xffffffffu);
  EXPECT_EQ(Assemble("v_and_b32_e64 v0, v1, v2 clamp").handler, nullptr);
  EXPECT_EQ(One("v_ashr_pk_u8_i32 v0, v1, v2, v3", 0x1230, U(-5), 4) & 0xffff,
            0x00ffu);
  EXPECT_EQ(One("v_ashr_pk_i8_i32 v0, v1, v2, v3", 0x330, U(-64), 4) & 0xffff,
            0xfc33u);
}

TEST_F(IntegerOpsFixture, PermutesBytes) {
  // S0 holds pool bytes 7..4, S1 bytes 3..0.
  EXPECT_EQ(
      One("v_perm_b32 v0, v1, v2, v3", 0x77665544, 0x33221100, 0x07040300),
      0x77443300u);
  EXPECT_EQ(
      One("v_perm_b32 v0, v1, v2, v3", 0x80005544, 0x8022f100, 0x0d0c0b08),
      0xff00ffffu);
  EXPECT_EQ(
      One("v_perm_b32 v0, v1, v2, v3", 0x7f005544, 0x7f227100, 0xff0a0908),
      0xff000000u);
}

TEST_F(IntegerOpsFixture, TruthTables) {
  Random random(2);
  for (int table = 0; table < 256; ++table) {
    const U a = random.Next32(), b = random.Next32(), c = random.Next32();
    U expected = 0;
    for (int i = 0; i < 32; ++i) {
      const int row = 4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1);
      expected |= U(table >> row & 1) << i;
    }
    const std::string text =
        "v_bitop3_b32 v0, v1, v2, v3 bitop3:" + std::to_string(table);
    ASSERT_EQ(One(text, a, b, c), expected);
  }
}

TEST_F(IntegerOpsFixture, Carries) {
  wave->sgpr[10] = 1 << 9;  // carry into lane 9
  EXPECT_EQ(One("v_add_co_u32_e32 v0, vcc, v1, v2", 0xffffffff, 2), 1u);
  EXPECT_EQ(wave->vcc(), uint64_t{1} << 9);
  EXPECT_EQ(One("v_addc_co_u32_e64 v0, s[12:13], v1, v2, s[10:11]", 5, 6), 12u);
  EXPECT_EQ(wave->ReadScalar64(12), 0u);
  EXPECT_EQ(One("v_addc_co_u32_e64 v0, s[12:13], v1, v2, s[10:11]", ~0u, 0),
            0u);
  EXPECT_EQ(wave->ReadScalar64(12), uint64_t{1} << 9);
  EXPECT_EQ(One("v_sub_co_u32_e32 v0, vcc, v1, v2", 3, 4), ~0u);
  EXPECT_EQ(wave->vcc(), uint64_t{1} << 9);
  EXPECT_EQ(One("v_subbrev_co_u32_e64 v0, vcc, v1, v2, s[10:11]", 3, 4), 0u);
  EXPECT_EQ(wave->vcc() >> 9 & 1, 0u);
  EXPECT_EQ(One("v_subb_co_u32_e64 v0, vcc, v1, v2, s[10:11]", 3, 3), ~0u);
  EXPECT_EQ(wave->vcc() >> 9 & 1, 1u);
}

TEST_F(IntegerOpsFixture, SixtyFourBits) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    for (int r = 1; r < 8; ++r) {
      for (int l = 0; l < kLanes; ++l) wave->vgpr[r][l] = random.Next32();
    }
    const auto get = [&](int r, int l) {
      return wave->vgpr[r][l] | uint64_t{wave->vgpr[r + 1][l]} << 32;
    };
    wave.Run("v_mad_u64_u32 v[10:11], s[4:5], v1, v2, v[4:5]");
    wave.Run("v_mad_i64_i32 v[12:13], s[6:7], v1, v2, v[4:5]");
    wave.Run("v_lshl_add_u64 v[14:15], v[4:5], 3, v[6:7]");
    wave.Run("v_lshlrev_b64 v[16:17], v1, v[4:5]");
    wave.Run("v_ashrrev_i64 v[18:19], v1, v[4:5]");
    wave.Run("v_lshrrev_b64 v[20:21], 7, v[4:5]");
    for (int l = 0; l < kLanes; ++l) {
      const U a = wave->vgpr[1][l], b = wave->vgpr[2][l];
      const uint64_t product = uint64_t{a} * b;
      ASSERT_EQ(get(10, l), product + get(4, l));
      ASSERT_EQ(wave->ReadScalar64(4) >> l & 1,
                product + get(4, l) < product ? 1u : 0u);
      ASSERT_EQ(get(12, l), static_cast<uint64_t>(L(a) * L(b)) + get(4, l));
      ASSERT_EQ(get(14, l), (get(4, l) << 3) + get(6, l));
      ASSERT_EQ(get(16, l), get(4, l) << (a % 64));
      ASSERT_EQ(get(18, l), static_cast<uint64_t>(
                                static_cast<int64_t>(get(4, l)) >> (a % 64)));
      ASSERT_EQ(get(20, l), get(4, l) >> 7);
    }
  }
  wave.Run("v_mov_b64_e32 v[10:11], -1");
  EXPECT_EQ(wave->vgpr[11][3], ~0u);
  wave.Run("v_mov_b64_e32 v[10:11], 1.0");
  EXPECT_EQ(wave->vgpr[11][3], 0x3ff00000u);
  EXPECT_EQ(wave->vgpr[10][3], 0u);
}

TEST_F(IntegerOpsFixture, DestinationMayBeASource) {
  for (int l = 0; l < kLanes; ++l) {
    wave->vgpr[4][l] = l;
    wave->vgpr[5][l] = 100 + l;
  }
  wave.Run("v_lshlrev_b64 v[4:5], 32, v[4:5]");
  EXPECT_EQ(wave->vgpr[4][7], 0u);
  EXPECT_EQ(wave->vgpr[5][7], 7u);
  // Overlapping pairs.
  wave->vgpr[5][7] = 1, wave->vgpr[6][7] = 2;
  wave.Run("v_lshlrev_b64 v[6:7], 4, v[5:6]");
  EXPECT_EQ(wave->vgpr[6][7], 16u);
  EXPECT_EQ(wave->vgpr[7][7], 32u);
}

TEST_F(IntegerOpsFixture, AccumulationRegisters) {
  EXPECT_EQ(One("v_accvgpr_write_b32 a7, v1", 42), 0u);
  EXPECT_EQ(wave->vgpr[kVgprs + 7][9], 42u);
  wave.Run("v_accvgpr_mov_b32 a8, a7");
  wave.Run("v_accvgpr_read_b32 v0, a8");
  EXPECT_EQ(wave->vgpr[0][9], 42u);
  EXPECT_EQ(wave->vgpr[7][9], 0u);
}

}  // namespace
}  // namespace zyfa::emu::testing
