// Lane exchange, DPP, SDWA and comparisons.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

struct CrossLaneTest : ::testing::Test {
  CrossLaneTest() {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[1][l] = 1000 + l;
      wave->vgpr[2][l] = 2000 + l;
    }
  }
  TestWave wave;
};

TEST_F(CrossLaneTest, Permlane32Swap) {
  wave->exec = 3;  // plays no part
  wave.Run("v_permlane32_swap_b32_e32 v1, v2");
  for (int l = 0; l < 32; ++l) {
    EXPECT_EQ(wave->vgpr[1][l], 1000u + l);
    EXPECT_EQ(wave->vgpr[1][l + 32], 2000u + l);
    EXPECT_EQ(wave->vgpr[2][l], 1032u + l);
    EXPECT_EQ(wave->vgpr[2][l + 32], 2032u + l);
  }
}

TEST_F(CrossLaneTest, Permlane16Swap) {
  wave.Run("v_permlane16_swap_b32_e32 v1, v2");
  for (int l = 0; l < kLanes; ++l) {
    const bool upper = l & 16;
    EXPECT_EQ(wave->vgpr[1][l], upper ? 2000u + l - 16 : 1000u + l);
    EXPECT_EQ(wave->vgpr[2][l], upper ? 2000u + l : 1000u + l + 16);
  }
}

TEST_F(CrossLaneTest, LanesAndScalars) {
  wave.Run("v_readlane_b32 s7, v1, 37");
  EXPECT_EQ(wave->sgpr[7], 1037u);
  wave->sgpr[8] = 64 + 5;  // six bits count
  wave->exec = 0;
  wave.Run("v_readlane_b32 s7, v1, s8");
  EXPECT_EQ(wave->sgpr[7], 1005u);
  wave.Run("v_readfirstlane_b32 s7, v1");
  EXPECT_EQ(wave->sgpr[7], 1000u);
  wave->exec = uint64_t{3} << 40;
  wave.Run("v_readfirstlane_b32 s7, v1");
  EXPECT_EQ(wave->sgpr[7], 1040u);
  wave.Run("v_writelane_b32 v1, s7, 2");
  EXPECT_EQ(wave->vgpr[1][2], 1040u);
  EXPECT_EQ(wave->vgpr[1][3], 1003u);
}

TEST_F(CrossLaneTest, Swap) {
  wave->exec = 1 << 4;
  wave.Run("v_swap_b32 v1, v2");
  EXPECT_EQ(wave->vgpr[1][4], 2004u);
  EXPECT_EQ(wave->vgpr[2][4], 1004u);
  EXPECT_EQ(wave->vgpr[1][5], 1005u);
}

TEST_F(CrossLaneTest, CountsBitsBelow) {
  const uint64_t mask = 0x8000f0f01234567f;
  wave->sgpr[4] = static_cast<uint32_t>(mask);
  wave->sgpr[5] = static_cast<uint32_t>(mask >> 32);
  wave.Run("v_mbcnt_lo_u32_b32 v3, s4, 0");
  wave.Run("v_mbcnt_hi_u32_b32 v3, s5, v3");
  for (int l = 0; l < kLanes; ++l) {
    uint32_t count = 0;
    for (int i = 0; i < l; ++i) count += mask >> i & 1;
    EXPECT_EQ(wave->vgpr[3][l], count);
  }
}

TEST_F(CrossLaneTest, PackedMove) {
  wave.Run("v_pk_mov_b32 v[4:5], v[1:2], v[1:2] op_sel:[1,0]");
  EXPECT_EQ(wave->vgpr[4][9], 2009u);
  EXPECT_EQ(wave->vgpr[5][9], 1009u);
}

TEST_F(CrossLaneTest, DppPatterns) {
  // Source lane of lane l, -1 for none.
  const std::vector<std::pair<std::string, std::function<int(int)>>> patterns =
      {{"quad_perm:[3,2,0,0]",
        [](int l) {
          return l - l % 4 + (l % 4 == 0 ? 3 : l % 4 == 1 ? 2 : 0);
        }},
       {"row_shl:3", [](int l) { return l % 16 + 3 < 16 ? l + 3 : -1; }},
       {"row_shr:5", [](int l) { return l % 16 >= 5 ? l - 5 : -1; }},
       {"row_ror:4", [](int l) { return l / 16 * 16 + (l % 16 + 12) % 16; }},
       {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
       {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
       {"row_bcast:15", [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; }},
       {"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }},
       {"row_newbcast:6", [](int l) { return l / 16 * 16 + 6; }},
       {"wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; }},
       {"wave_shr:1", [](int l) { return l - 1; }},
       {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
       {"wave_ror:1", [](int l) { return (l + 63) % 64; }}};
  for (const auto& [pattern, source] : patterns) {
    for (const bool bound : {false, true}) {
      for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x0ffff0f0ff00ff0f}}) {
        for (int l = 0; l < kLanes; ++l) wave->vgpr[3][l] = 7;
        wave->exec = exec;
        wave.Run("v_add_u32_dpp v3, v1, v2 " + pattern +
                 " row_mask:0xd bank_mask:0x7" +
                 (bound ? " bound_ctrl:0" : ""));
        for (int l = 0; l < kLanes; ++l) {
          int from = source(l);
          if (from >= 0 && !(exec >> from & 1)) from = -1;
          const bool masked = l / 16 == 1 || l % 16 / 4 == 3;
          uint32_t expected = 7;
          if ((exec >> l & 1) && !masked && (from >= 0 || bound)) {
            expected = (from < 0 ? 0 : 1000u + from) + 2000 + l;
          }
          ASSERT_EQ(wave->vgpr[3][l], expected) << pattern << " lane " << l;
        }
      }
    }
  }
}

TEST_F(CrossLaneTest, DppWithFloatsAndPairs) {
  for (int l = 0; l < kLanes; ++l) wave->vgpr[1][l] = Bits(float(l));
  wave.Run(
      "v_add_f32_dpp v3, -v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf "
      "bound_ctrl:0");
  EXPECT_EQ(Float(wave->vgpr[3][5]), 1);
  wave.Run(
      "v_mov_b64_dpp v[4:5], v[1:2] row_newbcast:3 row_mask:0xf "
      "bank_mask:0xf");
  EXPECT_EQ(Float(wave->vgpr[4][20]), 19);
  EXPECT_EQ(wave->vgpr[5][20], 2019u);
}

TEST_F(CrossLaneTest, SdwaSelects) {
  const auto run = [&](const std::string& text, uint32_t a, uint32_t b) {
    wave->vgpr[1][9] = a;
    wave->vgpr[2][9] = b;
    wave->vgpr[3][9] = 0xaabbccdd;
    wave.Run(text);
    return wave->vgpr[3][9];
  };
  const std::string add = "v_add_u32_sdwa v3, v1, v2 ";
  EXPECT_EQ(run(add + "dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 "
                      "src1_sel:WORD_1",
                0x11223344, 0x55667788),
            0x22u + 0x5566);
  EXPECT_EQ(run("v_add_u32_sdwa v3, sext(v1), v2 dst_sel:DWORD "
                "dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD",
                0xf1223344, 1),
            0xfffffff2u);
  EXPECT_EQ(run(add + "dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
                      "src0_sel:BYTE_0 src1_sel:BYTE_0",
                0xf0, 0x33),
            0xaabb23ddu);
  EXPECT_EQ(run(add + "dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD "
                      "src1_sel:DWORD",
                0x12345, 1),
            0x23460000u);
  EXPECT_EQ(run(add + "dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:DWORD "
                      "src1_sel:DWORD",
                0x80, 1),
            0xffff8100u);
  EXPECT_EQ(run("v_mul_f16_sdwa v3, v1, -v2 dst_sel:WORD_1 "
                "dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
                0x40000000, 0x00004200),
            0xc600ccddu);
  EXPECT_EQ(run("v_cvt_f32_fp8_sdwa v3, v1 src0_sel:BYTE_2", 0x00380000, 0),
            Bits(1.0f));
  wave.Run("v_cvt_pk_f32_fp8_sdwa v[4:5], v1 src0_sel:WORD_1");
  EXPECT_EQ(Float(wave->vgpr[4][9]), 1);
  EXPECT_EQ(Float(wave->vgpr[5][9]), 0);
  wave->vgpr[1][9] = 0x00050000;
  wave->vgpr[2][9] = 5;
  wave.Run("v_cmp_eq_u32_sdwa s[6:7], v1, v2 src0_sel:WORD_1 src1_sel:DWORD");
  EXPECT_EQ(wave->ReadScalar64(6) >> 9 & 1, 1u);
}

template <class T>
bool Compare(const std::string& condition, T a, T b) {
  const bool unordered = a != a || b != b;
  if (condition == "f") return false;
  if (condition == "lt") return a < b;
  if (condition == "eq") return a == b;
  if (condition == "le") return a <= b;
  if (condition == "gt") return a > b;
  if (condition == "lg") return !unordered && a != b;
  if (condition == "ge") return a >= b;
  if (condition == "o") return !unordered;
  if (condition == "u") return unordered;
  if (condition == "nge") return !(a >= b);
  if (condition == "nlg") return unordered || a == b;
  if (condition == "ngt") return !(a > b);
  if (condition == "nle") return !(a <= b);
  if (condition == "neq" || condition == "ne") return !(a == b);
  if (condition == "nlt") return !(a < b);
  return true;
}

TEST_F(CrossLaneTest, ComparesFloats) {
  Random random(1);
  for (const char* condition :
       {"f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt",
        "nle", "neq", "nlt", "tru"}) {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[1][l] = random.FloatBits();
      wave->vgpr[2][l] = l % 3 ? random.FloatBits() : wave->vgpr[1][l];
    }
    wave->exec = 0xfffffffffffffff0;
    wave.Run(std::string("v_cmp_") + condition + "_f32_e32 vcc, v1, v2");
    wave.Run(std::string("v_cmp_") + condition + "_f32_e64 s[6:7], -v1, |v2|");
    uint64_t expected = 0, modified = 0;
    for (int l = 4; l < kLanes; ++l) {
      const float a = Float(wave->vgpr[1][l]), b = Float(wave->vgpr[2][l]);
      expected |= uint64_t{Compare(condition, a, b)} << l;
      modified |= uint64_t{Compare(condition, -a, std::fabs(b))} << l;
    }
    EXPECT_EQ(wave->vcc(), expected) << condition;
    EXPECT_EQ(wave->ReadScalar64(6), modified) << condition;
  }
}

TEST_F(CrossLaneTest, ComparesIntegers) {
  Random random(2);
  for (const char* condition : {"f", "lt", "eq", "le", "gt", "ne", "ge", "t"}) {
    for (int r = 2; r < 6; ++r) {
      for (int l = 0; l < kLanes; ++l) {
        wave->vgpr[r][l] = l % 2 ? random.Next32() : random.Next32() % 3 - 1;
      }
    }
    const auto run = [&](const std::string& type, const std::string& a,
                         const std::string& b) {
      wave.Run(std::string("v_cmp_") + condition + "_" + type +
               "_e64 s[6:7], " + a + ", " + b);
      return wave->ReadScalar64(6);
    };
    uint64_t u32 = 0, i32 = 0, u16 = 0, i16 = 0, u64 = 0, i64 = 0;
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t a = wave->vgpr[2][l], b = wave->vgpr[4][l];
      const uint64_t wide_a = a | uint64_t{wave->vgpr[3][l]} << 32;
      const uint64_t wide_b = b | uint64_t{wave->vgpr[5][l]} << 32;
      u32 |= uint64_t{Compare(condition, a, b)} << l;
      i32 |= uint64_t{Compare(condition, int32_t(a), int32_t(b))} << l;
      u16 |= uint64_t{Compare(condition, uint16_t(a), uint16_t(b))} << l;
      i16 |= uint64_t{Compare(condition, int16_t(a), int16_t(b))} << l;
      u64 |= uint64_t{Compare(condition, wide_a, wide_b)} << l;
      i64 |= uint64_t{Compare(condition, int64_t(wide_a), int64_t(wide_b))}
             << l;
    }
    EXPECT_EQ(run("u32", "v2", "v4"), u32) << condition;
    EXPECT_EQ(run("i32", "v2", "v4"), i32) << condition;
    EXPECT_EQ(run("u16", "v2", "v4"), u16) << condition;
    EXPECT_EQ(run("i16", "v2", "v4"), i16) << condition;
    EXPECT_EQ(run("u64", "v[2:3]", "v[4:5]"), u64) << condition;
    EXPECT_EQ(run("i64", "v[2:3]", "v[4:5]"), i64) << condition;
  }
}

TEST_F(CrossLaneTest, CmpxWritesExecToo) {
  wave->exec = 0xff;
  wave->vgpr[1][3] = 5;
  wave.Run("v_cmpx_eq_u32_e32 vcc, 5, v1");
  EXPECT_EQ(wave->exec, 8u);
  EXPECT_EQ(wave->vcc(), 8u);
}

TEST_F(CrossLaneTest, Classes) {
  const uint32_t values[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000,
                             0x80000001, 0x80000000, 0x00000000, 0x00000001,
                             0x3f800000, 0x7f800000};
  wave->mode.bits = 0;  // no flush before the class is taken
  for (int bit = 0; bit < 10; ++bit) {
    for (int l = 0; l < 10; ++l) {
      wave->vgpr[1][l] = values[l];
      wave->vgpr[2][l] = 1u << bit;
    }
    wave.Run("v_cmp_class_f32_e32 vcc, v1, v2");
    EXPECT_EQ(wave->vcc() & 0x3ff, 1u << bit);
  }
}

TEST_F(CrossLaneTest, SelectsByMask) {
  wave->set_vcc(0x0f0f);
  wave.Run("v_cndmask_b32_e32 v3, v1, v2, vcc");
  EXPECT_EQ(wave->vgpr[3][0], 2000u);
  EXPECT_EQ(wave->vgpr[3][4], 1004u);
  wave->sgpr[10] = 0x10;
  wave.Run("v_cndmask_b32_e64 v3, 0, -1.0, s[10:11]");
  EXPECT_EQ(wave->vgpr[3][4], 0xbf800000u);
  wave.Run("v_cndmask_b32_e64 v3, v1, -v2, s[10:11]");
  EXPECT_EQ(wave->vgpr[3][4], 0x80000000u + 2004);
}

}  // namespace
}  // namespace zyfa::emu::testing
