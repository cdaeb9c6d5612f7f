#include "zyfa/numerics/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "zyfa/numerics/elementary.h"
#include "zyfa/numerics/philox.h"

namespace zyfa::numerics {
namespace {

constexpr double kTwoToMinus32 = 0x1p-32;

// Box-Muller: two independent N(0, 1) of u in (0, 1] and an angle in turns.
struct Pair {
  double first;
  double second;
};
Pair BoxMuller(double u, double turns) {
  const double radius = std::sqrt(-2.0 * Log(u));  // IEEE: correctly rounded
  const SinCos angle = SinCosOfTurns(turns);
  return {radius * angle.cos, radius * angle.sin};
}

}  // namespace

std::array<uint32_t, 4> RandomWords(uint64_t seed, uint64_t stream,
                                    uint64_t index) {
  return Philox4x32(
      {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
       static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

void FillGaussian(uint64_t seed, uint64_t stream, std::span<float> out,
                  double mean, double stddev) {
  for (size_t i = 0; i < out.size(); i += 4) {
    const auto words = RandomWords(seed, stream, i / 4);
    const Pair a =
        BoxMuller((words[0] + 1.0) * kTwoToMinus32, words[1] * kTwoToMinus32);
    const Pair b =
        BoxMuller((words[2] + 1.0) * kTwoToMinus32, words[3] * kTwoToMinus32);
    const double values[4] = {a.first, a.second, b.first, b.second};
    for (size_t j = 0; j < 4 && i + j < out.size(); ++j) {
      out[i + j] = static_cast<float>(mean + stddev * values[j]);
    }
  }
}

void FillUniform(uint64_t seed, uint64_t stream, std::span<float> out,
                 double low, double high) {
  for (size_t i = 0; i < out.size(); i += 4) {
    const auto words = RandomWords(seed, stream, i / 4);
    for (size_t j = 0; j < 4 && i + j < out.size(); ++j) {
      const double u = (words[j] + 0.5) * kTwoToMinus32;
      out[i + j] = static_cast<float>(low + (high - low) * u);
    }
  }
}

RandomSequence::RandomSequence(uint64_t seed, uint64_t stream)
    : seed_(seed), stream_(stream) {}

uint32_t RandomSequence::Word() {
  if (used_ == 4) {
    words_ = RandomWords(seed_, stream_, next_block_++);
    used_ = 0;
  }
  return words_[used_++];
}

double RandomSequence::Uniform() {
  const uint64_t high = Word();
  const uint64_t bits = ((high << 32) | Word()) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

double RandomSequence::Gaussian() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double u = Uniform();
  const Pair pair = BoxMuller(u, Uniform());
  spare_ = pair.second;
  has_spare_ = true;
  return pair.first;
}

int64_t RandomSequence::Index(int64_t count) {
  // The product may round up to `count`.
  return std::min(count - 1,
                  static_cast<int64_t>(Uniform() * static_cast<double>(count)));
}

}  // namespace zyfa::numerics
