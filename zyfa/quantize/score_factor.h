#ifndef ZYFA_QUANTIZE_SCORE_FACTOR_H_
#define ZYFA_QUANTIZE_SCORE_FACTOR_H_

namespace zyfa {

// 8 * log2(e) * softmax_scale, of the multiplier form divided by 255, as
// mantissa * 2^exponent: what q . (K's codes), times K's descale, is multiplied
// with to count 1/8 binades. Apart, so that no scale is too large or too small.
struct ScoreFactor {
  float mantissa = 0;  // magnitude in [0.5, 1], or 0
  int exponent = 0;
};

ScoreFactor ScoreFactorOf(float softmax_scale, bool multipliers);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_SCORE_FACTOR_H_
