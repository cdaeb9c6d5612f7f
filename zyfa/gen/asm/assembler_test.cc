#include "zyfa/gen/asm/assembler.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::gen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

KernelSpec Spec() {
  KernelSpec spec;
  spec.name = "k";
  return spec;
}

std::string Error(Assembler& a) {
  return std::string(a.Finish().status().message());
}

// The instruction lines between the kernel's label and its end, single-spaced.
std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t at = text.find("\nk:\n") + 4;
  const size_t end = text.find(".Lkernel_end:");
  while (at < end) {
    const size_t stop = text.find('\n', at);
    std::string line;
    for (char c : text.substr(at, stop - at)) {
      if (c == ' ' && (line.empty() || line.back() == ' ')) continue;
      line += c;
    }
    if (!line.empty()) lines.push_back(line);
    at = stop + 1;
  }
  return lines;
}

TEST(AssemblerTest, LabelsAndBranches) {
  Assembler a(Spec());
  const SReg n = a.sgprs().Alloc("n");
  a.s_mov_b32(n, 3);
  Label loop = a.NewLabel("main loop");
  Label other = a.NewLabel("main loop");
  a.Bind(loop);
  a.s_sub_u32(n, n, 1);
  a.s_cmp_eq_u32(n, 0);
  a.s_cbranch_scc0(loop);
  a.Bind(other);
  a.s_endpgm();
  const auto text = a.Finish();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(Lines(*text),
              ::testing::ElementsAre(
                  "s_mov_b32 s3, 3", ".Lmain_loop:", "s_sub_u32 s3, s3, 1",
                  "s_cmp_eq_u32 s3, 0", "s_cbranch_scc0 .Lmain_loop",
                  ".Lmain_loop_2:", "s_endpgm"));
}

TEST(AssemblerTest, LabelErrors) {
  {
    Assembler a(Spec());
    Label never = a.NewLabel("never");
    a.s_branch(never);
    EXPECT_THAT(Error(a), AllOf(HasSubstr("`s_branch .Lnever`"),
                                HasSubstr("bound nowhere")));
  }
  {
    Assembler a(Spec());
    Label twice = a.NewLabel("twice");
    a.Bind(twice);
    a.Bind(twice);
    EXPECT_THAT(Error(a), HasSubstr(".Ltwice is bound twice"));
  }
  {
    Assembler a(Spec());
    a.s_nop(0);
    EXPECT_THAT(Error(a), HasSubstr("runs past its end"));
  }
  {
    Assembler a(Spec());
    Label once = a.NewLabel("once");
    const Stream stream = a.Capture([&] { a.Bind(once); });
    a.Append(stream);
    a.Append(stream);
    a.s_branch(once);
    EXPECT_THAT(Error(a), HasSubstr(".Lonce stands twice"));
  }
  {
    Assembler a(Spec());
    a.Bind(Label{});
    EXPECT_THAT(Error(a), HasSubstr("NewLabel did not make"));
  }
}

TEST(AssemblerTest, SectionsAndComments) {
  Assembler a(Spec());
  const SReg x = a.sgprs().Alloc("x");
  a.Section("Set up");
  a.Comment("zero");
  a.s_mov_b32(x, 0);
  a.s_mov_b32(x, 1);
  a.s_endpgm();
  const auto text = a.Finish();
  ASSERT_TRUE(text.ok());
  const std::vector<std::string> lines = Lines(*text);
  EXPECT_EQ(lines[0], "// ---- Set up ---- (0)");
  EXPECT_EQ(lines[1], "s_mov_b32 s3, 0 // zero");
  EXPECT_EQ(lines[2], "s_mov_b32 s3, 1");
}

TEST(AssemblerTest, PhasesAreSymbolsAndNothingElse) {
  const auto text_of = [](bool with_phases) {
    Assembler a(Spec());
    const SReg n = a.sgprs().Alloc("n");
    const Label loop = a.NewLabel("loop");
    if (with_phases) a.Phase("start");
    a.s_mov_b32(n, 3);
    a.Bind(loop);
    if (with_phases) a.Phase("pass.0");
    a.s_sub_u32(n, n, 1);
    a.s_cmp_eq_u32(n, 0);
    a.s_cbranch_scc0(loop);
    a.s_endpgm();
    return a.Finish();
  };
  const auto text = text_of(true);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(Lines(*text),
              ::testing::ElementsAre(
                  "phase.start:", "s_mov_b32 s3, 3",
                  ".Lloop:", "phase.pass.0:", "s_sub_u32 s3, s3, 1",
                  "s_cmp_eq_u32 s3, 0", "s_cbranch_scc0 .Lloop", "s_endpgm"));
  std::string without = *text;
  for (const std::string line : {"phase.start:\n", "phase.pass.0:\n"}) {
    without.erase(without.find(line), line.size());
  }
  EXPECT_EQ(without, *text_of(false));
}

TEST(AssemblerTest, PhaseErrors) {
  {
    Assembler a(Spec());
    a.Phase("scores");
    a.Phase("scores");
    EXPECT_THAT(Error(a), HasSubstr("phase scores begins twice"));
  }
  for (const char* name : {"", "two words", "a-b"}) {
    Assembler a(Spec());
    a.Phase(name);
    EXPECT_THAT(Error(a), AllOf(HasSubstr(name), HasSubstr("allowed are")));
  }
  {
    // It would be appended twice, and a symbol has one place.
    Assembler a(Spec());
    a.Capture([&] { a.Phase("scores"); });
    EXPECT_THAT(Error(a), HasSubstr("phase scores begins inside of Capture"));
  }
}

TEST(AssemblerTest, CapturedStreamsMayBeAppendedTwice) {
  Assembler a(Spec());
  const SReg x = a.sgprs().Alloc("x");
  const Stream body = a.Capture([&] {
    a.s_mov_b32(x, 7);
    a.s_setprio(1);
  });
  EXPECT_EQ(body.size(), 2);
  a.Append(body);
  a.Append(body.Slice(0, 1));
  a.s_endpgm();
  const auto text = a.Finish();
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(Lines(*text),
              ::testing::ElementsAre("s_mov_b32 s3, 7", "s_setprio 1",
                                     "s_mov_b32 s3, 7", "s_endpgm"));
}

TEST(AssemblerTest, CapturesNest) {
  Assembler a(Spec());
  const Stream outer = a.Capture([&] {
    a.s_setprio(1);
    a.Append(a.Capture([&] { a.s_setprio(2); }));
  });
  EXPECT_EQ(outer.size(), 2);
}

TEST(InitialisationTest, ReadBeforeAnyWrite) {
  Assembler a(Spec());
  a.Section("Softmax");
  const VReg x = a.vgprs().Alloc("x", 2);
  a.v_mov_b32(x[0], 0);
  a.v_add_f32(x[0], x[0], x[1]);
  a.s_endpgm();
  EXPECT_THAT(Error(a),
              AllOf(HasSubstr("`v_add_f32 v2, v2, v3` in section \"Softmax\""),
                    HasSubstr("reads v3, which no path writes before")));
}

TEST(InitialisationTest, WrittenOnOnePathIsEnough) {
  Assembler a(Spec());
  const SReg x = a.sgprs().Alloc("x");
  Label join = a.NewLabel("join");
  a.s_cmp_eq_u32(a.workgroup_id_x(), 0);
  a.s_cbranch_scc1(join);
  a.s_mov_b32(x, 1);
  a.Bind(join);
  a.s_add_u32(x, x, 1);
  a.s_endpgm();
  EXPECT_TRUE(a.Finish().ok());
}

TEST(InitialisationTest, WrittenLaterInTheLoopCounts) {
  Assembler a(Spec());
  const SReg x = a.sgprs().Alloc("x");
  const SReg y = a.sgprs().Alloc("y");
  Label loop = a.NewLabel("loop");
  a.Bind(loop);
  a.s_mov_b32(y, x);
  a.s_mov_b32(x, 1);
  a.s_cmp_eq_u32(x, 0);
  a.s_cbranch_scc0(loop);
  a.s_endpgm();
  EXPECT_TRUE(a.Finish().ok());
}

TEST(InitialisationTest, ImplicitRegisters) {
  {
    Assembler a(Spec());
    Label end = a.NewLabel("end");
    a.s_cbranch_scc0(end);
    a.Bind(end);
    a.s_endpgm();
    EXPECT_THAT(Error(a), HasSubstr("reads scc"));
  }
  {
    Assembler a(Spec());
    const VReg address = a.vgprs().Alloc("address", 2);
    a.v_mov_b64(address, 0);
    a.global_load_lds_dword(address, off);
    a.s_endpgm();
    EXPECT_THAT(Error(a), HasSubstr("reads m0"));
  }
  {
    Assembler a(Spec());
    const SReg y = a.sgprs().Alloc("y");
    a.s_mov_b32(y, a.workgroup_id_x());
    a.s_mov_b32(y, exec_lo);
    a.s_load_dword(y, a.kernarg(), 0);
    a.s_endpgm();
    EXPECT_TRUE(a.Finish().ok());
  }
}

// Keeping half of a register is no use of it.
TEST(InitialisationTest, PartialWritesReadNothing) {
  Assembler a(Spec());
  const VReg p = a.vgprs().Alloc("p");
  const VReg x = a.workitem_id();
  a.v_cvt_pk_fp8_f32(p, x, x);
  a.v_cvt_pk_fp8_f32(p, x, x).dst_high();
  a.s_endpgm();
  const auto text = a.Finish();
  EXPECT_TRUE(text.ok()) << text.status();
}

TEST(AssemblerTest, WaitsBeforeWaitStates) {
  Assembler a(Spec());
  const VReg d = a.vgprs().Alloc("d", 16);
  const VReg x = a.vgprs().Alloc("x", 4);
  const VReg t = a.vgprs().Alloc("t");
  a.v_mov_b64(x.sub(0, 2), 0);
  a.v_mov_b64(x.sub(2, 2), 0);
  a.ds_read_b32(t, a.workitem_id());
  a.v_mfma_f32_32x32x16_bf16(d, x, x, 0);
  a.v_add_f32(t, t, d[0]);
  a.s_endpgm();
  const auto text = a.Finish();
  ASSERT_TRUE(text.ok()) << text.status();
  // The wait for the load is one of the 12 states behind the product.
  EXPECT_THAT(Lines(*text),
              ::testing::ElementsAre(
                  "v_mov_b64 v[18:19], 0", "v_mov_b64 v[20:21], 0",
                  "ds_read_b32 v1, v0", "s_nop 0 // wait: VALU result -> MFMA",
                  "v_mfma_f32_32x32x16_bf16 v[2:17], v[18:21], v[18:21], 0",
                  "s_waitcnt lgkmcnt(0) // wait: load -> v1",
                  "s_nop 10 // wait: MFMA result -> VALU",
                  "v_add_f32 v1, v1, v2", "s_endpgm"));
}

TEST(AssemblerTest, DescriptorFollowsUse) {
  KernelSpec spec = Spec();
  spec.lds_bytes = 1024;
  spec.denorm_mode_32 = 3;
  spec.fp16_overflow = true;
  spec.workgroup_id_y = true;
  Assembler a(spec);
  const VReg v = a.vgprs().Alloc("v", 9);
  const AReg acc = a.agprs().Alloc("acc", 16);
  a.v_mov_b32(v[0], 0);
  a.v_accvgpr_write_b32(acc[0], 0);
  a.s_endpgm();
  const auto text = a.Finish();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text,
              AllOf(HasSubstr(".amdhsa_next_free_vgpr 28\n"),
                    HasSubstr(".amdhsa_accum_offset 12\n"),
                    HasSubstr(".amdhsa_group_segment_fixed_size 1024\n"),
                    HasSubstr(".amdhsa_float_denorm_mode_32 3\n"),
                    HasSubstr(".amdhsa_fp16_overflow 1\n"),
                    HasSubstr(".amdhsa_system_sgpr_workgroup_id_y 1\n")));
  EXPECT_THAT(*text,
              AllOf(HasSubstr(".vgpr_count: 28\n"),
                    HasSubstr(".agpr_count: 16\n"), Not(HasSubstr(".set "))));
}

}  // namespace
}  // namespace zyfa::gen
