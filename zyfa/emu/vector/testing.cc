#include "zyfa/emu/vector/testing.h"

#include <bit>

#include "gtest/gtest.h"
#include "zyfa/emu/disassembly_text.h"
#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/handlers.h"

namespace zyfa::emu::testing {

bool HostHasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

Instruction Assemble(const std::string& text, CodeSet set) {
  Instruction inst;
  inst.text = text;
  EXPECT_TRUE(ParseDisassembly(0, inst)) << text;
  if (set == CodeSet::kChosen) {
    inst.handler = FindVectorHandler(inst);
    return inst;
  }
  static const auto* baseline = [] {
    auto* table = new valu::HandlerTable;
    valu_baseline::AddAllOps(*table);
    return table;
  }();
  static const auto* avx2 = [] {
    auto* table = new valu::HandlerTable;
    valu_avx2::AddAllOps(*table);
    return table;
  }();
  const valu::HandlerTable& table =
      set == CodeSet::kBaseline ? *baseline : *avx2;
  const valu::HandlerTable::Entry* entry = table.Find(inst.mnemonic);
  if (entry != nullptr) inst.handler = entry->maker(inst);
  return inst;
}

TestWave::TestWave() : wave(std::make_unique<Wave>()) {
  wave->exec = ~uint64_t{0};
  wave->mode.bits = kModeDenormF32 | kModeDenormF16F64;
}

void TestWave::Run(const std::string& text, CodeSet set) {
  const Instruction inst = Assemble(text, set);
  ASSERT_NE(inst.handler, nullptr) << text;
  inst.handler(inst, *wave);
  EXPECT_EQ(wave->error, "") << text;
}

uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }
float Float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }
double Double(uint64_t bits) { return std::bit_cast<double>(bits); }

uint32_t Random::Next32() {
  // A linear congruential generator's upper half.
  state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
  uint64_t x = state_;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  return static_cast<uint32_t>(x >> 32);
}

uint32_t Random::FloatBits() {
  static constexpr uint32_t kSpecial[] = {
      0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
      0x7fc00000, 0xffc12345, 0x7f812345, 0x00000001, 0x807fffff, 0x00800000,
      0x7f7fffff, 0x3f000000, 0x4b000000, 0x3fffffff};
  const uint32_t choice = Next32();
  if (choice % 4 == 0) return kSpecial[choice / 4 % 16];
  return Next32();
}

uint32_t Random::HalfBits() { return Next32() & 0xffff; }

std::vector<std::string> OperandShapes(const std::string& name) {
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

}  // namespace zyfa::emu::testing
