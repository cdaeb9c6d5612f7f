#ifndef ZYFA_EMU_VECTOR_LANEWISE_H_
#define ZYFA_EMU_VECTOR_LANEWISE_H_

#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/lane_types.h"
#include "zyfa/emu/vector/operand_fetch.h"
#include "zyfa/emu/vector/target.h"
#include "zyfa/emu/wave.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

inline constexpr uint64_t kAllLanes = ~uint64_t{0};

// What happens when a float result is NaN.
enum class NanRule {
  kPropagate,  // the first NaN source made quiet, else the default NaN
  kSelects,    // the operation chose; in IEEE mode a signalling one of two
               // sources wins. Of three, the first two give a quiet NaN, which
               // loses against the third.
  kRaw,        // as computed
};

// An operation lane by lane: inherit, then give
//   static Dst::Value Do(Src::Value...)          the operation, RNE for
//   F32/F64;
//                                                for F16 in double, not rounded
//   static double Exact(double...)               optional, F32 results: rounded
//                                                to odd, for the other rounding
//                                                modes of MODE
//   static Dst::Value DoClamped(Src::Value...)   optional, integers with clamp
//   static bool Cancels(double...)               optional, sums: a zero result
//                                                is -0 when rounding down
//   static double DoRounding(Src::Value..., Rounding, Overflow)
//                                                instead of Do for float16
//                                                results with inner rounding
template <class D, class... S>
struct LaneOp {
  using Dst = D;
  using Sources = std::tuple<S...>;
  static constexpr int kSources = sizeof...(S);
  static constexpr int kFirst = 1;             // position of the first source
  static constexpr bool kAccumulates = false;  // last source: the destination
  static constexpr bool kKeepsUpper = false;   // of a 16-bit destination
  static constexpr NanRule kNan = NanRule::kRaw;
  // A float32 result rounded as MODE says for float64.
  static constexpr bool kRoundsAsF64 = false;
};

template <class O, int i>
using SourceOf = std::tuple_element_t<i, typename O::Sources>;

template <class O>
constexpr int PositionOf(int source) {
  return O::kAccumulates && source == O::kSources - 1 ? 0 : O::kFirst + source;
}

template <class T>
constexpr valu::SourceFormat FormatOf() {
  return {T::kBits, T::kKind, T::kFlushes};
}

// One source operand of all lanes.
template <class T>
struct Fetched {
  using Word = typename T::Word;

  Fetched(const Instruction& inst, const Wave& wave, int position, int source,
          uint64_t& active) {
    const Operand& operand = inst.operands[position];
    constexpr valu::SourceFormat format = FormatOf<T>();
    if constexpr (sizeof(Word) == 4) {
      words = valu::FetchWords32(inst, wave, operand, source, format, active,
                                 buffer);
    } else {
      words = valu::FetchWords64(inst, wave, operand, source, format, active,
                                 buffer);
    }
  }
  Fetched(const Fetched&) = delete;
  Fetched& operator=(const Fetched&) = delete;

  typename T::Value operator[](int lane) const {
    return T::FromWord(words[lane]);
  }

  const Word* words;
  alignas(64) Word buffer[kLanes];
};

inline Overflow HalfOverflow(const Mode& mode) {
  return mode.fp16_ovfl() ? Overflow::kSaturate : Overflow::kIeee;
}

inline constexpr uint64_t QuietNanWord(int bits) {
  return bits == 16 ? 0x7e00 : bits == 32 ? 0x7fc00000 : 0x7ff8000000000000;
}
inline constexpr uint64_t InfinityWord(int bits) {
  return bits == 16 ? 0x7c00 : bits == 32 ? 0x7f800000 : 0x7ff0000000000000;
}
template <class T>
inline bool IsNanWord(typename T::Word word) {
  constexpr auto magnitude =
      static_cast<typename T::Word>((uint64_t{1} << (T::kBits - 1)) - 1);
  return (word & magnitude) > InfinityWord(T::kBits);
}
template <class T>
inline bool IsSignallingWord(typename T::Word word) {
  constexpr auto quiet = static_cast<typename T::Word>(QuietNanWord(T::kBits) ^
                                                       InfinityWord(T::kBits));
  return IsNanWord<T>(word) && !(word & quiet);
}

template <class O>
using ResultWord = typename O::Dst::Word;

template <class O, class... S>
inline void ComputePlain(std::tuple<S...>*, ResultWord<O>* result,
                         const typename S::Word*... words) {
  for (int l = 0; l < kLanes; ++l) {
    result[l] = O::Dst::ToWord(O::Do(S::FromWord(words[l])...));
  }
}

template <class O, class... S>
inline void ComputeClamped(std::tuple<S...>*, ResultWord<O>* result,
                           const typename S::Word*... words) {
  for (int l = 0; l < kLanes; ++l) {
    result[l] = O::Dst::ToWord(O::DoClamped(S::FromWord(words[l])...));
  }
}

template <class O>
concept HasInnerRounding = requires { &O::DoRounding; };
template <class O>
concept HasCancels = requires { &O::Cancels; };

// -0 in the place of a zero that rounding down makes of a difference.
template <class O, class... V>
inline double SignedZero(double result, Rounding rounding, V... sources) {
  if constexpr (HasCancels<O>) {
    const bool negative = rounding == kDown && result == 0 &&
                          O::Cancels(static_cast<double>(sources)...);
    return negative ? -0.0 : result;
  }
  return result;
}

template <class O, class... S>
inline void ComputeHalf(std::tuple<S...>*, const Mode& mode,
                        ResultWord<O>* result,
                        const typename S::Word*... words) {
  const auto rounding = static_cast<Rounding>(mode.round_f16_f64());
  const Overflow overflow = HalfOverflow(mode);
  for (int l = 0; l < kLanes; ++l) {
    double value = 0;
    if constexpr (HasInnerRounding<O>) {
      value = O::DoRounding(S::FromWord(words[l])..., rounding, overflow);
    } else {
      value = O::Do(S::FromWord(words[l])...);
    }
    value = SignedZero<O>(value, rounding, S::FromWord(words[l])...);
    result[l] = Encode(value, kF16, rounding, overflow);
  }
}

template <class O, class... S>
inline void ComputeExact(std::tuple<S...>*, Rounding rounding,
                         ResultWord<O>* result,
                         const typename S::Word*... words) {
  for (int l = 0; l < kLanes; ++l) {
    const double value =
        SignedZero<O>(O::Exact(static_cast<double>(S::FromWord(words[l]))...),
                      rounding, S::FromWord(words[l])...);
    result[l] = Encode(value, kF32, rounding, Overflow::kIeee);
  }
}

// Out of line so that nothing moves across the change of the host's rounding.
template <class O, class... S>
[[gnu::noinline]] void ComputePlainApart(std::tuple<S...>* sources,
                                         ResultWord<O>* result,
                                         const typename S::Word*... words) {
  ComputePlain<O>(sources, result, words...);
}

inline int HostRounding(int rounding) {
  switch (rounding) {
    case kUp:
      return FE_UPWARD;
    case kDown:
      return FE_DOWNWARD;
    case kToZero:
      return FE_TOWARDZERO;
    default:
      return FE_TONEAREST;
  }
}

// NaN results of one lane whose sources, in order, are `words`.
template <class D, class... S>
inline typename D::Word PropagatedNan(std::tuple<S...>*,
                                      typename S::Word... words) {
  constexpr auto default_nan =
      static_cast<typename D::Word>(QuietNanWord(D::kBits));
  typename D::Word nan = default_nan;
  bool found = false;
  const auto consider = [&](auto type, auto word) {
    using T = decltype(type);
    if constexpr (T::kIsFloat && T::kBits == D::kBits) {
      if (!found && IsNanWord<T>(word)) {
        nan = word | default_nan;
        found = true;
      }
    }
  };
  (consider(S{}, words), ...);
  return nan;
}

template <class D, class... S>
inline void FixNans(std::tuple<S...>* sources, typename D::Word* result,
                    const typename S::Word*... words) {
  uint32_t any = 0;
  for (int l = 0; l < kLanes; ++l) any |= IsNanWord<D>(result[l]);
  if (!any) return;
  for (int l = 0; l < kLanes; ++l) {
    if (IsNanWord<D>(result[l])) {
      result[l] = PropagatedNan<D>(sources, words[l]...);
    }
  }
}

template <class D, class... S>
inline void QuietSignalling(std::tuple<S...>* sources, typename D::Word* result,
                            const typename S::Word*... words) {
  uint32_t any = 0;
  for (int l = 0; l < kLanes; ++l) {
    any |= (static_cast<uint32_t>(IsNanWord<S>(words[l])) | ...);
  }
  if (!any) return;
  for (int l = 0; l < kLanes; ++l) {
    const bool signalling = (IsSignallingWord<S>(words[l]) || ...);
    if (!signalling) continue;
    if constexpr (sizeof...(S) == 3) {
      const typename D::Word words_of_lane[] = {words[l]...};
      result[l] = words_of_lane[2];
      if (IsSignallingWord<D>(result[l])) {
        result[l] |= static_cast<typename D::Word>(QuietNanWord(D::kBits));
      }
      continue;
    }
    typename D::Word first = 0;
    bool found = false;
    const auto consider = [&](auto type, auto word) {
      if (!found && IsSignallingWord<decltype(type)>(word)) {
        first = word;
        found = true;
      }
    };
    (consider(S{}, words[l]), ...);
    result[l] = first | static_cast<typename D::Word>(QuietNanWord(D::kBits));
  }
  (void)sources;
}

template <class O>
concept HasExact = requires { &O::Exact; };
template <class O>
concept HasClamped = requires { &O::DoClamped; };

// The result words of all lanes, before output modifiers.
template <class O, class... W>
inline void Compute(const Instruction& inst, const Mode& mode,
                    ResultWord<O>* result, const W*... words) {
  using D = typename O::Dst;
  typename O::Sources* sources = nullptr;
  if constexpr (std::is_same_v<D, F16>) {
    ComputeHalf<O>(sources, mode, result, words...);
  } else if constexpr (std::is_same_v<D, F32> && HasExact<O>) {
    const int rounding =
        O::kRoundsAsF64 ? mode.round_f16_f64() : mode.round_f32();
    if (rounding == kNearestEven) [[likely]] {
      ComputePlain<O>(sources, result, words...);
    } else {
      ComputeExact<O>(sources, static_cast<Rounding>(rounding), result,
                      words...);
    }
  } else if constexpr (std::is_same_v<D, F64>) {
    if (mode.round_f16_f64() == kNearestEven) [[likely]] {
      ComputePlain<O>(sources, result, words...);
    } else {
      const int saved = std::fegetround();
      std::fesetround(HostRounding(mode.round_f16_f64()));
      ComputePlainApart<O>(sources, result, words...);
      std::fesetround(saved);
    }
  } else if constexpr (HasClamped<O>) {
    if (inst.mods.clamp) {
      ComputeClamped<O>(sources, result, words...);
    } else {
      ComputePlain<O>(sources, result, words...);
    }
  } else {
    ComputePlain<O>(sources, result, words...);
  }
  if constexpr (O::kNan == NanRule::kPropagate) {
    FixNans<D>(sources, result, words...);
  } else if constexpr (O::kNan == NanRule::kSelects) {
    if (mode.ieee()) QuietSignalling<D>(sources, result, words...);
  }
}

template <class D>
inline void FinishAndStore(const Instruction& inst, Wave& wave, uint64_t active,
                           bool keeps_upper, int dst_op_sel_bit,
                           typename D::Word* result) {
  const Operand& dst = inst.operands[0];
  if constexpr (D::kIsFloat && D::kFlushes) {
    if constexpr (D::kBits == 16) {
      valu::FinishFloat16(inst, wave.mode, result);
    } else if constexpr (D::kBits == 32) {
      valu::FinishFloat32(inst, wave.mode, result);
    } else {
      valu::FinishFloat64(inst, wave.mode, result);
    }
  }
  if constexpr (D::kBits == 64) {
    valu::StoreWords64(wave, dst, active, result);
  } else {
    if (inst.mods.sdwa) [[unlikely]] {
      valu::StoreSdwa(wave, dst, active, result, inst.mods);
    } else if constexpr (D::kBits == 16) {
      valu::StoreHalves(wave, dst, active, result,
                        inst.mods.op_sel >> dst_op_sel_bit & 1, keeps_upper);
    } else {
      valu::StoreWords32(wave, dst, active, result);
    }
  }
}

// The handler of a LaneOp.
template <class O>
void RunLanewise(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  alignas(64) ResultWord<O> result[kLanes];
  const Fetched<SourceOf<O, 0>> a(inst, wave, PositionOf<O>(0), 0, active);
  if constexpr (O::kSources == 1) {
    Compute<O>(inst, wave.mode, result, a.words);
  } else {
    const Fetched<SourceOf<O, 1>> b(inst, wave, PositionOf<O>(1), 1, active);
    if constexpr (O::kSources == 2) {
      Compute<O>(inst, wave.mode, result, a.words, b.words);
    } else {
      const Fetched<SourceOf<O, 2>> c(inst, wave, PositionOf<O>(2), 2, active);
      Compute<O>(inst, wave.mode, result, a.words, b.words, c.words);
    }
  }
  FinishAndStore<typename O::Dst>(inst, wave, active, O::kKeepsUpper,
                                  O::kSources, result);
}

inline bool IsVector(const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
         operand.kind == OperandKind::kAgpr;
}

template <class O, std::size_t... i>
inline bool PrepareSources(Instruction& inst, std::index_sequence<i...>) {
  return (valu::PrepareSource(inst, PositionOf<O>(i), i,
                              FormatOf<SourceOf<O, i>>()) &&
          ...);
}

template <class O, std::size_t... i>
constexpr uint32_t HalfSources(std::index_sequence<i...>) {
  return ((SourceOf<O, i>::kBits == 16 ? 1u << i : 0u) | ...);
}

// Maker of a LaneOp.
template <class O>
Handler MakeLanewise(Instruction& inst) {
  using D = typename O::Dst;
  constexpr auto sources = std::make_index_sequence<O::kSources>();
  const Modifiers& mods = inst.mods;
  inst.aux[0] = 0;
  constexpr std::size_t operands =
      O::kFirst + O::kSources - (O::kAccumulates ? 1 : 0);
  if (inst.operands.size() != operands || !IsVector(inst.operands[0]) ||
      !PrepareSources<O>(inst, sources)) {
    return nullptr;
  }
  constexpr uint32_t selectable =
      HalfSources<O>(sources) | (D::kBits == 16 ? 1u << O::kSources : 0u);
  if (mods.op_sel & ~selectable) return nullptr;
  if (mods.has_op_sel_hi || mods.neg_lo || mods.neg_hi) return nullptr;
  if (mods.sdwa && D::kBits == 64) return nullptr;
  constexpr bool is_float = D::kIsFloat && D::kFlushes;
  if (mods.omod && !is_float) return nullptr;
  if (mods.clamp && !is_float && !HasClamped<O>) return nullptr;
  if (is_float && (mods.omod || mods.clamp)) {
    inst.aux[0] |= valu::kResultScaled;
  }
  return &RunLanewise<O>;
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_LANEWISE_H_
