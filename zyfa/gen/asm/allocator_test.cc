#include "zyfa/gen/asm/allocator.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AllocatorTest : public ::testing::Test {
 protected:
  AllocationTable table_;
  std::string error_;
  VgprPool vgprs_{&table_, 32, [this](std::string e) { error_ = e; }};
  SgprPool sgprs_{&table_, 32, [this](std::string e) { error_ = e; }};
};

TEST_F(AllocatorTest, LowestAlignedRange) {
  EXPECT_EQ(vgprs_.Alloc("a"), VReg(0));
  EXPECT_EQ(vgprs_.Alloc("pair", 2), VReg(2, 2));
  EXPECT_EQ(vgprs_.Alloc("b"), VReg(1));
  EXPECT_EQ(vgprs_.Alloc("tile", 4, 8), VReg(8, 4));
  EXPECT_EQ(vgprs_.peak(), 12);
  EXPECT_EQ(vgprs_.available(), 32 - 8);
  EXPECT_EQ(sgprs_.Alloc("x"), SReg(0));
  EXPECT_EQ(sgprs_.Alloc("descriptor", 4), SReg(4, 4));
  EXPECT_EQ(error_, "");
}

TEST_F(AllocatorTest, FreedRangesAreReused) {
  const VReg a = vgprs_.Alloc("a", 4);
  const VReg b = vgprs_.Alloc("b", 4);
  vgprs_.Free(a);
  EXPECT_EQ(vgprs_.Alloc("c", 6), VReg(8, 6));
  EXPECT_EQ(vgprs_.Alloc("d", 4), VReg(0, 4));
  vgprs_.Free(b);
  EXPECT_EQ(vgprs_.peak(), 14);
  EXPECT_EQ(error_, "");
}

TEST_F(AllocatorTest, ScopedRangeIsFreedAtTheEnd) {
  {
    ScopedVReg t = vgprs_.Scoped("t", 2);
    ScopedVReg moved = std::move(t);
    EXPECT_EQ(moved, VReg(0, 2));
    EXPECT_EQ(vgprs_.available(), 30);
  }
  EXPECT_EQ(vgprs_.available(), 32);
  EXPECT_EQ(error_, "");
}

TEST_F(AllocatorTest, DoubleFree) {
  const VReg a = vgprs_.Alloc("first", 4);
  vgprs_.Free(a);
  vgprs_.Alloc("second", 4);
  vgprs_.Free(a);
  EXPECT_THAT(error_, AllOf(HasSubstr("'first' v[0:3], which is free already"),
                            HasSubstr("'second' v[0:3] now")));
}

TEST_F(AllocatorTest, FreeOfAPart) {
  const VReg a = vgprs_.Alloc("whole", 4);
  vgprs_.Free(a.sub(0, 2));
  EXPECT_THAT(error_, HasSubstr("v[0:1], a part of 'whole' v[0:3]"));
}

TEST_F(AllocatorTest, FreeOfANumber) {
  vgprs_.Free(VReg(3));
  EXPECT_THAT(error_, HasSubstr("v3, which was never allocated"));
}

TEST_F(AllocatorTest, OverlapNamesBoth) {
  vgprs_.AllocAt("query", 4, 8);
  EXPECT_FALSE(vgprs_.AllocAt("key", 10, 4).valid());
  EXPECT_THAT(error_, AllOf(HasSubstr("'key' v[10:13]"),
                            HasSubstr("overlaps the live 'query' v[4:11]")));
}

TEST_F(AllocatorTest, NameInUse) {
  vgprs_.Alloc("query", 2);
  EXPECT_FALSE(vgprs_.Alloc("query", 2).valid());
  EXPECT_THAT(error_, HasSubstr("the name is in use by 'query' v[0:1]"));
}

TEST_F(AllocatorTest, NoRoomListsWhatIsLive) {
  vgprs_.Alloc("scores", 16);
  vgprs_.Alloc("output", 14);
  EXPECT_FALSE(vgprs_.Alloc("tile", 4).valid());
  EXPECT_THAT(
      error_,
      AllOf(HasSubstr("'tile', 4 registers"), HasSubstr("no room below 32"),
            HasSubstr("'scores' v[0:15]"), HasSubstr("'output' v[16:29]")));
}

KernelSpec Spec() {
  KernelSpec spec;
  spec.name = "k";
  return spec;
}

TEST(OwnershipTest, UseAfterFreeNamesOldAndNew) {
  Assembler a(Spec());
  const VReg old = a.vgprs().Alloc("query", 2);
  a.v_mov_b32(old[1], 0);
  a.vgprs().Free(old);
  a.vgprs().Alloc("key", 2);
  ASSERT_TRUE(a.status().ok());
  a.v_mov_b32(a.workitem_id(), old[1]);
  EXPECT_THAT(std::string(a.status().message()),
              AllOf(HasSubstr("`v_mov_b32 v0, v3`"),
                    HasSubstr("v3 belongs to 'query', which is free already"),
                    HasSubstr("it is 'key' now")));
}

TEST(OwnershipTest, NumberInsideALiveNameIsRefused) {
  Assembler a(Spec());
  const VReg query = a.vgprs().Alloc("query", 4);
  a.v_mov_b32(VReg(query.first() + 1), 0);
  EXPECT_THAT(std::string(a.status().message()),
              HasSubstr("by number overlaps the live 'query' v[2:5]"));
}

TEST(OwnershipTest, EntryRegistersAreNamed) {
  KernelSpec spec = Spec();
  spec.workgroup_id_x = false;
  spec.workgroup_id_z = true;
  Assembler a(spec);
  EXPECT_EQ(a.kernarg(), SReg(0, 2));
  EXPECT_FALSE(a.workgroup_id_x().valid());
  EXPECT_EQ(a.workgroup_id_z(), SReg(2));
  EXPECT_EQ(a.workitem_id(), VReg(0));
  EXPECT_EQ(a.sgprs().Alloc("next"), SReg(3));
}

TEST(OwnershipTest, UnifiedLimitCoversBothFiles) {
  KernelSpec spec = Spec();
  spec.max_vgprs = 128;
  Assembler a(spec);
  const VReg v = a.vgprs().Alloc("v", 97);
  const AReg acc = a.agprs().Alloc("acc", 32);
  a.v_accvgpr_write_b32(acc[0], 0);
  a.v_mov_b32(v[0], 0);
  a.s_endpgm();
  // 1 + 1 for evenness + 97 -> 100 after rounding to 4, + 32 > 128.
  EXPECT_THAT(std::string(a.Finish().status().message()),
              AllOf(HasSubstr("32 AGPRs"), HasSubstr("max_vgprs 128")));
}

}  // namespace
}  // namespace zyfa::gen
