#include "zyfa/gen/attention/attention_kernel.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {
namespace {

using ::testing::HasSubstr;

std::vector<Variant> AllVariants() {
  std::vector<Variant> all;
  for (int head_dim_qk : {128, 192}) {
    for (Mask mask : {Mask::kCausal, Mask::kFull}) {
      all.push_back({DataType::kBf16, head_dim_qk, 128, mask});
    }
  }
  return all;
}

TEST(AttentionKernelTest, SameVariantSameBytesOtherVariantOthers) {
  std::set<std::string> texts;
  for (const Variant& variant : AllVariants()) {
    const auto text = GenerateAttentionKernel(variant);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, *GenerateAttentionKernel(variant));
    EXPECT_TRUE(texts.insert(*text).second);
    EXPECT_THAT(*text,
                HasSubstr(".amdhsa_kernel zyfa_" + VariantName(variant)));
  }
}

TEST(AttentionKernelTest, RefusesHeadDimsWithoutALayout) {
  EXPECT_THAT(GenerateAttentionKernel({DataType::kBf16, 64, 64, Mask::kFull})
                  .status()
                  .message(),
              HasSubstr("head dims 64/64"));
}

// Packed fp32 arithmetic keeps the matrix pipe from issuing (cdna4-timing 1.3).
TEST(AttentionKernelTest, NoPackedArithmetic) {
  for (const Variant& variant : AllVariants()) {
    const auto text = GenerateAttentionKernel(variant);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_FALSE(absl::StrContains(*text, "v_pk_"));
  }
}

// Lanes that ds_read_b128 serves in one phase, first half of the wave: the
// other half is the same with 32 added (cdna4-timing 4).
constexpr int kB128Phases[2][16] = {
    {0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
    {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}};

int KeySwizzle(int head_dim, int row) {
  return head_dim == 128 ? row % 16 : row / 2 % 8;
}

// The swizzles that tile_loader.h documents: each phase must meet every group
// of four banks once.
TEST(LdsLayoutTest, KeyReadsMeetEveryBankOnce) {
  for (int head_dim : {128, 192}) {
    const int row_bytes = 2 * head_dim;
    for (int chunk = 0; chunk < row_bytes / 16; ++chunk) {
      for (const auto& phase : kB128Phases) {
        std::set<int> bank_groups;
        for (int lane : phase) {
          const int place = chunk ^ KeySwizzle(head_dim, lane);
          bank_groups.insert((lane * row_bytes + 16 * place) / 16 % 16);
        }
        EXPECT_EQ(bank_groups.size(), 16) << head_dim << " chunk " << chunk;
      }
    }
  }
}

// ds_read_b64 serves 32 lanes at a time; of a transposing read these are 4 rows
// of 64 bytes.
TEST(LdsLayoutTest, ValueReadsMeetEveryBankOnce) {
  for (int block = 0; block < 4; ++block) {
    std::set<int> banks;
    for (int lane = 0; lane < 32; ++lane) {
      const int row = lane % 16 / 4;
      const int address =
          256 * row + 64 * (block ^ row) + 32 * (lane / 16) + 8 * (lane % 4);
      banks.insert(address / 4 % 64);
      banks.insert(address / 4 % 64 + 1);
    }
    EXPECT_EQ(banks.size(), 64) << block;
  }
}

}  // namespace
}  // namespace zyfa::gen
