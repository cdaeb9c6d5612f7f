#ifndef ZYFA_NUMERICS_RANDOM_H_
#define ZYFA_NUMERICS_RANDOM_H_

#include <array>
#include <cstdint>
#include <span>

namespace zyfa::numerics {

// Random inputs that have the same bits on every platform: Philox4x32-10 with
// the seed as key and {block number, stream} as counter, and distributions made
// of IEEE arithmetic only (elementary.h). Element i depends on (seed, stream,
// i) alone, so a longer array starts with the shorter one.

// Four words: block `index` of a stream.
std::array<uint32_t, 4> RandomWords(uint64_t seed, uint64_t stream,
                                    uint64_t index);

// Independent N(mean, stddev^2): Box-Muller on pairs of 32-bit words, so no
// value lies further than 6.67 stddev from the mean. Rounded to float once.
void FillGaussian(uint64_t seed, uint64_t stream, std::span<float> out,
                  double mean = 0.0, double stddev = 1.0);

// Independent and uniform: low + (high - low) * (w + 1/2) / 2^32 for a word w,
// rounded to float once.
void FillUniform(uint64_t seed, uint64_t stream, std::span<float> out,
                 double low, double high);

// One value after another from a stream, in double.
class RandomSequence {
 public:
  RandomSequence(uint64_t seed, uint64_t stream);

  // In (0, 1), 52 random bits: two words a value.
  double Uniform();
  // N(0, 1).
  double Gaussian();
  // 0 .. count-1, equally likely up to 2^-52; count >= 1.
  int64_t Index(int64_t count);

 private:
  uint32_t Word();

  uint64_t seed_;
  uint64_t stream_;
  uint64_t next_block_ = 0;
  std::array<uint32_t, 4> words_{};
  int used_ = 4;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_RANDOM_H_
