#ifndef ZYFA_NUMERICS_ELEMENTARY_H_
#define ZYFA_NUMERICS_ELEMENTARY_H_

#include <bit>
#include <cstdint>

namespace zyfa::numerics {

// Elementary functions that give the same bits with every compiler and C
// library: power series in IEEE double additions, multiplications and
// divisions, in the default rounding mode. Compile their users with
// -ffp-contract=off. Errors are a few units of the last place; this is tested
// against libm.

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kTwoPi = 0x1.921fb54442d18p+2;

namespace elementary_internal {

// Adding and subtracting this rounds a double below 2^51 to an integer.
inline constexpr double kRounder = 0x1.8p52;

constexpr double PowerOfTwo(int64_t exponent) {  // -1022 <= exponent <= 1023
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace elementary_internal

// 2^x. 0 for x <= -1075, +Inf for x >= 1024, NaN for NaN.
constexpr double Exp2(double x) {
  using elementary_internal::kRounder;
  using elementary_internal::PowerOfTwo;
  if (!(x > -1076.0)) return x <= -1076.0 ? 0.0 : x;
  if (x >= 1024.0) return PowerOfTwo(1023) * 2;
  const double whole = (x + kRounder) - kRounder;
  const double y = (x - whole) * kLn2;  // |y| <= 0.347
  // Taylor series of e^y; the first term left out is below 1e-17.
  double sum = 1.0 / 87178291200.0;  // 1/14!
  sum = sum * y + 1.0 / 6227020800.0;
  sum = sum * y + 1.0 / 479001600.0;
  sum = sum * y + 1.0 / 39916800.0;
  sum = sum * y + 1.0 / 3628800.0;
  sum = sum * y + 1.0 / 362880.0;
  sum = sum * y + 1.0 / 40320.0;
  sum = sum * y + 1.0 / 5040.0;
  sum = sum * y + 1.0 / 720.0;
  sum = sum * y + 1.0 / 120.0;
  sum = sum * y + 1.0 / 24.0;
  sum = sum * y + 1.0 / 6.0;
  sum = sum * y + 0.5;
  sum = sum * y + 1.0;
  sum = sum * y + 1.0;
  // Two factors, since 2^whole alone need not be a normal number.
  const int64_t exponent = static_cast<int64_t>(whole);
  const int64_t half = exponent / 2;
  return sum * PowerOfTwo(half) * PowerOfTwo(exponent - half);
}

// Natural logarithm of a positive normal number.
constexpr double Log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull) |
                                   0x3FF0000000000000ull);
  if (m > 0x1.6a09e667f3bcdp+0) {  // sqrt(2)
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(s), |s| <= 0.172; the first term left out is below 1e-18.
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double sum = 1.0 / 21.0;
  for (int k = 19; k >= 3; k -= 2) sum = sum * s2 + 1.0 / k;
  return static_cast<double>(exponent) * kLn2 + (2.0 * s + 2.0 * s * s2 * sum);
}

struct SinCos {
  double sin;
  double cos;
};

// Sine and cosine of 2 pi `turns`, |turns| < 2^49: the reduction is exact,
// which it could not be for an angle in radians.
constexpr SinCos SinCosOfTurns(double turns) {
  using elementary_internal::kRounder;
  const double quarters = (4.0 * turns + kRounder) - kRounder;
  const double y = (turns - 0.25 * quarters) * kTwoPi;  // |y| <= pi/4
  const double y2 = y * y;
  // Taylor series; the first terms left out are below 1e-18.
  double sin = 1.0 / 355687428096000.0;  // 1/17!
  sin = sin * y2 - 1.0 / 1307674368000.0;
  sin = sin * y2 + 1.0 / 6227020800.0;
  sin = sin * y2 - 1.0 / 39916800.0;
  sin = sin * y2 + 1.0 / 362880.0;
  sin = sin * y2 - 1.0 / 5040.0;
  sin = sin * y2 + 1.0 / 120.0;
  sin = sin * y2 - 1.0 / 6.0;
  sin = sin * y2 * y + y;
  double cos = -1.0 / 6402373705728000.0;  // 1/18!
  cos = cos * y2 + 1.0 / 20922789888000.0;
  cos = cos * y2 - 1.0 / 87178291200.0;
  cos = cos * y2 + 1.0 / 479001600.0;
  cos = cos * y2 - 1.0 / 3628800.0;
  cos = cos * y2 + 1.0 / 40320.0;
  cos = cos * y2 - 1.0 / 720.0;
  cos = cos * y2 + 1.0 / 24.0;
  cos = cos * y2 - 0.5;
  cos = cos * y2 + 1.0;
  switch (static_cast<uint64_t>(static_cast<int64_t>(quarters)) & 3) {
    case 0:
      return {sin, cos};
    case 1:
      return {cos, -sin};
    case 2:
      return {-sin, -cos};
    default:
      return {-cos, sin};
  }
}

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_ELEMENTARY_H_
