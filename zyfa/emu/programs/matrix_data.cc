#include "zyfa/emu/programs/matrix_data.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e2m1.h"
#include "zyfa/numerics/e2m3.h"
#include "zyfa/numerics/e3m2.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/e5m2.h"

namespace zyfa::emu {
namespace {

using numerics::Bf16;
using numerics::E2m1;
using numerics::E2m3;
using numerics::E3m2;
using numerics::E4m3;
using numerics::E5m2;
using numerics::Overflow;

// binary16: 11 significant bits, lowest exponent -14.
uint64_t HalfCode(double value) {
  const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double x = std::fabs(value);
  if (x != x) return sign | 0x7e00;
  if (x >= 65520) return sign | 0x7c00;
  const int exponent = x < std::ldexp(1.0, -14) ? -14 : std::ilogb(x);
  const auto n =
      static_cast<uint64_t>(std::nearbyint(std::ldexp(x, 10 - exponent)));
  // A carry into the next power of two, or from the denormals, adds up right.
  return sign | (n + (static_cast<uint64_t>(exponent + 14) << 10));
}
double HalfValue(uint64_t code) {
  const int field = static_cast<int>(code >> 10 & 31);
  const int fraction = static_cast<int>(code & 1023);
  double x = field == 0 ? std::ldexp(fraction, -24)
                        : std::ldexp(1024 + fraction, field - 25);
  if (field == 31) x = fraction ? std::nan("") : HUGE_VAL;
  return code & 0x8000 ? -x : x;
}

}  // namespace

uint32_t Noise::Next() {
  state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(state_ >> 32);
}
float Noise::Float() {
  return static_cast<float>(Next() >> 16) / 32768.0f - 1.0f;
}
int Noise::Between(int least, int most) {
  return least + static_cast<int>((Next() >> 3) %
                                  static_cast<uint32_t>(most - least + 1));
}
std::vector<float> Noise::Floats(size_t n) {
  std::vector<float> values(n);
  for (float& v : values) v = Float();
  return values;
}

int BitsOf(Format format) {
  constexpr int kBits[] = {64, 32, 16, 16, 8, 8, 8, 6, 6, 4};
  return kBits[static_cast<int>(format)];
}
std::string NameOf(Format format) {
  constexpr const char* kNames[] = {"f64", "f32", "f16", "bf16", "i8",
                                    "fp8", "bf8", "fp6", "bf6",  "fp4"};
  return kNames[static_cast<int>(format)];
}

uint64_t CodeOf(Format format, double value) {
  const auto x = static_cast<float>(value);
  switch (format) {
    case Format::kF64:
      return std::bit_cast<uint64_t>(value);
    case Format::kF32:
      return std::bit_cast<uint32_t>(x);
    case Format::kF16:
      return HalfCode(value);
    case Format::kBf16:
      return Bf16::FromFloat(x).bits;
    case Format::kI8:
      return static_cast<uint8_t>(static_cast<int>(value));
    case Format::kFp8:
      return E4m3::FromFloat(x, Overflow::kSaturate).code;
    case Format::kBf8:
      return E5m2::FromFloat(x, Overflow::kSaturate).code;
    case Format::kFp6:
      return E2m3::FromFloat(x).code;
    case Format::kBf6:
      return E3m2::FromFloat(x).code;
    case Format::kFp4:
      return E2m1::FromFloat(x).code;
  }
  return 0;
}
double ValueOf(Format format, uint64_t code) {
  const auto byte = static_cast<uint8_t>(code);
  switch (format) {
    case Format::kF64:
      return std::bit_cast<double>(code);
    case Format::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(code));
    case Format::kF16:
      return HalfValue(code);
    case Format::kBf16:
      return Bf16{static_cast<uint16_t>(code)}.ToFloat();
    case Format::kI8:
      return static_cast<int8_t>(byte);
    case Format::kFp8:
      return E4m3{byte}.ToFloat();
    case Format::kBf8:
      return E5m2{byte}.ToFloat();
    case Format::kFp6:
      return E2m3{byte}.ToFloat();
    case Format::kBf6:
      return E3m2{byte}.ToFloat();
    case Format::kFp4:
      return E2m1{byte}.ToFloat();
  }
  return 0;
}

Matrix RandomMatrix(Format format, int rows, int columns, uint64_t seed) {
  Noise noise(seed);
  Matrix matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  const auto bits = static_cast<size_t>(BitsOf(format));
  const size_t pitch = (static_cast<size_t>(columns) * bits + 7) / 8;
  matrix.bytes.resize(static_cast<size_t>(rows) * pitch);
  for (int i = 0; i < rows; ++i) {
    uint8_t* line = matrix.bytes.data() + static_cast<size_t>(i) * pitch;
    for (int j = 0; j < columns; ++j) {
      const double wanted = format == Format::kI8 ? noise.Between(-128, 127)
                                                  : 2 * double{noise.Float()};
      const uint64_t code = CodeOf(format, wanted);
      for (size_t b = 0; b < bits; ++b) {
        const size_t at = static_cast<size_t>(j) * bits + b;
        line[at / 8] |= static_cast<uint8_t>((code >> b & 1) << at % 8);
      }
      matrix.values.push_back(ValueOf(format, code));
    }
  }
  return matrix;
}

uint64_t CodeAt(Format format, const uint8_t* bytes, size_t index) {
  const auto bits = static_cast<size_t>(BitsOf(format));
  uint64_t code = 0;
  for (size_t b = 0; b < bits; ++b) {
    const size_t at = index * bits + b;
    code |= uint64_t{bytes[at / 8] >> at % 8 & 1u} << b;
  }
  return code;
}

Product RowTimesRow(const Matrix& a, int i, const Matrix& b, int j) {
  Product product;
  for (int k = 0; k < a.columns; ++k) {
    const double term = a.at(i, k) * b.at(j, k);
    product.value += term;
    product.magnitude += std::fabs(term);
  }
  return product;
}

std::vector<std::string> BothLevels(const std::string& program) {
  return {program, program + "_o3"};
}

}  // namespace zyfa::emu
