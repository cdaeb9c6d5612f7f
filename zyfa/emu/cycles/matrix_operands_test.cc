#include "zyfa/emu/cycles/matrix_operands.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kOnes = 0x3f803f80;  // 1.0 in BF16, twice
constexpr uint32_t kTwos = 0x40004000;  // 2.0

// All words of an operand, which must be one value in all of `registers`.
void ExpectAll(const MatrixOperandWords& words, MatrixOperand operand,
               size_t registers, uint32_t value) {
  const absl::Span<const uint32_t> all = words.words(operand);
  EXPECT_EQ(all.size(), registers * 64) << static_cast<int>(operand);
  for (const uint32_t word : all) {
    ASSERT_EQ(word, value) << static_cast<int>(operand);
  }
}

void RunWith(MatrixOperandRecorder& recorder, uint32_t groups = 1) {
  TestDevice device("matrix_operands");
  RunOptions options;
  options.observers.push_back(&recorder);
  device.RunClean("matrix_operands", Shape(groups, 128), Kernarg(), options);
}

// 1 + 16 times 1 x 2 is 33; the same once more is 65; a sparse instruction of
// 64 values in B of which half are taken adds another 64.
TEST(MatrixOperands, WordsOfEveryOperand) {
  MatrixOperandRecorder recorder;
  RunWith(recorder);
  ASSERT_EQ(recorder.groups().size(), 1u);
  const GroupMatrixOperands& group = recorder.groups().at(0);
  ASSERT_EQ(group.waves.size(), 2u);
  EXPECT_FALSE(recorder.full());
  constexpr uint32_t k1 = 0x3f800000, k33 = 0x42040000, k65 = 0x42820000,
                     k129 = 0x43010000;
  for (int wave = 0; wave < 2; ++wave) {
    ASSERT_EQ(group.waves[static_cast<size_t>(wave)].size(), 3u);
    const MatrixOperandWords* first = group.Find(wave, 0);
    ASSERT_NE(first, nullptr);
    ExpectAll(*first, MatrixOperand::kA, 4, kOnes);
    ExpectAll(*first, MatrixOperand::kB, 4, kTwos);
    ExpectAll(*first, MatrixOperand::kC, 16, k1);
    ExpectAll(*first, MatrixOperand::kD, 16, k33);
    const MatrixOperandWords* second = group.Find(wave, 1);
    ASSERT_NE(second, nullptr);
    ExpectAll(*second, MatrixOperand::kA, 4, kTwos);
    ExpectAll(*second, MatrixOperand::kB, 4, kOnes);
    ExpectAll(*second, MatrixOperand::kC, 16, k33);
    ExpectAll(*second, MatrixOperand::kD, 16, k65);
    const MatrixOperandWords* sparse = group.Find(wave, 2);
    ASSERT_NE(sparse, nullptr);
    ExpectAll(*sparse, MatrixOperand::kA, 4, kOnes);
    ExpectAll(*sparse, MatrixOperand::kB, 8, kTwos);
    ExpectAll(*sparse, MatrixOperand::kC, 4, k65);
    ExpectAll(*sparse, MatrixOperand::kD, 4, k129);
  }
  EXPECT_EQ(group.Find(0, 3), nullptr);
  EXPECT_EQ(group.Find(2, 0), nullptr);
}

// Elements of dense instructions are known, those of sparse ones are not.
TEST(MatrixOperands, Elements) {
  MatrixOperandRecorder recorder;
  RunWith(recorder);
  const GroupMatrixOperands& group = recorder.groups().at(0);
  const ElementLayout bf16 = {.bits = 16, .rows = 32, .sign = true};
  EXPECT_EQ(group.Find(0, 0)->layout[0], bf16);
  EXPECT_EQ(group.Find(0, 1)->layout[1], bf16);
  EXPECT_EQ(group.Find(0, 2)->layout[0], ElementLayout());
}

TEST(MatrixOperands, Window) {
  MatrixOperandRecorder recorder({.first = 1, .count = 1});
  RunWith(recorder, 3);
  ASSERT_EQ(recorder.groups().size(), 3u);
  for (const auto& [number, group] : recorder.groups()) {
    EXPECT_EQ(group.Find(1, 0), nullptr);
    ASSERT_NE(group.Find(1, 1), nullptr) << number;
    ExpectAll(*group.Find(1, 1), MatrixOperand::kA, 4, kTwos);
    EXPECT_EQ(group.Find(1, 2), nullptr);
  }
}

// A dense instruction here is 40 registers of 256 bytes, the sparse one 20. Two
// dense ones fit; the sparse ones would, but nothing is kept behind one that
// was not.
TEST(MatrixOperands, MemoryIsBounded) {
  MatrixOperandRecorder recorder({.max_bytes = (40 + 20) * 256});
  RunWith(recorder);
  EXPECT_TRUE(recorder.full());
  size_t kept = 0;
  size_t bytes = 0;
  for (const auto& wave : recorder.groups().at(0).waves) {
    kept += wave.size();
    for (const MatrixOperandWords& words : wave) bytes += words.bytes();
  }
  EXPECT_EQ(kept, 1u);
  EXPECT_EQ(bytes, 40u * 256);
}

}  // namespace
}  // namespace zyfa::emu
