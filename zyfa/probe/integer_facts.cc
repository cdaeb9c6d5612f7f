// Vector instructions between the integer scores of INT8 kernels and codes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "zyfa/numerics/random.h"
#include "zyfa/probe/comparison.h"
#include "zyfa/probe/fact.h"
#include "zyfa/probe/probe_run.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::probe {
namespace {

constexpr uint64_t kSeed = 1;
// No score of head dim 192 is larger, no multiplier and no addend.
constexpr int32_t kLargestScore = 128 * 128 * 192;
constexpr int32_t kLargestMultiplier = 255;
constexpr int32_t kLargestAddend = 1 << 30;

uint32_t U(int64_t x) { return static_cast<uint32_t>(x); }

std::string Operands(const VectorInput& in) {
  return absl::StrFormat("%x %x %x on %x", in.a, in.b, in.c, in.old);
}

// Around all codes and beyond; each lane of a wave has another shift than its
// neighbours.
std::vector<VectorInput> Shifted() {
  constexpr int64_t kCodes[] = {-256, -2,  -1,  0,   1,   2,   125,
                                126,  127, 128, 254, 255, 256, 300};
  std::vector<int32_t> pairs;
  std::vector<VectorInput> inputs;
  const auto add = [&](int64_t a, int64_t b, int shift) {
    const uint32_t old = numerics::RandomWords(kSeed, 0, inputs.size())[0];
    inputs.push_back({U(a), U(b), U(shift), old});
  };
  for (const int64_t code : kCodes) {
    for (const int64_t offset : {-1, 0, 1, 2}) {
      for (int shift = 0; shift <= kInt8LargestShift; ++shift) {
        // 2: half a code.
        const int64_t step = offset == 2 ? (1 << shift) / 2 : offset;
        add((code << shift) + step, ((126 - code) << shift) - step, shift);
      }
    }
  }
  for (const int64_t x : {-0x80000000LL, -0x7fffffffLL, -0x48000000LL,
                          0x40000000LL, 0x7fffffffLL}) {
    for (int shift = 0; shift <= kInt8LargestShift; ++shift) {
      add(x, -1 - x, shift);
    }
  }
  return inputs;
}

uint32_t Code(uint32_t x, uint32_t shift) {
  const double code =
      std::floor(static_cast<int32_t>(x) / std::exp2(static_cast<int>(shift)));
  return static_cast<uint32_t>(std::clamp(code, 0.0, 255.0));
}

uint32_t Halves(uint32_t high, uint32_t low) {
  return high << 16 | (low & 0xffff);
}

// Scores, multipliers and addends as the kernels have them.
std::vector<VectorInput> Multiplied() {
  std::vector<VectorInput> inputs;
  for (const int32_t a : {0, 1, -1, 2, -2, 255, -256, 0x7fff, -0x8000, 0x12345,
                          -0x12345, kLargestScore, -kLargestScore}) {
    for (const int32_t b : {1, 2, 127, 128, kLargestMultiplier}) {
      for (const int32_t c : {0, 1, -1, kLargestAddend, -kLargestAddend}) {
        inputs.push_back({U(a), U(b), U(c), 0});
      }
    }
  }
  for (uint64_t i = 0; i < 256; ++i) {
    const auto words = numerics::RandomWords(kSeed, 1, i);
    inputs.push_back(
        {words[0] % (2 * kLargestScore + 1) - kLargestScore,
         1 + words[1] % kLargestMultiplier,
         words[2] % (2 * uint32_t{kLargestAddend} + 1) - kLargestAddend, 0});
  }
  return inputs;
}

// All bits, and the ends of what 24 hold.
std::vector<VectorInput> Wide() {
  constexpr uint32_t kEnds[] = {0x007fffff, 0x00800000, 0x00ffffff,
                                0x01000000, 0x7f800001, 0x80000000,
                                0xff000001, 0xff7fffff, 0xff800000};
  std::vector<VectorInput> inputs;
  for (const uint32_t a : kEnds) {
    for (const uint32_t b : kEnds) inputs.push_back({a, b, 0x7fffffff, 0});
  }
  for (uint64_t i = 0; i < 256; ++i) {
    const auto words = numerics::RandomWords(kSeed, 2, i);
    inputs.push_back({words[0], words[1], words[2], 0});
  }
  return inputs;
}

// Bits 0 .. 23 as a number with a sign.
int64_t Signed24(uint32_t x) {
  const int64_t low = x % (1 << 24);
  return low < 1 << 23 ? low : low - (1 << 24);
}

struct Products {
  Comparison mad, mul;
};

absl::StatusOr<Products> Compare(Device& device,
                                 const std::vector<VectorInput>& inputs) {
  const auto results = RunVector(device, inputs);
  if (!results.ok()) return results.status();
  Products products;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const VectorInput& in = inputs[i];
    const VectorResult& out = (*results)[i];
    const int64_t product = Signed24(in.a) * Signed24(in.b);
    const auto c = static_cast<int32_t>(in.c);
    products.mad.AddBits(Operands(in), out.mad, U(product + c));
    products.mul.AddBits(Operands(in), out.mul, U(product));
  }
  return products;
}

}  // namespace

absl::StatusOr<std::vector<Fact>> IntegerFacts(Device& device) {
  const std::vector<VectorInput> inputs = Shifted();
  const auto results = RunVector(device, inputs);
  if (!results.ok()) return results.status();
  Comparison low, high, both;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const VectorInput& in = inputs[i];
    const VectorResult& out = (*results)[i];
    const uint32_t a = Code(in.a, in.c), b = Code(in.b, in.c);
    low.AddBits(Operands(in), out.shifted_low,
                Halves(in.old >> 16, b << 8 | a));
    high.AddBits(Operands(in), out.shifted_high, Halves(b << 8 | a, in.old));
    both.AddBits(Operands(in), out.shifted_both,
                 Halves(a << 8 | b, b << 8 | a));
  }
  const auto used = Compare(device, Multiplied());
  if (!used.ok()) return used.status();
  const auto wide = Compare(device, Wide());
  if (!wide.ok()) return wide.status();
  return std::vector<Fact>{
      low.Needed("v_ashr_pk_u8_i32: shifts 0 .. 20 of lanes, low half"),
      high.Needed("v_ashr_pk_u8_i32: shifts 0 .. 20 of lanes, high half"),
      both.Needed("v_ashr_pk_u8_i32: shifts 0 .. 20 of lanes, both halves"),
      used->mad.Needed("v_mad_i32_i24: scores, multipliers, addends"),
      used->mul.Needed("v_mul_i32_i24: scores, multipliers"),
      wide->mad.Informative("v_mad_i32_i24: signed low 24 bits, sum wraps"),
      wide->mul.Informative("v_mul_i32_i24: signed low 24 bits, low 32 bits"),
  };
}

}  // namespace zyfa::probe
