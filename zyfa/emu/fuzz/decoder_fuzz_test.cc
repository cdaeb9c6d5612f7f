// Whatever the words of a program are, decoding ends with instructions that
// cover them and can be printed.
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/decoder.h"
#include "zyfa/emu/disassembly_text.h"
#include "zyfa/emu/fuzz/hostile.h"
#include "zyfa/emu/handlers.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class DecoderFuzz : public testing::Test {
 protected:
  // Decodes all of `text`; gives how many instructions have a handler.
  int Check(const std::vector<uint8_t>& text) {
    uint64_t end = 0;
    int known = 0;
    for (Instruction& inst : decoder_->DecodeAll(text)) {
      EXPECT_EQ(inst.address, end);
      EXPECT_GT(inst.size, 0u);
      EXPECT_TRUE(IsPrintable(inst.text)) << inst.text;
      end += inst.size;
      inst.handler = FindHandler(inst);
      EXPECT_TRUE(inst.understood || inst.handler == nullptr) << inst.text;
      for (const RegisterRange& range : inst.registers) {
        EXPECT_LE(range.first + range.count, range.vector ? 512 : 256)
            << inst.text;
      }
      if (inst.handler != nullptr) ++known;
    }
    EXPECT_EQ(end, text.size());
    return known;
  }

  std::unique_ptr<Decoder> decoder_ = *Decoder::Create();
};

TEST_F(DecoderFuzz, RandomWords) {
  Random random(1);
  int known = 0;
  for (int round = 0; round < 40; ++round) {
    known += Check(RandomWords(random, 10000));
  }
  EXPECT_GT(known, 40000);
}

TEST_F(DecoderFuzz, MutatedPrograms) {
  Random random(2);
  const std::vector<std::string> paths = CodeObjectPaths();
  ASSERT_GT(paths.size(), 20u);
  for (const std::string& path : paths) {
    auto code = CodeObject::Load(ReadData(path));
    ASSERT_TRUE(code.ok()) << path << ": " << code.status();
    std::vector<uint8_t> text = (*code)->text();
    if (text.size() > 40000) text.resize(40000);
    EXPECT_GT(Check(text), 0) << path;
    // One word in eight.
    for (size_t at = 0; at + 4 <= text.size(); at += 4 * (1 + random() % 15)) {
      uint32_t word;
      std::memcpy(&word, &text[at], 4);
      word = FlipBits(random, word);
      std::memcpy(&text[at], &word, 4);
    }
    EXPECT_GT(Check(text), 0) << path;
  }
}

TEST_F(DecoderFuzz, EveryTruncation) {
  auto code = CodeObject::Load(ReadData("zyfa/emu/testdata/control.co"));
  ASSERT_TRUE(code.ok());
  std::vector<uint8_t> text = (*code)->text();
  text.resize(600);
  for (size_t bytes = 0; bytes <= text.size(); ++bytes) {
    Check(std::vector<uint8_t>(text.begin(),
                               text.begin() + static_cast<long>(bytes)));
  }
  // The long encodings, cut inside of one instruction: two words of MFMA, three
  // of SMEM with a literal is none, four of the scaled MFMA.
  const uint32_t scaled[] = {0xd3ac0000, 0x00024320, 0xd3ae0800, 0x04023110};
  std::vector<uint8_t> words(sizeof(scaled));
  std::memcpy(words.data(), scaled, sizeof(scaled));
  for (size_t bytes = 0; bytes <= words.size(); ++bytes) {
    Check(std::vector<uint8_t>(words.begin(),
                               words.begin() + static_cast<long>(bytes)));
  }
}

// The text that the disassembler prints is parsed again: damaged, it is
// refused or read as something else.
TEST_F(DecoderFuzz, DamagedText) {
  Random random(3);
  auto code = CodeObject::Load(ReadData("zyfa/emu/testdata/arithmetic.co"));
  ASSERT_TRUE(code.ok());
  static constexpr char kCharacters[] = "vsa[]:,()0123456789-.|x _elhif";
  int refused = 0;
  for (int round = 0; round < 6; ++round) {
    for (const Instruction& whole : (*code)->instructions()) {
      Instruction inst;
      inst.size = whole.size;
      inst.text = whole.text;
      for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
        const size_t at = random() % inst.text.size();
        switch (random() % 4) {
          case 0:
            inst.text[at] = static_cast<char>(random());
            break;
          case 1:
            inst.text[at] = kCharacters[random() % (sizeof(kCharacters) - 1)];
            break;
          case 2:
            inst.text.insert(at, inst.text, random() % inst.text.size(), 5);
            break;
          default:
            inst.text.resize(at + 1);
        }
      }
      inst.understood = ParseDisassembly(static_cast<uint32_t>(random()), inst);
      if (FindHandler(inst) == nullptr) ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace zyfa::emu
