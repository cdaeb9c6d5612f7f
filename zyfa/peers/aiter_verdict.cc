#include "zyfa/peers/aiter_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/error_bound.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::peers {
namespace {

using reference::TensorView;

template <class T>
absl::Status Download(const emu::DeviceMemory& memory, uint64_t address,
                      std::vector<T>& out) {
  return memory.Read(address,
                     absl::MakeSpan(reinterpret_cast<uint8_t*>(out.data()),
                                    out.size() * sizeof(T)));
}

// `count` numbers below `length`, evenly spread, ends included.
std::vector<int64_t> Spread(int64_t length, int64_t count) {
  std::vector<int64_t> rows;
  if (length <= count || count < 2) {
    for (int64_t i = 0; i < length; ++i) rows.push_back(i);
    return rows;
  }
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(i * (length - 1) / (count - 1));
  }
  return rows;
}

// std::max that NaN wins.
void Raise(double& largest, double x) {
  if (!(x <= largest) && !std::isnan(largest)) largest = x;
}

// exp(logit - largest) of the first `keys` keys of a sequence for one query.
std::vector<double> Weights(const reference::AttentionProblem& attention,
                            const AiterOperands& operands, int64_t query,
                            int64_t head, int64_t first_key, int64_t key_head,
                            int64_t keys) {
  const int64_t dim = attention.head_dim_qk;
  const double* q =
      operands.query.values.data() + (query * attention.heads_q + head) * dim;
  std::vector<double> weights(static_cast<size_t>(keys));
  for (int64_t j = 0; j < keys; ++j) {
    const double* k = operands.key.values.data() +
                      ((first_key + j) * attention.heads_kv + key_head) * dim;
    double sum = 0;
    for (int64_t i = 0; i < dim; ++i) sum += q[i] * k[i];
    weights[static_cast<size_t>(j)] = sum * attention.softmax_scale;
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (double& w : weights) w = std::exp(w - largest);
  return weights;
}

}  // namespace

bool AiterVerdict::ok() const {
  return max_share <= 1 && max_lse_error <= lse_limit &&
         (!limit.has_value() || max_error <= *limit);
}

absl::StatusOr<AiterVerdict> JudgeAiterLaunch(const AiterKernel& kernel,
                                              const AiterProblem& problem,
                                              const AiterOperands& operands,
                                              const AiterLaunch& launch,
                                              const emu::DeviceMemory& memory,
                                              int64_t max_rows) {
  const int64_t heads = problem.heads_q;
  std::vector<numerics::Bf16> output(
      static_cast<size_t>(problem.queries() * heads * kernel.head_dim_v));
  absl::Status status = Download(memory, launch.output, output);
  std::vector<float> lse;
  if (launch.lse != 0) {
    lse.resize(static_cast<size_t>(problem.queries() * heads));
    status.Update(Download(memory, launch.lse, lse));
  }
  if (!status.ok()) return status;

  AiterVerdict verdict;
  verdict.lse_limit = LseErrorBound(kernel);
  verdict.limit = PublishedError(kernel, problem);
  if (verdict.limit.has_value()) *verdict.limit *= kPublishedErrorRoom;
  int64_t query_base = 0;
  int64_t key_base = 0;
  for (const AiterProblem::Sequence& s : problem.sequences) {
    reference::AttentionProblem attention = {
        .heads_q = heads,
        .heads_kv = problem.heads_kv,
        .seqlen_q = s.queries,
        .seqlen_kv = s.keys,
        .head_dim_qk = kernel.head_dim_qk,
        .head_dim_v = kernel.head_dim_v,
        .mask = kernel.mask,
        .softmax_scale = operands.softmax_scale};
    const auto view = [](const QuantizedTensor& t, int64_t first, int64_t seq) {
      return TensorView::Dense(
          t.values.data() + first * t.extent.heads * t.extent.dim, seq,
          t.extent.heads, t.extent.dim);
    };
    const std::vector<int64_t> rows = Spread(s.queries, max_rows);
    absl::StatusOr<reference::AttentionResult> expected = reference::Attention(
        attention, view(operands.query, query_base, s.queries),
        view(operands.key, key_base, s.keys),
        view(operands.value, key_base, s.keys), {.rows = rows});
    if (!expected.ok()) return expected.status();

    for (size_t r = 0; r < rows.size(); ++r) {
      for (int64_t head = 0; head < heads; ++head) {
        const int64_t row = (query_base + rows[r]) * heads + head;
        const int64_t expected_row = static_cast<int64_t>(r) * heads + head;
        const absl::Span<const double> exact =
            absl::MakeConstSpan(expected->output)
                .subspan(static_cast<size_t>(expected_row * kernel.head_dim_v),
                         static_cast<size_t>(kernel.head_dim_v));
        const int64_t key_head = head / (heads / problem.heads_kv);
        const std::vector<double> weights =
            Weights(attention, operands, query_base + rows[r], head, key_base,
                    key_head, reference::VisibleKeys(attention, rows[r]));
        const int64_t value_stride = problem.heads_kv * kernel.head_dim_v;
        const std::vector<double> bounds = RowErrorBound(
            kernel, weights,
            operands.value.values.data() + key_base * value_stride +
                key_head * kernel.head_dim_v,
            value_stride, exact);
        for (int64_t d = 0; d < kernel.head_dim_v; ++d) {
          const double want = exact[static_cast<size_t>(d)];
          const double got =
              output[static_cast<size_t>(row * kernel.head_dim_v + d)]
                  .ToFloat();
          const double error = std::fabs(got - want);
          Raise(verdict.max_error, error);
          Raise(verdict.max_share, error / bounds[static_cast<size_t>(d)]);
          Raise(verdict.max_output, std::fabs(want));
        }
        if (launch.lse != 0) {
          const int64_t at =
              kernel.group ? head * problem.queries() + query_base + rows[r]
                           : query_base * heads + head * s.queries + rows[r];
          const double want = expected->lse[static_cast<size_t>(
              head * static_cast<int64_t>(rows.size()) +
              static_cast<int64_t>(r))];
          const double got = double{lse[static_cast<size_t>(at)]};
          Raise(verdict.max_lse_error,
                std::fabs(got - want) / std::max(1.0, std::fabs(want)));
        }
      }
    }
    verdict.rows += static_cast<int64_t>(rows.size()) * heads;
    query_base += s.queries;
    key_base += s.keys;
  }
  return verdict;
}

}  // namespace zyfa::peers
