#include "zyfa/reference/int8_rule_figures.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/reference/refuse.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::reference {
namespace {

constexpr int64_t kWaveRows = kQueryTile / kWavesPerGroup;
constexpr size_t kEndTiles = 8;

double SquaredDistance(const std::vector<double>& a,
                       const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// What a row did with a tile.
struct RowTile {
  bool seen = false;
  bool moved = false;
  bool rose = false;
};

// Adds up the tiles of each run of `rows` rows.
void Count(const std::vector<std::vector<RowTile>>& rows, int64_t run,
           Int8RuleCounts& all, Int8RuleCounts& inner) {
  for (size_t first = 0; first < rows.size(); first += run) {
    // Rows see a run of tiles from the first on.
    std::vector<RowTile> tiles;
    for (size_t tile = 0; tile < rows[first].size(); ++tile) {
      RowTile any;
      for (size_t r = first; r < first + run; ++r) {
        any.seen |= rows[r][tile].seen;
        any.moved |= rows[r][tile].moved;
        any.rose |= rows[r][tile].rose;
      }
      if (any.seen) tiles.push_back(any);
    }
    for (size_t tile = 1; tile < tiles.size(); ++tile) {
      const RowTile& any = tiles[tile];
      const Int8RuleCounts one = {.pairs = 1,
                                  .moves = any.moved,
                                  .rises = any.rose,
                                  .changes = any.moved || any.rose};
      all += one;
      if (tile > kEndTiles && tile + kEndTiles + 1 < tiles.size()) inner += one;
    }
  }
}

double Of1000(int64_t count, int64_t pairs) {
  return pairs == 0
             ? 0.0
             : 1000.0 * static_cast<double>(count) / static_cast<double>(pairs);
}

}  // namespace

Int8RuleCounts& Int8RuleCounts::operator+=(const Int8RuleCounts& other) {
  pairs += other.pairs;
  moves += other.moves;
  rises += other.rises;
  changes += other.changes;
  return *this;
}

double Int8RuleCounts::Moves() const { return Of1000(moves, pairs); }
double Int8RuleCounts::Rises() const { return Of1000(rises, pairs); }
double Int8RuleCounts::Changes() const { return Of1000(changes, pairs); }

Int8RuleFigures& Int8RuleFigures::operator+=(const Int8RuleFigures& other) {
  output += other.output;
  error += other.error;
  exact_error += other.exact_error;
  wave += other.wave;
  wave_inner += other.wave_inner;
  group += other.group;
  group_inner += other.group_inner;
  return *this;
}

double Int8RuleFigures::Error() const { return std::sqrt(error / output); }
double Int8RuleFigures::ErrorOverExact() const {
  return std::sqrt(error / exact_error);
}

absl::StatusOr<Int8RuleStudy> Int8RuleStudy::Make(Int8Tensors tensors,
                                                  int groups) {
  const int64_t most = tensors.problem.seqlen_q / kQueryTile;
  if (groups < 1 || groups > most) {
    return Refuse("groups", groups, absl::StrCat("1 .. ", most));
  }
  Int8RuleStudy study;
  study.tensors_ = std::move(tensors);
  study.attention_.rows.emplace();
  for (int64_t i = 1; i <= groups; ++i) {
    const int64_t group = i * most / groups - 1;
    for (int64_t r = 0; r < kQueryTile; ++r) {
      study.attention_.rows->push_back(group * kQueryTile + r);
    }
  }
  const auto expected = study.tensors_.Float64(study.attention_);
  if (!expected.ok()) return expected.status();
  const auto exact = study.tensors_.ExactP(study.attention_);
  if (!exact.ok()) return exact.status();
  study.expected_ = expected->output;
  study.exact_error_ = SquaredDistance(exact->output, expected->output);
  study.output_ = SquaredDistance(
      expected->output, std::vector<double>(expected->output.size(), 0.0));
  return study;
}

absl::StatusOr<Int8RuleFigures> Int8RuleStudy::Measure(
    const Int8Rule& rule) const {
  const std::vector<int64_t>& positions = *attention_.rows;
  std::vector<int64_t> row_of(tensors_.problem.seqlen_q);
  for (size_t i = 0; i < positions.size(); ++i) {
    row_of[positions[i]] = static_cast<int64_t>(i);
  }
  const int64_t tiles = (tensors_.problem.seqlen_kv + kKeyTile - 1) / kKeyTile;
  std::vector<std::vector<RowTile>> rows(positions.size());
  for (auto& row : rows) row.resize(tiles);

  Int8ModelOptions options;
  options.rule = rule;
  options.attention = attention_;
  // Every call has a place of its own.
  options.on_tile = [&](const Int8Tile& tile) {
    rows[row_of[tile.position]][tile.first_key / kKeyTile] = {true, tile.moved,
                                                              tile.rise > 0};
  };
  const auto model = tensors_.Model(options);
  if (!model.ok()) return model.status();
  Int8RuleFigures figures;
  figures.output = output_;
  figures.exact_error = exact_error_;
  figures.error = SquaredDistance(model->output, expected_);
  Count(rows, kWaveRows, figures.wave, figures.wave_inner);
  Count(rows, kQueryTile, figures.group, figures.group_inner);
  return figures;
}

}  // namespace zyfa::reference
