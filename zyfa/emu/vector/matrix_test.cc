// Matrix instructions against plain sums, with the register layouts written
// down from the ISA's tables once more: lane l, element e, i row of A, j column
// of B.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::testing {
namespace {

enum class Type { kBf16, kF16, kF32, kI8, kFp8, kBf8, kFp6, kBf6, kFp4 };

int BitsOf(Type type) {
  switch (type) {
    case Type::kBf16:
    case Type::kF16:
      return 16;
    case Type::kF32:
      return 32;
    case Type::kFp6:
    case Type::kBf6:
      return 6;
    case Type::kFp4:
      return 4;
    default:
      return 8;
  }
}

// Value of a code by the definition: sign, exponent with bias, fraction.
double ValueOf(Type type, uint32_t code) {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  switch (type) {
    case Type::kI8:
      return static_cast<int8_t>(code);
    case Type::kBf16:
      exponent_bits = 8, mantissa_bits = 7, bias = 127;
      break;
    case Type::kF16:
      exponent_bits = 5, mantissa_bits = 10, bias = 15;
      break;
    case Type::kF32:
      return Float(code);
    case Type::kFp8:
      exponent_bits = 4, mantissa_bits = 3, bias = 7;
      break;
    case Type::kBf8:
      exponent_bits = 5, mantissa_bits = 2, bias = 15;
      break;
    case Type::kFp6:
      exponent_bits = 2, mantissa_bits = 3, bias = 1;
      break;
    case Type::kBf6:
      exponent_bits = 3, mantissa_bits = 2, bias = 3;
      break;
    case Type::kFp4:
      exponent_bits = 2, mantissa_bits = 1, bias = 1;
      break;
  }
  const int exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double fraction =
      std::ldexp(code & ((1 << mantissa_bits) - 1), -mantissa_bits);
  const bool negative = code >> (exponent_bits + mantissa_bits) & 1;
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias);
  return negative ? -magnitude : magnitude;
}

// A code whose value is a small integer (or a small multiple of 1/2), so that
// all sums are exact.
uint32_t SmallCode(Type type, Random& random) {
  if (type == Type::kI8) return random.Next32() & 0xff;
  if (type == Type::kF32) {
    return Bits(static_cast<float>(random.Between(-8, 8)));
  }
  static std::map<Type, std::vector<uint32_t>> codes;
  std::vector<uint32_t>& small = codes[type];
  const bool filled = !small.empty();
  for (uint32_t code = 0; !filled && code >> BitsOf(type) == 0; ++code) {
    const double value = ValueOf(type, code);
    if (std::fabs(value) <= 8 && value * 2 == std::floor(value * 2)) {
      small.push_back(code);
    }
  }
  return small[random.Next32() % small.size()];
}

using Depth = std::function<int(int l, int e)>;

struct Source {
  Type type;
  int registers;
  int elements;  // a lane
  Depth depth;   // k of element e of lane l
};

uint32_t GetBits(const Wave& wave, int row, int lane, int bit, int bits) {
  uint64_t pair = wave.vgpr[row + bit / 32][lane];
  if (bit % 32 + bits > 32) {
    pair |= uint64_t{wave.vgpr[row + bit / 32 + 1][lane]} << 32;
  }
  return static_cast<uint32_t>(pair >> (bit % 32) &
                               ((uint64_t{1} << bits) - 1));
}
void SetBits(Wave& wave, int row, int lane, int bit, int bits, uint32_t code) {
  for (int b = 0; b < bits; ++b) {
    const int at = bit + b;
    uint32_t& word = wave.vgpr[row + at / 32][lane];
    word = (word & ~(1u << (at % 32))) | (code >> b & 1) << (at % 32);
  }
}

void Fill(Wave& wave, int row, const Source& source, Random& random) {
  for (int l = 0; l < kLanes; ++l) {
    for (int e = 0; e < source.elements; ++e) {
      SetBits(wave, row, l, e * BitsOf(source.type), BitsOf(source.type),
              SmallCode(source.type, random));
    }
  }
}
double Element(const Wave& wave, int row, const Source& source, int l, int e) {
  const int bits = BitsOf(source.type);
  return ValueOf(source.type, GetBits(wave, row, l, e * bits, bits));
}

// Which result element a lane holds in a register: (i, j) of block n.
struct Place {
  int n, i, j;
};
Place ResultPlace(int rows, int reg, int lane) {
  if (rows == 32) {
    return {reg / 16, 8 * (reg % 16 / 4) + 4 * (lane / 32) + reg % 4,
            lane % 32};
  }
  if (rows == 16) return {reg / 4, 4 * (lane / 16) + reg % 4, lane % 16};
  return {lane / 4, reg, lane % 4};
}

std::string Tuple(char file, int first, int count) {
  if (count == 1) return file + std::to_string(first);
  return std::string(1, file) + "[" + std::to_string(first) + ":" +
         std::to_string(first + count - 1) + "]";
}

struct Dense {
  std::string name;
  int rows, depth, blocks;
  Source a, b;
  std::string modifiers;
  bool integer = false;
  // Lane that B's lane l is taken from, block of A that serves block n.
  std::function<int(int)> lane_of_b = [](int l) { return l; };
  std::function<int(int)> block_of_a = [](int n) { return n; };
  // Factor of A's (B's) row and k.
  std::function<double(int i, int k)> scale_a = [](int, int) { return 1.0; };
  std::function<double(int j, int k)> scale_b = [](int, int) { return 1.0; };
  std::string scale_operands;
};

// Fills A (rows 0..), B (rows 8..) and C (rows 32..), runs the instruction into
// rows 96.. and compares.
void Check(const Dense& op, TestWave& wave, uint64_t seed) {
  Random random(seed);
  Fill(*wave, 0, op.a, random);
  Fill(*wave, 8, op.b, random);
  const int registers_c = op.rows * op.rows * op.blocks / kLanes;
  for (int r = 0; r < registers_c; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const int value = random.Between(-1000, 1000);
      wave->vgpr[32 + r][l] = op.integer ? static_cast<uint32_t>(value)
                                         : Bits(static_cast<float>(value));
    }
  }
  // A[n][i][k] and B[n][j][k].
  const auto gather = [&](int row, const Source& source, bool is_b) {
    std::vector<double> matrix(op.blocks * op.rows * op.depth, NAN);
    for (int l = 0; l < kLanes; ++l) {
      for (int e = 0; e < source.elements; ++e) {
        const int block = op.blocks == 1 ? 0 : l / op.rows;
        const int k = source.depth(l, e);
        double& to = matrix[(block * op.rows + l % op.rows) * op.depth + k];
        EXPECT_TRUE(std::isnan(to)) << "two elements for one place";
        to = Element(*wave, row, source, is_b ? op.lane_of_b(l) : l, e);
      }
    }
    return matrix;
  };
  const std::vector<double> a = gather(0, op.a, false);
  const std::vector<double> b = gather(8, op.b, true);
  const auto before = std::make_unique<Wave>(*wave);
  const std::string text =
      op.name + " " + Tuple('v', 96, registers_c) + ", " +
      Tuple('v', 0, op.a.registers) + ", " + Tuple('v', 8, op.b.registers) +
      ", " + Tuple('v', 32, registers_c) + op.scale_operands + op.modifiers;
  ASSERT_NO_FATAL_FAILURE(wave.Run(text));
  for (int reg = 0; reg < registers_c; ++reg) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto [n, i, j] = ResultPlace(op.rows, reg, lane);
      const uint32_t c = before->vgpr[32 + reg][lane];
      double sum = op.integer ? static_cast<int32_t>(c) : Float(c);
      for (int k = 0; k < op.depth; ++k) {
        sum += a[(op.block_of_a(n) * op.rows + i) * op.depth + k] *
               op.scale_a(i, k) * b[(n * op.rows + j) * op.depth + k] *
               op.scale_b(j, k);
      }
      if (!op.integer) sum = static_cast<float>(sum);
      const uint32_t got = wave->vgpr[96 + reg][lane];
      ASSERT_EQ(op.integer ? static_cast<int32_t>(got) : Float(got), sum)
          << text << " i " << i << " j " << j << " block " << n;
    }
  }
}

Dense Simple(const std::string& name, Type type_a, Type type_b, int rows,
             int depth, int blocks) {
  Dense op;
  op.name = name;
  op.rows = rows;
  op.depth = depth;
  op.blocks = blocks;
  op.integer = type_a == Type::kI8;
  const int elements = rows * depth * blocks / 64;
  // One block: lane groups follow each other along k. Else: one block a group.
  const Depth contiguous = [=](int l, int e) {
    return blocks == 1 ? elements * (l / rows) + e : e;
  };
  const auto source = [&](Type type) {
    return Source{type, elements * BitsOf(type) / 32, elements, contiguous};
  };
  op.a = source(type_a);
  op.b = source(type_b);
  return op;
}

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

constexpr Type kF8f6f4[] = {Type::kFp8, Type::kBf8, Type::kFp6, Type::kBf6,
                            Type::kFp4};

Source F8f6f4Source(Type type, int rows) {
  const bool bytes = BitsOf(type) == 8;
  Depth depth;
  if (rows == 32) {
    depth = bytes ? Depth([](int l, int e) {
      return 32 * (e / 16) + 16 * (l / 32) + e % 16;
    })
                  : Depth([](int l, int e) { return 32 * (l / 32) + e; });
  } else {
    depth = bytes ? Depth([](int l, int e) {
      return 64 * (e / 16) + 16 * (l / 16) + e % 16;
    })
                  : Depth([](int l, int e) { return 32 * (l / 16) + e; });
  }
  return Source{type, BitsOf(type), 32, depth};
}

Dense F8f6f4(bool scaled, int rows, int format_a, int format_b) {
  Dense op;
  op.name = std::string("v_mfma_") + (scaled ? "scale_" : "") +
            (rows == 32 ? "f32_32x32x64_f8f6f4" : "f32_16x16x128_f8f6f4");
  op.rows = rows;
  op.depth = 2048 / rows;
  op.blocks = 1;
  op.a = F8f6f4Source(kF8f6f4[format_a], rows);
  op.b = F8f6f4Source(kF8f6f4[format_b], rows);
  op.modifiers =
      " cbsz:" + std::to_string(format_a) + " blgp:" + std::to_string(format_b);
  return op;
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
      for (int l = 0; l < kLanes; ++l) {
        for (const int row : {160, 161}) {
          wave->vgpr[row][l] = 0;
          for (int byte = 0; byte < 4; ++byte) {
            wave->vgpr[row][l] |=
                static_cast<uint32_t>(random.Between(125, 129)) << (8 * byte);
          }
        }
      }
      const int byte_a = random.Between(0, 3), byte_b = random.Between(0, 3);
      const auto list = [](int x, int y) {
        return "[" + std::to_string(x) + "," + std::to_string(y) + ",0]";
      };
      op.scale_operands =
          ", v160, v161 op_sel:" + list(byte_a & 1, byte_b & 1) +
          " op_sel_hi:" + list(byte_a >> 1, byte_b >> 1);
      // Lane `row + rows * block` holds the scale of k = 32 * block + 0..31.
      const auto scale = [&wave, rows](int reg, int byte) {
        return [&wave, rows, reg, byte](int i, int k) {
          const uint32_t word = wave->vgpr[reg][i + rows * (k / 32)];
          return std::ldexp(1.0,
                            static_cast<int>(word >> (8 * byte) & 255) - 127);
        };
      };
      op.scale_a = scale(160, byte_a);
      op.scale_b = scale(161, byte_b);
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

// D += A * B, A with two of every four values.
struct Sparse {
  std::string name;
  Type type_a, type_b;
  int rows, depth;
  bool chunked;
};

void CheckSparse(const Sparse& op, int cbsz, int abid, uint64_t seed) {
  TestWave wave;
  Random random(seed);
  const int compressed = op.rows * op.depth / 2 / 64;
  const int width = BitsOf(op.type_a);
  const bool integer = op.type_a == Type::kI8;
  Source a{op.type_a, compressed * width / 32, compressed, nullptr};
  Source b{op.type_b, 2 * compressed * width / 32, 2 * compressed, nullptr};
  const int half = compressed, rows = op.rows, depth = op.depth;
  const bool chunked = op.chunked;
  b.depth = [=](int l, int e) {
    const int g = l / rows;
    return chunked ? depth / 2 * (e / half) + half * g + e % half
                   : 2 * half * g + e;
  };
  Fill(*wave, 0, a, random);
  Fill(*wave, 8, b, random);
  const int index_bits = 2 * compressed;
  const int set = cbsz == 0 ? abid * index_bits % 32 : 0;
  std::vector<double> dense_a(rows * depth), dense_b(rows * depth);
  for (int l = 0; l < kLanes; ++l) {
    wave->vgpr[30][l] = 0;
    for (int bit = 0; bit < 32; bit += 4) {
      const int first = random.Between(0, 2);
      const int second = random.Between(first + 1, 3);
      wave->vgpr[30][l] |= static_cast<uint32_t>(first | second << 2) << bit;
    }
    for (int c = 0; c < compressed; ++c) {
      const int index = wave->vgpr[30][l] >> (set + 2 * c) & 3;
      const int k = 2 * compressed * (l / rows) + c / 2 * 4 + index;
      dense_a[l % rows * depth + k] = Element(*wave, 0, a, l, c);
    }
    for (int e = 0; e < 2 * compressed; ++e) {
      dense_b[l % rows * depth + b.depth(l, e)] = Element(*wave, 8, b, l, e);
    }
  }
  const int registers = rows * rows / 64;
  for (int r = 0; r < registers; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const int value = random.Between(-1000, 1000);
      wave->vgpr[96 + r][l] = integer ? static_cast<uint32_t>(value)
                                      : Bits(static_cast<float>(value));
    }
  }
  const auto before = std::make_unique<Wave>(*wave);
  const std::string text =
      op.name + " " + Tuple('v', 96, registers) + ", " +
      Tuple('v', 0, a.registers) + ", " + Tuple('v', 8, b.registers) +
      ", v30 cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid);
  ASSERT_NO_FATAL_FAILURE(wave.Run(text));
  for (int reg = 0; reg < registers; ++reg) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto [n, i, j] = ResultPlace(rows, reg, lane);
      const uint32_t c = before->vgpr[96 + reg][lane];
      double sum = integer ? static_cast<int32_t>(c) : Float(c);
      for (int k = 0; k < depth; ++k) {
        sum += dense_a[i * depth + k] * dense_b[j * depth + k];
      }
      const uint32_t got = wave->vgpr[96 + reg][lane];
      ASSERT_EQ(integer ? static_cast<int32_t>(got) : Float(got), sum)
          << text << " " << i << " " << j << " block " << n;
    }
  }
}

TEST(MatrixTest, Sparse) {
  const auto both = [](const std::string& result, const std::string& types,
                       Type a, Type b, int depth32) {
    const auto name = [&](const std::string& rows, int depth) {
      return "v_smfmac_" + result + "_" + rows + "x" + std::to_string(depth) +
             "_" + types;
    };
    for (int abid = 0; abid < 4; ++abid) {
      for (int cbsz = 0; cbsz < (abid == 1 ? 2 : 1); ++cbsz) {
        CheckSparse({name("32x32", depth32), a, b, 32, depth32, true}, cbsz,
                    abid, 8);
        CheckSparse({name("16x16", 2 * depth32), a, b, 16, 2 * depth32, true},
                    cbsz, abid, 9);
        CheckSparse({name("32x32", depth32 / 2), a, b, 32, depth32 / 2, false},
                    cbsz, abid, 10);
        CheckSparse({name("16x16", depth32), a, b, 16, depth32, false}, cbsz,
                    abid, 11);
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
