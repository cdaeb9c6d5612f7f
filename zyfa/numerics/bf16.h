#ifndef ZYFA_NUMERICS_BF16_H_
#define ZYFA_NUMERICS_BF16_H_

#include <bit>
#include <cstdint>

namespace zyfa::numerics {

// bfloat16: the upper half of an IEEE binary32. Two bytes, so that arrays of it
// are the tensors that kernels read.
struct Bf16 {
  uint16_t bits = 0;

  // Nearest, ties to even; overflow goes to Inf; subnormal numbers are kept. A
  // NaN keeps its sign and leading mantissa bits and becomes quiet.
  static constexpr Bf16 FromFloat(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    const uint32_t nearest = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
    const uint32_t quiet = (u >> 16) | 0x0040u;
    const bool is_nan = (u & 0x7FFFFFFFu) > 0x7F800000u;
    return {static_cast<uint16_t>(is_nan ? quiet : nearest)};
  }

  // Exact, NaN payloads included.
  constexpr float ToFloat() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  // Equality of bits: NaN equals itself, +0 and -0 differ.
  constexpr bool operator==(const Bf16&) const = default;
};
static_assert(sizeof(Bf16) == 2);

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_BF16_H_
