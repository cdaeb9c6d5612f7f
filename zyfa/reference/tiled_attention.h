#ifndef ZYFA_REFERENCE_TILED_ATTENTION_H_
#define ZYFA_REFERENCE_TILED_ATTENTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "zyfa/reference/parallel.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/reference/tile_product.h"

namespace zyfa::reference {

// The loop that all models of attention here share: online softmax over tiles
// of keys for blocks of query rows, in arithmetic of type T. What a model does
// to a row of scores, and how it adds up, is its `Softmax`, with
//
//   struct Row;                      // state of a row, default = no key seen
//   bool NegatesQuery(int64_t batch, int64_t head) const;
//   void Begin(int64_t batch, int64_t head, int64_t position, Row& row) const;
//   T FirstAddend(const Row& row) const;
//       // what the scores' sums start from
//   static constexpr int64_t kChannelsPerSum;
//   static void RoundSums(T* sums, int64_t count);
//       // applied to the scores after each kChannelsPerSum channels, to the
//       // output accumulated so far after each tile and after its factor
//   T Weigh(Row& row, T* scores, int64_t count) const;
//       // turns the scores of `count` >= 1 further keys into weights, in
//       // place;
//       // returns the factor for the output accumulated so far
//   void Finish(const Row& row, const T* accumulated, int64_t count,
//               double* output, double* lse) const;
//       // for a row that has seen at least one key
//
// The scores are dot products, not yet scaled, of keys with queries that are
// negated if the softmax scale is negative, so that the largest score always
// has the largest weight and the scale to apply is |softmax_scale|. Every row
// sees its tiles start at multiples of the tile size, so its bits depend on its
// own keys only.
template <typename T, typename Softmax>
AttentionResult TiledAttention(const AttentionProblem& problem,
                               const TensorView& query, const TensorView& key,
                               const TensorView& value,
                               const AttentionOptions& options,
                               int64_t key_tile, const Softmax& softmax);

// Base of a Softmax whose sums are plain chains in T, with one scale for the
// whole problem.
template <typename T>
class PlainSoftmax {
 public:
  explicit PlainSoftmax(const AttentionProblem& problem)
      : negative_(problem.softmax_scale < 0) {}

  bool NegatesQuery(int64_t, int64_t) const { return negative_; }
  template <typename Row>
  void Begin(int64_t, int64_t, int64_t, Row&) const {}
  template <typename Row>
  T FirstAddend(const Row&) const {
    return 0;
  }
  static constexpr int64_t kChannelsPerSum =
      std::numeric_limits<int64_t>::max();
  static void RoundSums(T*, int64_t) {}

 private:
  bool negative_;
};

namespace tiled_attention_internal {

constexpr int64_t kQueryTile = 64;

constexpr int64_t RoundUp(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// A block of query rows of one head, with the buffers it needs.
template <typename T, typename Softmax>
class RowBlock {
 public:
  RowBlock(const AttentionProblem& problem, const TensorView& query,
           const TensorView& key, const TensorView& value, int64_t key_tile,
           const Softmax& softmax)
      : problem_(problem),
        query_(query),
        key_(key),
        value_(value),
        softmax_(softmax),
        key_tile_(key_tile),
        score_stride_(RoundUp(key_tile, kColumnBlock)),
        value_stride_(RoundUp(problem.head_dim_v, kColumnBlock)),
        q_(kQueryTile * problem.head_dim_qk),
        k_rows_(kTransposeRows * problem.head_dim_qk),
        k_transposed_(problem.head_dim_qk * score_stride_),
        v_(key_tile * value_stride_),
        scores_(kQueryTile * score_stride_),
        accumulated_(kQueryTile * value_stride_) {}

  // `positions` holds at most kQueryTile query positions.
  void Run(int64_t batch, int64_t head, const int64_t* positions,
           int64_t count) {
    rows_.assign(count, typename Softmax::Row{});
    visible_.resize(count);
    std::fill(accumulated_.begin(), accumulated_.end(), T{0});
    const int64_t depth = problem_.head_dim_qk;
    const bool negates_query = softmax_.NegatesQuery(batch, head);
    for (int64_t i = 0; i < count; ++i) {
      softmax_.Begin(batch, head, positions[i], rows_[i]);
      visible_[i] = VisibleKeys(problem_, positions[i]);
      T* q = q_.data() + i * depth;
      query_.LoadRow(batch, positions[i], head, depth, q);
      if (negates_query) {
        for (int64_t j = 0; j < depth; ++j) q[j] = -q[j];
      }
    }
    const int64_t kv_head = head / (problem_.heads_q / problem_.heads_kv);
    const int64_t end =
        count == 0 ? 0 : *std::max_element(visible_.begin(), visible_.end());
    for (int64_t begin = 0; begin < end; begin += key_tile_) {
      const int64_t keys = std::min(key_tile_, end - begin);
      LoadTile(batch, kv_head, begin, keys);
      for (int64_t i = 0; i < count;) i += Step(i, count, begin, keys);
    }
  }

  // Row i of the last Run().
  void Store(int64_t i, double* output, double* lse) const {
    if (visible_[i] > 0) {
      softmax_.Finish(rows_[i], accumulated_.data() + i * value_stride_,
                      problem_.head_dim_v, output, lse);
    }
  }

 private:
  static constexpr int64_t kTransposeRows = 8;

  int64_t KeysOfRow(int64_t i, int64_t begin, int64_t keys) const {
    return std::clamp<int64_t>(visible_[i] - begin, 0, keys);
  }

  // K by columns, V by rows.
  void LoadTile(int64_t batch, int64_t head, int64_t begin, int64_t keys) {
    const int64_t depth = problem_.head_dim_qk;
    for (int64_t first = 0; first < keys; first += kTransposeRows) {
      const int64_t n = std::min(kTransposeRows, keys - first);
      for (int64_t r = 0; r < n; ++r) {
        key_.LoadRow(batch, begin + first + r, head, depth,
                     k_rows_.data() + r * depth);
      }
      for (int64_t j = 0; j < depth; ++j) {
        T* out = k_transposed_.data() + j * score_stride_ + first;
        for (int64_t r = 0; r < n; ++r) out[r] = k_rows_[r * depth + j];
      }
    }
    for (int64_t r = 0; r < keys; ++r) {
      value_.LoadRow(batch, begin + r, head, problem_.head_dim_v,
                     v_.data() + r * value_stride_);
    }
  }

  // Handles row i, or a few rows from i on that see equally many keys of the
  // tile. Returns how many.
  int64_t Step(int64_t i, int64_t count, int64_t begin, int64_t keys) {
    const int64_t seen = KeysOfRow(i, begin, keys);
    int64_t rows = 1;
    while (rows < kRowBlock && i + rows < count &&
           KeysOfRow(i + rows, begin, keys) == seen) {
      ++rows;
    }
    if (seen == 0) return rows;

    const int64_t depth = problem_.head_dim_qk;
    T* scores = scores_.data() + i * score_stride_;
    T* accumulated = accumulated_.data() + i * value_stride_;
    for (int64_t r = 0; r < rows; ++r) {
      std::fill_n(scores + r * score_stride_, score_stride_,
                  softmax_.FirstAddend(rows_[i + r]));
    }
    for (int64_t first = 0; first < depth;) {
      const int64_t channels =
          std::min<int64_t>(Softmax::kChannelsPerSum, depth - first);
      AddTileProduct(rows, channels, RoundUp(seen, kColumnBlock),
                     q_.data() + i * depth + first, depth,
                     k_transposed_.data() + first * score_stride_,
                     score_stride_, scores, score_stride_);
      Softmax::RoundSums(scores, rows * score_stride_);
      first += channels;
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T factor =
          softmax_.Weigh(rows_[i + r], scores + r * score_stride_, seen);
      if (factor == T{1}) continue;
      T* row = accumulated + r * value_stride_;
      for (int64_t j = 0; j < value_stride_; ++j) row[j] *= factor;
      Softmax::RoundSums(row, value_stride_);
    }
    AddTileProduct(rows, seen, value_stride_, scores, score_stride_, v_.data(),
                   value_stride_, accumulated, value_stride_);
    Softmax::RoundSums(accumulated, rows * value_stride_);
    return rows;
  }

  const AttentionProblem& problem_;
  const TensorView& query_;
  const TensorView& key_;
  const TensorView& value_;
  const Softmax& softmax_;
  const int64_t key_tile_;
  const int64_t score_stride_;
  const int64_t value_stride_;
  std::vector<T> q_;             // [kQueryTile][head_dim_qk]
  std::vector<T> k_rows_;        // [kTransposeRows][head_dim_qk]
  std::vector<T> k_transposed_;  // [head_dim_qk][score_stride_]
  std::vector<T> v_;             // [key_tile][value_stride_]
  std::vector<T> scores_;        // [kQueryTile][score_stride_]
  std::vector<T> accumulated_;   // [kQueryTile][value_stride_]
  std::vector<typename Softmax::Row> rows_;
  std::vector<int64_t> visible_;
};

}  // namespace tiled_attention_internal

template <typename T, typename Softmax>
AttentionResult TiledAttention(const AttentionProblem& problem,
                               const TensorView& query, const TensorView& key,
                               const TensorView& value,
                               const AttentionOptions& options,
                               int64_t key_tile, const Softmax& softmax) {
  using tiled_attention_internal::kQueryTile;
  std::vector<int64_t> positions;
  if (options.rows.has_value()) {
    positions = *options.rows;
  } else {
    positions.resize(problem.seqlen_q);
    std::iota(positions.begin(), positions.end(), int64_t{0});
  }
  const int64_t rows = static_cast<int64_t>(positions.size());
  const int64_t heads = problem.heads_q;
  const int64_t dim = problem.head_dim_v;
  AttentionResult result;
  result.output.assign(static_cast<size_t>(problem.batch * rows * heads * dim),
                       0.0);
  result.lse.assign(static_cast<size_t>(problem.batch * heads * rows),
                    -std::numeric_limits<double>::infinity());

  const int64_t blocks = (rows + kQueryTile - 1) / kQueryTile;
  const int64_t pairs = problem.batch * heads;
  ParallelFor(pairs * blocks, options.threads,
              [&](const std::function<int64_t()>& next) {
                tiled_attention_internal::RowBlock<T, Softmax> block(
                    problem, query, key, value, key_tile, softmax);
                for (int64_t task = next(); task >= 0; task = next()) {
                  // The last rows first: with a causal mask they are the
                  // longest.
                  const int64_t first =
                      (blocks - 1 - task / pairs) * kQueryTile;
                  const int64_t batch = task % pairs / heads;
                  const int64_t head = task % heads;
                  const int64_t count = std::min(kQueryTile, rows - first);
                  block.Run(batch, head, positions.data() + first, count);
                  for (int64_t i = 0; i < count; ++i) {
                    const int64_t row = first + i;
                    block.Store(i,
                                result.output.data() +
                                    ((batch * rows + row) * heads + head) * dim,
                                result.lse.data() +
                                    (batch * heads + head) * rows + row);
                  }
                }
              });
  return result;
}

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_TILED_ATTENTION_H_
