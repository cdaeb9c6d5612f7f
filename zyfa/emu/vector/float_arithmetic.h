#ifndef ZYFA_EMU_VECTOR_FLOAT_ARITHMETIC_H_
#define ZYFA_EMU_VECTOR_FLOAT_ARITHMETIC_H_

#include <cmath>
#include <type_traits>

#include "zyfa/emu/vector/float_select.h"
#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

// Float operations that exist for single values and for packed halves.
namespace zyfa::emu::ZYFA_VECTOR_TARGET::float_ops {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, F16>;

template <class D, class... S>
struct Arithmetic : LaneOp<D, S...> {
  static constexpr NanRule kNan = NanRule::kPropagate;
};
template <class D, class... S>
struct Selection : LaneOp<D, S...> {
  static constexpr NanRule kNan = NanRule::kSelects;
};

template <class T>
struct Add : Arithmetic<T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b) {
    if constexpr (kIsHalf<T>) return AddToOdd(a, b);
    return a + b;
  }
  static double Exact(double a, double b) { return AddToOdd(a, b); }
  static bool Cancels(double a, double b) {
    return std::signbit(a) || std::signbit(b);
  }
};
template <class T>
struct Sub : Arithmetic<T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b) { return Add<T>::Do(a, -b); }
  static double Exact(double a, double b) { return AddToOdd(a, -b); }
  static bool Cancels(double a, double b) { return Add<T>::Cancels(a, -b); }
};
template <class T>
struct SubRev : Arithmetic<T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b) { return Add<T>::Do(b, -a); }
  static double Exact(double a, double b) { return AddToOdd(b, -a); }
  static bool Cancels(double a, double b) { return Add<T>::Cancels(b, -a); }
};
template <class T>
struct Mul : Arithmetic<T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b) { return a * b; }
  static double Exact(double a, double b) { return a * b; }
};
// 0 times anything is 0.
struct MulLegacy : Arithmetic<F32, F32, F32> {
  static float Do(float a, float b) { return a == 0 || b == 0 ? 0 : a * b; }
  static double Exact(double a, double b) {
    return a == 0 || b == 0 ? 0 : a * b;
  }
};
template <class T>
struct Fma : Arithmetic<T, T, T, T> {
  using V = typename T::Value;
  static constexpr bool kKeepsUpper = true;
  static V Do(V a, V b, V c) {
    if constexpr (kIsHalf<T>) return AddToOdd(a * b, c);
    return std::fma(a, b, c);
  }
  static double Exact(double a, double b, double c) {
    return AddToOdd(a * b, c);
  }
  static bool Cancels(double a, double b, double c) {
    return std::signbit(a * b) || std::signbit(c);
  }
};
struct FmaLegacyF16 : Fma<F16> {
  static constexpr bool kKeepsUpper = false;
};
template <class T>
struct Fmac : Fma<T> {
  static constexpr bool kAccumulates = true;
};
// Product and sum rounded one after the other.
struct MadF16 : Arithmetic<F16, F16, F16, F16> {
  static constexpr bool kKeepsUpper = true;
  static double DoRounding(double a, double b, double c, Rounding rounding,
                           Overflow overflow) {
    const double product =
        Decode(Encode(a * b, kF16, rounding, overflow), kF16);
    return AddToOdd(product, c);
  }
  static bool Cancels(double a, double b, double c) {
    return Fma<F16>::Cancels(a, b, c);
  }
};
struct MadLegacyF16 : MadF16 {
  static constexpr bool kKeepsUpper = false;
};
struct MacF16 : MadLegacyF16 {
  static constexpr bool kAccumulates = true;
};

template <class T>
struct Max : Selection<T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b) { return MaxNumber(a, b); }
};
template <class T>
struct Min : Selection<T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b) { return MinNumber(a, b); }
};
template <class T>
struct Max3 : Selection<T, T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b, V c) { return MaxNumber(MaxNumber(a, b), c); }
};
template <class T>
struct Min3 : Selection<T, T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b, V c) { return MinNumber(MinNumber(a, b), c); }
};
template <class T>
struct Med3 : Selection<T, T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b, V c) { return MedianNumber(a, b, c); }
};
template <class T>
struct Maximum3 : Arithmetic<T, T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b, V c) { return Maximum(Maximum(a, b), c); }
};
template <class T>
struct Minimum3 : Arithmetic<T, T, T, T> {
  using V = typename T::Value;
  static V Do(V a, V b, V c) { return Minimum(Minimum(a, b), c); }
};

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET::float_ops

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_FLOAT_ARITHMETIC_H_
