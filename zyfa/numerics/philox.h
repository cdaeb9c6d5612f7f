#ifndef ZYFA_NUMERICS_PHILOX_H_
#define ZYFA_NUMERICS_PHILOX_H_

#include <array>
#include <cstdint>

namespace zyfa::numerics {

// Philox4x32 with ten rounds: a counter-based generator of four 32-bit words
// for a 128-bit counter and a 64-bit key (Salmon, Moraes, Dror and Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
constexpr std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter,
                                             std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;  // golden ratio
    key[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_PHILOX_H_
