#ifndef ZYFA_EMU_VECTOR_FLOAT_FORMAT_H_
#define ZYFA_EMU_VECTOR_FLOAT_FORMAT_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

// Rounding as MODE encodes it.
enum Rounding { kNearestEven = 0, kUp = 1, kDown = 2, kToZero = 3 };

// What the top of a format's code space stands for.
enum class Specials {
  kIeee,     // exponent all ones: Inf and NaN
  kNanOnly,  // only all ones is NaN (OCP E4M3)
  kNone,     // every code is a number (OCP FP6, FP4)
};

// A sign-magnitude binary float of at most 32 bits.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr uint32_t sign_bit() const { return 1u << (bits() - 1); }
  constexpr uint32_t infinity() const {  // kIeee only
    return ((1u << exponent_bits) - 1) << mantissa_bits;
  }
  constexpr uint32_t max_finite() const {
    if (specials == Specials::kIeee) return infinity() - 1;
    return sign_bit() - (specials == Specials::kNanOnly ? 2 : 1);
  }
  constexpr uint32_t quiet_nan() const {  // not kNone
    return specials == Specials::kIeee ? infinity() | 1u << (mantissa_bits - 1)
                                       : sign_bit() - 1;
  }
  // For a magnitude without sign bit.
  constexpr bool IsNan(uint32_t magnitude) const {
    if (specials == Specials::kIeee) return magnitude > infinity();
    return specials == Specials::kNanOnly && magnitude == sign_bit() - 1;
  }
};

inline constexpr FloatFormat kF32{8, 23, 127, Specials::kIeee};
inline constexpr FloatFormat kF16{5, 10, 15, Specials::kIeee};
inline constexpr FloatFormat kBf16{8, 7, 127, Specials::kIeee};
inline constexpr FloatFormat kFp8{4, 3, 7, Specials::kNanOnly};  // E4M3
inline constexpr FloatFormat kBf8{5, 2, 15, Specials::kIeee};    // E5M2
inline constexpr FloatFormat kFp6{2, 3, 1, Specials::kNone};     // E2M3
inline constexpr FloatFormat kBf6{3, 2, 3, Specials::kNone};     // E3M2
inline constexpr FloatFormat kFp4{2, 1, 1, Specials::kNone};     // E2M1

// 2^exponent for -1022 <= exponent <= 1023.
constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// The exact value of a code.
constexpr double Decode(uint32_t code, const FloatFormat& format) {
  const uint32_t magnitude = code & (format.sign_bit() - 1);
  double value = 0;
  if (format.IsNan(magnitude)) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (format.specials == Specials::kIeee &&
             magnitude == format.infinity()) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    const uint32_t fraction = magnitude & ((1u << format.mantissa_bits) - 1);
    const uint32_t whole =
        exponent == 0 ? fraction : fraction | 1u << format.mantissa_bits;
    const int scale =
        (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
    value = whole * PowerOfTwo(scale);
  }
  return code & format.sign_bit() ? -value : value;
}

// Magnitude code of a finite `magnitude` >= 0, rounded; a value beyond the
// largest finite code continues the sequence of codes, so that a comparison
// with max_finite() tells overflow. `away` says whether a discarded part counts
// as more than half (used for directed rounding), `nearest` selects RNE.
constexpr uint64_t RoundMagnitude(double magnitude, const FloatFormat& format,
                                  bool nearest, bool away) {
  const uint64_t bits = std::bit_cast<uint64_t>(magnitude);
  const int field = static_cast<int>(bits >> 52);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t whole = field == 0 ? fraction : fraction | uint64_t{1} << 52;
  const int exponent = (field == 0 ? 1 : field) - 1023;  // of the leading bit
  const int least = 1 - format.bias;
  const bool denormal = exponent < least;
  int drop = 52 - format.mantissa_bits + (denormal ? least - exponent : 0);
  if (drop > 60) drop = 60;
  const uint64_t kept = whole >> drop;
  const uint64_t rest = whole - (kept << drop);
  const uint64_t half = uint64_t{1} << (drop - 1);
  const bool up =
      nearest ? rest > half || (rest == half && (kept & 1)) : away && rest != 0;
  const uint64_t rounded = kept + (up ? 1 : 0);
  if (denormal) return rounded;
  return (static_cast<uint64_t>(exponent + format.bias)
          << format.mantissa_bits) +
         rounded - (uint64_t{1} << format.mantissa_bits);
}

// Which code a value above the largest finite one gets.
enum class Overflow {
  kIeee,      // Inf, or the largest finite code where the rounding says so
  kSaturate,  // finite values to the largest code, Inf stays Inf
  kClamp,     // the largest code, for Inf as well
  kNan,       // NaN (formats without Inf)
};

constexpr uint32_t Encode(double value, const FloatFormat& format,
                          Rounding rounding, Overflow overflow) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63;
  const uint32_t sign = negative ? format.sign_bit() : 0;
  if (value != value) {
    // A format without NaN takes its largest code.
    if (format.specials == Specials::kNone) return sign | format.max_finite();
    return sign | format.quiet_nan();
  }
  const double magnitude = negative ? -value : value;
  const bool away = rounding == (negative ? kDown : kUp);
  bool finite = magnitude <= std::numeric_limits<double>::max();
  if (finite) {
    const uint64_t code =
        RoundMagnitude(magnitude, format, rounding == kNearestEven, away);
    if (code <= format.max_finite()) return sign | static_cast<uint32_t>(code);
  }
  switch (overflow) {
    case Overflow::kIeee:
      if (finite && rounding != kNearestEven && !away) {
        return sign | format.max_finite();
      }
      return sign | format.infinity();
    case Overflow::kSaturate:
      return sign | (finite ? format.max_finite() : format.infinity());
    case Overflow::kClamp:
      return sign | format.max_finite();
    case Overflow::kNan:
      break;
  }
  return sign | format.quiet_nan();
}

// Encode(x, kFormat, kNearestEven, ...) for a format of at most 8 bits and for
// the float32 of these bits, without branches: loops over lanes vectorise.
// `above` is the code, without sign, of what exceeds the largest finite number.
template <const FloatFormat& kFormat>
inline uint32_t EncodeNearest(uint32_t bits, uint32_t above) {
  constexpr int dropped = 23 - kFormat.mantissa_bits;
  const uint32_t sign = bits >> 31 << (kFormat.bits() - 1);
  const uint32_t magnitude = bits & 0x7fffffff;
  // Normal results: round in place, then move the exponent's bias.
  const uint32_t normal =
      ((magnitude + (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1)) >>
       dropped) -
      (static_cast<uint32_t>(127 - kFormat.bias) << kFormat.mantissa_bits);
  // Denormal ones: the sum's last place is the format's, so the addition
  // rounds.
  constexpr uint32_t anchor =
      static_cast<uint32_t>(127 + 24 - kFormat.bias - kFormat.mantissa_bits)
      << 23;
  const bool small = magnitude < static_cast<uint32_t>(128 - kFormat.bias)
                                     << 23;
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(small ? magnitude : 0u) +
                              std::bit_cast<float>(anchor)) -
      anchor;
  uint32_t code = small ? denormal : normal;
  code = code > kFormat.max_finite() ? above : code;
  code = magnitude > 0x7f800000 ? kFormat.quiet_nan() : code;
  return sign | code;
}

// Stochastic rounding: `random` (32 bits, a fraction of the last kept place) is
// added below the last place and the sum is cut off.
constexpr uint32_t EncodeStochastic(double value, const FloatFormat& format,
                                    uint32_t random, Overflow overflow) {
  if (value != value || value - value != 0) {
    return Encode(value, format, kNearestEven, overflow);
  }
  const uint64_t field = std::bit_cast<uint64_t>(value) >> 52 & 0x7ff;
  const int exponent = static_cast<int>(field) - 1023;
  const int least = 1 - format.bias;
  const int place =
      (exponent < least ? least : exponent) - format.mantissa_bits;
  const double fraction = random * 0x1p-32 * PowerOfTwo(place);
  const bool negative = std::bit_cast<uint64_t>(value) >> 63;
  const double sum = negative ? value - fraction : value + fraction;
  const uint32_t code = Encode(sum, format, kToZero, Overflow::kSaturate);
  const uint32_t magnitude = code & (format.sign_bit() - 1);
  // A sum beyond the largest code is an overflow, cut off or not.
  const double limit = Decode(format.max_finite(), format) + PowerOfTwo(place);
  const bool over = (negative ? -sum : sum) >= limit;
  if (magnitude == format.max_finite() && over) {
    return Encode(negative ? -0x1p1000 : 0x1p1000, format, kNearestEven,
                  overflow);
  }
  return code;
}

// x + y, inexact results rounded to odd: rounding such a value again to at most
// 51 bits gives the rounding of the exact sum, in every mode.
inline double AddToOdd(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  // Towards zero when the sum was rounded away, then the sticky bit.
  const bool inexact = error > 0 || error < 0;
  const bool too_large = (error < 0) == (sum > 0);
  const uint64_t toward = bits - (inexact && too_large ? 1 : 0);
  return std::bit_cast<double>(toward | (inexact ? 1 : 0));
}

inline float HalfToFloat(uint32_t half) {
  const uint32_t magnitude = half & 0x7fff;
  // 2^112 moves the exponent bias from 15 to 127, denormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t special = magnitude << 13 | 0x7f800000;
  const uint32_t bits =
      magnitude >= 0x7c00 ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | (half & 0x8000) << 16);
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_FLOAT_FORMAT_H_
