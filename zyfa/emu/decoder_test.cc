#include "zyfa/emu/decoder.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/handlers.h"

namespace zyfa::emu {
namespace {

std::vector<uint8_t> Bytes(const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes(4 * words.size());
  if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

Instruction Decode(const std::vector<uint32_t>& words) {
  return (*Decoder::Create())->Decode(Bytes(words), 0);
}

bool Touches(const Instruction& inst, bool vector, int first, int count,
             bool write) {
  for (const RegisterRange& r : inst.registers) {
    if (r.vector == vector && r.first == first && r.count == count &&
        r.write == write) {
      return true;
    }
  }
  return false;
}

// Words as the assembler writes them (llvm-mc -show-encoding).
TEST(Decoder, SizesTextsAndRegisters) {
  const Instruction mfma = Decode({0xd3b78000, 0x14022910});
  EXPECT_EQ(mfma.size, 8u);
  EXPECT_EQ(mfma.text,
            "v_mfma_f32_32x32x16_bf16 a[0:15], v[16:19], a[20:23], a[0:15]");
  EXPECT_TRUE(mfma.understood);
  EXPECT_TRUE(Touches(mfma, true, 256, 16, true));
  EXPECT_TRUE(Touches(mfma, true, 256, 16, false));
  EXPECT_TRUE(Touches(mfma, true, 16, 4, false));
  EXPECT_TRUE(Touches(mfma, true, 256 + 20, 4, false));

  const Instruction scaled =
      Decode({0xd3ac0000, 0x00024320, 0xd3ae0800, 0x04023110});
  EXPECT_EQ(scaled.size, 16u);
  EXPECT_EQ(scaled.mnemonic, "v_mfma_scale_f32_32x32x64_f8f6f4");

  const Instruction carry = Decode({0x32000501});  // v_add_co_u32_e32
  EXPECT_EQ(carry.mnemonic, "v_add_co_u32");
  EXPECT_FALSE(carry.e64);
  ASSERT_EQ(carry.operands.size(), 4u);
  EXPECT_EQ(carry.operands[1].index, kVccLo);
  EXPECT_TRUE(Touches(carry, false, kVccLo, 2, true));

  const Instruction dma = Decode({0xe05d1040, 0x07000004});
  EXPECT_EQ(dma.text, "buffer_load_dwordx4 v4, s[0:3], s7 offen offset:64 lds");
  EXPECT_TRUE(Touches(dma, false, kM0, 1, false));
  EXPECT_TRUE(Touches(dma, true, 4, 1, false));

  const Instruction load = Decode({0xc00a4008, 0x28000010});
  EXPECT_EQ(load.text, "s_load_dwordx4 s[0:3], s[16:17], s20 offset:0x10");
  EXPECT_TRUE(Touches(load, false, 0, 4, true));
  EXPECT_TRUE(Touches(load, false, 20, 1, false));
}

TEST(Decoder, BranchTargets) {
  const std::vector<uint8_t> text = Bytes({0xbf800000, 0xbf850003, 0xbf82fffd});
  auto decoder = Decoder::Create();
  ASSERT_TRUE(decoder.ok());
  const Instruction forward = (*decoder)->Decode(text, 4);
  EXPECT_EQ(forward.branch_target, 4 + 4 + 12);
  EXPECT_EQ(forward.text, "s_cbranch_scc1 0x14");
  const Instruction back = (*decoder)->Decode(text, 8);
  EXPECT_EQ(back.branch_target, 0);
}

TEST(Decoder, SwizzlePatterns) {
  const Instruction quad = Decode({0xd87a80b1, 0x00000001});
  EXPECT_EQ(quad.mods.offset, 0x80b1);
  Instruction fft = Decode({0xd87ae003, 0x00000001});
  EXPECT_EQ(FindHandler(fft), nullptr) << fft.text;
}

TEST(Decoder, UndecodableWords) {
  const Instruction inst = Decode({0xffffffff});
  EXPECT_FALSE(inst.understood);
  EXPECT_EQ(inst.size, 4u);
  EXPECT_EQ(inst.text, "undecodable word 0xffffffff");
  // The second half of an instruction is missing.
  EXPECT_FALSE(Decode({0xd3b78000}).understood);
  const std::vector<uint8_t> odd = {0x00, 0x00, 0x80};
  EXPECT_EQ((*Decoder::Create())->Decode(odd, 0).size, 3u);
}

TEST(Decoder, RandomWordsNeverFail) {
  std::mt19937 random(7);
  std::vector<uint32_t> words(20000);
  for (uint32_t& word : words) {
    word = random();
    // Half of them in the encodings that exist.
    if (random() % 2 == 0) {
      static constexpr uint32_t kTops[] = {0xbf800000, 0xbe800000, 0xd1000000,
                                           0xd3a00000, 0xd8000000, 0xdc000000,
                                           0xe0500000, 0xc0000000, 0x7e000000};
      word = kTops[random() % 9] | (word & 0x007fffff);
    }
  }
  const std::vector<uint8_t> text = Bytes(words);
  uint64_t end = 0;
  for (Instruction& inst : (*Decoder::Create())->DecodeAll(text)) {
    EXPECT_EQ(inst.address, end);
    end += inst.size;
    EXPECT_FALSE(inst.text.empty());
    const Handler handler = FindHandler(inst);
    EXPECT_TRUE(inst.understood || handler == nullptr);
  }
  EXPECT_EQ(end, text.size());
}

}  // namespace
}  // namespace zyfa::emu
