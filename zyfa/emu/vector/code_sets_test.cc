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

// Operand shapes that some instruction of every mnemonic accepts. Registers:
// v8, v40, v80, v120 up, s[10:11], s[12:13].
std::vector<std::string> Shapes(const std::string& name) {
  std::vector<std::string> texts;
  const std::vector<std::string> destinations = {
      "v8",      "v[8:9]",  "v[8:11]", "v[8:13]", "v[8:15]",
      "v[8:23]", "v[8:39]", "s8",      "vcc",     "a8"};
  const std::vector<std::string> middles = {"", ", s[10:11]"};
  const std::vector<std::string> sources = {
      ", v40",
      ", v[40:41]",
      ", v[40:43]",
      ", v[40:45]",
      ", v[40:47]",
      ", v[40:55]",
      ", v[40:71]",
      ", v40, v80",
      ", v40, s80",
      ", s40, 3",
      ", v[40:41], v80",
      ", v40, v[80:81]",
      ", v[40:41], v[80:81]",
      ", v[40:45], v80",
      ", v[40:55], v80",
      ", v40, v80, s[12:13]",
      ", v40, v80, v120",
      ", v40, v80, v[120:121]",
      ", v[40:41], v80, v120",
      ", v[40:41], v80, v[120:121]",
      ", v[40:41], v80, v[120:123]",
      ", v[40:41], v[80:81], v[120:121]",
      ", v[40:55], v[80:95], v120",
      ", v[40:55], v80, v120",
      ", v[40:71], v80, v120",
      ", v40, v80, v[120:123]",
      ", v40, v80, v[120:135]",
      ", v40, v80, v[120:151]",
      ", v[40:41], v[80:81], v[120:123]",
      ", v[40:41], v[80:81], v[120:127]",
      ", v[40:41], v[80:81], v[120:135]",
      ", v[40:41], v[80:81], v[120:151]",
      ", v[40:41], v[80:83], v120",
      ", v[40:43], v[80:83], v[120:123]",
      ", v[40:43], v[80:83], v[120:135]",
      ", v[40:43], v[80:87], v120",
      ", v[40:47], v[80:87], v[120:123]",
      ", v[40:47], v[80:87], v[120:135]",
      ", v[40:47], v[80:87], v[120:123], v160, v161",
      ", v[40:47], v[80:87], v[120:135], v160, v161"};
  for (const std::string& d : destinations) {
    for (const std::string& m : middles) {
      for (const std::string& s : sources)
        texts.push_back(name + " " + d + m + s);
    }
  }
  return texts;
}

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
    for (const std::string& text : Shapes(name)) {
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
