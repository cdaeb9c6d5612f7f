// Matrix instructions against plain sums.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/matrix_case.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

std::vector<Dense> AllSimple() {
  std::vector<Dense> ops;
  for (const auto& [suffix, type] :
       {std::pair<std::string, Type>{"bf16", Type::kBf16},
        {"f16", Type::kF16}}) {
    const auto add = [&](const std::string& shape, int rows, int depth,
                         int blocks) {
      ops.push_back(Simple("v_mfma_f32_" + shape + "_" + suffix, type, type,
                           rows, depth, blocks));
    };
    add("32x32x16", 32, 16, 1);
    add("16x16x32", 16, 32, 1);
    add("32x32x8", 32, 8, 1);
    add("16x16x16", 16, 16, 1);
    add("32x32x4_2b", 32, 4, 2);
    add("16x16x4_4b", 16, 4, 4);
    add("4x4x4_16b", 4, 4, 16);
  }
  const auto f32 = [&](const std::string& shape, int rows, int depth,
                       int blocks) {
    ops.push_back(Simple("v_mfma_f32_" + shape + "_f32", Type::kF32, Type::kF32,
                         rows, depth, blocks));
  };
  f32("32x32x2", 32, 2, 1);
  f32("16x16x4", 16, 4, 1);
  f32("32x32x1_2b", 32, 1, 2);
  f32("16x16x1_4b", 16, 1, 4);
  f32("4x4x1_16b", 4, 1, 16);
  const auto i8 = [&](const std::string& shape, int rows, int depth,
                      int blocks) {
    ops.push_back(Simple("v_mfma_i32_" + shape + "_i8", Type::kI8, Type::kI8,
                         rows, depth, blocks));
  };
  i8("32x32x32", 32, 32, 1);
  i8("16x16x64", 16, 64, 1);
  i8("32x32x16", 32, 16, 1);
  i8("16x16x32", 16, 32, 1);
  i8("32x32x4_2b", 32, 4, 2);
  i8("16x16x4_4b", 16, 4, 4);
  i8("4x4x4_16b", 4, 4, 16);
  for (const auto& [name_a, a] :
       {std::pair<std::string, Type>{"fp8", Type::kFp8}, {"bf8", Type::kBf8}}) {
    for (const auto& [name_b, b] :
         {std::pair<std::string, Type>{"fp8", Type::kFp8},
          {"bf8", Type::kBf8}}) {
      ops.push_back(Simple("v_mfma_f32_32x32x16_" + name_a + "_" + name_b, a, b,
                           32, 16, 1));
      ops.push_back(Simple("v_mfma_f32_16x16x32_" + name_a + "_" + name_b, a, b,
                           16, 32, 1));
    }
  }
  return ops;
}

TEST(MatrixTest, DenseShapes) {
  TestWave wave;
  for (const Dense& op : AllSimple()) {
    SCOPED_TRACE(op.name);
    ASSERT_NO_FATAL_FAILURE(Check(op, wave, 1));
  }
}

TEST(MatrixTest, ExecIsIgnored) {
  TestWave wave;
  wave->exec = 0x5;
  ASSERT_NO_FATAL_FAILURE(Check(
      Simple("v_mfma_f32_32x32x16_bf16", Type::kBf16, Type::kBf16, 32, 16, 1),
      wave, 2));
}

TEST(MatrixTest, BroadcastOfABlocks) {
  TestWave wave;
  for (int cbsz = 0; cbsz <= 2; ++cbsz) {
    for (int abid = 0; abid < 1 << cbsz; ++abid) {
      Dense op =
          Simple("v_mfma_f32_16x16x4_4b_f16", Type::kF16, Type::kF16, 16, 4, 4);
      op.modifiers =
          " cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid);
      op.block_of_a = [=](int n) { return (n >> cbsz << cbsz) + abid; };
      ASSERT_NO_FATAL_FAILURE(Check(op, wave, 3));
    }
  }
}

TEST(MatrixTest, PermutationOfBLanes) {
  TestWave wave;
  const std::vector<std::function<int(int)>> lanes = {
      [](int l) { return l; },
      [](int l) { return l < 32 ? l : l - 32; },
      [](int l) { return l < 32 ? l + 32 : l; },
      [](int l) { return l < 48 ? l + 16 : l - 48; },
      [](int l) { return l % 16; },
      [](int l) { return l % 16 + 16; },
      [](int l) { return l % 16 + 32; },
      [](int l) { return l % 16 + 48; }};
  for (int blgp = 0; blgp < 8; ++blgp) {
    for (Dense op :
         {Simple("v_mfma_f32_16x16x4_4b_bf16", Type::kBf16, Type::kBf16, 16, 4,
                 4),
          Simple("v_mfma_f32_32x32x8_f16", Type::kF16, Type::kF16, 32, 8, 1)}) {
      op.modifiers = " blgp:" + std::to_string(blgp);
      op.lane_of_b = lanes[blgp];
      ASSERT_NO_FATAL_FAILURE(Check(op, wave, 4));
    }
  }
}

TEST(MatrixTest, MixedFormats) {
  TestWave wave;
  for (const int rows : {32, 16}) {
    for (int a = 0; a < 5; ++a) {
      for (int b = 0; b < 5; ++b) {
        ASSERT_NO_FATAL_FAILURE(Check(F8f6f4(false, rows, a, b), wave, 5));
      }
    }
  }
}

TEST(MatrixTest, BlockScales) {
  TestWave wave;
  Random random(6);
  for (const int rows : {32, 16}) {
    for (int trial = 0; trial < 25; ++trial) {
      Dense op = F8f6f4(true, rows, trial % 5, trial / 5);
      SetRandomScales(op, wave, random);
      ASSERT_NO_FATAL_FAILURE(Check(op, wave, 7 + trial));
    }
  }
}

TEST(MatrixTest, ScaleExtremes) {
  TestWave wave;
  for (int l = 0; l < kLanes; ++l) {
    for (int r = 0; r < 8; ++r) {
      wave->vgpr[r][l] = 0x38383838;  // 1.0
      wave->vgpr[8 + r][l] = 0x38383838;
    }
    wave->vgpr[160][l] = l == 0 ? 255 : l == 1 ? 0 : l == 2 ? 254 : 127;
    wave->vgpr[161][l] = 127;
  }
  wave.Run(
      "v_mfma_scale_f32_32x32x64_f8f6f4 v[96:111], v[0:7], v[8:15], 0, v160, "
      "v161 op_sel_hi:[0,0,0]");
  EXPECT_EQ(wave->vgpr[96][0], 0x7fc00000u);  // row 0
  EXPECT_EQ(Float(wave->vgpr[97][0]), 32 + 32 * std::ldexp(1, -127));
  EXPECT_EQ(Float(wave->vgpr[98][0]),
            static_cast<float>(32 + 32 * std::ldexp(1.0, 127)));
  EXPECT_EQ(Float(wave->vgpr[99][0]), 64);
}

TEST(MatrixTest, Sparse) {
  TestWave wave;
  const auto both = [&wave](const std::string& result, const std::string& types,
                            Type a, Type b, int depth32) {
    const auto name = [&](const std::string& rows, int depth) {
      return "v_smfmac_" + result + "_" + rows + "x" + std::to_string(depth) +
             "_" + types;
    };
    for (int abid = 0; abid < 4; ++abid) {
      for (int cbsz = 0; cbsz < (abid == 1 ? 2 : 1); ++cbsz) {
        CheckSparse({name("32x32", depth32), a, b, 32, depth32, true}, wave,
                    cbsz, abid, 8);
        CheckSparse({name("16x16", 2 * depth32), a, b, 16, 2 * depth32, true},
                    wave, cbsz, abid, 9);
        CheckSparse({name("32x32", depth32 / 2), a, b, 32, depth32 / 2, false},
                    wave, cbsz, abid, 10);
        CheckSparse({name("16x16", depth32), a, b, 16, depth32, false}, wave,
                    cbsz, abid, 11);
      }
    }
  };
  both("f32", "bf16", Type::kBf16, Type::kBf16, 32);
  both("f32", "f16", Type::kF16, Type::kF16, 32);
  both("i32", "i8", Type::kI8, Type::kI8, 64);
  both("f32", "fp8_fp8", Type::kFp8, Type::kFp8, 64);
  both("f32", "fp8_bf8", Type::kFp8, Type::kBf8, 64);
  both("f32", "bf8_fp8", Type::kBf8, Type::kFp8, 64);
  both("f32", "bf8_bf8", Type::kBf8, Type::kBf8, 64);
}

TEST(MatrixTest, Float64) {
  TestWave wave;
  Random random(12);
  const auto put = [&](int row, int lane, double x) {
    wave->vgpr[row][lane] = static_cast<uint32_t>(Bits(x));
    wave->vgpr[row + 1][lane] = static_cast<uint32_t>(Bits(x) >> 32);
  };
  const auto get = [&](int row, int lane) {
    return Double(wave->vgpr[row][lane] | uint64_t{wave->vgpr[row + 1][lane]}
                                              << 32);
  };
  double a[64], b[64], c[4][64];
  for (int l = 0; l < 64; ++l) {
    put(0, l, a[l] = random.Between(-99, 99));
    put(2, l, b[l] = random.Between(-99, 99));
    for (int r = 0; r < 4; ++r)
      put(10 + 2 * r, l, c[r][l] = random.Between(-9, 9));
  }
  wave.Run("v_mfma_f64_16x16x4_f64 v[20:27], v[0:1], v[2:3], v[10:17]");
  for (int r = 0; r < 4; ++r) {
    for (int l = 0; l < 64; ++l) {
      const int i = 4 * r + l / 16, j = l % 16;
      double sum = c[r][l];
      for (int k = 0; k < 4; ++k) sum += a[16 * k + i] * b[16 * k + j];
      ASSERT_EQ(get(20 + 2 * r, l), sum);
    }
  }
  wave.Run(
      "v_mfma_f64_4x4x4_4b_f64 v[20:21], v[0:1], v[2:3], v[10:11] "
      "neg:[1,0,1]");
  for (int l = 0; l < 64; ++l) {
    const int i = l / 16, n = l / 4 % 4, j = l % 4;
    double sum = -c[0][l];
    for (int k = 0; k < 4; ++k) {
      sum -= a[16 * k + 4 * n + i] * b[16 * k + 4 * n + j];
    }
    ASSERT_EQ(get(20, l), sum);
  }
}

TEST(MatrixTest, ConstantsAndAccumulationRegisters) {
  TestWave wave;
  for (int l = 0; l < kLanes; ++l) {
    for (int r = 0; r < 4; ++r) {
      wave->vgpr[kVgprs + r][l] = 0x3f803f80;  // a[0:3]: bf16 1.0
      wave->vgpr[r][l] = 0x40004000;           // v[0:3]: 2.0
    }
  }
  wave.Run("v_mfma_f32_32x32x16_bf16 a[16:31], a[0:3], v[0:3], 1.0");
  EXPECT_EQ(Float(wave->vgpr[kVgprs + 31][63]), 33);
  wave.Run("v_mfma_f32_16x16x32_bf16 v[16:19], v[0:3], a[0:3], 0");
  EXPECT_EQ(Float(wave->vgpr[19][63]), 64);
  for (int l = 0; l < kLanes; ++l) {
    for (int r = 0; r < 4; ++r) wave->vgpr[r][l] = 0x80808080;  // -128
  }
  wave.Run("v_mfma_i32_32x32x32_i8 v[16:31], v[0:3], v[0:3], -1");
  EXPECT_EQ(wave->vgpr[16][0], 32u * 128 * 128 - 1);
}

TEST(MatrixTest, SourcesMayBeOverwritten) {
  TestWave wave;
  for (int l = 0; l < kLanes; ++l) {
    for (int r = 0; r < 16; ++r) wave->vgpr[r][l] = 0x3f803f80;
  }
  const float c = Float(0x3f803f80);
  wave.Run("v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[4:7], v[0:15]");
  for (int r = 0; r < 16; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      ASSERT_EQ(Float(wave->vgpr[r][l]), 16 + c);
    }
  }
}

TEST(MatrixTest, SpecialValues) {
  TestWave wave;
  const auto product = [&](uint32_t a, uint32_t b, float c) {
    for (int l = 0; l < kLanes; ++l) {
      for (int r = 0; r < 8; ++r) wave->vgpr[r][l] = 0;
      wave->vgpr[0][l] = l < 32 ? a : 0;
      wave->vgpr[4][l] = l < 32 ? b : 0;
      wave->vgpr[8][l] = Bits(c);
    }
    for (int r = 9; r < 24; ++r) std::copy_n(wave->vgpr[8], 64, wave->vgpr[r]);
    wave.Run("v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[4:7], v[8:23]");
    return wave->vgpr[32][0];
  };
  EXPECT_EQ(product(0x7f80, 0x0000, 0), 0x7fc00000u);  // Inf * 0
  EXPECT_EQ(product(0x7f80, 0x3f80, 1), 0x7f800000u);  // Inf
  EXPECT_EQ(product(0x7f80, 0x3f80, -INFINITY), 0x7fc00000u);
  EXPECT_EQ(product(0xffc0, 0x3f80, 1), 0x7fc00000u);  // NaN
  EXPECT_EQ(product(0x7f7f, 0x7f7f, 0), 0x7f800000u);  // overflow
  EXPECT_EQ(product(0x7f7f, 0xff7f, 0), 0xff800000u);
  EXPECT_EQ(product(0x0001, 0x3f80, 0), 0x00010000u);  // denormals stay
  EXPECT_EQ(product(0x0000, 0x0000, Float(1)), 1u);
  // 2^24 + 1 is a tie: to even. One rounding only.
  EXPECT_EQ(Float(product(0x3f80, 0x3f80, 0x1p24f)), 0x1p24f);
  EXPECT_EQ(Float(product(0x3f813f80, 0x3f803f80, 0x1p24f)), 0x1p24f + 2);
  wave->mode.bits |= kModeFp16Ovfl;
  EXPECT_EQ(product(0x7f7f, 0x7f7f, 0), 0x7f7fffffu);
  EXPECT_EQ(product(0x7f7f, 0xff7f, 0), 0xff7fffffu);
  // MODE's flush bits do not count here.
  wave->mode.bits = 0;
  EXPECT_EQ(product(0x0001, 0x3f80, 0), 0x00010000u);
}

TEST(MatrixTest, RefusesWrongTuples) {
  for (const char* text :
       {"v_mfma_f32_32x32x16_bf16 v[0:15], v[0:1], v[4:7], 0",
        "v_mfma_f32_32x32x16_bf16 v[0:3], v[0:3], v[4:7], 0",
        "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], 0 cbsz:4",
        "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], 0 cbsz:5",
        "v_smfmac_f32_16x16x64_bf16 v[0:3], v[4:7], v[8:15], a2"}) {
    EXPECT_EQ(Assemble(text).handler, nullptr) << text;
  }
}

}  // namespace
}  // namespace zyfa::emu::testing
