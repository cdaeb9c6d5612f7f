#include "zyfa/quantize/score_factor.h"

#include <cmath>
#include <numbers>

namespace zyfa {

ScoreFactor ScoreFactorOf(float softmax_scale, bool multipliers) {
  const double factor =
      8 * std::numbers::log2e * softmax_scale / (multipliers ? 255 : 1);
  ScoreFactor out;
  out.mantissa = static_cast<float>(std::frexp(factor, &out.exponent));
  return out;
}

}  // namespace zyfa
