#ifndef ZYFA_NUMERICS_SMALL_FLOAT_H_
#define ZYFA_NUMERICS_SMALL_FLOAT_H_

#include <bit>
#include <cstdint>

namespace zyfa::numerics {

// What becomes of a value whose rounded magnitude exceeds the largest finite
// number of the format, infinities included.
enum class Overflow {
  kSaturate,   // the largest finite number, sign kept
  kToSpecial,  // Inf where the format has one, else NaN, sign kept
};

// Which bit patterns are not finite numbers.
enum class Specials {
  kNone,     // all codes are finite: OCP MX element types E2M1, E2M3, E3M2
  kNanOnly,  // all ones below the sign is NaN, no infinity: OCP E4M3
  kIeee,     // exponent field all ones is Inf or NaN: OCP E5M2
};

// A float of at most 8 bits: sign, kExponentBits, kMantissaBits, with subnormal
// numbers and exponent bias 2^(kExponentBits-1) - 1 (OCP 8-bit Floating Point
// Specification 1.0; OCP Microscaling Formats 1.0). Right-aligned in `code`;
// the bits above the sign are zero.
//
// Rounding is to nearest, ties to even. Signed zeros are kept.
// NaN: sign and leading mantissa bits are kept and the quiet bit (the top one
// of the mantissa) is set, so that the default NaN becomes 0x7E in E5M2; E4M3
// has one NaN of each sign. A format without NaN turns NaN into its largest
// number, sign kept.
template <int kExponentBits, int kMantissaBits, Specials kSpecials>
struct SmallFloat {
  static constexpr int kBits = 1 + kExponentBits + kMantissaBits;
  static_assert(kBits <= 8);
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr uint32_t kSignBit = 1u << (kBits - 1);
  static constexpr uint32_t kMagnitudeMask = kSignBit - 1;
  static constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;
  // First code that is not a finite number; also the code of +Inf, if any.
  static constexpr uint32_t kFirstSpecial =
      kSpecials == Specials::kIeee      ? kMagnitudeMask & ~kMantissaMask
      : kSpecials == Specials::kNanOnly ? kMagnitudeMask
                                        : kMagnitudeMask + 1;
  static constexpr bool kHasNan = kSpecials != Specials::kNone;

  uint8_t code = 0;

  // Formats without Inf and NaN always saturate.
  static constexpr SmallFloat FromFloat(float x)
    requires(!kHasNan)
  {
    return Encode(x, Overflow::kSaturate);
  }
  static constexpr SmallFloat FromFloat(float x, Overflow overflow)
    requires(kHasNan)
  {
    return Encode(x, overflow);
  }

  // Exact. NaN codes give quiet NaNs with the sign and mantissa bits of the
  // code.
  constexpr float ToFloat() const {
    const uint32_t sign = (code & kSignBit) ? 0x80000000u : 0u;
    const uint32_t magnitude = code & kMagnitudeMask;
    const uint32_t mantissa = magnitude & kMantissaMask;
    const int field = static_cast<int>(magnitude >> kMantissaBits);
    uint32_t bits = 0;
    if (magnitude >= kFirstSpecial) {
      const bool infinite = kSpecials == Specials::kIeee && mantissa == 0;
      bits = infinite ? 0x7F800000u
                      : 0x7FC00000u | (mantissa << (23 - kMantissaBits));
    } else if (field == 0) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(mantissa) *
                                     PowerOfTwo(1 - kBias - kMantissaBits));
    } else {
      bits = (static_cast<uint32_t>(field - kBias + 127) << 23) |
             (mantissa << (23 - kMantissaBits));
    }
    return std::bit_cast<float>(sign | bits);
  }

  // Equality of codes: NaN equals itself, +0 and -0 differ.
  constexpr bool operator==(const SmallFloat&) const = default;

  static constexpr SmallFloat Max() {
    return {static_cast<uint8_t>(kFirstSpecial - 1)};
  }

 private:
  static constexpr float PowerOfTwo(int exponent) {
    return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
  }

  // Written without branches on the data, so that loops over it vectorise.
  static constexpr SmallFloat Encode(float x, Overflow overflow) {
    constexpr int kDropped = 23 - kMantissaBits;
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t sign = (bits >> 31) << (kBits - 1);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;

    // Normal results: round the mantissa in place, then move the exponent bias.
    constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias)
                                 << kMantissaBits;
    const uint32_t half = (1u << (kDropped - 1)) - 1;
    const uint32_t odd = (magnitude >> kDropped) & 1;
    const uint32_t normal = ((magnitude + half + odd) >> kDropped) - kRebias;

    // Subnormal results: one unit of the last place of this sum is the step of
    // the format, so the float addition rounds, and its low bits are the code.
    constexpr float kAnchor = PowerOfTwo(23 + 1 - kBias - kMantissaBits);
    constexpr uint32_t kMinNormal = static_cast<uint32_t>(128 - kBias) << 23;
    const bool is_subnormal = magnitude < kMinNormal;
    const float small =
        std::bit_cast<float>(is_subnormal ? magnitude : uint32_t{0});
    const uint32_t subnormal = std::bit_cast<uint32_t>(small + kAnchor) -
                               std::bit_cast<uint32_t>(kAnchor);

    uint32_t result = is_subnormal ? subnormal : normal;
    const uint32_t above = overflow == Overflow::kSaturate || !kHasNan
                               ? kFirstSpecial - 1
                               : kFirstSpecial;
    result = result >= kFirstSpecial ? above : result;
    if constexpr (kHasNan) {
      const uint32_t nan = kFirstSpecial | (1u << (kMantissaBits - 1)) |
                           ((magnitude >> kDropped) & kMantissaMask);
      result = magnitude > 0x7F800000u ? nan : result;
    }
    return {static_cast<uint8_t>(sign | result)};
  }
};

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_SMALL_FLOAT_H_
