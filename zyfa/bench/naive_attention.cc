#include "zyfa/bench/naive_attention.h"

#include <cmath>
#include <cstddef>

namespace zyfa::bench {

using numerics::Bf16;

std::vector<Bf16> NaiveOutput(const Case& c, const Inputs& inputs,
                              double softmax_scale) {
  const size_t dqk = c.variant.head_dim_qk, dv = c.variant.head_dim_v;
  std::vector<Bf16> output;
  for (int b = 0; b < c.batch; ++b) {
    for (int i = 0; i < c.seqlen_q; ++i) {
      const int keys = c.variant.mask == Mask::kCausal
                           ? i + c.seqlen_kv - c.seqlen_q + 1
                           : c.seqlen_kv;
      for (int h = 0; h < c.heads_q; ++h) {
        const size_t query = ((b * c.seqlen_q + i) * c.heads_q + h) * dqk;
        std::vector<double> sum(dv, 0.0);
        double weight = 0;
        for (int j = 0; j < keys; ++j) {
          const size_t row =
              (b * c.seqlen_kv + j) * c.heads_kv + h * c.heads_kv / c.heads_q;
          double score = 0;
          for (size_t d = 0; d < dqk; ++d) {
            score +=
                double{inputs.query[query + d]} * inputs.key[row * dqk + d];
          }
          const double p = std::exp(softmax_scale * score);
          weight += p;
          for (size_t d = 0; d < dv; ++d) {
            sum[d] += p * inputs.value[row * dv + d];
          }
        }
        for (double s : sum) {
          output.push_back(Bf16::FromFloat(static_cast<float>(s / weight)));
        }
      }
    }
  }
  return output;
}

}  // namespace zyfa::bench
