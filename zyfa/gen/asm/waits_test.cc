#include "zyfa/gen/asm/waits.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs the pass over what `emit` writes and returns "mnemonic operands" lines
// of the inserted waits, each followed by what it was put in front of.
class WaitsTest : public ::testing::Test {
 protected:
  WaitsTest() : a_(Spec()) {}

  static KernelSpec Spec() {
    KernelSpec spec;
    spec.name = "k";
    return spec;
  }

  std::vector<std::string> Inserted(const std::function<void()>& emit) {
    std::vector<Instruction> program = Emit(emit);
    const auto blocks = BuildControlFlow(program, a_.label_names());
    EXPECT_TRUE(blocks.ok()) << blocks.status();
    EXPECT_TRUE(
        ApplyWaits(program, *blocks, WaitPolicy::kInsert, a_.label_names())
            .ok());
    std::vector<std::string> result;
    for (size_t i = 0; i < program.size(); ++i) {
      if (!program[i].inserted) continue;
      const std::string wait = FormatInstruction(program[i], a_.label_names());
      result.push_back(wait.substr(wait.find(' ') + 1) + " < " +
                       program[i + 1].info().mnemonic);
    }
    return result;
  }

  std::string Check(const std::function<void()>& emit) {
    std::vector<Instruction> program = Emit(emit);
    const auto blocks = BuildControlFlow(program, a_.label_names());
    EXPECT_TRUE(blocks.ok()) << blocks.status();
    return std::string(
        ApplyWaits(program, *blocks, WaitPolicy::kCheck, a_.label_names())
            .message());
  }

  std::vector<Instruction> Emit(const std::function<void()>& emit) {
    Stream stream = a_.Capture([&] {
      emit();
      a_.s_endpgm();
    });
    EXPECT_TRUE(a_.status().ok()) << a_.status();
    return stream.instructions();
  }

  void Load(int v) { a_.buffer_load_dword(VReg(v), off, SReg(8, 4), 0); }
  void Use(int v) { a_.v_mov_b32(VReg(100), VReg(v)); }

  Assembler a_;
};

TEST_F(WaitsTest, CountsLaterOperations) {
  EXPECT_THAT(Inserted([&] {
                Load(10);
                Load(11);
                Load(12);
                Use(11);  // one later operation may stay open
                Use(10);  // retired before 11
                Use(12);
              }),
              ElementsAre("vmcnt(1) < v_mov_b32", "vmcnt(0) < v_mov_b32"));
}

TEST_F(WaitsTest, OverwritingWaitsToo) {
  EXPECT_THAT(Inserted([&] {
                Load(10);
                a_.v_mov_b32(VReg(10), 0);
              }),
              ElementsAre("vmcnt(0) < v_mov_b32"));
}

TEST_F(WaitsTest, StoresAndDirectToLdsLoadsCount) {
  EXPECT_THAT(Inserted([&] {
                Load(10);
                a_.buffer_store_dword(VReg(20), off, SReg(8, 4), 0);
                a_.buffer_load_dwordx4_lds(VReg(21), SReg(8, 4), 0);
                a_.global_load_lds_dword(VReg(22, 2), off);
                Use(20);  // a store's data is free at once
                Use(10);
              }),
              ElementsAre("vmcnt(3) < v_mov_b32"));
}

TEST_F(WaitsTest, ExplicitWaitsAreHonoured) {
  EXPECT_THAT(Inserted([&] {
                Load(10);
                Load(11);
                a_.WaitVmcnt(1);
                Use(10);
                a_.WaitVmcnt(5);  // says nothing new
                Use(11);
              }),
              ElementsAre("vmcnt(0) < v_mov_b32"));
}

TEST_F(WaitsTest, LdsInOrderScalarOnlyZero) {
  EXPECT_THAT(Inserted([&] {
                a_.ds_read_b32(VReg(10), VReg(1));
                a_.ds_read_b32(VReg(11), VReg(1));
                a_.ds_write_b32(VReg(1), VReg(2));
                Use(10);
              }),
              ElementsAre("lgkmcnt(2) < v_mov_b32"));
  EXPECT_THAT(Inserted([&] {
                a_.ds_read_b32(VReg(10), VReg(1));
                a_.s_load_dword(SReg(20), a_.kernarg(), 0);
                a_.ds_read_b32(VReg(11), VReg(1));
                Use(10);
                a_.s_mov_b32(SReg(21), SReg(20));
                Use(11);
              }),
              ElementsAre("lgkmcnt(0) < v_mov_b32"));
  // With a scalar load open, a count other than 0 says nothing about LDS
  // either.
  EXPECT_THAT(Inserted([&] {
                a_.ds_read_b32(VReg(10), VReg(1));
                a_.ds_read_b32(VReg(11), VReg(1));
                a_.s_load_dword(SReg(20), a_.kernarg(), 0);
                a_.WaitLgkmcnt(1);
                Use(10);
              }),
              ElementsAre("lgkmcnt(0) < v_mov_b32"));
  EXPECT_THAT(Inserted([&] {
                a_.s_load_dword(SReg(20), a_.kernarg(), 0);
                a_.s_load_dword(SReg(21), a_.kernarg(), 4);
                a_.WaitLgkmcnt(1);  // scalar loads return in any order
                a_.s_mov_b32(SReg(22), SReg(20));
              }),
              ElementsAre("lgkmcnt(0) < s_mov_b32"));
}

TEST_F(WaitsTest, BothCountersInOneWait) {
  EXPECT_THAT(Inserted([&] {
                Load(10);
                Load(12);
                a_.ds_read_b32(VReg(11), VReg(1));
                a_.v_add_u32(VReg(100), VReg(10), VReg(11));
              }),
              ElementsAre("vmcnt(1) lgkmcnt(0) < v_add_u32"));
}

TEST_F(WaitsTest, OnlyTheUsedPartOfATuple) {
  EXPECT_THAT(Inserted([&] {
                a_.ds_read_b64(VReg(10, 2), VReg(1));
                a_.ds_read_b64(VReg(12, 2), VReg(1));
                Use(11);
                Use(12);
              }),
              ElementsAre("lgkmcnt(1) < v_mov_b32", "lgkmcnt(0) < v_mov_b32"));
}

// More operations than the counter can name: the longest wait that it can.
TEST_F(WaitsTest, CountersSaturate) {
  EXPECT_THAT(Inserted([&] {
                Load(10);
                for (int i = 0; i < 80; ++i) {
                  a_.buffer_store_dword(VReg(20), off, SReg(8, 4), 0);
                }
                Use(10);
              }),
              ElementsAre("vmcnt(62) < v_mov_b32"));
  EXPECT_THAT(Inserted([&] {
                a_.ds_read_b32(VReg(10), VReg(1));
                for (int i = 0; i < 20; ++i) a_.ds_write_b32(VReg(1), VReg(2));
                Use(10);
              }),
              ElementsAre("lgkmcnt(14) < v_mov_b32"));
}

TEST_F(WaitsTest, JoinTakesTheStricterPath) {
  EXPECT_THAT(Inserted([&] {
                Label other = a_.NewLabel("other");
                Label join = a_.NewLabel("join");
                Load(10);
                a_.s_cbranch_scc1(other);
                Load(11);
                Load(12);
                a_.s_branch(join);
                a_.Bind(other);
                Load(13);
                a_.Bind(join);
                Use(10);  // 2 later operations on one path, 1 on the other
              }),
              ElementsAre("vmcnt(1) < v_mov_b32"));
}

TEST_F(WaitsTest, WaitOnOneBranchDoesNotServeTheOther) {
  EXPECT_THAT(Inserted([&] {
                Label join = a_.NewLabel("join2");
                Load(10);
                a_.s_cbranch_scc1(join);
                a_.WaitVmcnt(0);
                a_.Bind(join);
                Use(10);
              }),
              ElementsAre("vmcnt(0) < v_mov_b32"));
}

TEST_F(WaitsTest, LoopCarriesLoadsAround) {
  // Loaded at the bottom for the next round: found through the back edge only.
  EXPECT_THAT(
      Inserted([&] {
        Label loop = a_.NewLabel("loop");
        a_.v_mov_b32(VReg(10), 0);
        a_.Bind(loop);
        Use(10);
        Load(10);
        Load(11);
        a_.s_cbranch_scc1(loop);
      }),
      ElementsAre("vmcnt(1) < v_mov_b32", "vmcnt(1) < buffer_load_dword"));
}

TEST_F(WaitsTest, SteadyStateOfAPipelinedLoop) {
  // Explicit wait before the loop and direct-to-LDS loads inside: no waits
  // added.
  EXPECT_THAT(Inserted([&] {
                Label loop = a_.NewLabel("steady");
                Load(10);
                a_.buffer_load_dword_lds(VReg(20), SReg(8, 4), 0);
                a_.WaitVmcnt(1);
                a_.Bind(loop);
                Use(10);
                a_.buffer_load_dword_lds(VReg(20), SReg(8, 4), 0);
                a_.WaitVmcnt(1);
                a_.s_barrier();
                a_.s_cbranch_scc1(loop);
              }),
              ElementsAre());
}

TEST_F(WaitsTest, CheckNamesTheInstruction) {
  EXPECT_THAT(Check([&] {
                a_.Section("Scores");
                Load(10);
                Use(10);
              }),
              AllOf(HasSubstr("`v_mov_b32 v100, v10` in section \"Scores\""),
                    HasSubstr("v10 is still being loaded"),
                    HasSubstr("missing `s_waitcnt vmcnt(0)`")));
  EXPECT_EQ(Check([&] {
              Load(10);
              a_.WaitVmcnt(0);
              Use(10);
            }),
            "");
}

TEST_F(WaitsTest, CheckThroughTheWholeAssembler) {
  KernelSpec spec = Spec();
  spec.wait_policy = WaitPolicy::kCheck;
  Assembler a(spec);
  const SReg x = a.sgprs().Alloc("x");
  a.s_load_dword(x, a.kernarg(), 0);
  a.s_add_u32(x, x, 1);
  a.s_endpgm();
  EXPECT_THAT(std::string(a.Finish().status().message()),
              HasSubstr("missing `s_waitcnt lgkmcnt(0)`"));
}

}  // namespace
}  // namespace zyfa::gen
