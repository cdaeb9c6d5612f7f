#include "zyfa/emu/atomic_operation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace zyfa::emu {
namespace {

template <class T>
T Cast(uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  } else {
    return std::bit_cast<T>(bits);
  }
}
template <class T>
uint64_t Bits(T value) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(value);
  } else {
    return std::bit_cast<uint64_t>(value);
  }
}

template <class T, auto F>
uint64_t Apply(uint64_t old_value, uint64_t data) {
  return Bits<T>(static_cast<T>(F(Cast<T>(old_value), Cast<T>(data))));
}

float FromHalf(uint32_t half) {
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  const int exponent = static_cast<int>(half >> 10 & 31);
  const int fraction = static_cast<int>(half & 0x3ff);
  if (exponent == 31) {
    return fraction != 0 ? NAN : sign * INFINITY;
  }
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 1024),
                                            exponent - 25));
}
uint32_t ToHalf(float value) {
  const uint32_t sign = std::bit_cast<uint32_t>(value) >> 16 & 0x8000;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude == 0.0f) return sign;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int unit = std::max(exponent - 11, -24);
  const auto steps =
      static_cast<uint32_t>(std::lrint(std::ldexp(magnitude, -unit)));
  // A carry out of the fraction moves on into the exponent, as it should.
  return sign |
         (unit == -24 ? steps
                      : (static_cast<uint32_t>(unit + 24) << 10) + steps);
}
float FromBfloat(uint32_t bits) { return std::bit_cast<float>(bits << 16); }
uint32_t ToBfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// The sum of two 8- or 11-bit significands rounds the same through float.
template <auto From, auto To>
uint64_t PackedAdd(uint64_t old_value, uint64_t data) {
  uint64_t result = 0;
  for (int half = 0; half < 32; half += 16) {
    const float sum = From(static_cast<uint32_t>(old_value >> half & 0xffff)) +
                      From(static_cast<uint32_t>(data >> half & 0xffff));
    result |= uint64_t{To(sum)} << half;
  }
  return result;
}

template <class T>
T Increment(T old_value, T data) {
  return old_value >= data ? 0 : old_value + 1;
}
template <class T>
T Decrement(T old_value, T data) {
  return old_value == 0 || old_value > data ? data : old_value - 1;
}

using Table = std::unordered_map<std::string, AtomicOperation>;

template <class T>
void AddInteger(Table& t, const std::string& suffix, bool lds) {
  using S = std::make_signed_t<T>;
  constexpr uint32_t kBytes = sizeof(T);
  const std::string bits = std::to_string(8 * kBytes);
  // LDS mnemonics carry the type, the others "_x2" for 64 bits.
  const std::string u = lds ? "_u" + bits : suffix;
  const std::string i = lds ? "_i" + bits : suffix;
  const std::string b = lds ? "_b" + bits : suffix;
  t["add" + u] = {kBytes, Apply<T, [](T a, T d) { return a + d; }>};
  t["sub" + u] = {kBytes, Apply<T, [](T a, T d) { return a - d; }>};
  if (lds) t["rsub" + u] = {kBytes, Apply<T, [](T a, T d) { return d - a; }>};
  t["inc" + u] = {kBytes, Apply<T, Increment<T>>};
  t["dec" + u] = {kBytes, Apply<T, Decrement<T>>};
  t["and" + b] = {kBytes, Apply<T, [](T a, T d) { return a & d; }>};
  t["or" + b] = {kBytes, Apply<T, [](T a, T d) { return a | d; }>};
  t["xor" + b] = {kBytes, Apply<T, [](T a, T d) { return a ^ d; }>};
  t[(lds ? "wrxchg" : "swap") + b] = {kBytes,
                                      Apply<T, [](T, T d) { return d; }>};
  t[(lds ? "min" : "smin") + i] = {
      kBytes, Apply<S, [](S a, S d) { return std::min(a, d); }>};
  t[(lds ? "max" : "smax") + i] = {
      kBytes, Apply<S, [](S a, S d) { return std::max(a, d); }>};
  t[(lds ? "min" : "umin") + u] = {
      kBytes, Apply<T, [](T a, T d) { return std::min(a, d); }>};
  t[(lds ? "max" : "umax") + u] = {
      kBytes, Apply<T, [](T a, T d) { return std::max(a, d); }>};
}

void AddFloat(Table& t) {
  t["add_f32"] = {4, Apply<float, [](float a, float d) { return a + d; }>};
  t["add_f64"] = {8, Apply<double, [](double a, double d) { return a + d; }>};
  t["min_f64"] = {
      8, Apply<double, [](double a, double d) { return std::fmin(a, d); }>};
  t["max_f64"] = {
      8, Apply<double, [](double a, double d) { return std::fmax(a, d); }>};
  t["pk_add_f16"] = {4, PackedAdd<FromHalf, ToHalf>};
  t["pk_add_bf16"] = {4, PackedAdd<FromBfloat, ToBfloat>};
}

const AtomicOperation* Find(const Table& table, std::string_view name) {
  const auto it = table.find(std::string(name));
  return it == table.end() ? nullptr : &it->second;
}

template <class T>
uint64_t ApplyTo(const AtomicOperation& operation, T* word, uint64_t data) {
  T old_value = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      word, &old_value, static_cast<T>(operation.apply(old_value, data)), true,
      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return old_value;
}

template <class T>
uint64_t Swap(T* word, uint64_t compare, uint64_t value) {
  T expected = static_cast<T>(compare);
  __atomic_compare_exchange_n(word, &expected, static_cast<T>(value), false,
                              __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return expected;
}

}  // namespace

const AtomicOperation* FindMemoryAtomic(std::string_view name) {
  static const Table* const table = [] {
    auto* t = new Table;
    AddInteger<uint32_t>(*t, "", false);
    AddInteger<uint64_t>(*t, "_x2", false);
    AddFloat(*t);
    return t;
  }();
  return Find(*table, name);
}

const AtomicOperation* FindLdsAtomic(std::string_view name) {
  static const Table* const table = [] {
    auto* t = new Table;
    AddInteger<uint32_t>(*t, "", true);
    AddInteger<uint64_t>(*t, "", true);
    AddFloat(*t);
    (*t)["min_f32"] = {
        4, Apply<float, [](float a, float d) { return std::fmin(a, d); }>};
    (*t)["max_f32"] = {
        4, Apply<float, [](float a, float d) { return std::fmax(a, d); }>};
    return t;
  }();
  return Find(*table, name);
}

uint64_t ApplyAtomic(const AtomicOperation& operation, uint8_t* host,
                     uint64_t data) {
  return operation.bytes == 4
             ? ApplyTo(operation, reinterpret_cast<uint32_t*>(host), data)
             : ApplyTo(operation, reinterpret_cast<uint64_t*>(host), data);
}

uint64_t CompareAndSwap(uint32_t bytes, uint8_t* host, uint64_t compare,
                        uint64_t value) {
  return bytes == 4 ? Swap(reinterpret_cast<uint32_t*>(host), compare, value)
                    : Swap(reinterpret_cast<uint64_t*>(host), compare, value);
}

}  // namespace zyfa::emu
