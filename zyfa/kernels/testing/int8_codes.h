#ifndef ZYFA_KERNELS_TESTING_INT8_CODES_H_
#define ZYFA_KERNELS_TESTING_INT8_CODES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace zyfa::testing {

// INT8 codes of Q and K for the tests of kernels, in double arithmetic and
// without what a quantiser does besides (mean, rotation): docs/int8-scores.md
// has the formulas.

// Keys of a head.
struct Int8Keys {
  std::vector<int8_t> codes;          // as the values
  std::vector<uint32_t> multipliers;  // of each token
  double step = 0;                    // value = code * multiplier * step
};

// `largest`: of all magnitudes, at least. Without `multiply` all multipliers
// are 1.
Int8Keys MakeInt8Keys(std::span<const float> values, int64_t head_dim,
                      double largest, bool multiply);

// A row of Q.
struct Int8Query {
  std::vector<int8_t> codes;
  uint8_t shift = 0;
};
Int8Query MakeInt8Query(std::span<const float> values, double softmax_scale,
                        double key_step);

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_INT8_CODES_H_
