#include "zyfa/emu/cycles/toggle_meter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "zyfa/numerics/random.h"

namespace zyfa::emu {
namespace {

constexpr uint64_t kLaneWords = 64;
constexpr uint64_t kWideBits = 8 * 64 * 32;  // of A or B, eight registers

// Steps of the hand-made program.
enum Step : uint32_t { kWide, kNarrow, kVector, kLds };

std::vector<InstructionTime> Program() {
  std::vector<InstructionTime> program(4);
  for (const Step step : {kWide, kNarrow}) {
    program[step].issue = IssueKind::kVector;
    program[step].matrix = true;
    program[step].passes = 16;
    program[step].operand_bytes = program[step].a_bytes = 32;
  }
  program[kVector].issue = IssueKind::kVector;
  program[kLds].issue = IssueKind::kLds;
  for (uint32_t i = 0; i < program.size(); ++i) {
    program[i].address = 8 * i;
    program[i].size = 8;
  }
  return program;
}

// The word of a register in every lane of an operand, by register.
using Fill = std::function<uint32_t(size_t)>;

MatrixOperandWords Words(const Fill& a, const Fill& b, size_t registers = 8) {
  MatrixOperandWords words;
  std::vector<uint32_t> fill_a, fill_b;
  for (size_t i = 0; i < registers * kLaneWords; ++i) {
    fill_a.push_back(a(i));
    fill_b.push_back(b(i));
  }
  words.Append(MatrixOperand::kA, fill_a);
  words.Append(MatrixOperand::kB, fill_b);
  return words;
}
Fill Same(uint32_t value) {
  return [value](size_t) { return value; };
}

// A work-group whose waves 0 and 4 share SIMD 0.
struct Work {
  GroupTrace trace;
  GroupMatrixOperands operands;
  Work() {
    trace.waves.resize(5);
    operands.waves.resize(5);
  }
  void Add(size_t wave, Step step, uint32_t load = 0) {
    trace.waves[wave].events.push_back({step, load});
  }
  void Add(size_t wave, MatrixOperandWords words, Step step = kWide) {
    Add(wave, step);
    operands.waves[wave].push_back(std::move(words));
  }
};

FlipReport Meter(const Work& work,
                 const CycleConstants& constants = CycleConstants::Defaults()) {
  const std::vector<InstructionTime> program = Program();
  const GroupTrace* const trace = &work.trace;
  const GroupMatrixOperands* const operands = &work.operands;
  ToggleMeter meter(program, {&trace, 1}, {&operands, 1});
  ComputeUnitOptions options;
  options.constants = constants;
  options.listener = &meter;
  RunComputeUnit(program, {&trace, 1}, options);
  return meter.Report();
}

TEST(ToggleMeter, ConstantOperandsDoNotToggle) {
  Work work;
  for (int i = 0; i < 10; ++i) {
    work.Add(0, Words(Same(0x12345678), Same(0xdeadbeef)));
  }
  const FlipReport report = Meter(work);
  EXPECT_EQ(report.total.instructions, 9u);
  for (const MatrixOperand operand : {MatrixOperand::kA, MatrixOperand::kB}) {
    EXPECT_EQ(report.total.of(operand).flips, 0u);
    EXPECT_EQ(report.total.of(operand).bits, 9 * kWideBits);
  }
  EXPECT_EQ(report.unknown, 0u);
  EXPECT_EQ(report.activity.flips_per_clock, 0);
  EXPECT_DOUBLE_EQ(report.activity.matrix_busy, 1);
}

// 3 bits of each word of A flip at every instruction, 1 bit of B at every
// other.
TEST(ToggleMeter, AlternatingPatternsFlipTheirBits) {
  Work work;
  for (uint32_t i = 0; i < 11; ++i) {
    work.Add(0, Words(Same(i % 2 == 0 ? 0x80000001 : 0x00000010),
                      Same(i % 4 < 2 ? 0x100 : 0)));
  }
  const FlipReport report = Meter(work);
  const uint64_t words = 8 * kLaneWords;
  EXPECT_EQ(report.total.of(MatrixOperand::kA).flips, 10 * 3 * words);
  EXPECT_EQ(report.total.of(MatrixOperand::kB).flips, 5 * words);
  EXPECT_DOUBLE_EQ(report.total.of(MatrixOperand::kA).share(), 3.0 / 32);
  EXPECT_DOUBLE_EQ(report.FlipsPerInstruction(MatrixOperand::kA), 3.0 * words);
  // An instruction takes 64 clocks.
  EXPECT_EQ(report.simd_clocks, 640u);
  EXPECT_DOUBLE_EQ(report.FlipsPerClock(MatrixOperand::kA), 3.0 * words / 64);
  EXPECT_DOUBLE_EQ(report.activity.flips_per_clock, 3.5 * words / 64);
  // All of it on SIMD 0, at the one step there is.
  EXPECT_EQ(report.simds[0].of(MatrixOperand::kA).flips, 10 * 3 * words);
  EXPECT_EQ(report.simds[1].instructions, 0u);
  EXPECT_EQ(report.steps[kWide].of(MatrixOperand::kB).flips, 5 * words);
}

TEST(ToggleMeter, RandomBitsFlipHalf) {
  Work work;
  uint64_t block = 0;
  const Fill random = [&block](size_t) {
    return numerics::RandomWords(1, 2, block++)[0];
  };
  for (int i = 0; i < 40; ++i) work.Add(0, Words(random, random));
  const FlipReport report = Meter(work);
  // 39 x 16384 bits: one standard deviation is 0.0006.
  EXPECT_NEAR(report.total.of(MatrixOperand::kA).share(), 0.5, 0.003);
  EXPECT_NEAR(report.total.of(MatrixOperand::kB).share(), 0.5, 0.003);
  EXPECT_NEAR(report.activity.flips_per_clock, 256, 2);
}

// Hears from which waves the matrix instructions of SIMD 0 came.
class Order : public IssueListener {
 public:
  void Issue(const IssueEvent& event) override {
    if (event.step == kWide) waves.push_back(event.wave);
  }
  uint64_t Changes() const {
    uint64_t changes = 0;
    for (size_t i = 1; i < waves.size(); ++i) {
      changes += waves[i] != waves[i - 1];
    }
    return changes;
  }
  std::vector<uint16_t> waves;
};

// Each of two waves works on constants, but the one's are the other's
// complement: what flips is the order of issue and nothing else.
TEST(ToggleMeter, WavesOfASimdAreComparedInTheOrderOfIssue) {
  constexpr int kEach = 12;
  Work alone, both;
  for (int i = 0; i < kEach; ++i) {
    alone.Add(0, Words(Same(0), Same(0)));
    both.Add(0, Words(Same(0), Same(0)));
    both.Add(4, Words(Same(~0u), Same(~0u)));
  }
  EXPECT_EQ(Meter(alone).total.of(MatrixOperand::kA).flips, 0u);

  for (const double oldest_first : {1.0, 0.0}) {
    CycleConstants constants = CycleConstants::Defaults();
    constants.issue_oldest_first = oldest_first;
    Order order;
    const std::vector<InstructionTime> program = Program();
    const GroupTrace* const trace = &both.trace;
    ComputeUnitOptions options;
    options.constants = constants;
    options.listener = &order;
    RunComputeUnit(program, {&trace, 1}, options);
    ASSERT_EQ(order.waves.size(), 2u * kEach);
    ASSERT_GE(order.Changes(), oldest_first != 0 ? 1u : 2u * kEach - 3);

    const FlipReport report = Meter(both, constants);
    EXPECT_EQ(report.total.instructions, 2u * kEach - 1);
    EXPECT_EQ(report.total.of(MatrixOperand::kA).flips,
              order.Changes() * kWideBits)
        << oldest_first;
  }
}

// Waves of different SIMDs do not meet.
TEST(ToggleMeter, SimdsAreApart) {
  Work work;
  for (int i = 0; i < 4; ++i) {
    work.Add(0, Words(Same(0), Same(0)));
    work.Add(1, Words(Same(~0u), Same(~0u)));
  }
  const FlipReport report = Meter(work);
  EXPECT_EQ(report.total.instructions, 6u);
  EXPECT_EQ(report.total.of(MatrixOperand::kA).flips, 0u);
}

// Registers that a narrow operand does not have keep what they held.
TEST(ToggleMeter, NarrowOperandsLeaveTheRest) {
  Work work;
  work.Add(0, Words(Same(0xff), Same(0)));
  work.Add(0, Words(Same(0x0f), Same(0), 4), kNarrow);
  work.Add(0, Words(Same(0xff), Same(0)));
  const FlipReport report = Meter(work);
  const BitFlips& narrow = report.steps[kNarrow].of(MatrixOperand::kA);
  EXPECT_EQ(narrow.flips, 4 * 4 * kLaneWords);
  EXPECT_EQ(narrow.bits, kWideBits / 2);
  const BitFlips& wide = report.steps[kWide].of(MatrixOperand::kA);
  EXPECT_EQ(wide.flips, 4 * 4 * kLaneWords);
  EXPECT_EQ(wide.bits, kWideBits);
}

// Before and behind what was kept nothing is compared.
TEST(ToggleMeter, OutsideTheWindowNothingIsKnown) {
  Work work;
  work.operands.first = 2;
  for (uint32_t i = 0; i < 6; ++i) {
    work.Add(0, kWide);
    if (i >= 2 && i < 5) {
      work.operands.waves[0].push_back(Words(Same(i), Same(0)));
    }
  }
  const FlipReport report = Meter(work);
  EXPECT_EQ(report.unknown, 3u);
  EXPECT_EQ(report.total.instructions, 2u);
  // 2 to 3 is one bit, 3 to 4 three.
  EXPECT_EQ(report.total.of(MatrixOperand::kA).flips, 4 * 8 * kLaneWords);
  EXPECT_EQ(report.simd_clocks, 128u);
}

// What an unknown instruction left on the ports is not known either.
TEST(ToggleMeter, NothingIsComparedAcrossAnUnknownInstruction) {
  Work work;
  for (int i = 0; i < 6; ++i) {
    work.Add(0, Words(Same(0), Same(0)));
    work.Add(4, kWide);
  }
  CycleConstants constants = CycleConstants::Defaults();
  constants.issue_oldest_first = 0;  // turn by turn
  const FlipReport report = Meter(work, constants);
  EXPECT_EQ(report.unknown, 6u);
  EXPECT_LE(report.total.instructions, 1u);
}

// Between matrix instructions of 64 clocks: 5 vector instructions of 4 and an
// LDS instruction that returns 8 x 128 bytes.
TEST(ToggleMeter, ActivityOfTheOtherPipes) {
  Work work;
  for (int i = 0; i < 9; ++i) {
    work.Add(0, Words(Same(0), Same(0)));
    for (int v = 0; v < 5; ++v) work.Add(0, kVector);
    work.Add(0, kLds, 8u << 16 | 8);
  }
  const FlipReport report = Meter(work);
  ASSERT_EQ(report.simd_clocks, 8u * 64);
  EXPECT_DOUBLE_EQ(report.activity.matrix_busy, 1);
  EXPECT_DOUBLE_EQ(report.activity.vector_busy, 20.0 / 64);
  EXPECT_DOUBLE_EQ(report.activity.lds_busy, 8 * 128.0 / 64 / 256);
}

// Two instructions on operands in elements as `layout` says.
FlipReport MeterPair(ElementLayout layout, size_t registers, const Fill& a,
                     const Fill& next_a, const Fill& b, const Fill& next_b) {
  Work work;
  MatrixOperandWords first = Words(a, b, registers);
  MatrixOperandWords second = Words(next_a, next_b, registers);
  first.layout = second.layout = {layout, layout};
  work.Add(0, std::move(first));
  work.Add(0, std::move(second));
  return Meter(work);
}

constexpr ElementLayout kBf16 = {.bits = 16, .rows = 32, .sign = true};

// B is zero, with one sign or the other, in the lanes of a quarter of its rows.
// A multiplier there passes no flip of A on, but all of those of B's own signs.
TEST(ToggleMeter, ZerosOnTheOtherSideShutFlipsOut) {
  const auto zero_row = [](size_t i) { return i % 32 < 8; };
  const Fill b = [&](size_t i) { return zero_row(i) ? 0u : 0x3f803f80u; };
  const Fill next_b = [&](size_t i) {
    return zero_row(i) ? 0x80008000u : 0x3f803f80u;
  };
  const FlipReport report =
      MeterPair(kBf16, 4, Same(0x40004000), Same(0x40004001), b, next_b);
  const BitFlips& a_flips = report.total.of(MatrixOperand::kA);
  EXPECT_EQ(a_flips.flips, 4 * kLaneWords);
  EXPECT_DOUBLE_EQ(a_flips.live, 4 * kLaneWords * 0.75);
  const BitFlips& b_flips = report.total.of(MatrixOperand::kB);
  EXPECT_EQ(b_flips.flips, 4 * kLaneWords / 4 * 2);
  EXPECT_DOUBLE_EQ(b_flips.live, 4 * kLaneWords / 4 * 2);
  EXPECT_DOUBLE_EQ(report.activity.flips_per_clock,
                   4 * kLaneWords * (0.75 + 0.5) / 64);
}

// A zero before or after is not enough.
TEST(ToggleMeter, AMultiplierIsShutOnlyIfItsOtherSideStaysZero) {
  const FlipReport report =
      MeterPair(kBf16, 4, Same(0), Same(1), Same(0), Same(0x00010001));
  const BitFlips& a = report.total.of(MatrixOperand::kA);
  EXPECT_DOUBLE_EQ(a.live, static_cast<double>(a.flips));
  EXPECT_EQ(a.flips, 4 * kLaneWords);
}

// Only elements of the same k meet: lanes 0 to 31 of A have to do with lanes 0
// to 31 of B alone, and the low half of a word with the low half.
TEST(ToggleMeter, ElementsMeetThoseOfTheSameK) {
  const Fill upper_lanes = [](size_t i) {
    return i % kLaneWords < 32 ? 0u : 0x3f803f80u;
  };
  EXPECT_DOUBLE_EQ(
      MeterPair(kBf16, 4, Same(0), Same(0x00010001), upper_lanes, upper_lanes)
          .total.of(MatrixOperand::kA)
          .live,
      4 * kLaneWords);  // of twice as many
  EXPECT_DOUBLE_EQ(MeterPair(kBf16, 4, Same(0), Same(0x00010000),
                             Same(0x00003f80), Same(0x00003f80))
                       .total.of(MatrixOperand::kA)
                       .live,
                   0);
}

// Element 5 of 6 bits lies in bits 30 and 31 of one register and 0 to 3 of the
// next.
TEST(ToggleMeter, ElementsAcrossRegisters) {
  const ElementLayout fp6 = {.bits = 6, .rows = 32, .sign = true};
  const Fill a = [](size_t i) {
    const size_t r = i / kLaneWords;
    return r == 0 ? 0xc0000000u : r == 1 ? 0xfu : 0u;
  };
  const Fill only_5 = [](size_t i) { return i / kLaneWords == 1 ? 1u : 0u; };
  const Fill only_4 = [](size_t i) { return i < kLaneWords ? 1u << 24 : 0u; };
  for (const Fill& b : {only_5, only_4}) {
    const FlipReport report = MeterPair(fp6, 6, Same(0), a, b, b);
    EXPECT_EQ(report.total.of(MatrixOperand::kA).flips, 6 * kLaneWords);
    EXPECT_DOUBLE_EQ(report.total.of(MatrixOperand::kA).live,
                     b(kLaneWords) != 0 ? 6 * kLaneWords : 0);
  }
}

// Instructions of different elements, or of unknown ones, are compared bit by
// bit.
TEST(ToggleMeter, UnknownElementsAreAllLive) {
  Work work;
  MatrixOperandWords first = Words(Same(0), Same(0));
  first.layout = {kBf16, kBf16};
  MatrixOperandWords second = Words(Same(1), Same(0));
  work.Add(0, std::move(first));
  work.Add(0, std::move(second));
  const FlipReport report = Meter(work);
  EXPECT_DOUBLE_EQ(report.total.of(MatrixOperand::kA).live, 8 * kLaneWords);
}

TEST(ToggleMeter, NothingRan) {
  Work work;
  work.Add(0, kVector);
  const FlipReport report = Meter(work);
  EXPECT_EQ(report.total.instructions, 0u);
  EXPECT_EQ(report.activity.matrix_busy, 0);
  EXPECT_EQ(report.activity.flips_per_clock, 0);
  EXPECT_EQ(report.FlipsPerInstruction(MatrixOperand::kA), 0);
}

}  // namespace
}  // namespace zyfa::emu
