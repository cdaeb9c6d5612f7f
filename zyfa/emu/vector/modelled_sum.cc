#include "zyfa/emu/vector/modelled_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "zyfa/emu/vector/float_format.h"

namespace zyfa::emu::valu {
namespace {

using valu_baseline::AddToOdd;

// significand * 2^(exponent - kFraction).
constexpr int kFraction = 10;  // that of FP16, the longest
constexpr int kNone = -10000;  // exponent of zero
constexpr int kNotFinite = 10000;
struct Element {
  int32_t significand;
  int32_t exponent;
};

// Exponent of a finite number other than 0, at least `least`.
int ExponentOf(double x, int least) {
  const int field =
      static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff) - 1023;
  return std::max(field, least);
}

Element Split(double x, int least, int scale) {
  if (x == 0) return {0, kNone};
  if (!std::isfinite(x)) return {0, kNotFinite};
  const int exponent = ExponentOf(x, least);
  const double significand = x * std::ldexp(1.0, kFraction - exponent);
  return {static_cast<int32_t>(significand), exponent + scale};
}

// Line by line, so that the values of k follow each other.
std::vector<Element> SplitOperand(const MatrixOperand& operand, int depth) {
  std::vector<Element> elements(static_cast<size_t>(depth * operand.lines));
  for (int line = 0; line < operand.lines; ++line) {
    for (int k = 0; k < depth; ++k) {
      const int scale = operand.scales == nullptr
                            ? 0
                            : operand.scales[k / 32 * operand.lines + line];
      elements[static_cast<size_t>(line * depth + k)] =
          Split(operand.values[k * operand.lines + line],
                operand.least_exponent, scale);
    }
  }
  return elements;
}

// A fixed-point number: value * 2^(exponent - fraction bits).
struct Fixed {
  int64_t value = 0;
  int exponent = kNone;
};

int64_t ShiftDown(int64_t value, int by) {  // floor
  return value >> std::min(by, 63);
}
int64_t CutDown(int64_t value, int by) {  // toward zero
  return value < 0 ? -ShiftDown(-value, by) : ShiftDown(value, by);
}

int LargestExponent(const Element* a, const Element* b, int first, int count,
                    int step) {
  int largest = kNone;
  for (int k = first; k < count; k += step) {
    if (a[k].significand != 0 && b[k].significand != 0) {
      largest = std::max(largest, a[k].exponent + b[k].exponent);
    }
  }
  return largest;
}

// Products first, first + step, ..., each cut to `fraction` bits below
// 2^exponent.
int64_t SumProducts(const Element* a, const Element* b, int first, int count,
                    int step, int exponent, int fraction) {
  int64_t sum = 0;
  for (int k = first; k < count; k += step) {
    const int64_t product = int64_t{a[k].significand} * b[k].significand;
    if (product == 0) continue;
    const int drop =
        exponent - a[k].exponent - b[k].exponent + 2 * kFraction - fraction;
    sum += drop >= 0 ? CutDown(product, drop) : product << -drop;
  }
  return sum;
}

// C with 23 fraction bits.
Fixed SplitC(float c) {
  if (c == 0) return {};
  const int exponent = ExponentOf(c, -126);
  return {
      static_cast<int64_t>(std::ldexp(static_cast<double>(c), 23 - exponent)),
      exponent};
}

// Drops bits (rounding down) so that `kept` fraction bits remain behind the
// leading one.
Fixed Normalise(Fixed x, int kept) {
  const uint64_t magnitude = static_cast<uint64_t>(std::abs(x.value));
  const int drop = std::bit_width(magnitude) - 1 - kept;
  if (drop <= 0) return x;
  return {ShiftDown(x.value, drop), x.exponent + drop};
}

// One group of CDNA3's scheme; all finite.
float AddGroup(const Element* a, const Element* b, int count, bool bytes,
               float c) {
  constexpr int kProductBits = 24, kSumBits = 32, kCBits = 24, kKeptBits = 31;
  Fixed sum;
  if (bytes) {
    Fixed halves[2];
    for (int h = 0; h < 2; ++h) {
      halves[h].exponent = LargestExponent(a, b, h, count, 2);
      halves[h].value =
          SumProducts(a, b, h, count, 2, halves[h].exponent, kProductBits);
      sum.exponent = std::max(sum.exponent, halves[h].exponent);
    }
    for (const Fixed& half : halves) {
      sum.value += ShiftDown(half.value, sum.exponent - half.exponent);
    }
  } else {
    sum.exponent = LargestExponent(a, b, 0, count, 1);
    sum.value = SumProducts(a, b, 0, count, 1, sum.exponent, kProductBits);
  }
  Fixed addend = SplitC(c);
  const int exponent = std::max(sum.exponent, addend.exponent);
  if (exponent == kNone) return 0;
  if (bytes && addend.exponent < exponent - 25) addend.value = 0;
  const int64_t product_part = ShiftDown(sum.value << (kSumBits - kProductBits),
                                         exponent - sum.exponent);
  const int64_t c_part =
      ShiftDown(addend.value << (kCBits - 23), exponent - addend.exponent);
  const Fixed total = Normalise(
      {product_part + (c_part << (kSumBits - kCBits)), exponent}, kKeptBits);
  return static_cast<float>(
      std::ldexp(static_cast<double>(total.value), total.exponent - kSumBits));
}

// Everything cut toward zero; all finite.
float AddTruncated(const Element* a, const Element* b, int count, float c) {
  constexpr int kBits = 17;
  const Fixed addend = SplitC(c);
  const int exponent =
      std::max(LargestExponent(a, b, 0, count, 1), addend.exponent);
  if (exponent == kNone) return 0;
  const int64_t sum =
      SumProducts(a, b, 0, count, 1, exponent, kBits) +
      CutDown(addend.value, exponent - addend.exponent + 23 - kBits);
  const Fixed magnitude = Normalise({std::abs(sum), exponent}, kBits);
  const double value = std::ldexp(static_cast<double>(magnitude.value),
                                  magnitude.exponent - kBits);
  if (value >= 0x1p128) {
    return std::copysign(std::numeric_limits<float>::infinity(),
                         static_cast<float>(sum));
  }
  // Below the normal numbers fewer bits remain.
  const double least = 0x1p-149;
  const double cut =
      value < 0x1p-126 ? std::floor(value / least) * least : value;
  return static_cast<float>(sum < 0 ? -cut : cut);
}

// What the infinities and NaNs of a group and C come to; 0 if there are none. A
// product of 2^128 or more is an infinity.
double SumOfSpecials(const MatrixOperand& a, const MatrixOperand& b, int i,
                     int j, int first, int count, float c) {
  double sum = std::isfinite(c) ? 0 : c;
  const auto value = [](const MatrixOperand& operand, int line, int k) {
    const double x = operand.values[k * operand.lines + line];
    return operand.scales == nullptr
               ? x
               : std::ldexp(x, operand.scales[k / 32 * operand.lines + line]);
  };
  for (int k = first; k < first + count; ++k) {
    const double product = value(a, i, k) * value(b, j, k);
    if (std::fabs(product) >= 0x1p128) {
      sum += std::copysign(std::numeric_limits<double>::infinity(), product);
    } else if (product != product) {
      sum += product;
    }
  }
  return sum;
}

int GroupLength(MatrixModel model, bool bytes) {
  if (model != MatrixModel::kCdna3) return 64;
  return bytes ? 16 : 8;
}

void AddChain(int depth, const MatrixOperand& a, const MatrixOperand& b,
              double* sum) {
  for (int i = 0; i < a.lines; ++i) {
    for (int j = 0; j < b.lines; ++j) {
      float chain = static_cast<float>(sum[i * b.lines + j]);
      for (int k = 0; k < depth; ++k) {
        double product = a.values[k * a.lines + i] * b.values[k * b.lines + j];
        if (a.scales != nullptr) {
          product = std::ldexp(product, a.scales[k / 32 * a.lines + i] +
                                            b.scales[k / 32 * b.lines + j]);
        }
        // Rounded once: the float64 sum is rounded to odd.
        chain = static_cast<float>(AddToOdd(product, chain));
      }
      sum[i * b.lines + j] = chain;
    }
  }
}

}  // namespace

void AddUnderModel(MatrixModel model, bool bytes, int depth,
                   const MatrixOperand& a, const MatrixOperand& b,
                   double* sum) {
  if (model == MatrixModel::kFmaChain) return AddChain(depth, a, b, sum);
  const std::vector<Element> lines_a = SplitOperand(a, depth);
  const std::vector<Element> lines_b = SplitOperand(b, depth);
  const int length = GroupLength(model, bytes);
  for (int i = 0; i < a.lines; ++i) {
    for (int j = 0; j < b.lines; ++j) {
      float total = static_cast<float>(sum[i * b.lines + j]);
      for (int first = 0; first < depth; first += length) {
        const int count = std::min(length, depth - first);
        const Element* from_a = lines_a.data() + i * depth + first;
        const Element* from_b = lines_b.data() + j * depth + first;
        bool special = !std::isfinite(total);
        for (int k = 0; k < count; ++k) {
          // An infinity times zero as well.
          special = special || from_a[k].exponent + from_b[k].exponent >= 127 ||
                    from_a[k].exponent == kNotFinite ||
                    from_b[k].exponent == kNotFinite;
        }
        if (special) {
          const double specials =
              SumOfSpecials(a, b, i, j, first, count, total);
          if (specials != 0) {
            total = static_cast<float>(specials);
            continue;
          }
        }
        total = model == MatrixModel::kTruncated17
                    ? AddTruncated(from_a, from_b, count, total)
                    : AddGroup(from_a, from_b, count, bytes, total);
      }
      sum[i * b.lines + j] = total;
    }
  }
}

}  // namespace zyfa::emu::valu
