// Packed halves (v_pk_* of 16 bits), short dot products and mixed-precision
// fma.

#include "zyfa/emu/vector/float_arithmetic.h"
#include "zyfa/emu/vector/integer_arithmetic.h"
#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

// One 16-bit half of every lane of a source.
template <class T>
void FetchHalf(const Instruction& inst, const Wave& wave, int source,
               const uint32_t* words, bool upper_half, uint32_t* result) {
  const Modifiers& mods = inst.mods;
  const uint32_t select = upper_half ? mods.op_sel_hi : mods.op_sel;
  const uint32_t negate = upper_half ? mods.neg_hi : mods.neg_lo;
  const int shift = select >> source & 1 ? 16 : 0;
  const uint32_t flip = negate >> source & 1 ? 0x8000 : 0;
  const bool flush = T::kIsFloat && !wave.mode.denorm_in_f16_f64();
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t half = words[l] >> shift & 0xffff;
    const uint32_t zeroed = half & 0x7c00 ? half : half & 0x8000;
    result[l] = (flush ? zeroed : half) ^ flip;
  }
}

template <class O>
void RunPacked16(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  alignas(64) uint32_t buffer[3][kLanes];
  const uint32_t* words[3] = {};
  for (int i = 0; i < O::kSources; ++i) {
    words[i] = valu::FetchWords32(inst, wave, inst.operands[PositionOf<O>(i)],
                                  i, FormatOf<U32>(), active, buffer[i]);
  }
  alignas(64) uint32_t result[2][kLanes];
  for (int half = 0; half < 2; ++half) {
    alignas(64) uint32_t a[kLanes], b[kLanes], c[kLanes];
    FetchHalf<SourceOf<O, 0>>(inst, wave, 0, words[0], half, a);
    FetchHalf<SourceOf<O, 1>>(inst, wave, 1, words[1], half, b);
    if constexpr (O::kSources == 2) {
      Compute<O>(inst, wave.mode, result[half], a, b);
    } else {
      FetchHalf<SourceOf<O, 2>>(inst, wave, 2, words[2], half, c);
      Compute<O>(inst, wave.mode, result[half], a, b, c);
    }
    if constexpr (O::Dst::kIsFloat) {
      valu::FinishFloat16(inst, wave.mode, result[half]);
    }
  }
  for (int l = 0; l < kLanes; ++l) result[0][l] |= result[1][l] << 16;
  valu::StoreWords32(wave, inst.operands[0], active, result[0]);
}

// Common to all VOP3P forms: no lane or byte moves, op_sel_hi set by default.
template <class O>
bool PreparePacked(Instruction& inst, valu::SourceFormat format) {
  inst.aux[0] = 0;
  Modifiers& mods = inst.mods;
  constexpr std::size_t operands =
      O::kFirst + O::kSources - (O::kAccumulates ? 1 : 0);
  if (inst.operands.size() != operands || !IsVector(inst.operands[0]) ||
      mods.omod || mods.sdwa) {
    return false;
  }
  if (!mods.has_op_sel_hi) {
    mods.op_sel_hi = (1 << O::kSources) - 1;
    mods.has_op_sel_hi = true;
  }
  for (int i = 0; i < O::kSources; ++i) {
    if (!valu::PrepareSource(inst, PositionOf<O>(i), i, format)) return false;
  }
  if (mods.clamp) inst.aux[0] |= valu::kResultScaled;
  return true;
}

template <class O>
Handler MakePacked16(Instruction& inst) {
  constexpr bool is_float = O::Dst::kIsFloat;
  const uint8_t op_sel = inst.mods.op_sel;
  // Halves are chosen here, not while fetching.
  inst.mods.op_sel = 0;
  const bool prepared = PreparePacked<O>(inst, FormatOf<SourceOf<O, 0>>());
  inst.mods.op_sel = op_sel;
  if (!prepared || (inst.mods.clamp && !is_float && !HasClamped<O>) ||
      (!is_float && (inst.mods.neg_lo || inst.mods.neg_hi))) {
    return nullptr;
  }
  return &RunPacked16<O>;
}
struct PkFmacF16 : float_ops::Fma<F16> {
  static constexpr bool kAccumulates = true;
};

// Dot products. Give Step(sum, a, b) with whole dwords.
inline float HalfAt(uint32_t word, int i) {
  return HalfToFloat(word >> (16 * i) & 0xffff);
}
inline float Bf16At(uint32_t word, int i) {
  return std::bit_cast<float>(i ? word & 0xffff0000 : word << 16);
}
template <int kBits>
inline int64_t SignedAt(uint32_t word, int i) {
  return static_cast<int32_t>(word << (32 - kBits * (i + 1))) >> (32 - kBits);
}
template <int kBits>
inline int64_t UnsignedAt(uint32_t word, int i) {
  return word >> (kBits * i) & ((1u << kBits) - 1);
}

// The float ones add in the order of the ISA's formulas, each sum rounded.
template <bool kAccumulate>
struct Dot2F16 : LaneOp<F32, U32, U32, F32> {
  static constexpr bool kAccumulates = kAccumulate;
  static constexpr NanRule kNan = NanRule::kPropagate;
  static float Do(uint32_t a, uint32_t b, float c) {
    c += HalfAt(a, 0) * HalfAt(b, 0);
    return c + HalfAt(a, 1) * HalfAt(b, 1);
  }
};
struct Dot2Bf16 : LaneOp<F32, U32, U32, F32> {
  static constexpr NanRule kNan = NanRule::kPropagate;
  static float Do(uint32_t a, uint32_t b, float c) {
    const float sum = Bf16At(a, 0) * Bf16At(b, 0);
    return sum + Bf16At(a, 1) * Bf16At(b, 1) + c;
  }
};
struct Dot2cBf16 : LaneOp<F32, U32, U32, F32> {
  static constexpr bool kAccumulates = true;
  static constexpr NanRule kNan = NanRule::kPropagate;
  static float Do(uint32_t a, uint32_t b, float c) {
    c += Bf16At(a, 0) * Bf16At(b, 0);
    return c + Bf16At(a, 1) * Bf16At(b, 1);
  }
};
template <class T, int kBits, bool kAccumulate>
struct DotInt : LaneOp<T, U32, U32, T> {
  static constexpr bool kAccumulates = kAccumulate;
  static int64_t Wide(uint32_t a, uint32_t b, int64_t sum) {
    for (int i = 0; i < 32 / kBits; ++i) {
      if constexpr (T::kKind == Kind::kSigned) {
        sum += SignedAt<kBits>(a, i) * SignedAt<kBits>(b, i);
      } else {
        sum += UnsignedAt<kBits>(a, i) * UnsignedAt<kBits>(b, i);
      }
    }
    return sum;
  }
  static typename T::Value Do(uint32_t a, uint32_t b, typename T::Value c) {
    return integer_ops::Wrap<T>(Wide(a, b, c));
  }
  static typename T::Value DoClamped(uint32_t a, uint32_t b,
                                     typename T::Value c) {
    return integer_ops::Saturate<T>(Wide(a, b, c));
  }
};

// Sources rearranged by op_sel, op_sel_hi and the negations of VOP3P.
template <class O>
void RunDot(const Instruction& inst, Wave& wave) {
  const Modifiers& mods = inst.mods;
  uint64_t active = wave.exec;
  alignas(64) uint32_t buffer[3][kLanes];
  const uint32_t* words[3] = {};
  for (int i = 0; i < 3; ++i) {
    words[i] = valu::FetchWords32(inst, wave, inst.operands[PositionOf<O>(i)],
                                  i, FormatOf<U32>(), active, buffer[i]);
  }
  alignas(64) uint32_t sources[3][kLanes];
  for (int i = 0; i < 3; ++i) {
    const bool addend = i == 2;
    const int low = !addend && (mods.op_sel >> i & 1) ? 16 : 0;
    const int high = addend || (mods.op_sel_hi >> i & 1) ? 16 : 0;
    const bool negate_low = mods.neg_lo >> i & 1;
    const bool negate_high = mods.neg_hi >> i & 1;
    uint32_t flip = negate_low ? 0x8000 : 0;
    if (negate_high) flip |= 0x80000000;
    if (addend) flip = negate_low ? 0x80000000 : 0;
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t word = words[i][l];
      sources[i][l] = ((word >> low & 0xffff) | (word >> high) << 16) ^ flip;
    }
  }
  alignas(64) uint32_t result[kLanes];
  Compute<O>(inst, wave.mode, result, sources[0], sources[1], sources[2]);
  FinishAndStore<typename O::Dst>(inst, wave, active, false, 3, result);
}
template <class O>
Handler MakeDot(Instruction& inst) {
  // A float constant among the factors has no documented halves.
  for (std::size_t i = 1; i < 3 && i < inst.operands.size(); ++i) {
    if (inst.operands[i].kind == OperandKind::kFloat) return nullptr;
  }
  const uint8_t op_sel = inst.mods.op_sel;
  inst.mods.op_sel = 0;
  const bool prepared = PreparePacked<O>(inst, FormatOf<U32>());
  inst.mods.op_sel = op_sel;
  const bool is_float = O::Dst::kIsFloat;
  if (!prepared || (!is_float && (inst.mods.neg_lo || inst.mods.neg_hi))) {
    return nullptr;
  }
  return &RunDot<O>;
}

// fma of sources that are float32 or, where op_sel_hi says so, a float16 half.
enum class MixResult { kF32, kLowHalf, kHighHalf };
template <MixResult kResult>
void RunFmaMix(const Instruction& inst, Wave& wave) {
  using Fma = float_ops::Fma<F32>;
  const Modifiers& mods = inst.mods;
  uint64_t active = wave.exec;
  alignas(64) uint32_t sources[3][kLanes];
  for (int i = 0; i < 3; ++i) {
    const Operand& operand = inst.operands[1 + i];
    alignas(64) uint32_t buffer[kLanes];
    const uint32_t* words = valu::FetchWords32(inst, wave, operand, i,
                                               FormatOf<U32>(), active, buffer);
    const bool half = mods.op_sel_hi >> i & 1;
    const int shift = mods.op_sel >> i & 1 ? 16 : 0;
    const bool flush =
        half ? !wave.mode.denorm_in_f16_f64() : !wave.mode.denorm_in_f32();
    const bool negate = operand.negate != ((mods.neg_lo >> i & 1) != 0);
    const bool absolute = operand.absolute || (mods.neg_hi >> i & 1);
    for (int l = 0; l < kLanes; ++l) {
      uint32_t bits = words[l];
      if (half) {
        uint32_t code = bits >> shift & 0xffff;
        if (flush && !(code & 0x7c00)) code &= 0x8000;
        bits = std::bit_cast<uint32_t>(HalfToFloat(code));
      } else if (flush && !(bits & 0x7f800000)) {
        bits &= 0x80000000;
      }
      if (absolute) bits &= 0x7fffffff;
      sources[i][l] = bits ^ (negate ? 0x80000000 : 0);
    }
  }
  alignas(64) uint32_t result[kLanes];
  Compute<Fma>(inst, wave.mode, result, sources[0], sources[1], sources[2]);
  if constexpr (kResult == MixResult::kF32) {
    FinishAndStore<F32>(inst, wave, active, false, 0, result);
  } else {
    const auto rounding = static_cast<Rounding>(wave.mode.round_f16_f64());
    for (int l = 0; l < kLanes; ++l) {
      result[l] = Encode(std::bit_cast<float>(result[l]), kF16, rounding,
                         HalfOverflow(wave.mode));
    }
    valu::FinishFloat16(inst, wave.mode, result);
    valu::StoreHalves(wave, inst.operands[0], active, result,
                      kResult == MixResult::kHighHalf, true);
  }
}
template <MixResult kResult>
Handler MakeFmaMix(Instruction& inst) {
  inst.aux[0] = 0;
  Modifiers& mods = inst.mods;
  if (inst.operands.size() != 4 || !IsVector(inst.operands[0]) || mods.omod ||
      mods.sdwa || mods.dpp != DppControl::kNone) {
    return nullptr;
  }
  for (int i = 0; i < 3; ++i) {
    const bool half = mods.op_sel_hi >> i & 1;
    const valu::SourceFormat format{static_cast<uint8_t>(half ? 16 : 32),
                                    Kind::kFloat, false};
    if (!valu::PrepareSource(inst, 1 + i, i, format)) return nullptr;
  }
  inst.aux[0] = 0;
  if (mods.clamp) inst.aux[0] = valu::kResultScaled;
  return &RunFmaMix<kResult>;
}

}  // namespace

void AddPacked(valu::HandlerTable& table) {
  table["v_pk_add_f16"] = &MakePacked16<float_ops::Add<F16>>;
  table["v_pk_mul_f16"] = &MakePacked16<float_ops::Mul<F16>>;
  table["v_pk_fma_f16"] = &MakePacked16<float_ops::Fma<F16>>;
  table["v_pk_fmac_f16"] = &MakePacked16<PkFmacF16>;
  table["v_pk_max_f16"] = &MakePacked16<float_ops::Max<F16>>;
  table["v_pk_min_f16"] = &MakePacked16<float_ops::Min<F16>>;
  table["v_pk_maximum3_f16"] = &MakePacked16<float_ops::Maximum3<F16>>;
  table["v_pk_minimum3_f16"] = &MakePacked16<float_ops::Minimum3<F16>>;
  table["v_pk_add_i16"] = &MakePacked16<integer_ops::Add<I16>>;
  table["v_pk_sub_i16"] = &MakePacked16<integer_ops::Sub<I16>>;
  table["v_pk_add_u16"] = &MakePacked16<integer_ops::Add<U16>>;
  table["v_pk_sub_u16"] = &MakePacked16<integer_ops::Sub<U16>>;
  table["v_pk_mad_i16"] = &MakePacked16<integer_ops::Mad<I16>>;
  table["v_pk_mad_u16"] = &MakePacked16<integer_ops::Mad<U16>>;
  table["v_pk_mul_lo_u16"] = &MakePacked16<integer_ops::MulLo16>;
  table["v_pk_lshlrev_b16"] = &MakePacked16<integer_ops::Lshlrev16>;
  table["v_pk_lshrrev_b16"] = &MakePacked16<integer_ops::Lshrrev16>;
  table["v_pk_ashrrev_i16"] = &MakePacked16<integer_ops::Ashrrev16>;
  table["v_pk_max_i16"] = &MakePacked16<integer_ops::Max<I16>>;
  table["v_pk_min_i16"] = &MakePacked16<integer_ops::Min<I16>>;
  table["v_pk_max_u16"] = &MakePacked16<integer_ops::Max<U16>>;
  table["v_pk_min_u16"] = &MakePacked16<integer_ops::Min<U16>>;

  table["v_dot2_f32_f16"] = &MakeDot<Dot2F16<false>>;
  table["v_dot2c_f32_f16"] = &MakeDot<Dot2F16<true>>;
  table["v_dot2_f32_bf16"] = &MakeDot<Dot2Bf16>;
  table["v_dot2c_f32_bf16"] = &MakeDot<Dot2cBf16>;
  table["v_dot2_i32_i16"] = &MakeDot<DotInt<I32, 16, false>>;
  table["v_dot2c_i32_i16"] = &MakeDot<DotInt<I32, 16, true>>;
  table["v_dot2_u32_u16"] = &MakeDot<DotInt<U32, 16, false>>;
  table["v_dot4_i32_i8"] = &MakeDot<DotInt<I32, 8, false>>;
  table["v_dot4c_i32_i8"] = &MakeDot<DotInt<I32, 8, true>>;
  table["v_dot4_u32_u8"] = &MakeDot<DotInt<U32, 8, false>>;
  table["v_dot8_i32_i4"] = &MakeDot<DotInt<I32, 4, false>>;
  table["v_dot8c_i32_i4"] = &MakeDot<DotInt<I32, 4, true>>;
  table["v_dot8_u32_u4"] = &MakeDot<DotInt<U32, 4, false>>;

  table["v_fma_mix_f32"] = &MakeFmaMix<MixResult::kF32>;
  table["v_fma_mixlo_f16"] = &MakeFmaMix<MixResult::kLowHalf>;
  table["v_fma_mixhi_f16"] = &MakeFmaMix<MixResult::kHighHalf>;

  table.ApproximateAll(
      [](const std::string& name) {
        return name.starts_with("v_dot2") &&
               (name.ends_with("_f16") || name.ends_with("_bf16"));
      },
      "inner rounding not documented: every sum to nearest even here, factors "
      "not flushed");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
