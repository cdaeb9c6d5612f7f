#include "zyfa/gen/asm/interleave.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class InterleaveTest : public ::testing::Test {
 protected:
  InterleaveTest() : a_(Spec()) {}
  static KernelSpec Spec() {
    KernelSpec spec;
    spec.name = "k";
    return spec;
  }

  // n matrix products into v[16:31].
  Stream Products(int n) {
    return a_.Capture([&] {
      for (int i = 0; i < n; ++i) {
        a_.v_mfma_f32_32x32x16_bf16(VReg(16, 16), VReg(32, 4), VReg(36, 4),
                                    VReg(16, 16));
      }
    });
  }
  // Moves into v(first), v(first + 1), ...
  Stream Moves(int first, int n) {
    return a_.Capture([&] {
      for (int i = 0; i < n; ++i) a_.v_mov_b32(VReg(first + i), i);
    });
  }

  // "M" for a product, the destination's number for a move.
  static std::string Order(const absl::StatusOr<Stream>& merged) {
    if (!merged.ok()) return std::string(merged.status().message());
    std::string text;
    for (const Instruction& inst : merged->instructions()) {
      if (!text.empty()) text += " ";
      text += inst.IsMatrix() ? "M" : std::to_string(inst.operands[0].first);
    }
    return text;
  }

  Assembler a_;
};

TEST_F(InterleaveTest, FixedPattern) {
  EXPECT_EQ(Order(InterleaveStreams(Products(3), {{Moves(50, 5), {2, 1}}}, {})),
            "M 50 51 M 52 M 53 54");
}

TEST_F(InterleaveTest, LeftOversGoToTheEnd) {
  EXPECT_EQ(Order(InterleaveStreams(Products(2), {{Moves(50, 5), {1}}}, {})),
            "M 50 M 51 52 53 54");
  EXPECT_EQ(Order(InterleaveStreams(Stream(), {{Moves(50, 2), {}}}, {})),
            "50 51");
}

TEST_F(InterleaveTest, EvenSpread) {
  EXPECT_EQ(Order(InterleaveStreams(Products(4), {{Moves(50, 6), {}}}, {})),
            "M 50 M 51 52 M 53 M 54 55");
}

TEST_F(InterleaveTest, SeveralFillers) {
  EXPECT_EQ(
      Order(InterleaveStreams(
          Products(2), {{Moves(50, 2), {1}}, {Moves(60, 2), {0, 2}}}, {})),
      "M 50 M 51 60 61");
}

TEST_F(InterleaveTest, OtherAnchors) {
  InterleaveOptions options;
  options.anchor = [](const Instruction& i) { return !i.IsMatrix(); };
  EXPECT_EQ(
      Order(InterleaveStreams(Moves(50, 2), {{Products(2), {1}}}, options)),
      "50 M 51 M");
}

TEST_F(InterleaveTest, DependencyIsRefusedAndNamed) {
  const Stream reader = a_.Capture([&] { a_.v_mov_b32(VReg(60), VReg(20)); });
  EXPECT_THAT(
      Order(InterleaveStreams(Products(2), {{reader, {}}}, {})),
      AllOf(HasSubstr("v_mfma_f32_32x32x16_bf16"),
            HasSubstr("`v_mov_b32 v60, v20`"), HasSubstr("both touch v20")));
  InterleaveOptions unchecked;
  unchecked.check = InterleaveCheck::kNone;
  EXPECT_EQ(
      Order(InterleaveStreams(Products(2), {{reader, {0, 1}}}, unchecked)),
      "M M 60");
}

// Write after read and write after write.
TEST_F(InterleaveTest, OverwritingIsRefused) {
  EXPECT_THAT(Order(InterleaveStreams(Products(2), {{Moves(33, 1), {}}}, {})),
              HasSubstr("both touch v33"));
  EXPECT_THAT(Order(InterleaveStreams(Moves(50, 2), {{Moves(51, 1), {}}}, {})),
              HasSubstr("both touch v51"));
}

TEST_F(InterleaveTest, SequentialAllowsWhatIsNotReversed) {
  const Stream reader = a_.Capture([&] { a_.v_mov_b32(VReg(60), VReg(20)); });
  InterleaveOptions options;
  options.check = InterleaveCheck::kSequential;
  // Behind the last product: as if it stood behind the whole main stream.
  EXPECT_EQ(Order(InterleaveStreams(Products(2), {{reader, {0, 1}}}, options)),
            "M M 60");
  EXPECT_THAT(
      Order(InterleaveStreams(Products(2), {{reader, {1, 0}}}, options)),
      HasSubstr("both touch v20"));
}

TEST_F(InterleaveTest, SccMayBeWrittenByBothButNotRead) {
  const Stream adds = a_.Capture([&] {
    a_.s_add_u32(SReg(40), SReg(40), 1);
    a_.s_add_u32(SReg(41), SReg(41), 1);
  });
  const Stream other = a_.Capture([&] { a_.s_add_u32(SReg(50), SReg(50), 1); });
  InterleaveOptions options;
  options.anchor = [](const Instruction&) { return true; };
  EXPECT_TRUE(InterleaveStreams(adds, {{other, {1}}}, options).ok());
  const Stream carry = a_.Capture([&] {
    a_.s_add_u32(SReg(60), SReg(60), 1);
    a_.s_addc_u32(SReg(61), SReg(61), 0);
  });
  EXPECT_THAT(
      std::string(
          InterleaveStreams(adds, {{carry, {1}}}, options).status().message()),
      HasSubstr("both touch scc"));
}

TEST_F(InterleaveTest, NoControlFlowInFillers) {
  const Stream barrier = a_.Capture([&] { a_.s_barrier(); });
  EXPECT_THAT(Order(InterleaveStreams(Products(1), {{barrier, {}}}, {})),
              HasSubstr("no control flow in a filler"));
}

TEST_F(InterleaveTest, ExplicitWaitsCountOneStreamOnly) {
  const Stream waits = a_.Capture([&] {
    a_.buffer_load_dword(VReg(70), off, SReg(8, 4), 0);
    a_.buffer_load_dword(VReg(71), off, SReg(8, 4), 0);
    a_.WaitVmcnt(1);
  });
  const Stream load =
      a_.Capture([&] { a_.buffer_load_dword(VReg(72), off, SReg(8, 4), 0); });
  EXPECT_THAT(Order(InterleaveStreams(waits, {{load, {}}}, {})),
              HasSubstr("raises the same counter"));
  const Stream lds = a_.Capture([&] { a_.ds_read_b32(VReg(72), VReg(1)); });
  EXPECT_TRUE(InterleaveStreams(waits, {{lds, {}}}, {}).ok());
}

TEST_F(InterleaveTest, ErrorBecomesTheAssemblers) {
  const Stream reader = a_.Capture([&] { a_.v_mov_b32(VReg(60), VReg(20)); });
  EXPECT_TRUE(a_.Interleave(Products(1), {{reader, {}}}).empty());
  EXPECT_THAT(std::string(a_.status().message()), HasSubstr("both touch v20"));
}

}  // namespace
}  // namespace zyfa::gen
