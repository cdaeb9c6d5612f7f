#ifndef ZYFA_REFERENCE_TEST_TENSORS_H_
#define ZYFA_REFERENCE_TEST_TENSORS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

// Dense Q, K and V of a problem.
template <typename QueryKey, typename Value>
struct DenseTensors {
  explicit DenseTensors(const AttentionProblem& problem)
      : p(problem),
        q(p.batch * p.seqlen_q * p.heads_q * p.head_dim_qk),
        k(p.batch * p.seqlen_kv * p.heads_kv * p.head_dim_qk),
        v(p.batch * p.seqlen_kv * p.heads_kv * p.head_dim_v) {}

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
  std::vector<QueryKey> q;  // [batch][seqlen_q][heads_q][head_dim_qk]
  std::vector<QueryKey> k;  // [batch][seqlen_kv][heads_kv][head_dim_qk]
  std::vector<Value> v;     // [batch][seqlen_kv][heads_kv][head_dim_v]
};

// N(0, stddev^2), each number made an element by `round`.
template <typename T, typename Round>
void FillGaussian(uint64_t seed, uint64_t stream, std::vector<T>& out,
                  const Round& round, double stddev = 1.0) {
  std::vector<float> values(out.size());
  numerics::FillGaussian(seed, stream, values, 0.0, stddev);
  std::transform(values.begin(), values.end(), out.begin(), round);
}

// Gaussian, in bf16.
struct TestTensors : DenseTensors<numerics::Bf16, numerics::Bf16> {
  explicit TestTensors(const AttentionProblem& problem, uint64_t seed = 1)
      : DenseTensors(problem) {
    FillGaussian(seed, 0, q, numerics::Bf16::FromFloat);
    FillGaussian(seed, 1, k, numerics::Bf16::FromFloat);
    FillGaussian(seed, 2, v, numerics::Bf16::FromFloat);
  }

  void SetValues(float x) {
    for (numerics::Bf16& e : v) e = numerics::Bf16::FromFloat(x);
  }
};

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_TEST_TENSORS_H_
