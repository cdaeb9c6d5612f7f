#ifndef ZYFA_NUMERICS_E8M0_H_
#define ZYFA_NUMERICS_E8M0_H_

#include <bit>
#include <cstdint>

namespace zyfa::numerics {

// How a positive number becomes a power of two.
enum class PowerRounding {
  kNearest,  // nearest in value; the tie 1.5 * 2^n goes to the even code
  kUp,       // the smallest power of two that is not below
  kDown,     // the largest power of two that is not above
};

// OCP E8M0, the block scale of the microscaling formats: code c is 2^(c - 127),
// 0xFF is NaN. No sign and no zero.
struct E8m0 {
  static constexpr uint8_t kNan = 0xFF;

  uint8_t code = 127;

  // Zero and whatever rounds below 2^-127 give 2^-127. Whatever rounds above
  // 2^127 gives 2^127, +Inf included. Negative numbers and NaN give NaN; -0 is
  // a zero.
  static constexpr E8m0 FromFloat(float x, PowerRounding rounding) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    if (u == 0x80000000u) return {0};
    if (u > 0x7F800000u) return {kNan};
    // 2^-127 is half the smallest normal float. The code of a normal float is
    // its exponent field; below, codes 0 and 1 are at kHalf and kOne units.
    constexpr uint32_t kOne = 1u << 23;
    constexpr uint32_t kHalf = 1u << 22;
    if (u < kOne) {
      bool one = false;
      if (rounding == PowerRounding::kUp) one = u > kHalf;
      if (rounding == PowerRounding::kNearest) one = u > kHalf + kHalf / 2;
      return {static_cast<uint8_t>(one ? 1 : 0)};
    }
    const uint32_t field = u >> 23;
    const uint32_t mantissa = u & (kOne - 1);
    bool up = false;
    if (rounding == PowerRounding::kUp) up = mantissa != 0;
    if (rounding == PowerRounding::kNearest) {
      up = mantissa > kHalf || (mantissa == kHalf && (field & 1) != 0);
    }
    const uint32_t code = field + (up ? 1 : 0);
    return {static_cast<uint8_t>(code < 254 ? code : 254)};
  }

  constexpr float ToFloat() const {
    const uint32_t value = code == kNan ? 0x7FC00000u
                           : code == 0  ? 1u << 22
                                        : static_cast<uint32_t>(code) << 23;
    return std::bit_cast<float>(value);
  }

  constexpr bool operator==(const E8m0&) const = default;
};

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_E8M0_H_
