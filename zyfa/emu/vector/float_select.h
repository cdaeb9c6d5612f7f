#ifndef ZYFA_EMU_VECTOR_FLOAT_SELECT_H_
#define ZYFA_EMU_VECTOR_FLOAT_SELECT_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

// Integer that orders floats, -0 below +0.
template <class V>
inline auto OrderKey(V x) {
  using Int = std::conditional_t<sizeof(V) == 4, int32_t, int64_t>;
  const Int bits = std::bit_cast<Int>(x);
  constexpr Int magnitude =
      static_cast<Int>(~std::make_unsigned_t<Int>{0} >> 1);
  return bits ^ ((bits >> (8 * sizeof(Int) - 1)) & magnitude);
}

// v_max_* and v_min_*: a NaN loses against a number.
template <class V>
inline V MaxNumber(V a, V b) {
  const V larger = OrderKey(a) >= OrderKey(b) ? a : b;
  return a != a ? b : b != b ? a : larger;
}
template <class V>
inline V MinNumber(V a, V b) {
  const V smaller = OrderKey(a) < OrderKey(b) ? a : b;
  return a != a ? b : b != b ? a : smaller;
}
template <class V>
inline V MedianNumber(V a, V b, V c) {
  const V least = MinNumber(MinNumber(a, b), c);
  const V most = MaxNumber(MaxNumber(a, b), c);
  const V median = most == a   ? MaxNumber(b, c)
                   : most == b ? MaxNumber(a, c)
                               : MaxNumber(a, b);
  return a != a || b != b || c != c ? least : median;
}

// v_maximum3_* and v_minimum3_*: a NaN wins.
template <class V>
inline V Maximum(V a, V b) {
  const V larger = OrderKey(a) >= OrderKey(b) ? a : b;
  return a != a ? a : b != b ? b : larger;
}
template <class V>
inline V Minimum(V a, V b) {
  const V smaller = OrderKey(a) < OrderKey(b) ? a : b;
  return a != a ? a : b != b ? b : smaller;
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_FLOAT_SELECT_H_
