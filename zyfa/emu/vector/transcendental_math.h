#ifndef ZYFA_EMU_VECTOR_TRANSCENDENTAL_MATH_H_
#define ZYFA_EMU_VECTOR_TRANSCENDENTAL_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "zyfa/emu/vector/float_format.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

// 2^f for |f| <= 1/2: Taylor series of exp(f ln 2), cut after the 12th power
// (relative error below 1e-15).
inline double Exp2Fraction(double f) {
  const double t = f * 0x1.62e42fefa39efp-1;  // ln 2
  double sum = 1.0 / 479001600;
  sum = sum * t + 1.0 / 39916800;
  sum = sum * t + 1.0 / 3628800;
  sum = sum * t + 1.0 / 362880;
  sum = sum * t + 1.0 / 40320;
  sum = sum * t + 1.0 / 5040;
  sum = sum * t + 1.0 / 720;
  sum = sum * t + 1.0 / 120;
  sum = sum * t + 1.0 / 24;
  sum = sum * t + 1.0 / 6;
  sum = sum * t + 0.5;
  sum = sum * t + 1;
  return sum * t + 1;
}

// 2^x; results below the smallest normal number are 0.
inline float Exp2(float x) {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the sum.
  constexpr float kShift = 0x1.8p23f;
  const float low = x > -150.0f ? x : -150.0f;
  const float clamped = low < 129.0f ? low : 129.0f;
  const float shifted = clamped + kShift;
  const int32_t whole =
      std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kShift);
  const float part = clamped - (shifted - kShift);
  const float fraction = static_cast<float>(Exp2Fraction(part));
  // Wraps for the results that are replaced below.
  const uint32_t bits =
      std::bit_cast<uint32_t>(fraction) + (static_cast<uint32_t>(whole) << 23);
  const float scaled = std::bit_cast<float>(bits);
  const float finite = x >= -126.0f ? scaled : 0.0f;
  const float result =
      x >= 128.0f ? std::numeric_limits<float>::infinity() : finite;
  return x != x ? x : result;
}

// For float16 arguments: no flush, but the sequence of doubles reaches far
// enough.
inline double Exp2(double x) {
  if (x != x) return x;
  if (x == std::numeric_limits<double>::infinity()) return x;
  if (x > 1000) return 0x1p1000;  // beyond float16, but not an infinity
  if (x < -1000) return 0;
  const double whole = std::floor(x + 0.5);
  return Exp2Fraction(x - whole) * PowerOfTwo(static_cast<int>(whole));
}

// log2 of a normal positive double: exponent plus the series of
// log((1+s)/(1-s)) with s = (m-1)/(m+1) for a mantissa m in [sqrt(1/2),
// sqrt(2)).
inline double Log2Normal(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const uint64_t offset = bits - kRootHalf;
  // Arithmetic shift by hand: 64-bit ones do not vectorise before AVX-512.
  const int32_t high = static_cast<int32_t>(offset >> 32);
  const int32_t exponent = high >> 20;
  const uint64_t mantissa =
      bits -
      (static_cast<uint64_t>(static_cast<uint32_t>(exponent) << 20) << 32);
  const double m = std::bit_cast<double>(mantissa);
  const double s = (m - 1) / (m + 1);
  const double q = s * s;
  double sum = 1.0 / 21;
  sum = sum * q + 1.0 / 19;
  sum = sum * q + 1.0 / 17;
  sum = sum * q + 1.0 / 15;
  sum = sum * q + 1.0 / 13;
  sum = sum * q + 1.0 / 11;
  sum = sum * q + 1.0 / 9;
  sum = sum * q + 1.0 / 7;
  sum = sum * q + 1.0 / 5;
  sum = sum * q + 1.0 / 3;
  sum = sum * q + 1;
  return s * sum * 0x1.71547652b82fep+1 + exponent;  // 2 / ln 2
}

template <class V>
inline V Log2(V x) {
  constexpr V infinity = std::numeric_limits<V>::infinity();
  const V finite = static_cast<V>(Log2Normal(static_cast<double>(x)));
  const V positive = x == infinity ? infinity : finite;
  const V result = x > 0    ? positive
                   : x == 0 ? -infinity
                            : std::numeric_limits<V>::quiet_NaN();
  return x != x ? x : result;
}

template <class V>
inline V InverseSqrt(V x) {
  return static_cast<V>(1 / std::sqrt(static_cast<double>(x)));
}

// sin and cos of the angle 2 pi t for |t| <= 1/8, by Taylor series.
inline double SinSmall(double t) {
  const double a = t * 0x1.921fb54442d18p+2;  // 2 pi
  const double q = a * a;
  double sum = 1.0 / 6227020800;
  sum = sum * q - 1.0 / 39916800;
  sum = sum * q + 1.0 / 362880;
  sum = sum * q - 1.0 / 5040;
  sum = sum * q + 1.0 / 120;
  sum = sum * q - 1.0 / 6;
  return a + a * q * sum;
}
inline double CosSmall(double t) {
  const double a = t * 0x1.921fb54442d18p+2;
  const double q = a * a;
  double sum = 1.0 / 87178291200;
  sum = sum * q - 1.0 / 479001600;
  sum = sum * q + 1.0 / 3628800;
  sum = sum * q - 1.0 / 40320;
  sum = sum * q + 1.0 / 720;
  sum = sum * q - 1.0 / 24;
  sum = sum * q + 0.5;
  return 1 - q * sum;
}

// sin(2 pi t) moved on by `quarters` right angles; |t| is reduced exactly.
inline double CircleTurns(double t, int quarters) {
  const double reduced = t - std::floor(t + 0.5);  // -1/2 .. 1/2
  const double quarter = std::floor(reduced * 4 + 0.5);
  const double rest = reduced - quarter * 0.25;
  const int quadrant = (static_cast<int>(quarter) + quarters) & 3;
  const double value = quadrant & 1 ? CosSmall(rest) : SinSmall(rest);
  return quadrant & 2 ? -value : value;
}

// Arguments in turns. Beyond 256 turns the hardware gives sin 0 and cos 1.
template <class V>
inline V SinTurns(V x) {
  if (!std::isfinite(x)) return std::numeric_limits<V>::quiet_NaN();
  if (std::fabs(x) > 256) return 0;
  return x == 0 ? x : static_cast<V>(CircleTurns(x, 0));
}
template <class V>
inline V CosTurns(V x) {
  if (!std::isfinite(x)) return std::numeric_limits<V>::quiet_NaN();
  return std::fabs(x) > 256 ? 1 : static_cast<V>(CircleTurns(x, 1));
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_TRANSCENDENTAL_MATH_H_
