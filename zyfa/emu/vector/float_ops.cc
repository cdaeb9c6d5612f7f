// Float arithmetic: sums, products, minima, roundings, exponents and the steps
// of a division.

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

#include "zyfa/emu/vector/float_arithmetic.h"
#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

using namespace float_ops;

template <class T>
struct Trunc : Arithmetic<T, T> {
  static auto Do(typename T::Value a) { return std::trunc(a); }
};
template <class T>
struct Ceil : Arithmetic<T, T> {
  static auto Do(typename T::Value a) { return std::ceil(a); }
};
template <class T>
struct Floor : Arithmetic<T, T> {
  static auto Do(typename T::Value a) { return std::floor(a); }
};
// To nearest even whatever MODE says: adding and removing 1.5 * 2^(mantissa
// bits) would follow the host's mode.
template <class T>
struct RoundEven : Arithmetic<T, T> {
  using V = typename T::Value;
  static V Do(V a) {
    const V below = std::floor(a);
    const V part = a - below;
    const V half_below = std::floor(below * V{0.5}) * 2;
    const bool odd = half_below != below;
    const V rounded =
        part > V{0.5} || (part == V{0.5} && odd) ? below + 1 : below;
    return std::copysign(rounded, a);
  }
};
// Below 1 even where the difference rounds up to 1.
template <class T>
struct Fract : Arithmetic<T, T> {
  using V = typename T::Value;
  static V Do(V a) {
    constexpr V below_one = kIsHalf<T>       ? V(0x1.ffcp-1)
                            : sizeof(V) == 4 ? V(0x1.fffffep-1)
                                             : V(0x1.fffffffffffffp-1);
    const V part = a - std::floor(a);
    return part > below_one ? below_one : part;
  }
  static double Exact(double a) {
    const double part = AddToOdd(a, -std::floor(a));
    return part > 0x1.fffffep-1 ? 0x1.fffffep-1 : part;
  }
};

template <class T, class Exponent>
struct Ldexp : Arithmetic<T, T, Exponent> {
  using V = typename T::Value;
  static V Do(V a, int32_t exponent) {
    if constexpr (std::is_same_v<T, F64>) {
      return std::ldexp(a, std::clamp(exponent, -4000, 4000));
    } else {
      return static_cast<V>(Exact(a, exponent));
    }
  }
  static double Exact(double a, double exponent) {
    const int clamped = static_cast<int>(exponent < -500  ? -500
                                         : exponent > 500 ? 500
                                                          : exponent);
    return a * PowerOfTwo(clamped);
  }
};

template <class T>
struct FrexpMant : Arithmetic<T, T> {
  using V = typename T::Value;
  static V Do(V a) {
    int exponent = 0;
    return std::isfinite(a) ? std::frexp(a, &exponent) : a;
  }
};
template <class D, class T>
struct FrexpExp : LaneOp<D, T> {
  static int32_t Do(typename T::Value a) {
    int exponent = 0;
    if (std::isfinite(a)) std::frexp(a, &exponent);
    return exponent;
  }
};

// Last step of a division, a the quotient, b the denominator, c the numerator.
template <class T>
struct DivFixup : Arithmetic<T, T, T, T> {
  using V = typename T::Value;
  static constexpr bool kKeepsUpper = true;
  static V Do(V a, V b, V c) {
    constexpr V infinity = std::numeric_limits<V>::infinity();
    const bool negative = std::signbit(b) != std::signbit(c);
    const V sign = negative ? V{-1} : V{1};
    if (b != b || c != c || (b == 0 && c == 0) ||
        (std::isinf(b) && std::isinf(c))) {
      return std::numeric_limits<V>::quiet_NaN();
    }
    if (b == 0 || std::isinf(c)) return sign * infinity;
    if (std::isinf(b) || c == 0) return sign * V{0};
    if constexpr (!kIsHalf<T>) {
      constexpr int limit = std::is_same_v<T, F64> ? 1075 : 150;
      if (Exponent(c) - Exponent(b) < -limit) return sign * V{0};
    }
    // The steps of a quotient beyond the largest number meet Inf - Inf.
    if (a != a) return sign * infinity;
    return sign * std::fabs(a);
  }

 private:
  static int Exponent(V x) {
    if constexpr (std::is_same_v<T, F64>) {
      return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff);
    } else {
      return static_cast<int>(
          std::bit_cast<uint32_t>(static_cast<float>(x)) >> 23 & 0xff);
    }
  }
};
struct DivFixupLegacyF16 : DivFixup<F16> {
  static constexpr bool kKeepsUpper = false;
};

// Faces of a cube map: x, y, z in a, b, c.
enum class CubeAxis { kX, kY, kZ };
inline CubeAxis MajorAxis(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (az >= ax && az >= ay) return CubeAxis::kZ;
  return ay >= ax ? CubeAxis::kY : CubeAxis::kX;
}
struct CubeId : LaneOp<F32, F32, F32, F32> {
  static float Do(float x, float y, float z) {
    switch (MajorAxis(x, y, z)) {
      case CubeAxis::kX:
        return x < 0 ? 1 : 0;
      case CubeAxis::kY:
        return y < 0 ? 3 : 2;
      default:
        return z < 0 ? 5 : 4;
    }
  }
};
struct CubeSc : Arithmetic<F32, F32, F32, F32> {
  static float Do(float x, float y, float z) {
    switch (MajorAxis(x, y, z)) {
      case CubeAxis::kX:
        return x < 0 ? z : -z;
      case CubeAxis::kY:
        return x;
      default:
        return z < 0 ? -x : x;
    }
  }
};
struct CubeTc : Arithmetic<F32, F32, F32, F32> {
  static float Do(float x, float y, float z) {
    if (MajorAxis(x, y, z) == CubeAxis::kY) return y < 0 ? -z : z;
    return -y;
  }
};
struct CubeMa : Arithmetic<F32, F32, F32, F32> {
  static float Do(float x, float y, float z) {
    switch (MajorAxis(x, y, z)) {
      case CubeAxis::kX:
        return 2 * x;
      case CubeAxis::kY:
        return 2 * y;
      default:
        return 2 * z;
    }
  }
};

// Segment b of 2/pi, 53 bits, placed for an argument of the size of a.
struct TrigPreop : LaneOp<F64, F64, U32> {
  // The first 1216 fraction bits of 2/pi, highest first.
  static constexpr uint64_t kTwoOverPi[19] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
      0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
      0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab,
  };
  static double Do(double a, uint32_t b) {
    const int exponent =
        static_cast<int>(std::bit_cast<uint64_t>(a) >> 52 & 0x7ff);
    int shift = static_cast<int>(b & 31) * 53;
    if (exponent > 1077) shift += exponent - 1077;
    uint64_t segment = 0;
    for (int i = 0; i < 53; ++i) {
      const int bit = shift + i;  // 0 is the highest; 1201 of them exist
      const uint64_t value =
          bit < 1201 ? kTwoOverPi[bit / 64] >> (63 - bit % 64) & 1 : 0;
      segment = segment << 1 | value;
    }
    int scale = -53 - shift;
    if (exponent >= 1968) scale += 128;
    return std::ldexp(static_cast<double>(segment), scale);
  }
};

template <class V>
inline bool IsDenormal(V x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<V>::min();
}

// Scales numerator or denominator of a division so that its steps neither
// overflow nor lose bits; the VCC bit asks v_div_fmas to undo it.
template <class T>
struct DivScale {
  using V = typename T::Value;
  static constexpr bool kDouble = std::is_same_v<T, F64>;
  static constexpr int kScale = kDouble ? 128 : 64;

  static int Exponent(V x) {
    if constexpr (kDouble) {
      return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff);
    } else {
      return static_cast<int>(std::bit_cast<uint32_t>(x) >> 23 & 0xff);
    }
  }

  static V Do(V a, V b, V c, bool& undo) {
    undo = false;
    if (b == 0 || c == 0) return std::numeric_limits<V>::quiet_NaN();
    const bool tiny_inverse =
        kDouble ? IsDenormal(1.0 / static_cast<double>(b))
                : std::fabs(1.0 / static_cast<double>(b)) <
                      static_cast<double>(std::numeric_limits<V>::min());
    const bool tiny_quotient = IsDenormal(c / b);
    if (Exponent(c) - Exponent(b) >= (kDouble ? 768 : 96)) {
      undo = true;
      return a == b ? std::ldexp(a, kScale) : a;
    }
    if (IsDenormal(b)) return std::ldexp(a, kScale);
    if (tiny_inverse && tiny_quotient) {
      // The ISA text scales up here, which would overflow; only scaling down
      // agrees with what v_div_fmas undoes.
      undo = true;
      return a == b ? std::ldexp(a, -kScale) : a;
    }
    if (tiny_inverse) return std::ldexp(a, -kScale);
    if (tiny_quotient) {
      undo = true;
      return a == c ? std::ldexp(a, kScale) : a;
    }
    if (Exponent(c) <= (kDouble ? 53 : 23)) return std::ldexp(a, kScale);
    return a;
  }
};

template <class T>
void RunDivScale(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<T> a(inst, wave, 2, 0, active), b(inst, wave, 3, 1, active),
      c(inst, wave, 4, 2, active);
  alignas(64) typename T::Word result[kLanes];
  uint64_t undo_mask = 0;
  for (int l = 0; l < kLanes; ++l) {
    bool undo = false;
    result[l] = T::ToWord(DivScale<T>::Do(a[l], b[l], c[l], undo));
    if (IsNanWord<T>(result[l])) {
      result[l] = static_cast<typename T::Word>(QuietNanWord(T::kBits));
    }
    if (undo) undo_mask |= uint64_t{1} << l;
  }
  FinishAndStore<T>(inst, wave, active, false, 0, result);
  wave.WriteScalar64(inst.operands[1].index, undo_mask & active);
}

template <class T>
Handler MakeDivScale(Instruction& inst) {
  inst.aux[0] = 0;
  if (inst.operands.size() != 5 || !IsVector(inst.operands[0]) ||
      inst.operands[1].kind != OperandKind::kScalar || inst.mods.sdwa ||
      inst.mods.dpp != DppControl::kNone || inst.mods.op_sel) {
    return nullptr;
  }
  for (int i = 0; i < 3; ++i) {
    if (!valu::PrepareSource(inst, 2 + i, i, FormatOf<T>())) return nullptr;
  }
  if (inst.mods.clamp || inst.mods.omod) inst.aux[0] |= valu::kResultScaled;
  return &RunDivScale<T>;
}

// x * 2^exponent, out of line so that nothing moves across the change of the
// host's rounding.
[[gnu::noinline]] double ScaleF64(double x, int exponent, int rounding) {
  const int saved = std::fegetround();
  std::fesetround(HostRounding(rounding));
  const volatile double scaled = std::ldexp(x, exponent);
  std::fesetround(saved);
  return scaled;
}
inline uint32_t ScaleWord(uint32_t word, int exponent, const Mode& mode) {
  return Encode(std::bit_cast<float>(word) * PowerOfTwo(exponent), kF32,
                static_cast<Rounding>(mode.round_f32()), Overflow::kIeee);
}
inline uint64_t ScaleWord(uint64_t word, int exponent, const Mode& mode) {
  return std::bit_cast<uint64_t>(
      ScaleF64(std::bit_cast<double>(word), exponent, mode.round_f16_f64()));
}

// fma, then undoes the scaling where VCC says so: up if the quotient is large,
// down if it is small.
template <class T>
void RunDivFmas(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<T> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active),
      c(inst, wave, 3, 2, active);
  alignas(64) typename T::Word result[kLanes];
  const uint64_t vcc = wave.vcc();
  constexpr int scale = DivScale<T>::kScale;
  Compute<Fma<T>>(inst, wave.mode, result, a.words, b.words, c.words);
  for (int l = 0; l < kLanes; ++l) {
    if (!(vcc >> l & 1) || IsNanWord<T>(result[l])) continue;
    result[l] =
        ScaleWord(result[l], std::fabs(c[l]) >= 2 ? scale : -scale, wave.mode);
  }
  FinishAndStore<T>(inst, wave, active, false, 0, result);
}

template <class T>
Handler MakeDivFmas(Instruction& inst) {
  if (MakeLanewise<Fma<T>>(inst) == nullptr) return nullptr;
  return &RunDivFmas<T>;
}

// Packed float32: each half of the result picks a dword of every source.
template <class O>
void RunPackedF32(const Instruction& inst, Wave& wave) {
  alignas(64) uint32_t result[2][kLanes];
  for (int half = 0; half < 2; ++half) {
    const uint32_t select = half ? inst.mods.op_sel_hi : inst.mods.op_sel;
    const uint32_t negate = half ? inst.mods.neg_hi : inst.mods.neg_lo;
    alignas(64) uint32_t buffer[3][kLanes];
    const uint32_t* words[3] = {};
    for (int i = 0; i < O::kSources; ++i) {
      Operand operand = inst.operands[1 + i];
      if (operand.kind != OperandKind::kInteger) {
        operand.index =
            static_cast<uint16_t>(operand.index + (select >> i & 1));
      }
      operand.negate = negate >> i & 1;
      uint64_t active = 0;
      words[i] = valu::FetchWords32(inst, wave, operand, i, FormatOf<F32>(),
                                    active, buffer[i]);
    }
    if constexpr (O::kSources == 2) {
      Compute<O>(inst, wave.mode, result[half], words[0], words[1]);
    } else {
      Compute<O>(inst, wave.mode, result[half], words[0], words[1], words[2]);
    }
    valu::FinishFloat32(inst, wave.mode, result[half]);
  }
  Operand dst = inst.operands[0];
  valu::StoreWords32(wave, dst, wave.exec, result[0]);
  ++dst.index;
  valu::StoreWords32(wave, dst, wave.exec, result[1]);
}

template <class O>
Handler MakePackedF32(Instruction& inst) {
  inst.aux[0] = 0;
  Modifiers& mods = inst.mods;
  if (inst.operands.size() != 1 + O::kSources || !IsVector(inst.operands[0]) ||
      mods.omod || mods.sdwa || mods.dpp != DppControl::kNone) {
    return nullptr;
  }
  if (!mods.has_op_sel_hi) {
    mods.op_sel_hi = (1 << O::kSources) - 1;
    mods.has_op_sel_hi = true;
  }
  for (int i = 0; i < O::kSources; ++i) {
    if (!valu::PrepareSource(inst, 1 + i, i, FormatOf<F32>())) return nullptr;
    if (inst.operands[1 + i].negate || inst.operands[1 + i].absolute) {
      return nullptr;
    }
    // The upper dword of a constant is not documented, but that of 0 is 0.
    if (inst.operands[1 + i].kind == OperandKind::kInteger &&
        inst.operands[1 + i].integer != 0 &&
        ((mods.op_sel | mods.op_sel_hi) >> i & 1)) {
      return nullptr;
    }
    if ((mods.neg_lo | mods.neg_hi) >> i & 1) {
      inst.aux[0] |= valu::kSource0Special << i;
    }
  }
  if (mods.clamp) inst.aux[0] |= valu::kResultScaled;
  return &RunPackedF32<O>;
}

}  // namespace

void AddFloatOps(valu::HandlerTable& table) {
  table["v_add_f32"] = &MakeLanewise<Add<F32>>;
  table["v_sub_f32"] = &MakeLanewise<Sub<F32>>;
  table["v_subrev_f32"] = &MakeLanewise<SubRev<F32>>;
  table["v_mul_f32"] = &MakeLanewise<Mul<F32>>;
  table["v_mul_legacy_f32"] = &MakeLanewise<MulLegacy>;
  table["v_fma_f32"] = &MakeLanewise<Fma<F32>>;
  table["v_fmac_f32"] = &MakeLanewise<Fmac<F32>>;
  table["v_fmamk_f32"] = &MakeLanewise<Fma<F32>>;
  table["v_fmaak_f32"] = &MakeLanewise<Fma<F32>>;
  table["v_max_f32"] = &MakeLanewise<Max<F32>>;
  table["v_min_f32"] = &MakeLanewise<Min<F32>>;
  table["v_max3_f32"] = &MakeLanewise<Max3<F32>>;
  table["v_min3_f32"] = &MakeLanewise<Min3<F32>>;
  table["v_med3_f32"] = &MakeLanewise<Med3<F32>>;
  table["v_maximum3_f32"] = &MakeLanewise<Maximum3<F32>>;
  table["v_minimum3_f32"] = &MakeLanewise<Minimum3<F32>>;
  table["v_trunc_f32"] = &MakeLanewise<Trunc<F32>>;
  table["v_ceil_f32"] = &MakeLanewise<Ceil<F32>>;
  table["v_floor_f32"] = &MakeLanewise<Floor<F32>>;
  table["v_rndne_f32"] = &MakeLanewise<RoundEven<F32>>;
  table["v_fract_f32"] = &MakeLanewise<Fract<F32>>;
  table["v_ldexp_f32"] = &MakeLanewise<Ldexp<F32, I32>>;
  table["v_frexp_mant_f32"] = &MakeLanewise<FrexpMant<F32>>;
  table["v_frexp_exp_i32_f32"] = &MakeLanewise<FrexpExp<I32, F32>>;
  table["v_div_fixup_f32"] = &MakeLanewise<DivFixup<F32>>;
  table["v_div_scale_f32"] = &MakeDivScale<F32>;
  table["v_div_fmas_f32"] = &MakeDivFmas<F32>;

  table["v_add_f64"] = &MakeLanewise<Add<F64>>;
  table["v_mul_f64"] = &MakeLanewise<Mul<F64>>;
  table["v_fma_f64"] = &MakeLanewise<Fma<F64>>;
  table["v_fmac_f64"] = &MakeLanewise<Fmac<F64>>;
  table["v_max_f64"] = &MakeLanewise<Max<F64>>;
  table["v_min_f64"] = &MakeLanewise<Min<F64>>;
  table["v_trunc_f64"] = &MakeLanewise<Trunc<F64>>;
  table["v_ceil_f64"] = &MakeLanewise<Ceil<F64>>;
  table["v_floor_f64"] = &MakeLanewise<Floor<F64>>;
  table["v_rndne_f64"] = &MakeLanewise<RoundEven<F64>>;
  table["v_fract_f64"] = &MakeLanewise<Fract<F64>>;
  table["v_ldexp_f64"] = &MakeLanewise<Ldexp<F64, I32>>;
  table["v_frexp_mant_f64"] = &MakeLanewise<FrexpMant<F64>>;
  table["v_frexp_exp_i32_f64"] = &MakeLanewise<FrexpExp<I32, F64>>;
  table["v_div_fixup_f64"] = &MakeLanewise<DivFixup<F64>>;
  table["v_div_scale_f64"] = &MakeDivScale<F64>;
  table["v_div_fmas_f64"] = &MakeDivFmas<F64>;

  table["v_add_f16"] = &MakeLanewise<Add<F16>>;
  table["v_sub_f16"] = &MakeLanewise<Sub<F16>>;
  table["v_subrev_f16"] = &MakeLanewise<SubRev<F16>>;
  table["v_mul_f16"] = &MakeLanewise<Mul<F16>>;
  table["v_fma_f16"] = &MakeLanewise<Fma<F16>>;
  table["v_fma_legacy_f16"] = &MakeLanewise<FmaLegacyF16>;
  table["v_mad_f16"] = &MakeLanewise<MadF16>;
  table["v_mad_legacy_f16"] = &MakeLanewise<MadLegacyF16>;
  table["v_madmk_f16"] = &MakeLanewise<MadLegacyF16>;
  table["v_madak_f16"] = &MakeLanewise<MadLegacyF16>;
  table["v_mac_f16"] = &MakeLanewise<MacF16>;
  table["v_max_f16"] = &MakeLanewise<Max<F16>>;
  table["v_min_f16"] = &MakeLanewise<Min<F16>>;
  table["v_max3_f16"] = &MakeLanewise<Max3<F16>>;
  table["v_min3_f16"] = &MakeLanewise<Min3<F16>>;
  table["v_med3_f16"] = &MakeLanewise<Med3<F16>>;
  table["v_trunc_f16"] = &MakeLanewise<Trunc<F16>>;
  table["v_ceil_f16"] = &MakeLanewise<Ceil<F16>>;
  table["v_floor_f16"] = &MakeLanewise<Floor<F16>>;
  table["v_rndne_f16"] = &MakeLanewise<RoundEven<F16>>;
  table["v_fract_f16"] = &MakeLanewise<Fract<F16>>;
  table["v_ldexp_f16"] = &MakeLanewise<Ldexp<F16, I16>>;
  table["v_frexp_mant_f16"] = &MakeLanewise<FrexpMant<F16>>;
  table["v_frexp_exp_i16_f16"] = &MakeLanewise<FrexpExp<I16, F16>>;
  table["v_div_fixup_f16"] = &MakeLanewise<DivFixup<F16>>;
  table["v_div_fixup_legacy_f16"] = &MakeLanewise<DivFixupLegacyF16>;

  table["v_cubeid_f32"] = &MakeLanewise<CubeId>;
  table["v_cubesc_f32"] = &MakeLanewise<CubeSc>;
  table["v_cubetc_f32"] = &MakeLanewise<CubeTc>;
  table["v_cubema_f32"] = &MakeLanewise<CubeMa>;
  table["v_trig_preop_f64"] = &MakeLanewise<TrigPreop>;

  table["v_pk_add_f32"] = &MakePackedF32<Add<F32>>;
  table["v_pk_mul_f32"] = &MakePackedF32<Mul<F32>>;
  table["v_pk_fma_f32"] = &MakePackedF32<Fma<F32>>;

  for (const char* name : {"v_div_scale_f32", "v_div_scale_f64"}) {
    table.Approximate(
        name,
        "the pseudocode does not say consistently what is scaled when; the "
        "quotients of the whole sequence are right");
  }
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
