// Any instruction on any state of a wave: a result, a finding or a refusal, but
// never an access outside of what the wave has.
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/decoder.h"
#include "zyfa/emu/fuzz/hostile.h"
#include "zyfa/emu/handlers.h"
#include "zyfa/emu/testing/test_device.h"
#include "zyfa/emu/testing/test_group.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kLdsBytes = 512;
constexpr uint64_t kMemoryBytes = 4096;

// A wave with little memory, and state that often, but not always, leads there.
class InstructionFuzz : public testing::Test {
 protected:
  InstructionFuzz() : group_(kLdsBytes), random_(11) {
    // What lies behind the memory that the emulator guarantees is not ours.
    group_.group->lds = std::make_unique<uint8_t[]>(kLdsBytes + 64);
    group_.group->private_bytes = 16;
    group_.group->scratch[0] = std::make_unique<uint8_t[]>(16 * kLanes);
    memory_ = *group_.memory.Allocate(kMemoryBytes);
    decoder_ = *Decoder::Create();
  }

  uint32_t Word() {
    const uint64_t bits = random_();
    const auto word = static_cast<uint32_t>(bits >> 32);
    switch (bits % 8) {
      case 0:
        return word % (kLdsBytes + 64);
      case 1:
        return word % kMemoryBytes + static_cast<uint32_t>(memory_);
      case 2:
        return static_cast<uint32_t>(memory_ >> 32);
      case 3:
        return 0u - word % 64;
      case 4:
        return 0x3f800000 + word % 1024;
      case 5:
        return bits & 8 ? 0x7f800001 : word & 0x807fffff;
      default:
        return word;
    }
  }
  void Shuffle() {
    Wave& wave = *group_.wave;
    for (auto& row : wave.vgpr) {
      const uint32_t uniform = Word();
      const bool same = random_() % 2 == 0;
      for (uint32_t& word : row) word = same ? uniform : Word();
    }
    for (uint32_t& word : wave.sgpr) word = Word();
    // Pairs that point into memory, and a buffer descriptor every eight.
    for (int s = 0; s < 96; s += 8) {
      wave.WriteScalar64(s, memory_ + random_() % (kMemoryBytes + 16));
      wave.WriteScalar32(s + 2, static_cast<uint32_t>(random_() % 8192));
      wave.WriteScalar32(
          s + 3, random_() % 4 ? 0x00020000 : static_cast<uint32_t>(random_()));
    }
    wave.exec = random_() % 4 ? random_() : ~uint64_t{0};
    if (random_() % 8 == 0) wave.exec = 0;
    wave.mode.bits = static_cast<uint32_t>(random_());
    group_.group->dma_lands_at_wait = random_() % 2 == 0;
  }

  void Execute(Instruction inst) {
    inst.handler = FindHandler(inst);
    if (inst.handler == nullptr) return;
    Wave& wave = *group_.wave;
    if (executed_++ % 32 == 0) Shuffle();
    group_.group->findings.clear();
    wave.pc = inst.address + inst.size;
    wave.error.clear();
    wave.signal = WaveSignal::kNone;
    inst.handler(inst, wave);
    for (const Finding& finding : group_.group->findings) {
      rules_.insert(finding.rule);
      ASSERT_TRUE(IsPrintable(finding.detail)) << inst.text;
    }
    names_.insert(inst.mnemonic);
  }
  void ExecuteAll(const std::vector<uint8_t>& text) {
    for (Instruction& inst : decoder_->DecodeAll(text)) {
      Execute(std::move(inst));
    }
  }

  TestGroup group_;
  Random random_;
  uint64_t memory_ = 0;
  std::unique_ptr<Decoder> decoder_;
  int executed_ = 0;
  std::set<std::string> names_, rules_;
};

TEST_F(InstructionFuzz, RandomWords) {
  for (int round = 0; round < 40; ++round) {
    ExecuteAll(RandomWords(random_, 10000));
  }
  EXPECT_GT(executed_, 40000);
  EXPECT_GT(names_.size(), 500u);
  EXPECT_TRUE(rules_.count("out-of-range"));
  EXPECT_TRUE(rules_.count("lds-out-of-range"));
}

TEST_F(InstructionFuzz, MutatedPrograms) {
  for (const std::string& path : CodeObjectPaths()) {
    auto code = CodeObject::Load(ReadData(path));
    ASSERT_TRUE(code.ok()) << path << ": " << code.status();
    std::vector<uint8_t> text = (*code)->text();
    if (text.size() > 30000) text.resize(30000);
    ExecuteAll(text);
    for (size_t at = 0; at + 4 <= text.size(); at += 4 * (1 + random_() % 7)) {
      uint32_t word;
      std::memcpy(&word, &text[at], 4);
      word = FlipBits(random_, word);
      std::memcpy(&text[at], &word, 4);
    }
    ExecuteAll(text);
  }
  EXPECT_GT(executed_, 60000);
  EXPECT_GT(names_.size(), 400u);
}

}  // namespace
}  // namespace zyfa::emu
