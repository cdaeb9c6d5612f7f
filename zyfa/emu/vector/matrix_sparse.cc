// v_smfmac_*: D += A * B where A holds two of every four values of k.

#include <cstring>
#include <string>
#include <type_traits>

#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/matrix_operand.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

// Where things are. Lane l holds row l % kRows of A, kCompressed values; value
// c stands for the k that is number index(c) among the four it belongs to. Two
// bits an index, lowest first.
template <class A, int kRows, int kDepth>
struct Sparse {
  static constexpr int kCompressed = kRows * kDepth / 2 / kLanes;
  static constexpr int kIndexBits = 2 * kCompressed;
  static constexpr int kRegistersA = kCompressed * A::kBits / 32;
  static constexpr int kRegistersB = 2 * kRegistersA;
  static constexpr int kRegistersC = kRows * kRows / kLanes;

  // First index bit: with cbsz 0, abid names one of the sets that fit a dword.
  static int IndexShift(const Modifiers& mods) {
    return mods.cbsz == 0 ? kIndexBits * mods.abid % 32 : 0;
  }
  static int Depth(int group, int c, uint32_t indices) {
    const int index = static_cast<int>(indices >> (2 * c) & 3);
    return 2 * kCompressed * group + 4 * (c / 2) + index;
  }
};

// The products under a model: the values that A holds and the rows of B that
// they meet follow each other as the k of a dense product would.
template <class A, class B, int kRows, int kDepth>
void AddCompressed(MatrixModel model, Rows rows_a, const uint32_t* indices,
                   int shift, const double* b, double* sum) {
  using S = Sparse<A, kRows, kDepth>;
  constexpr int depth = kDepth / 2;
  double values[depth], met[depth * kRows];
  for (int i = 0; i < kRows; ++i) {
    for (int n = 0; n < depth; ++n) {
      const int group = n / S::kCompressed, c = n % S::kCompressed;
      const int lane = group * kRows + i;
      values[n] = A::Get(rows_a, c, lane);
      const int k = S::Depth(group, c, indices[lane] >> shift);
      std::memcpy(met + n * kRows, b + k * kRows, kRows * sizeof(double));
    }
    valu::AddUnderModel(model, A::kBits <= 8, depth,
                        {values, 1, A::kLeastExponent},
                        {met, kRows, B::kLeastExponent}, sum + i * kRows);
  }
}

template <class A, class B, int kRows, int kDepth, class LayoutB>
void RunSparse(const Instruction& inst, Wave& wave) {
  using S = Sparse<A, kRows, kDepth>;
  using Value = typename A::Value;
  constexpr bool is_float = std::is_same_v<Value, double>;
  alignas(64) Value b[kDepth * kRows];
  LoadPanel<B, LayoutB, kRows, kDepth>(RowsOf(wave, inst.operands[2]), b);
  const Rows rows_a = RowsOf(wave, inst.operands[1]);
  const uint32_t* indices = wave.vgpr[Wave::Row(inst.operands[3])];
  const int shift = S::IndexShift(inst.mods);
  const Operand& dst = inst.operands[0];

  using Sum = std::conditional_t<is_float, double, uint32_t>;
  alignas(64) Sum sum[kRows * kRows];
  using Result = ResultLayout<kRows>;
  uint32_t (*rows_d)[kLanes] = wave.vgpr + Wave::Row(dst);
  if constexpr (is_float) {
    LoadResult<kRows>(wave, dst, 0, sum);
  } else {
    for (int i = 0; i < kRows; ++i) {
      std::memcpy(sum + i * kRows,
                  &rows_d[Result::Register(0, i)][Result::Lane(0, i)],
                  kRows * sizeof(uint32_t));
    }
  }
  if constexpr (is_float) {
    if (wave.matrix_model != MatrixModel::kExact) [[unlikely]] {
      AddCompressed<A, B, kRows, kDepth>(wave.matrix_model, rows_a, indices,
                                         shift, b, sum);
      StoreResult<kRows>(wave, dst, 0, sum);
      return;
    }
  }
  for (int group = 0; group < kLanes / kRows; ++group) {
    for (int c = 0; c < S::kCompressed; ++c) {
      for (int i = 0; i < kRows; ++i) {
        const int lane = group * kRows + i;
        const Value a = A::Get(rows_a, c, lane);
        const Value* row =
            b + S::Depth(group, c, indices[lane] >> shift) * kRows;
        if constexpr (is_float) {
          MatrixSum::AddSparse<kRows>(a, row, sum + i * kRows);
        } else {
          for (int j = 0; j < kRows; ++j) {
            sum[i * kRows + j] += static_cast<uint32_t>(a * row[j]);
          }
        }
      }
    }
  }
  if constexpr (is_float) {
    StoreResult<kRows>(wave, dst, 0, sum);
  } else {
    for (int i = 0; i < kRows; ++i) {
      std::memcpy(&rows_d[Result::Register(0, i)][Result::Lane(0, i)],
                  sum + i * kRows, kRows * sizeof(uint32_t));
    }
  }
}

template <class A, class B, int kRows, int kDepth, class LayoutB>
Handler MakeSparse(Instruction& inst) {
  using S = Sparse<A, kRows, kDepth>;
  if (inst.operands.size() != 4 || !IsTuple(inst.operands[0], S::kRegistersC) ||
      !IsTuple(inst.operands[1], S::kRegistersA) ||
      !IsTuple(inst.operands[2], S::kRegistersB) ||
      !IsTuple(inst.operands[3], 1) ||
      inst.operands[3].kind != OperandKind::kVgpr) {
    return nullptr;
  }
  return &RunSparse<A, B, kRows, kDepth, LayoutB>;
}

// The forms of half the depth take B in one run, the full ones in two.
template <class A, class B, int kDepth32>
void AddShapes(valu::HandlerTable& table, const std::string& result,
               const std::string& types) {
  constexpr int depth16 = 2 * kDepth32;
  const auto name = [&](int rows, int depth) {
    const std::string n = std::to_string(rows);
    return "v_smfmac_" + result + "_" + n + "x" + n + "x" +
           std::to_string(depth) + "_" + types;
  };
  table[name(32, kDepth32)] =
      &MakeSparse<A, B, 32, kDepth32, ChunkedLayout<32, kDepth32>>;
  table[name(16, depth16)] =
      &MakeSparse<A, B, 16, depth16, ChunkedLayout<16, depth16>>;
  table[name(32, kDepth32 / 2)] =
      &MakeSparse<A, B, 32, kDepth32 / 2, OperandLayout<32, kDepth32 / 2, 1>>;
  table[name(16, depth16 / 2)] =
      &MakeSparse<A, B, 16, depth16 / 2, OperandLayout<16, depth16 / 2, 1>>;
}

}  // namespace

void AddMatrixSparse(valu::HandlerTable& table) {
  AddShapes<Bf16Elements, Bf16Elements, 32>(table, "f32", "bf16");
  AddShapes<F16Elements, F16Elements, 32>(table, "f32", "f16");
  AddShapes<I8Elements, I8Elements, 64>(table, "i32", "i8");
  AddShapes<Fp8Elements, Fp8Elements, 64>(table, "f32", "fp8_fp8");
  AddShapes<Fp8Elements, Bf8Elements, 64>(table, "f32", "fp8_bf8");
  AddShapes<Bf8Elements, Fp8Elements, 64>(table, "f32", "bf8_fp8");
  AddShapes<Bf8Elements, Bf8Elements, 64>(table, "f32", "bf8_bf8");

  table.ApproximateAll(
      [](const std::string& name) { return !name.ends_with("_i8"); },
      "order and width of the sums are not documented: see --matrix_model of "
      "//zyfa/emu:run");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
