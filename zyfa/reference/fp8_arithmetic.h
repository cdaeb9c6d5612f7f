#ifndef ZYFA_REFERENCE_FP8_ARITHMETIC_H_
#define ZYFA_REFERENCE_FP8_ARITHMETIC_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/elementary.h"

namespace zyfa::reference {

// What the kernels with e4m3 weights compute with.

inline constexpr float kLn2 = static_cast<float>(numerics::kLn2);

// v_exp_f32 and v_log_f32: correctly rounded but for one argument in many
// millions; results below the normal numbers are 0.
inline float Exp2(float x) {
  return x >= -126.0f ? static_cast<float>(numerics::Exp2(double{x})) : 0.0f;
}
inline float Log2(float x) {
  return x > 0.0f
             ? static_cast<float>(numerics::Log(double{x}) * numerics::kLog2E)
             : -std::numeric_limits<float>::infinity();
}

inline float PowerOfTwo(int exponent) { return std::ldexp(1.0f, exponent); }

// By code, those of negative numbers and NaN too.
inline std::array<float, 256> DecodedE4m3() {
  std::array<float, 256> values;
  for (int code = 0; code < 256; ++code) {
    values[code] = numerics::E4m3{static_cast<uint8_t>(code)}.ToFloat();
  }
  return values;
}

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_FP8_ARITHMETIC_H_
