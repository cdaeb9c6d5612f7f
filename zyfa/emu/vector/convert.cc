// Conversions between number formats without a block scale.

#include <algorithm>
#include <cmath>

#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

// Towards zero, saturating, NaN to 0.
inline int32_t ToI32(double x) {
  const double low = x > -2147483648.0 ? x : -2147483648.0;
  const double clamped = low < 2147483647.0 ? low : 2147483647.0;
  const auto whole = static_cast<int32_t>(clamped);
  return x == x ? whole : 0;
}
inline uint32_t ToU32(double x) {
  const double low = x > 0 ? x : 0.0;  // NaN as well
  const double clamped = low < 4294967295.0 ? low : 4294967295.0;
  const bool upper = clamped >= 2147483648.0;
  const auto part =
      static_cast<int32_t>(upper ? clamped - 2147483648.0 : clamped);
  return static_cast<uint32_t>(part) + (upper ? 0x80000000u : 0u);
}
// Nearest even for |x| < 2^31, by the bits that 1.5 * 2^52 pushes out.
inline double Nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// 16-bit fractions of 1: nearest even, saturating, NaN to 0.
inline uint32_t ToSnorm(double x) {
  if (x != x) return 0;
  const double scaled = Nearest(std::clamp(x, -1.0, 1.0) * 32767);
  return static_cast<uint32_t>(static_cast<int32_t>(scaled)) & 0xffff;
}
inline uint32_t ToUnorm(double x) {
  if (x != x) return 0;
  return static_cast<uint32_t>(Nearest(std::clamp(x, 0.0, 1.0) * 65535));
}
inline double ToWhole(double x, Rounding rounding) {
  switch (rounding) {
    case kUp:
      return std::ceil(x);
    case kDown:
      return std::floor(x);
    case kToZero:
      return std::trunc(x);
    default:
      return Nearest(x);
  }
}
inline uint32_t ToU8(double x, Rounding rounding) {
  if (x != x) return 0;
  return static_cast<uint32_t>(ToWhole(std::clamp(x, 0.0, 255.0), rounding));
}

// Nearest even; NaN stays NaN and becomes quiet.
inline uint32_t ToBf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t nan = bits >> 16 | 0x40;
  return (bits & 0x7fffffff) > 0x7f800000 ? nan : rounded;
}

template <class D, class S>
struct ToSigned : LaneOp<D, S> {
  static int32_t Do(typename S::Value a) { return ToI32(a); }
};
template <class D, class S>
struct ToUnsigned : LaneOp<D, S> {
  static uint32_t Do(typename S::Value a) { return ToU32(a); }
};
struct I16FromF16 : LaneOp<I16, F16> {
  static int32_t Do(double a) { return std::clamp(ToI32(a), -32768, 32767); }
};
struct U16FromF16 : LaneOp<U16, F16> {
  static uint32_t Do(double a) { return std::min(ToU32(a), 65535u); }
};
struct FloorI32 : LaneOp<I32, F32> {
  static int32_t Do(float a) { return ToI32(std::floor(a)); }
};
struct NearestUpI32 : LaneOp<I32, F32> {
  static int32_t Do(float a) { return ToI32(std::floor(a + 0.5f)); }
};

// To a float: exact or rounded once.
template <class D, class S>
struct ToFloat : LaneOp<D, S> {
  // LLVM sets the float64 field for it.
  static constexpr bool kRoundsAsF64 = std::is_same_v<S, F64>;
  static typename D::Value Do(typename S::Value a) {
    return static_cast<typename D::Value>(a);
  }
  static double Exact(double a) { return a; }
};
template <int kByte>
struct FromUbyte : LaneOp<F32, U32> {
  static float Do(uint32_t a) {
    return static_cast<float>(static_cast<int32_t>(a >> (8 * kByte) & 0xff));
  }
};
struct FromI4 : LaneOp<F32, U32> {
  static float Do(uint32_t a) {
    return static_cast<float>(static_cast<int32_t>(a << 28) >> 28) / 16;
  }
};
struct FromBf16 : LaneOp<F32, U16> {
  static float Do(uint32_t a) { return std::bit_cast<float>(a << 16); }
};
struct NormI16 : LaneOp<U16, F16> {
  static uint32_t Do(double a) { return ToSnorm(a); }
};
struct NormU16 : LaneOp<U16, F16> {
  static uint32_t Do(double a) { return ToUnorm(a); }
};

// Pairs into one dword.
struct PkBf16 : LaneOp<U32, F32, F32> {
  static uint32_t Do(float a, float b) { return ToBf16(a) | ToBf16(b) << 16; }
};
template <class S>
struct PkSnorm : LaneOp<U32, S, S> {
  static uint32_t Do(typename S::Value a, typename S::Value b) {
    return ToSnorm(a) | ToSnorm(b) << 16;
  }
};
template <class S>
struct PkUnorm : LaneOp<U32, S, S> {
  static uint32_t Do(typename S::Value a, typename S::Value b) {
    return ToUnorm(a) | ToUnorm(b) << 16;
  }
};
struct PackF16 : LaneOp<U32, Raw16, Raw16> {
  static uint32_t Do(uint32_t a, uint32_t b) { return a | b << 16; }
};
// Byte b of c replaced; to nearest unless MODE says otherwise.
inline uint32_t PutU8(float a, uint32_t b, uint32_t c, Rounding rounding) {
  const uint32_t shift = 8 * (b & 3);
  return (c & ~(0xffu << shift)) | ToU8(a, rounding) << shift;
}
template <bool kAccumulate>
struct PkU8 : LaneOp<U32, F32, U32, U32> {
  static constexpr bool kAccumulates = kAccumulate;
  static uint32_t Do(float a, uint32_t b, uint32_t c) {
    return PutU8(a, b, c, kNearestEven);
  }
};
template <class O>
void RunPkU8(const Instruction& inst, Wave& wave) {
  const auto rounding = static_cast<Rounding>(wave.mode.round_f32());
  if (rounding == kNearestEven) return RunLanewise<O>(inst, wave);
  uint64_t active = wave.exec;
  const Fetched<F32> a(inst, wave, PositionOf<O>(0), 0, active);
  const Fetched<U32> b(inst, wave, PositionOf<O>(1), 1, active),
      c(inst, wave, PositionOf<O>(2), 2, active);
  alignas(64) uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    result[l] = PutU8(a[l], b[l], c[l], rounding);
  }
  FinishAndStore<U32>(inst, wave, active, false, 0, result);
}
template <class O>
Handler MakePkU8(Instruction& inst) {
  return MakeLanewise<O>(inst) != nullptr ? &RunPkU8<O> : nullptr;
}

// Pairs of float16 with a fixed rounding.
template <Rounding kRounding>
void RunPkF16(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<F32> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active);
  alignas(64) uint32_t result[kLanes], upper[kLanes];
  const Overflow overflow = HalfOverflow(wave.mode);
  for (int l = 0; l < kLanes; ++l) {
    result[l] = Encode(a[l], kF16, kRounding, overflow);
    upper[l] = Encode(b[l], kF16, kRounding, overflow);
  }
  valu::FinishFloat16(inst, wave.mode, result);
  valu::FinishFloat16(inst, wave.mode, upper);
  for (int l = 0; l < kLanes; ++l) result[l] |= upper[l] << 16;
  FinishAndStore<U32>(inst, wave, active, false, 0, result);
}
template <class O>
Handler MakePair(Instruction& inst, Handler handler) {
  return MakeLanewise<O>(inst) ? handler : nullptr;
}
template <Rounding kRounding>
Handler MakePkF16(Instruction& inst) {
  return MakePair<PkBf16>(inst, &RunPkF16<kRounding>);
}

// FP8 and BF8: nearest even; the overflow rule follows MODE.FP16_OVFL.
Overflow SmallOverflow(const Mode& mode, const FloatFormat& format) {
  if (mode.fp16_ovfl()) return Overflow::kClamp;
  return format.specials == Specials::kIeee ? Overflow::kIeee : Overflow::kNan;
}

// Two bytes into one half of the destination, the other one kept.
template <const FloatFormat& kFormat>
void RunPkSmall(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<F32> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active);
  const uint32_t above =
      Encode(std::numeric_limits<double>::infinity(), kFormat, kNearestEven,
             SmallOverflow(wave.mode, kFormat));
  alignas(64) uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    result[l] = EncodeNearest<kFormat>(a.words[l], above) |
                EncodeNearest<kFormat>(b.words[l], above) << 8;
  }
  valu::StoreHalves(wave, inst.operands[0], active, result,
                    inst.mods.op_sel >> 2 & 1, true);
}
// Sources of conversions whose op_sel has its own meaning; clamp and output
// modifier have no effect.
bool PrepareConversion(Instruction& inst, uint32_t op_sel_allowed,
                       std::initializer_list<valu::SourceFormat> formats) {
  inst.aux[0] = 0;
  const Modifiers& mods = inst.mods;
  if (inst.operands.size() != 1 + formats.size() ||
      !IsVector(inst.operands[0]) || mods.sdwa ||
      mods.dpp != DppControl::kNone || (mods.op_sel & ~op_sel_allowed)) {
    return false;
  }
  int i = 0;
  for (const valu::SourceFormat format : formats) {
    if (!valu::PrepareSource(inst, 1 + i, i, format)) return false;
    ++i;
  }
  return true;
}
template <const FloatFormat& kFormat>
Handler MakePkSmall(Instruction& inst) {
  return PrepareConversion(inst, 1 << 2, {FormatOf<F32>(), FormatOf<F32>()})
             ? &RunPkSmall<kFormat>
             : nullptr;
}

// Stochastic rounding of one value into byte op_sel[3:2]: the random bits are
// added to the mantissa, which wraps, and the sum is rounded to nearest even.
template <const FloatFormat& kFormat>
void RunSrSmall(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<F32> a(inst, wave, 1, 0, active);
  const Fetched<U32> b(inst, wave, 2, 1, active);
  const Overflow overflow = SmallOverflow(wave.mode, kFormat);
  const int shift = 8 * (inst.mods.op_sel >> 2 & 3);
  uint32_t* row = wave.vgpr[Wave::Row(inst.operands[0])];
  alignas(64) uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    uint32_t bits = a.words[l];
    if ((bits & 0x7f800000) != 0x7f800000) {
      const uint32_t random = b.words[l] >> (32 - (23 - kFormat.mantissa_bits));
      bits = (bits & 0xff800000) | ((bits + random) & 0x7fffff);
    }
    const uint32_t code =
        Encode(std::bit_cast<float>(bits), kFormat, kNearestEven, overflow);
    result[l] = (row[l] & ~(0xffu << shift)) | code << shift;
  }
  valu::StoreWords32(wave, inst.operands[0], active, result);
}
template <const FloatFormat& kFormat>
Handler MakeSrSmall(Instruction& inst) {
  return PrepareConversion(inst, 3 << 2, {FormatOf<F32>(), FormatOf<U32>()})
             ? &RunSrSmall<kFormat>
             : nullptr;
}

// Stochastic rounding to 16 bits: random bits as wide as the discarded part are
// added and the sum is cut off.
template <const FloatFormat& kFormat>
void RunSr16(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<F32> a(inst, wave, 1, 0, active);
  const Fetched<U32> b(inst, wave, 2, 1, active);
  const Overflow overflow =
      kFormat.bias == kF16.bias ? HalfOverflow(wave.mode) : Overflow::kIeee;
  alignas(64) uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    result[l] = EncodeStochastic(a[l], kFormat, b.words[l], overflow);
  }
  valu::StoreHalves(wave, inst.operands[0], active, result,
                    inst.mods.op_sel >> 2 & 1, true);
}
template <const FloatFormat& kFormat>
Handler MakeSr16(Instruction& inst) {
  return PrepareConversion(inst, 1 << 2, {FormatOf<F32>(), FormatOf<U32>()})
             ? &RunSr16<kFormat>
             : nullptr;
}

// FP8 and BF8 to float32. SDWA picks the byte (pair).
template <const FloatFormat& kFormat>
struct FromSmall : LaneOp<F32, U32> {
  static float Do(uint32_t a) {
    return static_cast<float>(Decode(a & 0xff, kFormat));
  }
};
template <const FloatFormat& kFormat>
void RunPkFromSmall(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<U32> a(inst, wave, 1, 0, active);
  alignas(64) uint64_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t low =
        std::bit_cast<uint32_t>(FromSmall<kFormat>::Do(a.words[l]));
    const uint32_t high =
        std::bit_cast<uint32_t>(FromSmall<kFormat>::Do(a.words[l] >> 8));
    result[l] = low | uint64_t{high} << 32;
  }
  valu::StoreWords64(wave, inst.operands[0], active, result);
}
template <const FloatFormat& kFormat>
Handler MakePkFromSmall(Instruction& inst) {
  inst.aux[0] = 0;
  return inst.operands.size() == 2 && IsVector(inst.operands[0]) &&
                 inst.mods.dst_sel == SdwaSelect::kDword && !inst.mods.clamp &&
                 !inst.mods.omod && !inst.mods.op_sel &&
                 valu::PrepareSource(inst, 1, 0, FormatOf<U32>())
             ? &RunPkFromSmall<kFormat>
             : nullptr;
}

}  // namespace

void AddConversions(valu::HandlerTable& table) {
  table["v_cvt_i32_f32"] = &MakeLanewise<ToSigned<I32, F32>>;
  table["v_cvt_u32_f32"] = &MakeLanewise<ToUnsigned<U32, F32>>;
  table["v_cvt_i32_f64"] = &MakeLanewise<ToSigned<I32, F64>>;
  table["v_cvt_u32_f64"] = &MakeLanewise<ToUnsigned<U32, F64>>;
  table["v_cvt_i16_f16"] = &MakeLanewise<I16FromF16>;
  table["v_cvt_u16_f16"] = &MakeLanewise<U16FromF16>;
  table["v_cvt_flr_i32_f32"] = &MakeLanewise<FloorI32>;
  table["v_cvt_rpi_i32_f32"] = &MakeLanewise<NearestUpI32>;
  table["v_cvt_f32_i32"] = &MakeLanewise<ToFloat<F32, I32>>;
  table["v_cvt_f32_u32"] = &MakeLanewise<ToFloat<F32, U32>>;
  table["v_cvt_f64_i32"] = &MakeLanewise<ToFloat<F64, I32>>;
  table["v_cvt_f64_u32"] = &MakeLanewise<ToFloat<F64, U32>>;
  table["v_cvt_f16_i16"] = &MakeLanewise<ToFloat<F16, I16>>;
  table["v_cvt_f16_u16"] = &MakeLanewise<ToFloat<F16, U16>>;
  table["v_cvt_f32_f64"] = &MakeLanewise<ToFloat<F32, F64>>;
  table["v_cvt_f64_f32"] = &MakeLanewise<ToFloat<F64, F32>>;
  table["v_cvt_f16_f32"] = &MakeLanewise<ToFloat<F16, F32>>;
  table["v_cvt_f32_f16"] = &MakeLanewise<ToFloat<F32, F16>>;
  table["v_cvt_f32_bf16"] = &MakeLanewise<FromBf16>;
  table["v_cvt_f32_ubyte0"] = &MakeLanewise<FromUbyte<0>>;
  table["v_cvt_f32_ubyte1"] = &MakeLanewise<FromUbyte<1>>;
  table["v_cvt_f32_ubyte2"] = &MakeLanewise<FromUbyte<2>>;
  table["v_cvt_f32_ubyte3"] = &MakeLanewise<FromUbyte<3>>;
  table["v_cvt_off_f32_i4"] = &MakeLanewise<FromI4>;
  table["v_cvt_norm_i16_f16"] = &MakeLanewise<NormI16>;
  table["v_cvt_norm_u16_f16"] = &MakeLanewise<NormU16>;
  table["v_cvt_pknorm_i16_f32"] = &MakeLanewise<PkSnorm<F32>>;
  table["v_cvt_pknorm_u16_f32"] = &MakeLanewise<PkUnorm<F32>>;
  table["v_cvt_pknorm_i16_f16"] = &MakeLanewise<PkSnorm<F16>>;
  table["v_cvt_pknorm_u16_f16"] = &MakeLanewise<PkUnorm<F16>>;
  table["v_cvt_pk_u8_f32"] = &MakePkU8<PkU8<false>>;
  table["v_cvt_pkaccum_u8_f32"] = &MakePkU8<PkU8<true>>;
  table["v_cvt_pk_bf16_f32"] = &MakeLanewise<PkBf16>;
  table["v_cvt_pk_f16_f32"] = &MakePkF16<kNearestEven>;
  table["v_cvt_pkrtz_f16_f32"] = &MakePkF16<kToZero>;
  table["v_pack_b32_f16"] = &MakeLanewise<PackF16>;
  table["v_cvt_pk_fp8_f32"] = &MakePkSmall<kFp8>;
  table["v_cvt_pk_bf8_f32"] = &MakePkSmall<kBf8>;
  table["v_cvt_sr_fp8_f32"] = &MakeSrSmall<kFp8>;
  table["v_cvt_sr_bf8_f32"] = &MakeSrSmall<kBf8>;
  table["v_cvt_sr_f16_f32"] = &MakeSr16<kF16>;
  table["v_cvt_sr_bf16_f32"] = &MakeSr16<kBf16>;
  table["v_cvt_f32_fp8"] = &MakeLanewise<FromSmall<kFp8>>;
  table["v_cvt_f32_bf8"] = &MakeLanewise<FromSmall<kBf8>>;
  table["v_cvt_pk_f32_fp8"] = &MakePkFromSmall<kFp8>;
  table["v_cvt_pk_f32_bf8"] = &MakePkFromSmall<kBf8>;

  for (const char* name : {"v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"}) {
    table.Approximate(name,
                      "rounding not documented: as MODE says here, as measured "
                      "on other generations");
  }
  for (const char* name : {"v_cvt_sr_f16_f32", "v_cvt_sr_bf16_f32"}) {
    table.Approximate(name,
                      "where the random bits are added is not documented: they "
                      "are a fraction of the last place here");
  }
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
