#ifndef ZYFA_BENCH_PLAIN_KL_H_
#define ZYFA_BENCH_PLAIN_KL_H_

#include <cmath>
#include <cstddef>
#include <vector>

namespace zyfa::bench {

// Mean over rows of a vocabulary of 257 of sum p ln(p/q), in plain float64: for
// logits that are not large.
inline double PlainKl(const std::vector<float>& logits_p,
                      const std::vector<float>& logits_q) {
  const size_t size = 257;
  double sum = 0;
  for (size_t row = 0; row < logits_p.size(); row += size) {
    double of_p = 0, of_q = 0;
    for (size_t i = row; i < row + size; ++i) {
      of_p += std::exp(double{logits_p[i]});
      of_q += std::exp(double{logits_q[i]});
    }
    for (size_t i = row; i < row + size; ++i) {
      const double p = std::exp(double{logits_p[i]}) / of_p;
      sum += p * std::log(p / (std::exp(double{logits_q[i]}) / of_q));
    }
  }
  return sum / static_cast<double>(logits_p.size() / size);
}

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_PLAIN_KL_H_
