#include "zyfa/emu/vector/matrix_case.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "gtest/gtest.h"

namespace zyfa::emu::testing {
namespace {

struct FloatLayout {
  int exponent_bits, mantissa_bits, bias;
};
FloatLayout LayoutOf(Type type) {
  switch (type) {
    case Type::kBf16:
      return {8, 7, 127};
    case Type::kF16:
      return {5, 10, 15};
    case Type::kFp8:
      return {4, 3, 7};
    case Type::kBf8:
      return {5, 2, 15};
    case Type::kFp6:
      return {2, 3, 1};
    case Type::kBf6:
      return {3, 2, 3};
    case Type::kFp4:
      return {2, 1, 1};
    default:
      return {8, 23, 127};
  }
}

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

void Fill(Wave& wave, int row, const Source& source, const Code& code,
          Random& random) {
  for (int l = 0; l < kLanes; ++l) {
    for (int e = 0; e < source.elements; ++e) {
      SetBits(wave, row, l, e * BitsOf(source.type), BitsOf(source.type),
              code(source.type, random));
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

// Integers wrap; float sums are exact by default.
bool Matches(bool integer, uint32_t got, const Dot& dot, const Inputs& inputs) {
  if (integer) {
    uint32_t sum = static_cast<uint32_t>(static_cast<int64_t>(dot.c));
    for (size_t k = 0; k < dot.a.size(); ++k) {
      sum += static_cast<uint32_t>(static_cast<int32_t>(dot.a[k] * dot.b[k]));
    }
    return got == sum;
  }
  double sum = dot.c;
  if (inputs.sum) {
    sum = inputs.sum(dot);
  } else {
    for (size_t k = 0; k < dot.a.size(); ++k) {
      sum += std::ldexp(dot.a[k] * dot.b[k], dot.scale_a[k] + dot.scale_b[k]);
    }
  }
  const float expected = static_cast<float>(sum);
  return std::isnan(expected) ? std::isnan(Float(got)) : Float(got) == expected;
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

}  // namespace

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

int LeastExponent(Type type) { return 1 - LayoutOf(type).bias; }

double ValueOf(Type type, uint32_t code) {
  if (type == Type::kI8) return static_cast<int8_t>(code);
  if (type == Type::kF32) return Float(code);
  const auto [exponent_bits, mantissa_bits, bias] = LayoutOf(type);
  const int exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double fraction =
      std::ldexp(code & ((1 << mantissa_bits) - 1), -mantissa_bits);
  const bool negative = code >> (exponent_bits + mantissa_bits) & 1;
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias);
  return negative ? -magnitude : magnitude;
}

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

std::string Tuple(char file, int first, int count) {
  if (count == 1) return file + std::to_string(first);
  return std::string(1, file) + "[" + std::to_string(first) + ":" +
         std::to_string(first + count - 1) + "]";
}

// A in rows 0.., B in rows 8.., C in rows 32.., the result in rows 96..
void Check(const Dense& op, TestWave& wave, uint64_t seed,
           const Inputs& inputs) {
  Random random(seed);
  Fill(*wave, 0, op.a, inputs.code, random);
  Fill(*wave, 8, op.b, inputs.code, random);
  const int registers_c = op.rows * op.rows * op.blocks / kLanes;
  for (int r = 0; r < registers_c; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      wave->vgpr[32 + r][l] =
          op.integer ? random.Next32() : inputs.addend(random);
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
      Dot dot;
      dot.c = Float(c);
      if (op.integer) dot.c = static_cast<int32_t>(c);
      for (int k = 0; k < op.depth; ++k) {
        dot.a.push_back(a[(op.block_of_a(n) * op.rows + i) * op.depth + k]);
        dot.b.push_back(b[(n * op.rows + j) * op.depth + k]);
        dot.scale_a.push_back(op.scale_a(i, k));
        dot.scale_b.push_back(op.scale_b(j, k));
      }
      const uint32_t got = wave->vgpr[96 + reg][lane];
      ASSERT_TRUE(Matches(op.integer, got, dot, inputs))
          << text << " i " << i << " j " << j << " block " << n << " got "
          << Float(got);
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

void SetRandomScales(Dense& op, TestWave& wave, Random& random) {
  for (int l = 0; l < kLanes; ++l) {
    for (const int row : {160, 161}) {
      wave->vgpr[row][l] = 0;
      for (int byte = 0; byte < 4; ++byte) {
        wave->vgpr[row][l] |= static_cast<uint32_t>(random.Between(125, 129))
                              << (8 * byte);
      }
    }
  }
  const int byte_a = random.Between(0, 3), byte_b = random.Between(0, 3);
  const auto list = [](int x, int y) {
    return "[" + std::to_string(x) + "," + std::to_string(y) + ",0]";
  };
  op.scale_operands = ", v160, v161 op_sel:" + list(byte_a & 1, byte_b & 1) +
                      " op_sel_hi:" + list(byte_a >> 1, byte_b >> 1);
  // Lane `row + rows * block` holds the scale of k = 32 * block + 0..31.
  const int rows = op.rows;
  const auto scale = [&wave, rows](int reg, int byte) {
    return [&wave, rows, reg, byte](int i, int k) {
      const uint32_t word = wave->vgpr[reg][i + rows * (k / 32)];
      return static_cast<int>(word >> (8 * byte) & 255) - 127;
    };
  };
  op.scale_a = scale(160, byte_a);
  op.scale_b = scale(161, byte_b);
}

void CheckSparse(const Sparse& op, TestWave& wave, int cbsz, int abid,
                 uint64_t seed, const Inputs& inputs) {
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
  Fill(*wave, 0, a, inputs.code, random);
  Fill(*wave, 8, b, inputs.code, random);
  const int index_bits = 2 * compressed;
  const int set = cbsz == 0 ? abid * index_bits % 32 : 0;
  std::vector<double> dense_a(rows * depth, NAN), dense_b(rows * depth);
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
      wave->vgpr[96 + r][l] = integer ? random.Next32() : inputs.addend(random);
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
      Dot dot;
      dot.c = Float(c);
      if (integer) dot.c = static_cast<int32_t>(c);
      for (int k = 0; k < depth; ++k) {
        if (std::isnan(dense_a[i * depth + k])) continue;  // not held
        dot.a.push_back(dense_a[i * depth + k]);
        dot.b.push_back(dense_b[j * depth + k]);
      }
      dot.scale_a.resize(dot.a.size());
      dot.scale_b.resize(dot.b.size());
      const uint32_t got = wave->vgpr[96 + reg][lane];
      ASSERT_TRUE(Matches(integer, got, dot, inputs))
          << text << " " << i << " " << j << " block " << n << " got "
          << Float(got);
    }
  }
}

}  // namespace zyfa::emu::testing
