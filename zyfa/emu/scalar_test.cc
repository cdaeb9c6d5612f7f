#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_group.h"

namespace zyfa::emu {
namespace {

struct Case32 {
  const char* name;
  uint32_t a, b;
  bool scc_in;
  uint32_t want;
  bool scc_out;
};

// Values worked out by hand from the ISA's description of each instruction.
TEST(ScalarAlu, TwoSources32) {
  const Case32 cases[] = {
      {"s_add_u32", 0xffffffff, 1, false, 0, true},
      {"s_add_u32", 7, 8, true, 15, false},
      {"s_addc_u32", 0xffffffff, 0, true, 0, true},
      {"s_addc_u32", 1, 1, true, 3, false},
      {"s_sub_u32", 1, 2, false, 0xffffffff, true},
      {"s_subb_u32", 5, 4, true, 0, false},
      {"s_subb_u32", 5, 5, true, 0xffffffff, true},
      {"s_subb_u32", 0, 0xffffffff, true, 0, true},
      {"s_add_i32", 0x7fffffff, 1, false, 0x80000000, true},
      {"s_add_i32", 0xffffffff, 1, true, 0, false},
      {"s_sub_i32", 0x80000000, 1, false, 0x7fffffff, true},
      {"s_sub_i32", 3, 5, true, 0xfffffffe, false},
      {"s_min_i32", 0xffffffff, 1, false, 0xffffffff, true},
      {"s_min_u32", 0xffffffff, 1, true, 1, false},
      {"s_max_i32", 0xffffffff, 1, true, 1, false},
      {"s_max_u32", 0xffffffff, 1, false, 0xffffffff, true},
      {"s_max_u32", 4, 4, false, 4, true},
      {"s_mul_i32", 0x10001, 0x10001, true, 0x20001, true},
      {"s_mul_hi_u32", 0xffffffff, 0xffffffff, false, 0xfffffffe, false},
      {"s_mul_hi_i32", 0xffffffff, 5, true, 0xffffffff, true},
      {"s_lshl1_add_u32", 0x80000000, 3, false, 3, true},
      {"s_lshl4_add_u32", 2, 1, true, 33, false},
      {"s_and_b32", 0xf0, 0x0f, true, 0, false},
      {"s_or_b32", 0xf0, 0x0f, false, 0xff, true},
      {"s_xor_b32", 0xff, 0xff, true, 0, false},
      {"s_andn2_b32", 0xff, 0x0f, false, 0xf0, true},
      {"s_orn2_b32", 0, 0xffffffff, true, 0, false},
      {"s_nand_b32", 0xffffffff, 0xffffffff, true, 0, false},
      {"s_nor_b32", 0, 1, false, 0xfffffffe, true},
      {"s_xnor_b32", 5, 5, false, 0xffffffff, true},
      {"s_lshl_b32", 1, 33, false, 2, true},
      {"s_lshr_b32", 0x80000000, 31, false, 1, true},
      {"s_lshr_b32", 1, 1, true, 0, false},
      {"s_ashr_i32", 0x80000000, 4, false, 0xf8000000, true},
      {"s_bfe_u32", 0x12345678, 8 | 12 << 16, false, 0x456, true},
      {"s_bfe_u32", 0x12345678, 4 | 64 << 16, false, 0x1234567, true},
      {"s_bfe_u32", 0xff, 8 | 8 << 16, true, 0, false},
      {"s_bfe_i32", 0x0000f000, 8 | 8 << 16, false, 0xfffffff0, true},
      {"s_bfe_i32", 0xffffffff, 0, true, 0, false},
      {"s_bfm_b32", 5, 8, true, 0x1f00, true},
      {"s_absdiff_i32", 3, 10, false, 7, true},
      {"s_absdiff_i32", 3, 3, true, 0, false},
      {"s_pack_ll_b32_b16", 0x11112222, 0x33334444, true, 0x44442222, true},
      {"s_pack_lh_b32_b16", 0x11112222, 0x33334444, true, 0x33332222, true},
      {"s_pack_hh_b32_b16", 0x11112222, 0x33334444, true, 0x33331111, true},
      {"s_cselect_b32", 1, 2, true, 1, true},
      {"s_cselect_b32", 1, 2, false, 2, false},
  };
  for (const Case32& c : cases) {
    TestGroup g;
    g.wave->sgpr[1] = c.a;
    g.wave->sgpr[2] = c.b;
    g.wave->scc = c.scc_in;
    g.Run(std::string(c.name) + " s0, s1, s2");
    EXPECT_EQ(g.wave->sgpr[0], c.want) << c.name << " " << c.a << " " << c.b;
    EXPECT_EQ(g.wave->scc, c.scc_out) << c.name << " " << c.a << " " << c.b;
  }
}

TEST(ScalarAlu, OneSource32) {
  const Case32 cases[] = {
      {"s_mov_b32", 9, 0, true, 9, true},
      {"s_not_b32", 0xffffffff, 0, true, 0, false},
      {"s_abs_i32", 0xfffffffb, 0, false, 5, true},
      {"s_sext_i32_i8", 0x1ff, 0, true, 0xffffffff, true},
      {"s_sext_i32_i16", 0x18000, 0, false, 0xffff8000, false},
      {"s_brev_b32", 0x1, 0, false, 0x80000000, false},
      {"s_bcnt0_i32_b32", 0xffffffff, 0, true, 0, false},
      {"s_bcnt1_i32_b32", 0xf0f0, 0, false, 8, true},
      {"s_ff0_i32_b32", 0x7, 0, true, 3, true},
      {"s_ff0_i32_b32", 0xffffffff, 0, false, 0xffffffff, false},
      {"s_ff1_i32_b32", 0x50, 0, false, 4, false},
      {"s_ff1_i32_b32", 0, 0, false, 0xffffffff, false},
      {"s_flbit_i32_b32", 0x00010000, 0, false, 15, false},
      {"s_flbit_i32_b32", 0, 0, false, 0xffffffff, false},
      {"s_flbit_i32", 0xffff0000, 0, false, 16, false},
      {"s_flbit_i32", 0xffffffff, 0, false, 0xffffffff, false},
      {"s_wqm_b32", 0x00100200, 0, false, 0x00f00f00, true},
      {"s_quadmask_b32", 0x00100200, 0, false, 0x24, true},
      {"s_cmov_b32", 3, 0, false, 0xabc, false},
      {"s_cmov_b32", 3, 0, true, 3, true},
      {"s_bitset0_b32", 2, 0, true, 0xab8, true},
      {"s_bitset1_b32", 0, 0, true, 0xabd, true},
  };
  for (const Case32& c : cases) {
    TestGroup g;
    g.wave->sgpr[0] = 0xabc;
    g.wave->sgpr[1] = c.a;
    g.wave->scc = c.scc_in;
    g.Run(std::string(c.name) + " s0, s1");
    EXPECT_EQ(g.wave->sgpr[0], c.want) << c.name << " " << c.a;
    EXPECT_EQ(g.wave->scc, c.scc_out) << c.name << " " << c.a;
  }
}

TEST(ScalarAlu, SixtyFourBits) {
  struct Case {
    const char* text;  // sources s[2:3] and s[4:5] or s4
    uint64_t a, b, want;
    bool scc_out;
  };
  const Case cases[] = {
      {"s_mov_b64 s[0:1], s[2:3]", 0x123456789abcdef0, 0, 0x123456789abcdef0,
       false},
      {"s_mov_b64 s[0:1], -1", 0, 0, ~uint64_t{0}, false},
      {"s_mov_b64 s[0:1], 1.0", 0, 0, 0x3ff0000000000000, false},
      {"s_mov_b64 s[0:1], 0xfffffffe", 0, 0, 0xfffffffe, false},
      {"s_and_b64 s[0:1], s[2:3], s[4:5]", 0xff00, 0x0ff0, 0x0f00, true},
      {"s_xor_b64 s[0:1], s[2:3], s[4:5]", 5, 5, 0, false},
      {"s_andn2_b64 s[0:1], s[2:3], s[4:5]", 0xff, 0x0f, 0xf0, true},
      {"s_lshl_b64 s[0:1], s[2:3], s4", 3, 40, uint64_t{3} << 40, true},
      {"s_lshr_b64 s[0:1], s[2:3], s4", uint64_t{1} << 63, 63, 1, true},
      {"s_ashr_i64 s[0:1], s[2:3], s4", uint64_t{1} << 63, 63, ~uint64_t{0},
       true},
      {"s_bfe_u64 s[0:1], s[2:3], s4", 0xabcdef0123456789, 32 | 16 << 16,
       0xef01, true},
      {"s_bfe_i64 s[0:1], s[2:3], s4", 0x0000008000000000, 36 | 4 << 16,
       ~uint64_t{7}, true},
      {"s_bfm_b64 s[0:1], s2, s4", 3, 33, uint64_t{7} << 33, false},
      {"s_not_b64 s[0:1], s[2:3]", ~uint64_t{0}, 0, 0, false},
      {"s_brev_b64 s[0:1], s[2:3]", 1, 0, uint64_t{1} << 63, false},
      {"s_bcnt1_i32_b64 s0, s[2:3]", ~uint64_t{0}, 0, 64, true},
      {"s_ff1_i32_b64 s0, s[2:3]", uint64_t{1} << 40, 0, 40, false},
      {"s_flbit_i32_b64 s0, s[2:3]", uint64_t{1} << 40, 0, 23, false},
      {"s_flbit_i32_i64 s0, s[2:3]", ~uint64_t{0} << 40, 0, 24, false},
      {"s_bitreplicate_b64_b32 s[0:1], s2", 0x80000001, 0, 0xc000000000000003,
       false},
      {"s_cselect_b64 s[0:1], s[2:3], s[4:5]", 1, 2, 2, false},
  };
  for (const Case& c : cases) {
    TestGroup g;
    g.SetScalar64(2, c.a);
    g.SetScalar64(4, c.b);
    g.Run(c.text);
    EXPECT_EQ(g.wave->ReadScalar64(0), c.want) << c.text;
    EXPECT_EQ(g.wave->scc, c.scc_out) << c.text;
  }
}

TEST(ScalarAlu, ComparisonsAndImmediates) {
  struct Case {
    const char* text;
    uint32_t a, b;
    bool want;
  };
  const Case cases[] = {
      {"s_cmp_eq_i32 s1, s2", 4, 4, true},
      {"s_cmp_lg_u32 s1, s2", 4, 4, false},
      {"s_cmp_gt_i32 s1, s2", 0xffffffff, 0, false},
      {"s_cmp_gt_u32 s1, s2", 0xffffffff, 0, true},
      {"s_cmp_ge_i32 s1, s2", 3, 3, true},
      {"s_cmp_lt_i32 s1, s2", 0x80000000, 0, true},
      {"s_cmp_lt_u32 s1, s2", 0x80000000, 0, false},
      {"s_cmp_le_u32 s1, s2", 3, 2, false},
      {"s_cmpk_eq_i32 s1, 0xffff", 0xffffffff, 0, true},
      {"s_cmpk_eq_u32 s1, 0xffff", 0xffffffff, 0, false},
      {"s_cmpk_eq_u32 s1, 0xffff", 0xffff, 0, true},
      {"s_cmpk_lt_i32 s1, 0x8000", 0xffff7fff, 0, true},
      {"s_bitcmp1_b32 s1, s2", 0x10, 4, true},
      {"s_bitcmp0_b32 s1, s2", 0x10, 36, false},
      {"s_cmp_eq_u64 s[2:3], s[2:3]", 0, 0, true},
      {"s_cmp_lg_u64 s[2:3], 0", 0, 9, true},
  };
  for (const Case& c : cases) {
    TestGroup g;
    g.wave->sgpr[1] = c.a;
    g.wave->sgpr[2] = c.b;
    g.wave->scc = !c.want;
    g.Run(c.text);
    EXPECT_EQ(g.wave->scc, c.want) << c.text << " " << c.a << " " << c.b;
  }
  TestGroup g;
  g.Run("s_movk_i32 s0, 0x8000");
  EXPECT_EQ(g.wave->sgpr[0], 0xffff8000u);
  g.Run("s_addk_i32 s0, 0xfffb");
  EXPECT_EQ(g.wave->sgpr[0], 0xffff7ffbu);
  EXPECT_FALSE(g.wave->scc);
  g.wave->sgpr[0] = 0x7fffffff;
  g.Run("s_addk_i32 s0, 0x1");
  EXPECT_TRUE(g.wave->scc);
  g.wave->sgpr[0] = 6;
  g.Run("s_mulk_i32 s0, 0xfffe");
  EXPECT_EQ(g.wave->sgpr[0], static_cast<uint32_t>(-12));
}

TEST(ScalarAlu, ExecMasks) {
  struct Case {
    const char* name;
    uint64_t want;  // source 0xff00, EXEC 0x0ff0
  };
  const Case cases[] = {{"and", 0x0f00},
                        {"or", 0xfff0},
                        {"xor", 0xf0f0},
                        {"andn1", 0x00f0},
                        {"andn2", 0xf000},
                        {"orn1", ~uint64_t{0xf000}},
                        {"orn2", ~uint64_t{0x00f0}},
                        {"nand", ~uint64_t{0x0f00}},
                        {"nor", ~uint64_t{0xfff0}},
                        {"xnor", ~uint64_t{0xf0f0}}};
  for (const Case& c : cases) {
    TestGroup g;
    g.SetScalar64(2, 0xff00);
    g.wave->exec = 0x0ff0;
    g.Run(std::string("s_") + c.name + "_saveexec_b64 s[2:3], s[2:3]");
    EXPECT_EQ(g.wave->exec, c.want) << c.name;
    EXPECT_EQ(g.wave->ReadScalar64(2), 0x0ff0u) << c.name;
    EXPECT_TRUE(g.wave->scc) << c.name;
  }
  TestGroup g;
  g.SetScalar64(kVccLo, 0xf);
  g.Run("s_andn2_wrexec_b64 s[4:5], vcc");
  EXPECT_EQ(g.wave->exec, 0u);
  EXPECT_EQ(g.wave->ReadScalar64(4), 0u);
  EXPECT_FALSE(g.wave->scc);
}

TEST(ScalarAlu, NamedSources) {
  TestGroup g;
  g.wave->exec = 0;
  g.wave->set_vcc(0);
  g.wave->scc = true;
  g.Run("s_mov_b32 s0, src_execz");
  g.Run("s_mov_b32 s1, src_vccz");
  g.Run("s_mov_b32 s2, src_scc");
  EXPECT_EQ(g.wave->sgpr[0], 1u);
  EXPECT_EQ(g.wave->sgpr[1], 1u);
  EXPECT_EQ(g.wave->sgpr[2], 1u);
  g.Run("s_mov_b64 s[4:5], src_private_base");
  EXPECT_EQ(g.wave->ReadScalar64(4), kPrivateAperture);
  g.Run("s_mov_b32 exec_hi, 0x80000000");
  EXPECT_EQ(g.wave->exec, uint64_t{1} << 63);
  g.Run("s_mov_b32 vcc_lo, 7");
  EXPECT_EQ(g.wave->vcc(), 7u);
}

TEST(ScalarControl, PcAndCalls) {
  TestGroup g;
  g.group->text_address = 0x1234500000;
  g.wave->pc = 0x40;
  g.Run("s_getpc_b64 s[0:1]");
  EXPECT_EQ(g.wave->ReadScalar64(0), 0x1234500040u);
  g.SetScalar64(2, 0x1234500100);
  g.Run("s_swappc_b64 s[4:5], s[2:3]");
  EXPECT_EQ(g.wave->pc, 0x100u);
  EXPECT_EQ(g.wave->ReadScalar64(4), 0x1234500040u);
  g.Run("s_setpc_b64 s[4:5]");
  EXPECT_EQ(g.wave->pc, 0x40u);
}

TEST(ScalarMemory, LoadsAndBufferClipping) {
  TestGroup g;
  std::vector<uint32_t> data(16);
  for (uint32_t i = 0; i < 16; ++i) data[i] = 100 + i;
  const uint64_t address = *g.memory.Allocate(64);
  ASSERT_TRUE(
      g.memory
          .Write(address, absl::MakeConstSpan(
                              reinterpret_cast<uint8_t*>(data.data()), 64))
          .ok());
  g.SetScalar64(2, address + 16);
  g.wave->sgpr[20] = 8;
  g.Run("s_load_dwordx4 s[8:11], s[2:3], s20 offset:0x4");
  for (uint32_t d = 0; d < 4; ++d) EXPECT_EQ(g.wave->sgpr[8 + d], 107 + d);
  g.Run("s_load_dword s8, s[2:3], -0x10");
  EXPECT_EQ(g.wave->sgpr[8], 100u);
  g.Run("s_load_dwordx8 s[24:31], s[2:3], 0x10");
  EXPECT_EQ(g.wave->sgpr[31], 115u);
  EXPECT_EQ(g.RunForRule("s_load_dwordx8 s[24:31], s[2:3], 0x14"),
            "out-of-range");
  g.wave->signal = WaveSignal::kNone;
  g.SetBuffer(4, address, 40);
  g.Run("s_buffer_load_dwordx4 s[8:11], s[4:7], 0x20");
  EXPECT_EQ(g.wave->sgpr[8], 108u);
  EXPECT_EQ(g.wave->sgpr[9], 109u);
  EXPECT_EQ(g.wave->sgpr[10], 0u);
  EXPECT_EQ(g.wave->sgpr[11], 0u);
  EXPECT_EQ(g.group->counters.clipped_dwords, 2u);
}

}  // namespace
}  // namespace zyfa::emu
