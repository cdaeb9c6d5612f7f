// v_cvt_scalef32_*: conversions with a block scale.
//
// The scale is the exponent field of a float32, a power of two; its mantissa
// and sign are ignored. Narrowing divides by it, widening multiplies.

#include <array>
#include <limits>
#include <string>

#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

// 2^(exponent field - 127); the field 255 stands for NaN.
inline double Scale(uint32_t word) {
  const int field = static_cast<int>(word >> 23 & 0xff);
  return field == 255 ? std::numeric_limits<double>::quiet_NaN()
                      : PowerOfTwo(field - 127);
}
inline double InverseScale(uint32_t word) { return 1 / Scale(word); }

// A NaN value keeps its sign whatever the order in which the host multiplies.
inline double Scaled(double value, double factor) {
  const double product = value * factor;
  if (product == product) return product;
  return value != value ? value : std::numeric_limits<double>::quiet_NaN();
}

// FP8 and BF8 follow MODE.FP16_OVFL, FP6 and FP4 always saturate.
inline Overflow NarrowOverflow(const Mode& mode, const FloatFormat& format) {
  if (format.specials == Specials::kNone || mode.fp16_ovfl()) {
    return Overflow::kClamp;
  }
  return format.specials == Specials::kIeee ? Overflow::kIeee : Overflow::kNan;
}
inline Overflow WideOverflow(const Mode& mode, const FloatFormat& format) {
  return format.exponent_bits == kF16.exponent_bits ? HalfOverflow(mode)
                                                    : Overflow::kIeee;
}

inline uint32_t NextRandom(uint32_t x) {
  return x << 1 ^ (x >> 31 ? 197u : 0u);
}

// Codes of one lane, packed from the lowest bit on.
template <int kWords>
struct Packed {
  std::array<uint32_t, kWords> words{};

  uint32_t Get(int index, int bits) const {
    const int bit = index * bits, word = bit / 32, shift = bit % 32;
    uint64_t pair = words[word];
    if (word + 1 < kWords) pair |= uint64_t{words[word + 1]} << 32;
    return static_cast<uint32_t>(pair >> shift & ((uint64_t{1} << bits) - 1));
  }
  void Set(int index, int bits, uint32_t code) {  // over zeros
    const int bit = index * bits, word = bit / 32, shift = bit % 32;
    const uint64_t pair = uint64_t{code} << shift;
    words[word] |= static_cast<uint32_t>(pair);
    if (word + 1 < kWords) words[word + 1] |= static_cast<uint32_t>(pair >> 32);
  }
};

template <int kWords>
Packed<kWords> ReadLane(const Wave& wave, const Operand& operand, int lane) {
  Packed<kWords> packed;
  for (int w = 0; w < kWords; ++w) {
    packed.words[w] = wave.vgpr[Wave::Row(operand) + w][lane];
  }
  return packed;
}

// A source dword of one lane that may be a scalar or a constant.
uint32_t ReadDword(const Wave& wave, const Operand& operand, int lane) {
  switch (operand.kind) {
    case OperandKind::kVgpr:
    case OperandKind::kAgpr:
      return wave.vgpr[Wave::Row(operand)][lane];
    case OperandKind::kScalar:
      return wave.ReadScalar32(operand.index);
    default:
      return static_cast<uint32_t>(operand.integer);
  }
}

// Modifiers of a float32 or 16-bit source and the denormals that MODE flushes.
double ReadFloat(uint32_t code, const FloatFormat& format,
                 const Operand& operand, const Mode& mode) {
  const bool flush = format.bits() == 32 ? !mode.denorm_in_f32()
                     : format.exponent_bits == kF16.exponent_bits
                         ? !mode.denorm_in_f16_f64()
                         : false;
  const uint32_t sign = format.sign_bit();
  if (flush && !(code & format.infinity())) code &= sign;
  if (operand.absolute) code &= sign - 1;
  if (operand.negate) code ^= sign;
  return Decode(code, format);
}

constexpr int WordsOf(int count, const FloatFormat& format) {
  return (count * format.bits() + 31) / 32;
}

// Narrowing of kCount values. Sources: the values (one operand, or two float32
// operands for pairs; 2 x 16 values interleaved for kCount 32), random bits if
// stochastic, scale. Fewer than 32 result bits replace the part of the
// destination that op_sel names.
enum class Sources { kTuple, kTwo };
template <const FloatFormat& kFrom, const FloatFormat& kTo, int kCount,
          Sources kSources, bool kStochastic>
struct Narrow {
  static constexpr int kValueOperands = kSources == Sources::kTwo ? 2 : 1;
  static constexpr int kOperands = 1 + kValueOperands + kStochastic + 1;
  static constexpr int kResultBits = kCount * kTo.bits();
  static constexpr int kResultWords = WordsOf(kCount, kTo);
  static constexpr int kPerOperand = kCount / kValueOperands;
  static constexpr int kSourceWords = WordsOf(kPerOperand, kFrom);
  // A single 16-bit value may stand in the upper half.
  static constexpr bool kHalfSource = kCount == 1 && kFrom.bits() == 16;
  // op_sel: the last entries name a word or byte of the destination.
  static constexpr int kByteEntry = 2;
  static constexpr int kWordEntry = kOperands - 1;

  static void Run(const Instruction& inst, Wave& wave) {
    const Mode& mode = wave.mode;
    const Overflow overflow = NarrowOverflow(mode, kTo);
    const Operand& dst = inst.operands[0];
    Packed<kResultWords> results[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const double factor =
          InverseScale(ReadDword(wave, inst.operands[kOperands - 1], l));
      uint32_t random =
          kStochastic ? ReadDword(wave, inst.operands[1 + kValueOperands], l)
                      : 0;
      for (int i = 0; i < kCount; ++i) {
        const Operand& operand = inst.operands[1 + i % kValueOperands];
        uint32_t code = 0;
        if constexpr (kSourceWords == 1) {
          const uint32_t word = ReadDword(wave, operand, l);
          const int index = kHalfSource ? inst.mods.op_sel & 1 : i;
          code = kFrom.bits() == 32 ? word : word >> (16 * index) & 0xffff;
        } else {
          code = ReadLane<kSourceWords>(wave, operand, l)
                     .Get(i / kValueOperands, kFrom.bits());
        }
        const double value =
            Scaled(ReadFloat(code, kFrom, operand, mode), factor);
        uint32_t result = 0;
        if constexpr (kStochastic) {
          result = EncodeStochastic(value, kTo, random, overflow);
          random = NextRandom(random);
        } else {
          result = Encode(value, kTo, kNearestEven, overflow);
        }
        results[l].Set(i, kTo.bits(), result);
      }
    }
    int shift = 0;
    if (kResultBits == 16) shift = 16 * (inst.mods.op_sel >> kWordEntry & 1);
    if (kResultBits == 8) shift = 8 * (inst.mods.op_sel >> kByteEntry & 3);
    constexpr uint32_t ones =
        kResultBits < 32 ? (1u << (kResultBits % 32)) - 1 : ~0u;
    for (int w = 0; w < kResultWords; ++w) {
      uint32_t* row = wave.vgpr[Wave::Row(dst) + w];
      for (int l = 0; l < kLanes; ++l) {
        if (!(wave.exec >> l & 1)) continue;
        row[l] = (row[l] & ~(ones << shift)) | results[l].words[w] << shift;
      }
    }
  }

  static Handler Make(Instruction& inst) {
    inst.aux[0] = 0;
    const Modifiers& mods = inst.mods;
    if (inst.operands.size() != kOperands || !IsVector(inst.operands[0]) ||
        mods.sdwa || mods.dpp != DppControl::kNone || mods.omod) {
      return nullptr;
    }
    uint32_t op_sel = kHalfSource ? 1 : 0;
    if (kResultBits == 16) op_sel |= 1u << kWordEntry;
    if (kResultBits == 8) op_sel |= 3u << kByteEntry;
    if (mods.op_sel & ~op_sel) return nullptr;
    for (int i = 1; i < kOperands; ++i) {
      const bool value = i <= kValueOperands;
      const valu::SourceFormat format{
          static_cast<uint8_t>(value && kFrom.bits() == 16 ? 16 : 32),
          Kind::kFloat, false};
      const uint8_t saved = inst.mods.op_sel;
      inst.mods.op_sel = 0;
      const bool prepared = valu::PrepareSource(inst, i, i - 1, format);
      inst.mods.op_sel = saved;
      if (!prepared) return nullptr;
      if (value && kSourceWords > 1 && !IsVector(inst.operands[i])) {
        return nullptr;
      }
    }
    return &Run;
  }
};

// Widening of kCount values of one operand, of which op_sel picks a byte or
// word if they fill less than a dword. Sources: values, scale.
template <const FloatFormat& kFrom, const FloatFormat& kTo, int kCount>
struct Widen {
  static constexpr int kSourceBits = kCount * kFrom.bits();
  static constexpr int kSourceWords = WordsOf(kCount, kFrom);
  static constexpr int kResultWords = WordsOf(kCount, kTo);
  // A single 16-bit result goes to the half that op_sel[2] names.
  static constexpr bool kHalfResult = kCount == 1 && kTo.bits() == 16;

  static void Run(const Instruction& inst, Wave& wave) {
    const uint32_t op_sel = inst.mods.op_sel;
    const Overflow overflow = WideOverflow(wave.mode, kTo);
    Packed<kResultWords> results[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const double factor = Scale(ReadDword(wave, inst.operands[2], l));
      Packed<kSourceWords> source;
      if constexpr (kSourceWords == 1) {
        uint32_t word = ReadDword(wave, inst.operands[1], l);
        if (kSourceBits == 16) word >>= 16 * (op_sel & 1);
        if (kSourceBits == 8) word >>= 8 * (op_sel & 3);
        source.words[0] = word;
      } else {
        source = ReadLane<kSourceWords>(wave, inst.operands[1], l);
      }
      for (int i = 0; i < kCount; ++i) {
        const double value =
            Scaled(Decode(source.Get(i, kFrom.bits()), kFrom), factor);
        results[l].Set(i, kTo.bits(),
                       Encode(value, kTo, kNearestEven, overflow));
      }
    }
    const int shift = kHalfResult && (op_sel >> 2 & 1) ? 16 : 0;
    const uint32_t keep = kHalfResult ? 0xffff0000u >> shift : 0;
    for (int w = 0; w < kResultWords; ++w) {
      uint32_t* row = wave.vgpr[Wave::Row(inst.operands[0]) + w];
      for (int l = 0; l < kLanes; ++l) {
        if (!(wave.exec >> l & 1)) continue;
        row[l] = (row[l] & keep) | results[l].words[w] << shift;
      }
    }
  }

  static Handler Make(Instruction& inst) {
    inst.aux[0] = 0;
    const Modifiers& mods = inst.mods;
    uint32_t op_sel = 0;
    if (kSourceBits == 16) op_sel |= 1;
    if (kSourceBits == 8) op_sel |= 3;
    if (kHalfResult) op_sel |= 4;
    if (inst.operands.size() != 3 || !IsVector(inst.operands[0]) || mods.sdwa ||
        mods.dpp != DppControl::kNone || mods.omod || mods.clamp ||
        (mods.op_sel & ~op_sel) ||
        !valu::PrepareSource(inst, 1, 0, FormatOf<U32>()) ||
        !valu::PrepareSource(inst, 2, 1, FormatOf<R32>()) ||
        (kSourceWords > 1 && !IsVector(inst.operands[1]))) {
      return nullptr;
    }
    return &Run;
  }
};

const std::string kPrefix = "v_cvt_scalef32_";

// FP8 or BF8 from and to one wide format.
template <const FloatFormat& kSmall, const FloatFormat& kWide>
void AddBytes(valu::HandlerTable& table, const std::string& small,
              const std::string& wide) {
  constexpr Sources pair = kWide.bits() == 32 ? Sources::kTwo : Sources::kTuple;
  table[kPrefix + "pk_" + small + "_" + wide] =
      &Narrow<kWide, kSmall, 2, pair, false>::Make;
  table[kPrefix + "sr_" + small + "_" + wide] =
      &Narrow<kWide, kSmall, 1, Sources::kTuple, true>::Make;
  table[kPrefix + "pk_" + wide + "_" + small] = &Widen<kSmall, kWide, 2>::Make;
  if constexpr (kWide.mantissa_bits != kBf16.mantissa_bits) {
    table[kPrefix + wide + "_" + small] = &Widen<kSmall, kWide, 1>::Make;
  }
}

template <const FloatFormat& kWide>
void AddFp4(valu::HandlerTable& table, const std::string& wide) {
  constexpr Sources pair = kWide.bits() == 32 ? Sources::kTwo : Sources::kTuple;
  table[kPrefix + "pk_fp4_" + wide] =
      &Narrow<kWide, kFp4, 2, pair, false>::Make;
  table[kPrefix + "sr_pk_fp4_" + wide] =
      &Narrow<kWide, kFp4, 2, Sources::kTuple, true>::Make;
  table[kPrefix + "pk_" + wide + "_fp4"] = &Widen<kFp4, kWide, 2>::Make;
}

// FP6 or BF6, 32 values at once.
template <const FloatFormat& kSmall, const FloatFormat& kWide>
void AddSixBits(valu::HandlerTable& table, const std::string& small,
                const std::string& wide) {
  if constexpr (kWide.bits() == 32) {
    table[kPrefix + "2xpk16_" + small + "_" + wide] =
        &Narrow<kWide, kSmall, 32, Sources::kTwo, false>::Make;
  } else {
    table[kPrefix + "pk32_" + small + "_" + wide] =
        &Narrow<kWide, kSmall, 32, Sources::kTuple, false>::Make;
  }
  table[kPrefix + "sr_pk32_" + small + "_" + wide] =
      &Narrow<kWide, kSmall, 32, Sources::kTuple, true>::Make;
  table[kPrefix + "pk32_" + wide + "_" + small] =
      &Widen<kSmall, kWide, 32>::Make;
}

template <const FloatFormat& kWide>
void AddWide(valu::HandlerTable& table, const std::string& wide) {
  AddBytes<kFp8, kWide>(table, "fp8", wide);
  AddBytes<kBf8, kWide>(table, "bf8", wide);
  AddFp4<kWide>(table, wide);
  AddSixBits<kFp6, kWide>(table, "fp6", wide);
  AddSixBits<kBf6, kWide>(table, "bf6", wide);
}

}  // namespace

void AddScaledConversions(valu::HandlerTable& table) {
  AddWide<kF32>(table, "f32");
  AddWide<kF16>(table, "f16");
  AddWide<kBf16>(table, "bf16");

  table.ApproximateAll(
      [](const std::string& name) {
        return name.find("_sr_") != std::string::npos;
      },
      "where the random bits are added is not documented: they are a fraction "
      "of the last place here");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
