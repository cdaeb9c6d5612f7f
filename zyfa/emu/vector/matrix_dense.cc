// v_mfma_*: dense matrix products without block scales.

#include <cmath>
#include <cstring>
#include <string>

#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/matrix_operand.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

// Source operands after the lane permutation of blgp, if there is one.
struct PermutedRows {
  PermutedRows(Rows from, int registers, int blgp) : rows(from) {
    if (blgp == 0) return;
    for (int l = 0; l < kLanes; ++l) {
      const int lane = PermutedLane(l, blgp);
      for (int r = 0; r < registers; ++r) copy[r][l] = from[r][lane];
    }
    rows = copy;
  }
  Rows rows;
  uint32_t copy[4][kLanes];
};

template <class A, class B, int kRows, int kDepth, int kBlocks>
struct Dense {
  using Layout = OperandLayout<kRows, kDepth, kBlocks>;
  static constexpr int kRegistersA = Layout::kElements * A::kBits / 32;
  static constexpr int kRegistersC = kRows * kRows * kBlocks / kLanes;
  // One element may be narrower than a register.
  static constexpr int kTupleA = kRegistersA > 0 ? kRegistersA : 1;
};

template <class A, class B, int kRows, int kDepth, int kBlocks>
void RunDense(const Instruction& inst, Wave& wave) {
  using D = Dense<A, B, kRows, kDepth, kBlocks>;
  using Layout = typename D::Layout;
  const Modifiers& mods = inst.mods;
  alignas(64) double a[kBlocks * kDepth * kRows];
  alignas(64) double b[kBlocks * kDepth * kRows];
  LoadPanel<A, Layout, kRows, kDepth>(RowsOf(wave, inst.operands[1]), a);
  const PermutedRows rows_b(RowsOf(wave, inst.operands[2]), D::kTupleA,
                            mods.blgp);
  LoadPanel<B, Layout, kRows, kDepth>(rows_b.rows, b);
  alignas(64) double sum[kBlocks][kRows * kRows];
  for (int block = 0; block < kBlocks; ++block) {
    const int block_a = BroadcastBlock(block, mods.cbsz, mods.abid) % kBlocks;
    LoadResult<kRows>(wave, inst.operands[3], block, sum[block]);
    const double* from_a = a + block_a * kDepth * kRows;
    const double* from_b = b + block * kDepth * kRows;
    if (wave.matrix_model != MatrixModel::kExact) [[unlikely]] {
      valu::AddUnderModel(wave.matrix_model, A::kBits <= 8, kDepth,
                          {from_a, kRows, A::kLeastExponent},
                          {from_b, kRows, B::kLeastExponent}, sum[block]);
      continue;
    }
    MatrixSum::AddProducts<kRows, kDepth>(from_a, from_b, sum[block]);
  }
  for (int block = 0; block < kBlocks; ++block) {
    StoreResult<kRows>(wave, inst.operands[0], block, sum[block]);
  }
}

bool PrepareDense(Instruction& inst, int registers_ab, int registers_c) {
  return inst.operands.size() == 4 && IsTuple(inst.operands[0], registers_c) &&
         IsTuple(inst.operands[1], registers_ab) &&
         IsTuple(inst.operands[2], registers_ab) &&
         PrepareC(inst.operands[3], registers_c);
}

// Block and k of a float32 or float64 product: one element a lane.
template <class A, int kRows, int kDepth, int kBlocks>
void RunF32(const Instruction& inst, Wave& wave) {
  using D = Dense<A, A, kRows, kDepth, kBlocks>;
  using Layout = typename D::Layout;
  const Modifiers& mods = inst.mods;
  alignas(64) float a[kBlocks * kDepth * kRows];
  alignas(64) float b[kBlocks * kDepth * kRows];
  LoadPanel<A, Layout, kRows, kDepth>(RowsOf(wave, inst.operands[1]), a);
  const PermutedRows rows_b(RowsOf(wave, inst.operands[2]), 1, mods.blgp);
  LoadPanel<A, Layout, kRows, kDepth>(rows_b.rows, b);
  alignas(64) double sum[kBlocks][kRows * kRows];
  for (int block = 0; block < kBlocks; ++block) {
    const int block_a = BroadcastBlock(block, mods.cbsz, mods.abid) % kBlocks;
    LoadResult<kRows>(wave, inst.operands[3], block, sum[block]);
    for (int k = 0; k < kDepth; ++k) {
      FmaChain<kRows>(a + (block_a * kDepth + k) * kRows,
                      b + (block * kDepth + k) * kRows, sum[block]);
    }
  }
  for (int block = 0; block < kBlocks; ++block) {
    StoreResult<kRows>(wave, inst.operands[0], block, sum[block]);
  }
}
template <int kRows, int kDepth, int kBlocks>
Handler MakeF32(Instruction& inst) {
  constexpr int registers_c = kRows * kRows * kBlocks / kLanes;
  if (!PrepareDense(inst, 1, registers_c)) return nullptr;
  return &RunF32<F32Elements, kRows, kDepth, kBlocks>;
}

// Integers wrap.
template <int kRows, int kDepth, int kBlocks>
void RunI8(const Instruction& inst, Wave& wave) {
  using Layout = OperandLayout<kRows, kDepth, kBlocks>;
  using Result = ResultLayout<kRows>;
  constexpr int registers = Layout::kElements / 4;
  const Modifiers& mods = inst.mods;
  alignas(64) int32_t a[kBlocks * kDepth * kRows];
  alignas(64) int32_t b[kBlocks * kDepth * kRows];
  LoadPanel<I8Elements, Layout, kRows, kDepth>(RowsOf(wave, inst.operands[1]),
                                               a);
  const PermutedRows rows_b(RowsOf(wave, inst.operands[2]), registers,
                            mods.blgp);
  LoadPanel<I8Elements, Layout, kRows, kDepth>(rows_b.rows, b);
  alignas(64) uint32_t sum[kBlocks][kRows][kRows];
  const Operand& c = inst.operands[3];
  for (int block = 0; block < kBlocks; ++block) {
    const int block_a = BroadcastBlock(block, mods.cbsz, mods.abid) % kBlocks;
    for (int i = 0; i < kRows; ++i) {
      uint32_t* to = sum[block][i];
      for (int j = 0; j < kRows; ++j) {
        to[j] = c.kind == OperandKind::kInteger
                    ? static_cast<uint32_t>(c.integer)
                    : RowsOf(wave, c)[Result::Register(block, i)]
                                     [Result::Lane(block, i) + j];
      }
      for (int k = 0; k < kDepth; ++k) {
        const int32_t x = a[(block_a * kDepth + k) * kRows + i];
        const int32_t* y = b + (block * kDepth + k) * kRows;
        for (int j = 0; j < kRows; ++j)
          to[j] += static_cast<uint32_t>(x * y[j]);
      }
    }
  }
  uint32_t (*rows)[kLanes] = wave.vgpr + Wave::Row(inst.operands[0]);
  for (int block = 0; block < kBlocks; ++block) {
    for (int i = 0; i < kRows; ++i) {
      std::memcpy(&rows[Result::Register(block, i)][Result::Lane(block, i)],
                  sum[block][i], sizeof(sum[block][i]));
    }
  }
}
template <int kRows, int kDepth, int kBlocks>
Handler MakeI8(Instruction& inst) {
  constexpr int registers = kRows * kDepth * kBlocks / kLanes / 4;
  constexpr int registers_c = kRows * kRows * kBlocks / kLanes;
  if (!PrepareDense(inst, registers, registers_c)) return nullptr;
  return &RunI8<kRows, kDepth, kBlocks>;
}

// Float64, a chain of fused steps; bits of blgp negate A, B and C. Element (i,
// k) of block n stands in lane 16 k + 4 n + i (4 rows) or 16 k + i.
template <int kRows, int kBlocks>
void RunF64(const Instruction& inst, Wave& wave) {
  constexpr int depth = 4;
  using Result = ResultLayoutF64<kRows>;
  double sources[2][kLanes];
  for (int s = 0; s < 2; ++s) {
    const Rows rows = RowsOf(wave, inst.operands[1 + s]);
    for (int l = 0; l < kLanes; ++l) {
      const double value =
          std::bit_cast<double>(rows[0][l] | uint64_t{rows[1][l]} << 32);
      sources[s][l] = inst.mods.blgp >> s & 1 ? -value : value;
    }
  }
  const Operand& c = inst.operands[3];
  double sum[kBlocks][kRows][kRows];
  for (int n = 0; n < kBlocks; ++n) {
    for (int i = 0; i < kRows; ++i) {
      const int pair = 2 * Result::Register(n, i), lane = Result::Lane(n, i);
      for (int j = 0; j < kRows; ++j) {
        double value = std::bit_cast<double>(c.integer);
        if (c.kind != OperandKind::kInteger) {
          const Rows rows = RowsOf(wave, c);
          value = std::bit_cast<double>(
              rows[pair][lane + j] | uint64_t{rows[pair + 1][lane + j]} << 32);
        }
        if (inst.mods.blgp & 4) value = -value;
        for (int k = 0; k < depth; ++k) {
          const int base = 16 * k + kRows * n;
          value = std::fma(sources[0][base + i], sources[1][base + j], value);
        }
        sum[n][i][j] = value;
      }
    }
  }
  uint32_t (*rows)[kLanes] = wave.vgpr + Wave::Row(inst.operands[0]);
  for (int n = 0; n < kBlocks; ++n) {
    for (int i = 0; i < kRows; ++i) {
      const int pair = 2 * Result::Register(n, i), lane = Result::Lane(n, i);
      for (int j = 0; j < kRows; ++j) {
        const double value = sum[n][i][j];
        const uint64_t bits = value == value ? std::bit_cast<uint64_t>(value)
                                             : 0x7ff8000000000000;
        rows[pair][lane + j] = static_cast<uint32_t>(bits);
        rows[pair + 1][lane + j] = static_cast<uint32_t>(bits >> 32);
      }
    }
  }
}
template <int kRows, int kBlocks>
Handler MakeF64(Instruction& inst) {
  constexpr int registers_c = 2 * kRows * kRows * kBlocks / kLanes;
  if (inst.operands.size() == 4 &&
      inst.operands[3].kind == OperandKind::kFloat) {
    inst.operands[3].kind = OperandKind::kInteger;
    inst.operands[3].integer = std::bit_cast<int64_t>(inst.operands[3].real);
  }
  if (!PrepareDense(inst, 2, registers_c)) return nullptr;
  return &RunF64<kRows, kBlocks>;
}

template <class A, class B, int kRows, int kDepth, int kBlocks>
Handler MakeDense(Instruction& inst) {
  using D = Dense<A, B, kRows, kDepth, kBlocks>;
  if (!PrepareDense(inst, D::kTupleA, D::kRegistersC)) return nullptr;
  return &RunDense<A, B, kRows, kDepth, kBlocks>;
}

template <class A, class B>
void AddBytes(valu::HandlerTable& table, const std::string& types) {
  table["v_mfma_f32_32x32x16_" + types] = &MakeDense<A, B, 32, 16, 1>;
  table["v_mfma_f32_16x16x32_" + types] = &MakeDense<A, B, 16, 32, 1>;
}

}  // namespace

void AddMatrixDense(valu::HandlerTable& table) {
  using Bf16 = Bf16Elements;
  using F16 = F16Elements;
  table["v_mfma_f32_32x32x16_bf16"] = &MakeDense<Bf16, Bf16, 32, 16, 1>;
  table["v_mfma_f32_16x16x32_bf16"] = &MakeDense<Bf16, Bf16, 16, 32, 1>;
  table["v_mfma_f32_32x32x8_bf16"] = &MakeDense<Bf16, Bf16, 32, 8, 1>;
  table["v_mfma_f32_16x16x16_bf16"] = &MakeDense<Bf16, Bf16, 16, 16, 1>;
  table["v_mfma_f32_32x32x4_2b_bf16"] = &MakeDense<Bf16, Bf16, 32, 4, 2>;
  table["v_mfma_f32_16x16x4_4b_bf16"] = &MakeDense<Bf16, Bf16, 16, 4, 4>;
  table["v_mfma_f32_4x4x4_16b_bf16"] = &MakeDense<Bf16, Bf16, 4, 4, 16>;
  table["v_mfma_f32_32x32x16_f16"] = &MakeDense<F16, F16, 32, 16, 1>;
  table["v_mfma_f32_16x16x32_f16"] = &MakeDense<F16, F16, 16, 32, 1>;
  table["v_mfma_f32_32x32x8_f16"] = &MakeDense<F16, F16, 32, 8, 1>;
  table["v_mfma_f32_16x16x16_f16"] = &MakeDense<F16, F16, 16, 16, 1>;
  table["v_mfma_f32_32x32x4_2b_f16"] = &MakeDense<F16, F16, 32, 4, 2>;
  table["v_mfma_f32_16x16x4_4b_f16"] = &MakeDense<F16, F16, 16, 4, 4>;
  table["v_mfma_f32_4x4x4_16b_f16"] = &MakeDense<F16, F16, 4, 4, 16>;

  table["v_mfma_f32_32x32x2_f32"] = &MakeF32<32, 2, 1>;
  table["v_mfma_f32_16x16x4_f32"] = &MakeF32<16, 4, 1>;
  table["v_mfma_f32_32x32x1_2b_f32"] = &MakeF32<32, 1, 2>;
  table["v_mfma_f32_16x16x1_4b_f32"] = &MakeF32<16, 1, 4>;
  table["v_mfma_f32_4x4x1_16b_f32"] = &MakeF32<4, 1, 16>;
  table["v_mfma_f64_16x16x4_f64"] = &MakeF64<16, 1>;
  table["v_mfma_f64_4x4x4_4b_f64"] = &MakeF64<4, 4>;

  table["v_mfma_i32_32x32x32_i8"] = &MakeI8<32, 32, 1>;
  table["v_mfma_i32_16x16x64_i8"] = &MakeI8<16, 64, 1>;
  table["v_mfma_i32_32x32x16_i8"] = &MakeI8<32, 16, 1>;
  table["v_mfma_i32_16x16x32_i8"] = &MakeI8<16, 32, 1>;
  table["v_mfma_i32_32x32x4_2b_i8"] = &MakeI8<32, 4, 2>;
  table["v_mfma_i32_16x16x4_4b_i8"] = &MakeI8<16, 4, 4>;
  table["v_mfma_i32_4x4x4_16b_i8"] = &MakeI8<4, 4, 16>;

  AddBytes<Fp8Elements, Fp8Elements>(table, "fp8_fp8");
  AddBytes<Fp8Elements, Bf8Elements>(table, "fp8_bf8");
  AddBytes<Bf8Elements, Fp8Elements>(table, "bf8_fp8");
  AddBytes<Bf8Elements, Bf8Elements>(table, "bf8_bf8");

  table.ApproximateAll(
      [](const std::string& name) { return !name.ends_with("_i8"); },
      "order and width of the sums are not documented: see --matrix_model of "
      "//zyfa/emu:run");
  table.ApproximateAll(
      [](const std::string& name) {
        return name.ends_with("_f32") || name.ends_with("_f64");
      },
      "a chain of fused steps in the order of k, as known of CDNA3");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
