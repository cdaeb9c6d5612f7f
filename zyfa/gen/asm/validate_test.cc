// Each misuse and the message that must name it.

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

KernelSpec Spec() {
  KernelSpec spec;
  spec.name = "k";
  return spec;
}

// The error of one instruction, or "" if it is accepted. Registers by number
// are above those of the entry.
std::string ErrorOf(const std::function<void(Assembler&)>& emit,
                    KernelSpec spec = Spec()) {
  Assembler a(spec);
  a.Section("Part");
  emit(a);
  return std::string(a.status().message());
}

TEST(ValidateTest, MessageNamesInstructionNumberSectionAndRule) {
  const std::string error = ErrorOf([](Assembler& a) {
    a.v_mov_b32(VReg(4), 0);
    a.v_pk_add_f32(VReg(5, 2), VReg(8, 2), VReg(10, 2));
  });
  EXPECT_EQ(
      error,
      "kernel k: instruction 1 `v_pk_add_f32 v[5:6], v[8:9], v[10:11]` in "
      "section \"Part\": v[5:6] starts odd: gfx950 wants an even start");
}

TEST(ValidateTest, FirstErrorStaysAndFinishReturnsIt) {
  Assembler a(Spec());
  a.v_mov_b32(VReg(300), 0);
  a.ds_read_b32(VReg(5), VReg(6), -1);
  EXPECT_THAT(std::string(a.status().message()), HasSubstr("v300"));
  EXPECT_EQ(a.Finish().status(), a.status());
}

TEST(ValidateTest, Tuples) {
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.ds_read_b128(VReg(5, 4), VReg(9)); }),
      HasSubstr("starts odd"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.ds_read_b96(VReg(5, 3), VReg(9)); }),
              HasSubstr("starts odd"));
  EXPECT_EQ(
      ErrorOf([](Assembler& a) { a.ds_read_b96_tr_b6(VReg(5, 3), VReg(9)); }),
      "");
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.ds_read_b64(VReg(6, 4), VReg(10)); }),
      HasSubstr("v[6:9] has 4 registers, must have 2"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.buffer_load_dword(VReg(6), VReg(7), SReg(6, 4), 0);
              }),
              HasSubstr("s[6:9] must start at a multiple of 4"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.buffer_load_dword(VReg(6), VReg(7), SReg(8, 2), 0);
              }),
              HasSubstr("s[8:9] has 2 registers, must have 4"));
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.s_mov_b64(SReg(9, 2), SReg(4, 2)); }),
      HasSubstr("s[9:10] must start at a multiple of 2"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.s_load_dwordx8(SReg(10, 8), SReg(4, 2), 0);
              }),
              HasSubstr("multiple of 4"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.v_mov_b32(VReg(4, 2)[2], 0); }),
              HasSubstr("part outside its range"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.v_mov_b32(VReg(), 0); }),
              HasSubstr("no register"));
}

TEST(ValidateTest, RegisterLimits) {
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.v_mov_b32(VReg(256), 0); }),
              HasSubstr("registers end at v255"));
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.v_accvgpr_write_b32(AReg(256), 0); }),
      HasSubstr("registers end at a255"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.s_mov_b32(SReg(102), 0); }),
              HasSubstr("SGPRs end at s101"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.s_load_dwordx4(SReg(100, 4), SReg(4, 2), 0);
              }),
              HasSubstr("SGPRs end at s101"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.v_readfirstlane_b32(m0, VReg(4)); }),
              HasSubstr("m0 must be an SGPR or VCC"));
}

TEST(ValidateTest, Offsets) {
  for (int good : {0, 65535}) {
    EXPECT_EQ(
        ErrorOf([&](Assembler& a) { a.ds_read_b32(VReg(4), VReg(5), good); }),
        "");
  }
  for (int bad : {-1, 65536}) {
    EXPECT_THAT(
        ErrorOf([&](Assembler& a) { a.ds_read_b32(VReg(4), VReg(5), bad); }),
        HasSubstr("must be 0..65535"));
  }
  for (int bad : {-1, 4096}) {
    EXPECT_THAT(ErrorOf([&](Assembler& a) {
                  a.buffer_load_dword(VReg(4), VReg(5), SReg(8, 4), 0, bad);
                }),
                HasSubstr("must be 0..4095"));
  }
  for (int bad : {-4097, 4096}) {
    EXPECT_THAT(ErrorOf([&](Assembler& a) {
                  a.global_load_dword(VReg(4), VReg(6, 2), off, bad);
                }),
                HasSubstr("must be -4096..4095"));
  }
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.s_load_dword(SReg(8), SReg(4, 2), 1 << 20);
              }),
              HasSubstr("21-bit"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.s_nop(16); }), HasSubstr("0..15"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.s_movk_i32(SReg(8), 40000); }),
              HasSubstr("-32768..32767"));
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.WaitVmcnt(64); }),
              HasSubstr("vmcnt is 0..63"));
}

TEST(ValidateTest, GlobalAddressSizeFollowsTheBase) {
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.global_load_dword(VReg(4), VReg(6), off); }),
      HasSubstr("v6 has 1 registers, must have 2"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.global_load_dword(VReg(4), VReg(6, 2), SReg(8, 2));
              }),
              HasSubstr("v[6:7] has 2 registers, must have 1"));
}

TEST(ValidateTest, ScalarValuesOfVectorInstructions) {
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_fma_f32(VReg(4), SReg(8), SReg(9), VReg(5));
              }),
              HasSubstr("more than one scalar value: s8 s9"));
  EXPECT_EQ(ErrorOf([](Assembler& a) {
              a.v_fma_f32(VReg(4), SReg(8), SReg(8), VReg(5));
            }),
            "");
  EXPECT_THAT(
      ErrorOf([](Assembler& a) {
        a.v_fma_f32(VReg(4), VReg(5), F32(1.5f), VReg(6));
      }),
      HasSubstr("literal 0x3fc00000: 64-bit encodings take no literal"));
  EXPECT_EQ(ErrorOf([](Assembler& a) {
              a.v_fma_f32(VReg(4), VReg(5), F32(-4.0f), SReg(8));
            }),
            "");
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.v_add_f32(VReg(4), F32(1.5f), -VReg(5)); }),
      HasSubstr("need the 64-bit encoding"));
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.v_add_f32(VReg(4), VReg(5), F32(1.5f)); }),
      HasSubstr("need the 64-bit encoding"));
  // VCC as mask is a scalar value too.
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_cndmask_b32(VReg(4), SReg(8), VReg(5), vcc);
              }),
              HasSubstr("more than one scalar value"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_writelane_b32(VReg(4), SReg(8), SReg(9));
              }),
              HasSubstr("more than one scalar value"));
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.s_add_u32(SReg(8), 0x1234, 0x5678); }),
      HasSubstr("two different literals"));
}

TEST(ValidateTest, Constants) {
  EXPECT_THAT(ErrorOf([](Assembler& a) { a.v_add_f32(VReg(4), 1, VReg(5)); }),
              HasSubstr("integer 1 in an F32 operand: write F32(x)"));
  EXPECT_EQ(ErrorOf([](Assembler& a) { a.v_add_f32(VReg(4), 0, VReg(5)); }),
            "");
  EXPECT_EQ(ErrorOf([](Assembler& a) {
              a.v_max_f32(VReg(4), Bits(0xff800000u), VReg(5));
            }),
            "");
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_pk_mul_f32(VReg(4, 2), VReg(6, 2), F32(1.0f));
              }),
              HasSubstr("high half of a constant"));
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.s_mov_b32(SReg(8), int64_t{1} << 40); }),
      HasSubstr("does not fit into 32 bits"));
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.s_mov_b64(SReg(8, 2), 0x80000000u); }),
      HasSubstr("sign extension"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mfma_f32_16x16x32_bf16(VReg(4, 4), VReg(8, 4), VReg(12, 4),
                                           F32(1.5f));
              }),
              HasSubstr("a matrix addend takes inline constants only"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.buffer_load_dword(VReg(4), off, SReg(8, 4), 100);
              }),
              HasSubstr("must be an SGPR or -16..64"));
}

TEST(ValidateTest, Modifiers) {
  EXPECT_THAT(
      ErrorOf([](Assembler& a) { a.v_add_u32(VReg(4), -VReg(5), VReg(6)); }),
      HasSubstr("- is not possible on v5"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_pk_add_f32(VReg(4, 2), abs(VReg(6, 2)), VReg(8, 2));
              }),
              HasSubstr("abs is not possible"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_cvt_pk_bf16_f32(VReg(4), VReg(5), VReg(6)).clamp();
              }),
              HasSubstr("no clamp here"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_add_u32(VReg(4), VReg(5), VReg(6)).mul2();
              }),
              HasSubstr("no output multiplier"));
  KernelSpec keep = Spec();
  keep.denorm_mode_32 = 3;
  EXPECT_THAT(
      ErrorOf(
          [](Assembler& a) { a.v_add_f32(VReg(4), VReg(5), VReg(6)).mul2(); },
          keep),
      HasSubstr("unless F32 denormals are flushed"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_cvt_pk_bf16_f32(VReg(4), VReg(5), VReg(6)).dst_high();
              }),
              HasSubstr("no high result half"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_cvt_sr_fp8_f32(VReg(4), VReg(5), VReg(6)).dst_byte(4);
              }),
              HasSubstr("result byte 4 must be 0..3"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mov_b32_dpp(VReg(4), VReg(5), Dpp::RowShl(16));
              }),
              HasSubstr("out of range"));
}

// The form that drops results on the hardware (rocMLIR 2459).
TEST(ValidateTest, PackedFmaFromHighHalvesIsRefused) {
  auto fma = [](std::initializer_list<int> op_sel,
                std::initializer_list<int> op_sel_hi) {
    return ErrorOf([&](Assembler& a) {
      a.v_pk_fma_f32(VReg(4, 2), VReg(6, 2), VReg(8, 2), VReg(10, 2))
          .op_sel(op_sel)
          .op_sel_hi(op_sel_hi);
    });
  };
  EXPECT_THAT(fma({0, 1, 0}, {1, 1, 1}),
              HasSubstr("source 1 for both results"));
  EXPECT_THAT(fma({0, 0, 1}, {0, 0, 1}),
              HasSubstr("source 2 for both results"));
  EXPECT_EQ(fma({0, 0, 0}, {1, 0, 1}), "");
  EXPECT_EQ(fma({0, 1, 0}, {1, 0, 1}), "");
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_pk_fma_f32(VReg(4, 2), VReg(6, 2), VReg(8, 2), VReg(10, 2))
                    .op_sel({1, 0, 0});
              }),
              HasSubstr("source 0 for both results"));
}

TEST(ValidateTest, Matrix) {
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mfma_f32_32x32x16_bf16(VReg(16, 16), VReg(32, 4),
                                           VReg(36, 4), AReg(0, 16));
              }),
              HasSubstr("both be VGPRs or both AGPRs"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mfma_f32_32x32x16_bf16(VReg(16, 16), VReg(32, 4),
                                           VReg(36, 4), VReg(18, 16));
              }),
              HasSubstr("overlaps the result without being the same"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mfma_f32_32x32x16_bf16(VReg(16, 16), VReg(28, 4),
                                           VReg(36, 4), 0);
              }),
              HasSubstr("source v[28:31] overlaps the result"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mfma_f32_32x32x64_f8f6f4(VReg(16, 16), VReg(32, 8),
                                             VReg(40, 8), 0)
                    .formats(MatrixFormat::kFp8E4m3, MatrixFormat::kFp4E2m1);
              }),
              HasSubstr("v[40:47] has 8 registers, must have 4"));
  EXPECT_THAT(ErrorOf([](Assembler& a) {
                a.v_mfma_scale_f32_32x32x64_f8f6f4(VReg(16, 16), VReg(32, 8),
                                                   VReg(40, 8), 0, VReg(50),
                                                   VReg(51))
                    .scale_bytes(0, 4);
              }),
              HasSubstr("must be 0..3"));
}

TEST(ValidateTest, Spec) {
  KernelSpec spec = Spec();
  spec.lds_bytes = 163841;
  EXPECT_THAT(ErrorOf([](Assembler&) {}, spec),
              AllOf(HasSubstr("lds_bytes 163841"), HasSubstr("0..163840")));
  spec = Spec();
  spec.workgroup_size = 1025;
  EXPECT_THAT(ErrorOf([](Assembler&) {}, spec), HasSubstr("1..1024"));
  spec = Spec();
  spec.max_vgprs = 520;
  EXPECT_THAT(ErrorOf([](Assembler&) {}, spec), HasSubstr("max_vgprs 520"));
  spec = Spec();
  spec.args = {{"x", 0, 8, KernelArg::Kind::kByValue},
               {"y", 4, 4, KernelArg::Kind::kByValue}};
  spec.kernarg_bytes = 16;
  EXPECT_THAT(ErrorOf([](Assembler&) {}, spec), HasSubstr("argument y"));
}

template <typename D, typename S>
concept MovTakes = requires(Assembler& a, D d, S s) { a.v_mov_b32(d, s); };
template <typename T>
concept DsAddressTakes =
    requires(Assembler& a, T t) { a.ds_read_b32(VReg(4), t); };
template <typename T>
concept DescriptorTakes =
    requires(Assembler& a, T t) { a.buffer_load_dword(VReg(4), off, t, 0); };

// What C++ itself refuses.
static_assert(MovTakes<VReg, SReg>);
static_assert(MovTakes<VReg, int>);
static_assert(MovTakes<VReg, Imm>);
static_assert(!MovTakes<VReg, AReg>, "AGPRs are no VALU sources");
static_assert(!MovTakes<SReg, VReg>, "VALU results go to VGPRs");
static_assert(!MovTakes<VReg, float>, "say F32(x)");
static_assert(!MovTakes<VReg, bool>);
static_assert(DsAddressTakes<VReg>);
static_assert(!DsAddressTakes<SReg>);
static_assert(!DsAddressTakes<AReg>);
static_assert(DescriptorTakes<SReg>);
static_assert(!DescriptorTakes<VReg>);

}  // namespace
}  // namespace zyfa::gen
