// Matrix instructions: cdna4-timing 1.1 to 1.4, expected numbers from there.

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

// Matrix instructions into v[32:...], A from v0 and B from v16 on.
std::string Bf16Of32(const std::string& d = "v[32:47]",
                     const std::string& c = "v[32:47]") {
  return "v_mfma_f32_32x32x16_bf16 " + d + ", v[0:3], v[16:19], " + c;
}
std::string Bf16Of16(const std::string& d = "v[32:35]",
                     const std::string& c = "v[32:35]") {
  return "v_mfma_f32_16x16x32_bf16 " + d + ", v[0:3], v[16:19], " + c;
}

// Number of registers and assembler's code of the operand formats.
struct Format {
  const char* name;
  int code, registers;
};
constexpr Format kFp8{"fp8", 0, 8}, kBf8{"bf8", 1, 8}, kFp6{"fp6", 2, 6},
    kBf6{"bf6", 3, 6}, kFp4{"fp4", 4, 4};

std::string F8f6f4(const std::string& shape, const Format& a, const Format& b,
                   int d = 32, bool scaled = false) {
  const int count = shape == "32x32x64" ? 16 : 4;
  const std::string result =
      "v[" + std::to_string(d) + ":" + std::to_string(d + count - 1) + "]";
  return std::string("v_mfma_") + (scaled ? "scale_" : "") + "f32_" + shape +
         "_f8f6f4 " + result + ", v[0:" + std::to_string(a.registers - 1) +
         "], v[16:" + std::to_string(15 + b.registers) + "], " + result +
         (scaled ? ", v100, v101 op_sel_hi:[0,0,0]" : "") +
         " cbsz:" + std::to_string(a.code) + " blgp:" + std::to_string(b.code);
}
const std::string kFp8Of32 = F8f6f4("32x32x64", kFp8, kFp8);
const std::string kFp8Of16 = F8f6f4("16x16x128", kFp8, kFp8);
const std::string kFp4Of32 = F8f6f4("32x32x64", kFp4, kFp4);
const std::string kFp4Of16 = F8f6f4("16x16x128", kFp4, kFp4);
const std::string kFp6Of32 = F8f6f4("32x32x64", kFp6, kFp6);
const std::string kScaledFp8 = F8f6f4("32x32x64", kFp8, kFp8, 32, true);

constexpr const char* kAdd = "v_add_f32 v200, v201, v202";
constexpr const char* kExp = "v_exp_f32 v200, v201";

struct Rate {
  std::string text;
  uint64_t clocks;
};
std::vector<Rate> RateTable() {
  std::vector<Rate> rates = {
      {Bf16Of32(), 32},
      {"v_mfma_f32_32x32x16_f16 v[32:47], v[0:3], v[16:19], v[32:47]", 32},
      {Bf16Of16(), 16},
      {"v_mfma_f32_16x16x32_f16 v[32:35], v[0:3], v[16:19], v[32:35]", 16},
      {"v_mfma_f32_32x32x8_bf16 v[32:47], v[0:1], v[16:17], v[32:47]", 32},
      {"v_mfma_f32_32x32x16_fp8_fp8 v[32:47], v[0:1], v[16:17], v[32:47]", 32},
      {"v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[0:1], v[16:17], v[32:35]", 16},
      {"v_mfma_i32_32x32x32_i8 v[32:47], v[0:3], v[16:19], v[32:47]", 32},
      {"v_mfma_i32_16x16x64_i8 v[32:35], v[0:3], v[16:19], v[32:35]", 16},
      {"v_smfmac_f32_32x32x32_bf16 v[32:47], v[0:3], v[16:23], v24", 32},
      {"v_smfmac_f32_16x16x64_bf16 v[32:35], v[0:3], v[16:23], v24", 16},
      {"v_smfmac_f32_16x16x128_fp8_fp8 v[32:35], v[0:3], v[16:23], v24", 16},
  };
  // The trap: 16 and 8 passes as soon as one operand is of 8 bits.
  for (const Format& a : {kFp8, kBf8, kFp6, kBf6, kFp4}) {
    for (const Format& b : {kFp8, kBf8, kFp6, kBf6, kFp4}) {
      const uint64_t factor = a.code < 2 || b.code < 2 ? 2 : 1;
      for (const bool scaled : {false, true}) {
        rates.push_back({F8f6f4("32x32x64", a, b, 32, scaled), 32 * factor});
        rates.push_back({F8f6f4("16x16x128", a, b, 32, scaled), 16 * factor});
      }
    }
  }
  return rates;
}

// 1.1 and 1.2: dependent accumulation at the rate of the pipe, whatever the
// formats. The first one may enter an idle pipe: measured from the second.
TEST(MatrixTime, PassesOfEveryFormat) {
  for (const Rate& rate : RateTable()) {
    const std::vector<uint64_t> at = IssuesOf(Repeat(5, {rate.text}));
    for (size_t i = 2; i < at.size(); ++i) {
      EXPECT_EQ(at[i] - at[i - 1], rate.clocks) << rate.text;
    }
  }
}

// 1.2: independent ones, of one wave or of two, leave no gap.
TEST(MatrixTime, IndependentOnesFollowWithoutGap) {
  const std::string other = Bf16Of32("v[64:79]", "v[64:79]");
  EXPECT_EQ(IssuesOf(Repeat(2, {Bf16Of32(), other})),
            (std::vector<uint64_t>{0, 32, 64, 96}));
  const Lines four = Repeat(4, {Bf16Of32()});
  const Timeline two = RunWaves({four, {}, {}, {}, four});
  ASSERT_EQ(two.issues.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(two.issues[i].time, 32 * i);
  EXPECT_EQ(two.report.pipes[0].matrix, 8u * 32);
  // Each SIMD has a pipe of its own.
  const Timeline four_simds = RunWaves({four, four, four, four});
  for (size_t w = 0; w < 4; ++w) {
    EXPECT_EQ(four_simds.Of(w),
              (std::vector<uint64_t>{w, 32 + w, 64 + w, 96 + w}));
  }
}

// 1.2: accumulators in AGPRs run at the same rate.
TEST(MatrixTime, AccumulatorsInAgprs) {
  const std::string text =
      "v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[16:19], a[0:15]";
  EXPECT_EQ(IssuesOf(Repeat(3, {text})), (std::vector<uint64_t>{0, 32, 64}));
}

// 1.2: into an idle pipe a scaled one, what follows it and the next matrix
// instruction are one slot later; in a stream nothing is.
TEST(MatrixTime, ScaledIntoAnIdlePipe) {
  EXPECT_EQ(IssuesOf(Repeat(4, {kScaledFp8})),
            (std::vector<uint64_t>{0, 68, 132, 196}));
  const std::string plain = F8f6f4("32x32x64", kFp8, kFp8, 64);
  EXPECT_EQ(IssuesOf({kScaledFp8, plain}), (std::vector<uint64_t>{0, 68}));
  EXPECT_EQ(IssuesOf({kScaledFp8, kAdd}), (std::vector<uint64_t>{0, 16}));
  // Behind another matrix instruction the pipe is not idle.
  EXPECT_EQ(
      IssuesOf({plain, kScaledFp8, F8f6f4("32x32x64", kFp8, kFp8, 96), kAdd}),
      (std::vector<uint64_t>{0, 64, 128, 140}));
  // Once it has run dry it is again.
  EXPECT_EQ(IssuesOf({plain, "s_nop 15", "s_nop 0", kScaledFp8,
                      F8f6f4("32x32x64", kFp8, kFp8, 96)}),
            (std::vector<uint64_t>{0, 4, 68, 72, 140}));
  // The result of the scaled one is later, too (16 passes: 4 * 21).
  EXPECT_EQ(IssuesOf({kScaledFp8, "v_mov_b32 v200, v32"}),
            (std::vector<uint64_t>{0, 88}));
  CycleConstants without = WarmCode();
  without.matrix_scaled_idle = 0;
  EXPECT_EQ(IssuesOf(Repeat(2, {kScaledFp8}), without),
            (std::vector<uint64_t>{0, 64}));
}

// Clock at which `other` issues behind `matrix`, in the same wave and in
// another of the SIMD.
void ExpectHold(const std::string& matrix, const std::string& other,
                uint64_t clocks) {
  EXPECT_EQ(IssuesOf({matrix, other})[1], clocks) << matrix << " | " << other;
  const Timeline two = RunWaves({{matrix}, {}, {}, {}, {"s_nop 0", other}});
  EXPECT_EQ(two.Of(4)[1], clocks) << "other wave: " << matrix << " | " << other;
}

// 1.3, row by row.
TEST(MatrixHold, OrdinaryVectorInstructions) {
  const std::vector<std::string> ordinary = {
      kAdd,
      kExp,
      "v_max3_f32 v200, v201, v202, v203",
      "v_cvt_pk_bf16_f32 v200, v201, v202",
      "v_cvt_pk_fp8_f32 v200, v201, v202",
      "v_cvt_pk_u8_f32 v200, v201, 0, v200",
      "v_cvt_u32_f32 v200, v201",
      "v_cvt_scalef32_pk_fp8_f32 v200, v201, v202, v203",
      "v_permlane32_swap_b32 v200, v201",
      "v_mov_b64 v[200:201], v[202:203]",
      "v_mul_lo_u32 v200, v201, v202",
      "v_fma_f64 v[200:201], v[202:203], v[204:205], v[206:207]",
      "v_pk_fma_f16 v200, v201, v202, v203",
      "v_pk_max_f16 v200, v201, v202"};
  for (const std::string& other : ordinary) {
    for (const std::string& matrix :
         {Bf16Of32(), Bf16Of16(), kFp4Of32, kFp4Of16, kFp6Of32}) {
      ExpectHold(matrix, other, 8);
    }
    for (const std::string& matrix :
         {kFp8Of32, kFp8Of16, F8f6f4("32x32x64", kFp4, kFp8),
          F8f6f4("16x16x128", kBf8, kFp6)}) {
      ExpectHold(matrix, other, 12);
    }
    // The formula with operands of 8 bytes: 1 + 0 slots.
    ExpectHold("v_mfma_f32_32x32x8_bf16 v[32:47], v[0:1], v[16:17], 0", other,
               4);
    ExpectHold("v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[0:1], v[16:17], 0",
               other, 4);
  }
}

TEST(MatrixHold, PackedFp32AndDotProducts) {
  for (const std::string other :
       {"v_pk_add_f32 v[200:201], v[202:203], v[204:205]",
        "v_pk_mul_f32 v[200:201], v[202:203], v[204:205]",
        "v_pk_fma_f32 v[200:201], v[202:203], v[204:205], v[206:207]",
        "v_pk_mov_b32 v[200:201], v[202:203], v[204:205]",
        "v_dot2_f32_f16 v200, v201, v202, v203",
        "v_dot2c_f32_f16 v200, v201, v202",
        "v_dot4_i32_i8 v200, v201, v202, v203"}) {
    ExpectHold(Bf16Of32(), other, 44);
    ExpectHold(kFp8Of32, other, 76);
    ExpectHold(kFp8Of16, other, 44);
    ExpectHold(kFp4Of32, other, 44);
    // passes + 2 + 1 and, with an A of 8 bytes, passes + 2.
    ExpectHold(Bf16Of16(), other, 28);
    ExpectHold("v_mfma_f32_32x32x8_bf16 v[32:47], v[0:1], v[16:17], 0", other,
               40);
  }
}

// Packed fp32 never beside a matrix instruction: between those of a stream it
// finds no place, from another wave neither.
TEST(MatrixHold, PackedFp32WaitsForTheStreamToEnd) {
  const Timeline two =
      RunWaves({Repeat(10, {Bf16Of32()}),
                {},
                {},
                {},
                {"v_pk_mul_f32 v[200:201], v[202:203], v[204:205]"}});
  EXPECT_EQ(two.Of(4)[0], 9u * 32 + 44);
}

TEST(MatrixHold, BehindSparse) {
  // Operands of 8 and 16 bytes, which the general formula gives 2 slots.
  const std::string sparse32 =
      "v_smfmac_f32_32x32x16_bf16 v[32:47], v[0:1], v[16:19], v24";
  const std::string sparse16 =
      "v_smfmac_f32_16x16x32_bf16 v[32:35], v[0:1], v[16:19], v24";
  ExpectHold(sparse32, kAdd, 12);
  ExpectHold(sparse32, "ds_read_b128 v[200:203], v204", 12);
  ExpectHold(sparse32, "ds_write_b64 v204, v[200:201]", 12);
  ExpectHold(sparse32, "global_load_dwordx4 v[200:203], v204, s[0:1]", 12);
  ExpectHold(sparse32, "s_mov_b32 s0, 0", 4);
  ExpectHold(sparse16, kAdd, 8);
  ExpectHold(sparse16, "ds_read_b128 v[200:203], v204", 4);
  ExpectHold(Bf16Of32(), "ds_read_b128 v[200:203], v204", 4);
  ExpectHold(Bf16Of32(), "global_load_dwordx4 v[200:203], v204, s[0:1]", 4);
}

// passes + 2. Passes from the peak rates of the part (SPEC: 157.3 and 78.6
// TFLOP/s at 2.4 GHz are 64 and 32 FLOP a clock and SIMD): 32x32x2 fp32 makes
// 4096 FLOP, 16x16x4 fp32 and fp64 make 2048.
TEST(MatrixHold, BehindSinglesAndDoubles) {
  ExpectHold("v_mfma_f32_32x32x2_f32 v[32:47], v0, v16, 0", kAdd, 4 * 18);
  ExpectHold("v_mfma_f32_16x16x4_f32 v[32:35], v0, v16, 0", kAdd, 4 * 10);
  ExpectHold("v_mfma_f64_16x16x4_f64 v[32:39], v[0:1], v[16:17], 0", kAdd,
             4 * 18);
}

// hold.other_wave = 0: the wave of the matrix instruction alone is held.
TEST(MatrixHold, OfTheOwnWaveAlone) {
  CycleConstants own = WarmCode();
  own.hold_other_wave = 0;
  const Timeline two =
      RunWaves({{kFp8Of32, kAdd}, {}, {}, {}, {"s_nop 0", kAdd}}, own);
  EXPECT_EQ(two.Of(0)[1], 12u);
  EXPECT_EQ(two.Of(4)[1], 4u);
  const Lines reads = {
      "v_smfmac_f32_32x32x16_bf16 v[32:47], v[0:1], v[16:19], v24",
      "ds_read_b128 v[200:203], v204"};
  const Timeline sparse =
      RunWaves({reads, {}, {}, {}, {"s_nop 0", reads[1]}}, own);
  EXPECT_EQ(sparse.Of(0)[1], 12u);
  EXPECT_EQ(sparse.Of(4)[1], 4u);
}

// Clocks from one matrix instruction of a stream to the next with `count`
// vector instructions behind each.
uint64_t Spacing(const std::string& matrix, const std::string& vector,
                 size_t count) {
  Lines trip = Repeat(count, {vector});
  trip.insert(trip.begin(), matrix);
  const std::vector<uint64_t> at = IssuesOf(Repeat(6, trip));
  for (size_t i = 2; i < 6; ++i) {
    EXPECT_EQ(at[i * (count + 1)] - at[(i - 1) * (count + 1)],
              at[count + 1] - at[0]);
  }
  return at[5 * (count + 1)] - at[4 * (count + 1)];
}

// 1.3, "resulting VALU room": slots beside a stream; one more slows it by its
// slot. Three v_exp_f32 of two slots fill the room of six.
TEST(MatrixHold, RoomBesideAStream) {
  struct Room {
    std::string matrix;
    uint64_t clocks;
    size_t ordinary;
  };
  for (const Room& room : std::vector<Room>{{Bf16Of32(), 32, 6},
                                            {Bf16Of16(), 16, 2},
                                            {kFp8Of32, 64, 13},
                                            {kFp8Of16, 32, 5},
                                            {kFp4Of32, 32, 6},
                                            {kFp4Of16, 16, 2}}) {
    EXPECT_EQ(Spacing(room.matrix, kAdd, room.ordinary), room.clocks)
        << room.matrix;
    EXPECT_EQ(Spacing(room.matrix, kAdd, room.ordinary + 1), room.clocks + 4)
        << room.matrix;
    EXPECT_EQ(Spacing(room.matrix, kExp, room.ordinary / 2), room.clocks)
        << room.matrix;
    EXPECT_GT(Spacing(room.matrix, kExp, room.ordinary / 2 + 1), room.clocks)
        << room.matrix;
  }
  EXPECT_EQ(Spacing(Bf16Of32(), kExp, 3), 32u);
  EXPECT_EQ(Spacing(Bf16Of32(), kExp, 4), 40u);
}

// The same room for another wave of the SIMD.
TEST(MatrixHold, RoomForAnotherWave) {
  for (const auto& [vector, count] :
       {std::pair<std::string, size_t>{kAdd, 6}, {kExp, 3}}) {
    const Timeline two =
        RunWaves({Repeat(20, {Bf16Of32()}), {}, {}, {}, Repeat(200, {vector})});
    const std::vector<uint64_t> matrix = two.Of(0), other = two.Of(4);
    for (size_t i = 1; i < matrix.size(); ++i) {
      EXPECT_EQ(matrix[i] - matrix[i - 1], 32u);
      size_t between = 0;
      for (const uint64_t time : other) {
        between += time > matrix[i - 1] && time < matrix[i] ? 1 : 0;
      }
      EXPECT_EQ(between, count) << vector;
    }
  }
}

// 1.4: instructions that must lie between, by passes; a slot each.
struct Wait {
  std::string matrix;
  uint64_t read, addend;  // wait states, 0: not listed
};
std::vector<Wait> WaitTable() {
  return {{"v_mfma_f32_4x4x4_16b_f16 v[32:35], v[0:1], v[16:17], 0", 5, 0},
          {Bf16Of16("v[32:35]", "0"), 8, 6},
          {Bf16Of32("v[32:47]", "0"), 12, 10},
          {kFp8Of16, 12, 10},
          {kFp4Of32, 12, 10},
          {kFp8Of32, 20, 18}};
}

TEST(MatrixResult, ReaderWaitsForIt) {
  for (const Wait& wait : WaitTable()) {
    for (const std::string reader :
         {"v_mov_b32 v200, v33", "v_mov_b32 v33, v200",
          "ds_write_b64 v200, v[32:33]", "ds_read_b64 v[34:35], v200",
          "global_store_dwordx2 v200, v[32:33], s[0:1]",
          "global_load_dwordx2 v[32:33], v200, s[0:1]",
          "v_permlane32_swap_b32 v34, v200",
          "v_mfma_f32_32x32x16_f16 v[64:79], v[32:35], v[16:19], 0",
          "v_mfma_f32_32x32x16_f16 v[64:79], v[16:19], v[32:35], 0"}) {
      EXPECT_EQ(IssuesOf({wait.matrix, reader})[1], 4 * (wait.read + 1))
          << wait.matrix << " | " << reader;
    }
  }
}

TEST(MatrixResult, IsLateForItsReadersAlone) {
  const std::vector<uint64_t> at =
      IssuesOf({Bf16Of32(), "v_mov_b32 v200, v48", "v_mov_b32 v201, v31",
                "ds_read_b32 v202, v203"});
  EXPECT_EQ(at, (std::vector<uint64_t>{0, 8, 12, 16}));
  // Registers of another wave are others.
  const Timeline two =
      RunWaves({{Bf16Of32()}, {}, {}, {}, {"s_nop 0", "v_mov_b32 v200, v32"}});
  EXPECT_EQ(two.Of(4)[1], 8u);
}

TEST(MatrixResult, SoftwareThatWaitsLosesNothing) {
  for (const Wait& wait : WaitTable()) {
    Lines lines = {wait.matrix};
    for (uint64_t left = wait.read; left > 0;) {
      const uint64_t states = std::min<uint64_t>(left, 16);
      lines.emplace_back("s_nop " + std::to_string(states - 1));
      left -= states;
    }
    lines.emplace_back("v_mov_b32 v200, v33");
    const Timeline one = RunWaves({lines});
    EXPECT_EQ(one.Of(0).back(), 4 * (wait.read + 1));
    for (const WaitEvent& waiting : one.waits) {
      EXPECT_EQ(waiting.stall, Stall::kNop) << wait.matrix;
    }
  }
}

TEST(MatrixResult, AsAddendOfTheNext) {
  // The identical block and the same opcode: the rate of the pipe.
  EXPECT_EQ(IssuesOf({Bf16Of16(), Bf16Of16()})[1], 16u);
  EXPECT_EQ(IssuesOf({Bf16Of32(), Bf16Of32()})[1], 32u);
  EXPECT_EQ(IssuesOf({kFp8Of32, kFp8Of32})[1], 64u);
  // Overlapping but not identical.
  EXPECT_EQ(IssuesOf({Bf16Of16(), Bf16Of16("v[34:37]", "v[34:37]")})[1],
            4u * (6 + 1));
  EXPECT_EQ(IssuesOf({Bf16Of32("v[32:47]", "0"),
                      Bf16Of32("v[64:79]", "v[34:49]")})[1],
            4u * (10 + 1));
  EXPECT_EQ(IssuesOf({kFp8Of32, Bf16Of32("v[64:79]", "v[34:49]")})[1],
            4u * (18 + 1));
  // Section 9: across opcodes the waits of a partial overlap.
  EXPECT_EQ(IssuesOf({Bf16Of32("v[32:47]", "0"),
                      "v_mfma_f32_32x32x16_f16 v[64:79], v[0:3], v[16:19], "
                      "v[32:47]"})[1],
            4u * (10 + 1));
}

}  // namespace
}  // namespace zyfa::emu
