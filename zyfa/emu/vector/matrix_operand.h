#ifndef ZYFA_EMU_VECTOR_MATRIX_OPERAND_H_
#define ZYFA_EMU_VECTOR_MATRIX_OPERAND_H_

#include <array>
#include <cstdint>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/vector/float_format.h"
#include "zyfa/emu/vector/matrix_layout.h"
#include "zyfa/emu/vector/matrix_sum.h"
#include "zyfa/emu/vector/modelled_sum.h"
#include "zyfa/emu/vector/target.h"
#include "zyfa/emu/wave.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

using Rows = const uint32_t (*)[kLanes];  // consecutive registers

// Element formats: Get(rows, e, lane) is element e of a lane, exactly.
struct Bf16Elements {
  static constexpr int kBits = 16;
  static constexpr int kLeastExponent = 1 - kBf16.bias;
  using Value = double;
  static double Get(Rows rows, int e, int lane) {
    const uint32_t word = rows[e / 2][lane];
    return std::bit_cast<float>(e % 2 ? word & 0xffff0000 : word << 16);
  }
};
struct F16Elements {
  static constexpr int kBits = 16;
  static constexpr int kLeastExponent = 1 - kF16.bias;
  using Value = double;
  static double Get(Rows rows, int e, int lane) {
    const uint32_t word = rows[e / 2][lane];
    return HalfToFloat(e % 2 ? word >> 16 : word & 0xffff);
  }
};
struct F32Elements {
  static constexpr int kBits = 32;
  using Value = float;
  static float Get(Rows rows, int e, int lane) {
    return std::bit_cast<float>(rows[e][lane]);
  }
};
struct I8Elements {
  static constexpr int kBits = 8;
  using Value = int32_t;
  static int32_t Get(Rows rows, int e, int lane) {
    return static_cast<int8_t>(rows[e / 4][lane] >> (8 * (e % 4)));
  }
};

template <const FloatFormat& kFormat>
constexpr std::array<double, 1 << kFormat.bits()> DecodeTable() {
  std::array<double, 1 << kFormat.bits()> table{};
  for (uint32_t code = 0; code < table.size(); ++code) {
    table[code] = Decode(code, kFormat);
  }
  return table;
}
template <const FloatFormat& kFormat>
struct SmallElements {
  static constexpr int kBits = kFormat.bits();
  static constexpr int kLeastExponent = 1 - kFormat.bias;
  using Value = double;
  static constexpr std::array<double, 1 << kBits> kTable =
      DecodeTable<kFormat>();
  static double Get(Rows rows, int e, int lane) {
    const int bit = kBits * e, word = bit / 32, shift = bit % 32;
    uint32_t code = rows[word][lane] >> shift;
    if (shift + kBits > 32) code |= rows[word + 1][lane] << (32 - shift);
    return kTable[code & ((1u << kBits) - 1)];
  }
};
using Fp8Elements = SmallElements<kFp8>;
using Bf8Elements = SmallElements<kBf8>;
using Fp6Elements = SmallElements<kFp6>;
using Bf6Elements = SmallElements<kBf6>;
using Fp4Elements = SmallElements<kFp4>;

// All elements of an operand: panel[(block * kDepth + k) * kRows + row].
template <class Elements, class Layout, int kRows, int kDepth>
inline void LoadPanel(Rows rows, typename Elements::Value* panel) {
  for (int e = 0; e < Layout::kElements; ++e) {
    for (int group = 0; group < Layout::kGroups; ++group) {
      const int line = Layout::Block(group) * kDepth + Layout::Depth(group, e);
      typename Elements::Value* to = panel + line * kRows;
      for (int i = 0; i < kRows; ++i) {
        to[i] = Elements::Get(rows, e, group * kRows + i);
      }
    }
  }
}

inline Rows RowsOf(const Wave& wave, const Operand& operand) {
  return wave.vgpr + Wave::Row(operand);
}

// C as float32 values or int32, sum[i * kRows + j] of one block.
template <int kRows>
inline void LoadResult(const Wave& wave, const Operand& operand, int block,
                       double* sum) {
  using Layout = ResultLayout<kRows>;
  if (operand.kind == OperandKind::kInteger) {
    const float value =
        std::bit_cast<float>(static_cast<uint32_t>(operand.integer));
    for (int i = 0; i < kRows * kRows; ++i) sum[i] = value;
    return;
  }
  const Rows rows = RowsOf(wave, operand);
  for (int i = 0; i < kRows; ++i) {
    const uint32_t* from =
        &rows[Layout::Register(block, i)][Layout::Lane(block, i)];
    for (int j = 0; j < kRows; ++j) {
      sum[i * kRows + j] = std::bit_cast<float>(from[j]);
    }
  }
}

template <int kRows>
inline void StoreResult(Wave& wave, const Operand& operand, int block,
                        const double* sum) {
  using Layout = ResultLayout<kRows>;
  uint32_t (*rows)[kLanes] = wave.vgpr + Wave::Row(operand);
  const bool clamp = wave.mode.fp16_ovfl();
  for (int i = 0; i < kRows; ++i) {
    uint32_t* to = &rows[Layout::Register(block, i)][Layout::Lane(block, i)];
    for (int j = 0; j < kRows; ++j) {
      to[j] = MatrixSum::Round(sum[i * kRows + j], clamp);
    }
  }
}

// d, a, b are vector registers, of the given counts, c as well or a constant.
inline bool IsTuple(const Operand& operand, int count) {
  return (operand.kind == OperandKind::kVgpr ||
          operand.kind == OperandKind::kAgpr) &&
         operand.count == count && operand.index + count <= kVgprs;
}
// Float constants become float32 bits.
inline bool PrepareC(Operand& c, int count) {
  if (c.kind == OperandKind::kFloat) {
    c.kind = OperandKind::kInteger;
    c.integer = Encode(c.real, kF32, kNearestEven, Overflow::kIeee);
  }
  return c.kind == OperandKind::kInteger || IsTuple(c, count);
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_MATRIX_OPERAND_H_
