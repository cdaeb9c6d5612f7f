#ifndef ZYFA_REFERENCE_TEST_TENSORS_H_
#define ZYFA_REFERENCE_TEST_TENSORS_H_

#include <cstdint>
#include <vector>

#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

// Dense Gaussian Q, K and V of a problem, in bf16.
struct TestTensors {
  explicit TestTensors(const AttentionProblem& problem, uint64_t seed = 1)
      : p(problem),
        q(Gaussian(seed, 0, p.batch * p.seqlen_q * p.heads_q * p.head_dim_qk)),
        k(Gaussian(seed, 1,
                   p.batch * p.seqlen_kv * p.heads_kv * p.head_dim_qk)),
        v(Gaussian(seed, 2,
                   p.batch * p.seqlen_kv * p.heads_kv * p.head_dim_v)) {}

  static std::vector<numerics::Bf16> Gaussian(uint64_t seed, uint64_t stream,
                                              int64_t size) {
    std::vector<float> values(size);
    numerics::FillGaussian(seed, stream, values);
    std::vector<numerics::Bf16> rounded(size);
    for (int64_t i = 0; i < size; ++i) {
      rounded[i] = numerics::Bf16::FromFloat(values[i]);
    }
    return rounded;
  }

  void SetValues(float x) {
    for (numerics::Bf16& e : v) e = numerics::Bf16::FromFloat(x);
  }

  TensorView query() const {
    return TensorView::Dense(q.data(), p.seqlen_q, p.heads_q, p.head_dim_qk);
  }
  TensorView key() const {
    return TensorView::Dense(k.data(), p.seqlen_kv, p.heads_kv, p.head_dim_qk);
  }
  TensorView value() const {
    return TensorView::Dense(v.data(), p.seqlen_kv, p.heads_kv, p.head_dim_v);
  }

  AttentionProblem p;
  std::vector<numerics::Bf16> q;  // [batch][seqlen_q][heads_q][head_dim_qk]
  std::vector<numerics::Bf16> k;  // [batch][seqlen_kv][heads_kv][head_dim_qk]
  std::vector<numerics::Bf16> v;  // [batch][seqlen_kv][heads_kv][head_dim_v]
};

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_TEST_TENSORS_H_
