#include "zyfa/emu/decoder.h"

#include <cstring>
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

// Words at which LLVM 22 itself breaks down.
TEST(Decoder, WordsThatLlvmDoesNotSurvive) {
  const auto undecodable = [](const std::vector<uint32_t>& words) {
    const Instruction inst = Decode(words);
    return !inst.understood && inst.text.substr(0, 11) == "undecodable";
  };
  // v_add_f32_sdwa: source, destination and unused part numbered beyond the
  // last.
  constexpr uint32_t kAddSdwa = 0x020a0cf9;
  EXPECT_TRUE(Decode({kAddSdwa, 0x06060605}).understood);
  EXPECT_TRUE(undecodable({kAddSdwa, 0x06070605}));
  EXPECT_TRUE(undecodable({kAddSdwa, 0x07060605}));
  EXPECT_TRUE(undecodable({kAddSdwa, 0x06060705}));
  EXPECT_TRUE(undecodable({kAddSdwa, 0x06061e05}));
  // f8f6f4 products of scalars and of registers behind v255.
  EXPECT_TRUE(Decode({0xd3ae0000, 0x04023110}).understood);
  EXPECT_TRUE(undecodable({0xd3ae0000, 0x04023010}));
  EXPECT_TRUE(undecodable({0xd3ae0000, 0x040231fc}));
  EXPECT_TRUE(undecodable({0xd3ac0000, 0x00024320, 0xd3ae0800, 0x040231fc}));
  // A literal behind the end of the text.
  EXPECT_TRUE(Decode({0x260000ff, 77}).understood);
  EXPECT_TRUE(undecodable({0x260000ff}));
}

}  // namespace
}  // namespace zyfa::emu
