#include "zyfa/peers/aiter_operands.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "zyfa/numerics/random.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/quantize.h"

namespace zyfa::peers {
namespace {

enum Stream : uint64_t { kQuery = 0, kKey = 1, kValue = 2, kSpread = 16 };

// Of FP6 and FP4 queries: the probabilities of these kernels reach down 6
// octaves (ProbabilityError), and this keeps nearly all weight within them.
constexpr double kNarrowQuery = 0.25;

// Multiplies what shares a scale by one factor, in the ratios 1/2, 1 and 2, of
// mean square 1.
void SpreadBlocks(const Extent& e, uint64_t seed, uint64_t stream,
                  BlockAxis axis, std::vector<float>& x) {
  const int64_t blocks = axis == BlockAxis::kHeadDim
                             ? e.rows() * (e.dim / kScaleBlock)
                             : e.batch *
                                   ((e.seq + kScaleBlock - 1) / kScaleBlock) *
                                   e.heads * e.dim;
  std::vector<float> draws(static_cast<size_t>(blocks));
  numerics::FillUniform(seed, kSpread + stream, draws, 0.0, 3.0);
  const float norm = std::sqrt(3.0f / (0.25f + 1.0f + 4.0f));
  const int64_t row = e.heads * e.dim;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t element = static_cast<int64_t>(i);
    int64_t block = element / kScaleBlock;
    if (axis == BlockAxis::kSequence) {
      const int64_t token = element / row;
      const int64_t per_batch = (e.seq + kScaleBlock - 1) / kScaleBlock;
      block = (token / e.seq * per_batch + token % e.seq / kScaleBlock) * row +
              element % row;
    }
    const float draw = draws[static_cast<size_t>(block)];
    x[i] *= norm * (draw < 1.0f ? 0.5f : draw < 2.0f ? 1.0f : 2.0f);
  }
}

QuantizedTensor Make(OperandFormat format, BlockAxis axis, const Extent& extent,
                     uint64_t seed, uint64_t stream, double multiplier) {
  std::vector<float> x(static_cast<size_t>(extent.elements()));
  numerics::FillGaussian(seed, stream, x, 0.0, multiplier);
  if (format.scaling == Scaling::kPerBlock) {
    SpreadBlocks(extent, seed, stream, axis, x);
  }
  return Quantize(format, axis, extent, x);
}

// The first `dim` columns of each row of an unscaled tensor.
QuantizedTensor Columns(const QuantizedTensor& from, int64_t dim) {
  QuantizedTensor out;
  out.format = from.format;
  out.extent = from.extent;
  out.extent.dim = dim;
  for (int64_t row = 0; row < from.extent.rows(); ++row) {
    const auto first = static_cast<std::ptrdiff_t>(row * from.extent.dim);
    out.codes.insert(out.codes.end(), from.codes.begin() + first,
                     from.codes.begin() + first + dim);
    out.values.insert(out.values.end(), from.values.begin() + first,
                      from.values.begin() + first + dim);
  }
  return out;
}

}  // namespace

AiterOperands MakeOperands(const AiterKernel& kernel,
                           const AiterProblem& problem) {
  Extent queries = {.batch = 1,
                    .seq = problem.queries(),
                    .heads = problem.heads_q,
                    .dim = kernel.head_dim_qk};
  Extent keys = {.batch = 1,
                 .seq = problem.keys(),
                 .heads = problem.heads_kv,
                 .dim = kernel.head_dim_qk};
  if (!kernel.group) {
    queries.batch = static_cast<int64_t>(problem.sequences.size());
    queries.seq = problem.sequences.front().queries;
    keys.batch = queries.batch;
    keys.seq = problem.sequences.front().keys;
  }
  Extent values = keys;
  values.dim = kernel.head_dim_v;

  AiterOperands out;
  double multiplier = 1.0;
  out.softmax_scale = 1.0 / std::sqrt(static_cast<double>(kernel.head_dim_qk));
  if (kernel.query.scaling == Scaling::kPerBlock) {
    multiplier = out.softmax_scale * std::numbers::log2e *
                 (kernel.query.format == Format::kE4m3 ? 1.0 : kNarrowQuery);
    out.softmax_scale = std::numbers::ln2;
  }
  out.query = Make(kernel.query, BlockAxis::kHeadDim, queries, problem.seed,
                   kQuery, multiplier);
  out.key =
      Make(kernel.key, BlockAxis::kHeadDim, keys, problem.seed, kKey, 1.0);
  out.value = kernel.family == Family::kMlaPaged
                  ? Columns(out.key, kernel.head_dim_v)
                  : Make(kernel.value, BlockAxis::kSequence, values,
                         problem.seed, kValue, 1.0);
  return out;
}

}  // namespace zyfa::peers
