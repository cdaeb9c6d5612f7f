#include "zyfa/peers/element_codes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e2m1.h"
#include "zyfa/numerics/e2m3.h"
#include "zyfa/numerics/e4m3.h"

namespace zyfa::peers {

using numerics::Bf16;
using numerics::E2m1;
using numerics::E2m3;
using numerics::E4m3;

int ElementBits(Format format) {
  switch (format) {
    case Format::kBf16:
      return 16;
    case Format::kE4m3:
    case Format::kInt8:
      return 8;
    case Format::kE2m3:
      return 6;
    case Format::kE2m1:
      return 4;
  }
  return 0;
}

float LargestNumber(Format format) {
  switch (format) {
    case Format::kE4m3:
      return E4m3::Max().ToFloat();
    case Format::kInt8:
      return 127.0f;
    case Format::kE2m3:
      return E2m3::Max().ToFloat();
    case Format::kE2m1:
      return E2m1::Max().ToFloat();
    case Format::kBf16:
      break;
  }
  return 1.0f;
}

uint16_t Encode(Format format, float x) {
  switch (format) {
    case Format::kBf16:
      return Bf16::FromFloat(x).bits;
    case Format::kE4m3:
      return E4m3::FromFloat(x, numerics::Overflow::kSaturate).code;
    case Format::kInt8:
      return static_cast<uint8_t>(
          static_cast<int8_t>(std::clamp(std::nearbyint(x), -127.0f, 127.0f)));
    case Format::kE2m3:
      return E2m3::FromFloat(x).code;
    case Format::kE2m1:
      return E2m1::FromFloat(x).code;
  }
  return 0;
}

float Decode(Format format, uint16_t code) {
  const uint8_t low = static_cast<uint8_t>(code);
  switch (format) {
    case Format::kBf16:
      return Bf16{code}.ToFloat();
    case Format::kE4m3:
      return E4m3{low}.ToFloat();
    case Format::kInt8:
      return static_cast<int8_t>(low);
    case Format::kE2m3:
      return E2m3{low}.ToFloat();
    case Format::kE2m1:
      return E2m1{low}.ToFloat();
  }
  return 0;
}

}  // namespace zyfa::peers
