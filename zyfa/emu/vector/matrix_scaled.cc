// v_mfma_*_f8f6f4 and v_mfma_scale_*_f8f6f4: products of FP8, BF8, FP6, BF6 and
// FP4 operands in any mix, with or without a scale for every 32 values of k.

#include <limits>

#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/matrix_operand.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

// Formats by cbsz (A) and blgp (B).
constexpr int kFormats = 5;
constexpr int kRegisters[kFormats] = {8, 8, 6, 6, 4};
constexpr int kScaleBlock = 32;  // values of k

template <int kRows, int kDepth>
void LoadFormat(Rows rows, int format, double* panel) {
  using Chunked = ChunkedLayout<kRows, kDepth>;
  using Contiguous = OperandLayout<kRows, kDepth, 1>;
  switch (format) {
    case 0:
      return LoadPanel<Fp8Elements, Chunked, kRows, kDepth>(rows, panel);
    case 1:
      return LoadPanel<Bf8Elements, Chunked, kRows, kDepth>(rows, panel);
    case 2:
      return LoadPanel<Fp6Elements, Contiguous, kRows, kDepth>(rows, panel);
    case 3:
      return LoadPanel<Bf6Elements, Contiguous, kRows, kDepth>(rows, panel);
    default:
      return LoadPanel<Fp4Elements, Contiguous, kRows, kDepth>(rows, panel);
  }
}

// Exponents of the smallest normal numbers.
constexpr int kLeastExponents[kFormats] = {
    Fp8Elements::kLeastExponent, Bf8Elements::kLeastExponent,
    Fp6Elements::kLeastExponent, Bf6Elements::kLeastExponent,
    Fp4Elements::kLeastExponent};

// Lane l scales row l % kRows of block l / kRows by 2^(byte - 127), 255 is NaN.
// The exponents go to `exponents`, [block][row], if that is not null, and the
// panel then gets the NaNs only.
template <int kRows, int kDepth>
void ApplyScales(const uint32_t* scales, int byte, double* panel,
                 int16_t* exponents) {
  static_assert(kDepth / kScaleBlock == kLanes / kRows);
  for (int l = 0; l < kLanes; ++l) {
    const int code = static_cast<int>(scales[l] >> (8 * byte) & 0xff);
    const double factor = code == 255 ? std::numeric_limits<double>::quiet_NaN()
                          : exponents == nullptr ? PowerOfTwo(code - 127)
                                                 : 1;
    if (exponents != nullptr) exponents[l] = static_cast<int16_t>(code - 127);
    const int block = l / kRows, row = l % kRows;
    for (int k = 0; k < kScaleBlock; ++k) {
      panel[(block * kScaleBlock + k) * kRows + row] *= factor;
    }
  }
}

// Operands d, a, b, c[, scale of a, scale of b].
template <int kRows, int kDepth, bool kScaled>
void RunF8f6f4(const Instruction& inst, Wave& wave) {
  const Modifiers& mods = inst.mods;
  alignas(64) double a[kDepth * kRows], b[kDepth * kRows], sum[kRows * kRows];
  LoadFormat<kRows, kDepth>(RowsOf(wave, inst.operands[1]), mods.cbsz, a);
  LoadFormat<kRows, kDepth>(RowsOf(wave, inst.operands[2]), mods.blgp, b);
  const bool modelled = wave.matrix_model != MatrixModel::kExact;
  int16_t exponents[2][kLanes];
  if constexpr (kScaled) {
    for (int i = 0; i < 2; ++i) {
      const Operand& operand = inst.operands[4 + i];
      const int byte = 2 * (mods.op_sel_hi >> i & 1) + (mods.op_sel >> i & 1);
      alignas(64) uint32_t broadcast[kLanes];
      const uint32_t* scales = broadcast;
      if (operand.kind == OperandKind::kInteger) {
        for (int l = 0; l < kLanes; ++l) {
          broadcast[l] = static_cast<uint32_t>(operand.integer);
        }
      } else {
        scales = wave.vgpr[Wave::Row(operand)];
      }
      ApplyScales<kRows, kDepth>(scales, byte, i == 0 ? a : b,
                                 modelled ? exponents[i] : nullptr);
    }
  }
  LoadResult<kRows>(wave, inst.operands[3], 0, sum);
  if (modelled) [[unlikely]] {
    valu::AddUnderModel(wave.matrix_model, true, kDepth,
                        {a, kRows, kLeastExponents[mods.cbsz],
                         kScaled ? exponents[0] : nullptr},
                        {b, kRows, kLeastExponents[mods.blgp],
                         kScaled ? exponents[1] : nullptr},
                        sum);
  } else {
    MatrixSum::AddProducts<kRows, kDepth>(a, b, sum);
  }
  StoreResult<kRows>(wave, inst.operands[0], 0, sum);
}

template <int kRows, int kDepth, bool kScaled>
Handler MakeF8f6f4(Instruction& inst) {
  constexpr int registers_c = kRows * kRows / kLanes;
  const Modifiers& mods = inst.mods;
  if (inst.operands.size() != (kScaled ? 6u : 4u) || mods.cbsz >= kFormats ||
      mods.blgp >= kFormats || !IsTuple(inst.operands[0], registers_c) ||
      !IsTuple(inst.operands[1], kRegisters[mods.cbsz]) ||
      !IsTuple(inst.operands[2], kRegisters[mods.blgp]) ||
      !PrepareC(inst.operands[3], registers_c)) {
    return nullptr;
  }
  if constexpr (kScaled) {
    for (int i = 4; i < 6; ++i) {
      if (!IsTuple(inst.operands[i], 1) &&
          inst.operands[i].kind != OperandKind::kInteger) {
        return nullptr;
      }
    }
  }
  return &RunF8f6f4<kRows, kDepth, kScaled>;
}

}  // namespace

void AddMatrixScaled(valu::HandlerTable& table) {
  table["v_mfma_f32_32x32x64_f8f6f4"] = &MakeF8f6f4<32, 64, false>;
  table["v_mfma_f32_16x16x128_f8f6f4"] = &MakeF8f6f4<16, 128, false>;
  table["v_mfma_scale_f32_32x32x64_f8f6f4"] = &MakeF8f6f4<32, 64, true>;
  table["v_mfma_scale_f32_16x16x128_f8f6f4"] = &MakeF8f6f4<16, 128, true>;

  table.ApproximateAll(
      [](const std::string&) { return true; },
      "order and width of the sums are not documented: see --matrix_model of "
      "//zyfa/emu:run");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
