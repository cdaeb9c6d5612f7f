// Both sets of handlers give the same bits for every kind of instruction, and
// lanes outside EXEC keep theirs.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

void FillRandom(Wave& wave, uint64_t seed) {
  Random random(seed);
  for (auto& row : wave.vgpr) {
    for (uint32_t& word : row) word = random.FloatBits();
  }
  for (uint32_t& word : wave.sgpr) word = random.FloatBits();
}

class CodeSetsTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(CodeSetsTest, SameBits) {
  if (!HostHasAvx2()) GTEST_SKIP() << "no AVX2 here";
  valu::HandlerTable table;
  valu_baseline::AddAllOps(table);
  auto start = std::make_unique<Wave>();
  FillRandom(*start, GetParam());
  start->exec = 0xf0f0ffff12345678;
  start->mode.bits = GetParam();
  auto one = std::make_unique<Wave>(), two = std::make_unique<Wave>();
  int checked = 0;
  for (const auto& [name, entry] : table.entries()) {
    if (name == "v_nop" || name == "v_clrexcp") continue;
    bool found = false;
    for (const std::string& text : OperandShapes(name)) {
      const Instruction a = Assemble(text, CodeSet::kBaseline);
      if (a.handler == nullptr) continue;
      const Instruction b = Assemble(text, CodeSet::kAvx2);
      ASSERT_NE(b.handler, nullptr) << text;
      ASSERT_NE(b.handler, a.handler) << text;
      *one = *start;
      *two = *start;
      a.handler(a, *one);
      b.handler(b, *two);
      ASSERT_EQ(std::memcmp(one->vgpr, two->vgpr, sizeof(one->vgpr)), 0)
          << text;
      ASSERT_EQ(std::memcmp(one->sgpr, two->sgpr, sizeof(one->sgpr)), 0)
          << text;
      ASSERT_EQ(one->exec, two->exec) << text;
      const bool ignores_exec = name.find("mfma") != std::string::npos ||
                                name.find("smfmac") != std::string::npos ||
                                name.find("lane") != std::string::npos;
      if (!ignores_exec) {
        for (int r = 0; r < 2 * kVgprs; ++r) {
          for (int l = 0; l < kLanes; ++l) {
            if (start->exec >> l & 1) continue;
            ASSERT_EQ(one->vgpr[r][l], start->vgpr[r][l])
                << text << " register " << r << " lane " << l;
          }
        }
      }
      found = true;
      ++checked;
      break;
    }
    EXPECT_TRUE(found) << "no operand shape for " << name;
  }
  EXPECT_GT(checked, 600);
}

INSTANTIATE_TEST_SUITE_P(Modes, CodeSetsTest,
                         ::testing::Values(kModeDenormF32 | kModeDenormF16F64,
                                           0u,
                                           kModeIeee | kModeDx10Clamp |
                                               kModeDenormF16F64,
                                           kModeFp16Ovfl | 1, 2u, 15u));

}  // namespace
}  // namespace zyfa::emu::testing
