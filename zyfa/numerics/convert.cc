#include "zyfa/numerics/convert.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace zyfa::numerics {
namespace {

template <typename From, typename To, typename Function>
absl::Status Map(std::span<const From> from, std::span<To> to,
                 Function function) {
  if (from.size() != to.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("to has ", to.size(), " elements; allowed: ", from.size(),
                     ", as many as from"));
  }
  const From* in = from.data();
  To* out = to.data();
  const size_t size = from.size();
  for (size_t i = 0; i < size; ++i) out[i] = function(in[i]);
  return absl::OkStatus();
}

template <typename Format>
absl::Status Decode(std::span<const Format> from, std::span<float> to) {
  static constexpr auto kTable = [] {
    std::array<float, 256> table{};
    for (int code = 0; code < 256; ++code) {
      table[code] = Format{static_cast<uint8_t>(code)}.ToFloat();
    }
    return table;
  }();
  return Map(from, to, [](Format x) { return kTable[x.code]; });
}

// The policy outside the loop, so that each loop has one.
template <typename Format>
absl::Status Encode(std::span<const float> from, std::span<Format> to,
                    Overflow overflow) {
  if (overflow == Overflow::kSaturate) {
    return Map(from, to, [](float x) {
      return Format::FromFloat(x, Overflow::kSaturate);
    });
  }
  return Map(from, to, [](float x) {
    return Format::FromFloat(x, Overflow::kToSpecial);
  });
}

template <typename Format>
absl::Status Encode(std::span<const float> from, std::span<Format> to) {
  return Map(from, to, [](float x) { return Format::FromFloat(x); });
}

}  // namespace

absl::Status Convert(std::span<const float> from, std::span<Bf16> to) {
  return Encode(from, to);
}
absl::Status Convert(std::span<const float> from, std::span<E4m3> to,
                     Overflow overflow) {
  return Encode(from, to, overflow);
}
absl::Status Convert(std::span<const float> from, std::span<E5m2> to,
                     Overflow overflow) {
  return Encode(from, to, overflow);
}
absl::Status Convert(std::span<const float> from, std::span<E2m1> to) {
  return Encode(from, to);
}
absl::Status Convert(std::span<const float> from, std::span<E2m3> to) {
  return Encode(from, to);
}
absl::Status Convert(std::span<const float> from, std::span<E3m2> to) {
  return Encode(from, to);
}

absl::Status Convert(std::span<const Bf16> from, std::span<float> to) {
  return Map(from, to, [](Bf16 x) { return x.ToFloat(); });
}
absl::Status Convert(std::span<const E4m3> from, std::span<float> to) {
  return Decode(from, to);
}
absl::Status Convert(std::span<const E5m2> from, std::span<float> to) {
  return Decode(from, to);
}
absl::Status Convert(std::span<const E2m1> from, std::span<float> to) {
  return Decode(from, to);
}
absl::Status Convert(std::span<const E2m3> from, std::span<float> to) {
  return Decode(from, to);
}
absl::Status Convert(std::span<const E3m2> from, std::span<float> to) {
  return Decode(from, to);
}

}  // namespace zyfa::numerics
