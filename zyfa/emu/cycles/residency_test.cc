#include "zyfa/emu/cycles/residency.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<int> Resident(uint32_t vgprs, uint32_t lds, uint32_t items,
                             uint32_t dynamic_lds = 0) {
  KernelInfo kernel;
  kernel.name = "k";
  kernel.vgprs = vgprs;
  kernel.lds_bytes = lds;
  LaunchShape shape;
  shape.workgroup[0] = items;
  shape.dynamic_lds_bytes = dynamic_lds;
  return ResidentGroups(kernel, shape);
}

TEST(ResidencyTest, RegistersBound) {
  EXPECT_EQ(*Resident(256, 0, 512), 1);  // two waves a SIMD, 512 registers
  EXPECT_EQ(*Resident(128, 0, 512), 2);
  EXPECT_EQ(*Resident(512, 0, 256), 1);
  EXPECT_EQ(*Resident(250, 0, 256), 2);  // rounded up to 256
  EXPECT_EQ(*Resident(168, 0, 256), 3);  // 512 / 168
}

TEST(ResidencyTest, WaveSlotsBound) {
  EXPECT_EQ(*Resident(8, 0, 256), 8);  // 8 waves a SIMD, not 64
  EXPECT_EQ(*Resident(8, 0, 1024), 2);
  EXPECT_EQ(*Resident(0, 0, 512), 4);
}

TEST(ResidencyTest, LdsBounds) {
  EXPECT_EQ(*Resident(32, 160 * 1024, 256), 1);
  EXPECT_EQ(*Resident(32, 80 * 1024, 256), 2);
  EXPECT_EQ(*Resident(32, 80 * 1024 + 4, 256), 1);
  EXPECT_EQ(*Resident(32, 66 * 1024, 256, 14 * 1024), 2);
  EXPECT_EQ(*Resident(32, 66 * 1024, 256, 15 * 1024), 1);
}

TEST(ResidencyTest, RefusesWhatDoesNotFitAtAll) {
  EXPECT_THAT(Resident(264, 0, 512).status().message(),
              HasSubstr("528 VGPRs a lane and SIMD; allowed: up to 512"));
  EXPECT_THAT(Resident(8, 160 * 1024, 64, 4).status().message(),
              HasSubstr("bytes of LDS; allowed: up to 163840"));
  EXPECT_THAT(Resident(8, 0, 0).status().message(), HasSubstr("0 work-items"));
  EXPECT_THAT(Resident(8, 0, 1025).status().message(),
              HasSubstr("1025 work-items"));
}

}  // namespace
}  // namespace zyfa::emu
