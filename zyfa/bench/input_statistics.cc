#include "zyfa/bench/input_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>

#include "zyfa/bench/layer_inputs.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/reference/parallel.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

constexpr int64_t kBlock = 64;
constexpr double kLowBinades = 8.0;

// Scores of a row against a block of keys, in binades.
struct BlockScores {
  double largest;
  double weight;  // sum of 2^(score - largest)
};

// Of a row.
struct RowFigures {
  double low_blocks = 0.0, blocks = 0.0;
  double low_mass = 0.0, sink_mass = 0.0;
};

// `first`: the score of key 0.
RowFigures FiguresOf(const std::vector<BlockScores>& blocks, double first) {
  double largest = blocks[0].largest;
  for (const BlockScores& b : blocks) largest = std::max(largest, b.largest);
  double total = 0.0, low = 0.0;
  RowFigures figures;
  for (const BlockScores& b : blocks) {
    const double mass = b.weight * std::exp2(b.largest - largest);
    total += mass;
    if (b.largest < largest - kLowBinades) {
      low += mass;
      ++figures.low_blocks;
    }
  }
  figures.blocks = static_cast<double>(blocks.size());
  figures.low_mass = low / total;
  figures.sink_mass = std::exp2(first - largest) / total;
  return figures;
}

// A layer of one head.
class Head {
 public:
  explicit Head(const CapturedLayer& head)
      : head_(head), scale_(ExactSoftmaxScale(head) * numerics::kLog2E) {}

  RowFigures Row(int64_t row) const {
    const auto dim = static_cast<size_t>(head_.head_dim_qk);
    std::vector<double> query;
    for (size_t c = 0; c < dim; ++c) {
      query.push_back(
          scale_ *
          double{head_.query[static_cast<size_t>(row) * dim + c].ToFloat()});
    }
    std::vector<BlockScores> blocks;
    double first = 0.0;
    for (int64_t begin = 0; begin <= row; begin += kBlock) {
      std::array<double, kBlock> scores = {};
      const int64_t keys = std::min(kBlock, row + 1 - begin);
      // Four sums, so that additions need not wait for each other.
      for (int64_t j = 0; j < keys; ++j) {
        const Bf16* key =
            head_.key.data() + static_cast<size_t>(begin + j) * dim;
        std::array<double, 4> sums = {};
        for (size_t c = 0; c < dim; c += 4) {
          for (size_t i = 0; i < 4; ++i) {
            sums[i] += query[c + i] * double{key[c + i].ToFloat()};
          }
        }
        scores[static_cast<size_t>(j)] =
            (sums[0] + sums[1]) + (sums[2] + sums[3]);
      }
      if (begin == 0) first = scores[0];
      BlockScores block = {
          *std::max_element(scores.begin(), scores.begin() + keys), 0.0};
      for (int64_t j = 0; j < keys; ++j) {
        block.weight +=
            std::exp2(scores[static_cast<size_t>(j)] - block.largest);
      }
      blocks.push_back(block);
    }
    return FiguresOf(blocks, first);
  }

 private:
  const CapturedLayer& head_;
  double scale_;
};

// Largest RMS of a channel over the median one, of one head's tensor.
double OutlierRatio(const std::vector<Bf16>& x, int64_t dim) {
  std::vector<double> squares(static_cast<size_t>(dim), 0.0);
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = double{x[i].ToFloat()};
    squares[i % squares.size()] += v * v;
  }
  std::sort(squares.begin(), squares.end());
  return std::sqrt(squares.back() / squares[squares.size() / 2]);
}

// Squares of the mean row, and of the rows without it, a row.
struct MeanSquares {
  double of_mean = 0.0, of_rest = 0.0;
};

MeanSquares MeanRow(const std::vector<Bf16>& x, int64_t dim) {
  std::vector<double> mean(static_cast<size_t>(dim), 0.0);
  double all = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = double{x[i].ToFloat()};
    mean[i % mean.size()] += v;
    all += v * v;
  }
  const double rows = static_cast<double>(x.size()) / static_cast<double>(dim);
  MeanSquares squares;
  for (const double m : mean) squares.of_mean += (m / rows) * (m / rows);
  squares.of_rest = all / rows - squares.of_mean;
  return squares;
}

}  // namespace

proto::InputStatistics StatisticsOf(const CapturedLayer& layer,
                                    const std::vector<int64_t>& rows,
                                    int threads) {
  proto::InputStatistics statistics;
  RowFigures all;
  MeanSquares keys;
  double largest_sink = 0.0, query = 0.0, key = 0.0, value = 0.0;
  for (int64_t h = 0; h < layer.heads_q; ++h) {
    const CapturedLayer head = HeadOf(layer, h);
    std::vector<RowFigures> of_rows(rows.size());
    reference::ParallelFor(static_cast<int64_t>(rows.size()), threads,
                           [&](const std::function<int64_t()>& next) {
                             for (int64_t i = next(); i >= 0; i = next()) {
                               of_rows[static_cast<size_t>(i)] =
                                   Head(head).Row(rows[static_cast<size_t>(i)]);
                             }
                           });
    double sink = 0.0;
    for (const RowFigures& row : of_rows) {
      all.low_blocks += row.low_blocks;
      all.blocks += row.blocks;
      all.low_mass += row.low_mass;
      sink += row.sink_mass;
    }
    all.sink_mass += sink;
    largest_sink = std::max(largest_sink, sink);
    query = std::max(query, OutlierRatio(head.query, head.head_dim_qk));
    key = std::max(key, OutlierRatio(head.key, head.head_dim_qk));
    value = std::max(value, OutlierRatio(head.value, head.head_dim_v));
    const MeanSquares of_keys = MeanRow(head.key, head.head_dim_qk);
    keys.of_mean += of_keys.of_mean;
    keys.of_rest += of_keys.of_rest;
  }
  const auto of_head = static_cast<double>(rows.size());
  const double count = of_head * static_cast<double>(layer.heads_q);
  statistics.set_low_block_share(all.low_blocks / all.blocks);
  statistics.set_low_block_mass(all.low_mass / count);
  statistics.set_sink_mass(all.sink_mass / count);
  statistics.set_largest_sink_mass(largest_sink / of_head);
  statistics.set_query_outlier_ratio(query);
  statistics.set_key_outlier_ratio(key);
  statistics.set_value_outlier_ratio(value);
  statistics.set_key_mean_ratio(std::sqrt(keys.of_mean / keys.of_rest));
  return statistics;
}

}  // namespace zyfa::bench
