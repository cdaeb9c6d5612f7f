#ifndef ZYFA_EMU_VECTOR_INTEGER_ARITHMETIC_H_
#define ZYFA_EMU_VECTOR_INTEGER_ARITHMETIC_H_

#include <algorithm>
#include <cstdint>

#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

// Integer operations that exist for single values and for packed halves.
namespace zyfa::emu::ZYFA_VECTOR_TARGET::integer_ops {

template <class T>
constexpr int64_t kLeast =
    T::kKind == Kind::kSigned ? -(int64_t{1} << (T::kBits - 1)) : 0;
template <class T>
constexpr int64_t kMost =
    T::kKind == Kind::kSigned ? (int64_t{1} << (T::kBits - 1)) - 1
                              : (int64_t{1} << T::kBits) - 1;
template <class T>
inline typename T::Value Saturate(int64_t x) {
  return static_cast<typename T::Value>(std::clamp(x, kLeast<T>, kMost<T>));
}
// Two's complement of the low bits.
template <class T>
inline typename T::Value Wrap(int64_t x) {
  return static_cast<typename T::Value>(x);
}

// Operations given by their exact result in 64 bits; clamp saturates it.
#define ZYFA_EXACT_OP(Name, Expression, ...)              \
  template <class T>                                      \
  struct Name : LaneOp<T, __VA_ARGS__> {                  \
    static typename T::Value Do(ZYFA_PARAMETERS) {        \
      return Wrap<T>(Expression);                         \
    }                                                     \
    static typename T::Value DoClamped(ZYFA_PARAMETERS) { \
      return Saturate<T>(Expression);                     \
    }                                                     \
  };
#define ZYFA_PARAMETERS int64_t a, int64_t b
ZYFA_EXACT_OP(Add, a + b, T, T)
ZYFA_EXACT_OP(Sub, a - b, T, T)
ZYFA_EXACT_OP(SubRev, b - a, T, T)
#undef ZYFA_PARAMETERS
#define ZYFA_PARAMETERS int64_t a, int64_t b, int64_t c
ZYFA_EXACT_OP(Mad, a* b + c, T, T, T)
#undef ZYFA_PARAMETERS
#undef ZYFA_EXACT_OP
template <class T>
struct MadKeepingUpper : Mad<T> {
  static constexpr bool kKeepsUpper = true;
};

struct Lshlrev16 : LaneOp<U16, U16, U16> {
  static uint32_t Do(uint32_t a, uint32_t b) { return b << (a & 15); }
};
struct Lshrrev16 : LaneOp<U16, U16, U16> {
  static uint32_t Do(uint32_t a, uint32_t b) { return b >> (a & 15); }
};
struct Ashrrev16 : LaneOp<I16, U16, I16> {
  static int32_t Do(uint32_t a, int32_t b) { return b >> (a & 15); }
};
struct MulLo16 : LaneOp<U16, U16, U16> {
  static uint32_t Do(uint32_t a, uint32_t b) { return a * b; }
};

template <class T>
struct Max : LaneOp<T, T, T> {
  static auto Do(typename T::Value a, typename T::Value b) {
    return a > b ? a : b;
  }
};
template <class T>
struct Min : LaneOp<T, T, T> {
  static auto Do(typename T::Value a, typename T::Value b) {
    return a < b ? a : b;
  }
};
template <class T>
struct Max3 : LaneOp<T, T, T, T> {
  static auto Do(typename T::Value a, typename T::Value b,
                 typename T::Value c) {
    return Max<T>::Do(Max<T>::Do(a, b), c);
  }
};
template <class T>
struct Min3 : LaneOp<T, T, T, T> {
  static auto Do(typename T::Value a, typename T::Value b,
                 typename T::Value c) {
    return Min<T>::Do(Min<T>::Do(a, b), c);
  }
};
template <class T>
struct Med3 : LaneOp<T, T, T, T> {
  static auto Do(typename T::Value a, typename T::Value b,
                 typename T::Value c) {
    return Max<T>::Do(Min<T>::Do(a, b), Min<T>::Do(Max<T>::Do(a, b), c));
  }
};

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET::integer_ops

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_INTEGER_ARITHMETIC_H_
