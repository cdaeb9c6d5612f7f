#include "zyfa/kernels/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace zyfa {
namespace {

constexpr int kBlockBytes = 64;
constexpr int kRounds = 64;

// The standard defines its constants as the first 32 fractional bits of square
// roots (initial state) and cube roots (rounds) of the first primes. They come
// from long division of the integer root here: floor(root(p * 2^(32 k))) mod
// 2^32.
constexpr uint32_t RootFraction(uint64_t prime, int degree) {
  using Wide = unsigned __int128;
  uint64_t low = 0, high = uint64_t{1} << 36;  // root(311) * 2^32 < 2^37
  if (degree == 2) high = uint64_t{1} << 37;
  while (high - low > 1) {
    const uint64_t mid = low + (high - low) / 2;
    // mid^degree <= prime * 2^(32 * degree), without leaving 128 bits.
    bool fits;
    if (degree == 2) {
      fits = Wide{mid} * mid <= (Wide{prime} << 64);
    } else {
      fits = Wide{mid} * mid <= (Wide{prime} << 96) / mid;
    }
    (fits ? low : high) = mid;
  }
  return static_cast<uint32_t>(low);
}

struct Constants {
  std::array<uint32_t, 8> initial{};
  std::array<uint32_t, kRounds> rounds{};
};

constexpr Constants MakeConstants() {
  Constants constants;
  int found = 0;
  for (uint64_t n = 2; found < kRounds; ++n) {
    bool prime = true;
    for (uint64_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (!prime) continue;
    if (found < 8) constants.initial[found] = RootFraction(n, 2);
    constants.rounds[found++] = RootFraction(n, 3);
  }
  return constants;
}

constexpr Constants kConstants = MakeConstants();
static_assert(kConstants.initial[0] == 0x6a09e667);
static_assert(kConstants.rounds[63] == 0xc67178f2);

void Compress(const uint8_t* block, std::array<uint32_t, 8>& state) {
  std::array<uint32_t, kRounds> w;
  for (int t = 0; t < 16; ++t) {
    w[t] = uint32_t{block[4 * t]} << 24 | uint32_t{block[4 * t + 1]} << 16 |
           uint32_t{block[4 * t + 2]} << 8 | block[4 * t + 3];
  }
  for (int t = 16; t < kRounds; ++t) {
    const uint32_t a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + w[t - 7] +
           (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < kRounds; ++t) {
    const uint32_t choose = (e & f) ^ (~e & g);
    const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choose +
        kConstants.rounds[t] + w[t];
    const uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += added[i];
}

}  // namespace

std::string Sha256Hex(absl::Span<const uint8_t> bytes) {
  std::array<uint32_t, 8> state = kConstants.initial;
  size_t done = 0;
  for (; bytes.size() - done >= kBlockBytes; done += kBlockBytes) {
    Compress(bytes.data() + done, state);
  }
  // The rest, a one bit, zeros, and the length in bits: one block or two.
  uint8_t tail[2 * kBlockBytes] = {};
  const size_t rest = bytes.size() - done;
  if (rest > 0) std::memcpy(tail, bytes.data() + done, rest);
  tail[rest] = 0x80;
  const size_t total = rest + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int i = 0; i < 8; ++i) tail[total - 1 - i] = bits >> (8 * i) & 0xff;
  for (size_t at = 0; at < total; at += kBlockBytes) Compress(tail + at, state);

  std::string hex;
  for (uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      hex += "0123456789abcdef"[word >> shift & 15];
    }
  }
  return hex;
}

}  // namespace zyfa
