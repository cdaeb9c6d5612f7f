#include "zyfa/reference/int8_slow_paths.h"

#include <algorithm>

#include "zyfa/variant/attention_args.h"

namespace zyfa::reference {
namespace {

constexpr size_t kEndTiles = 8;

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

Int8SlowPaths& Int8SlowPaths::operator+=(const Int8SlowPaths& other) {
  wave += other.wave;
  wave_inner += other.wave_inner;
  group += other.group;
  group_inner += other.group_inner;
  return *this;
}

Int8SlowPathCounter::Int8SlowPathCounter(const std::vector<int64_t>& rows,
                                         int64_t seqlen_kv)
    : tiles_(rows.size(), std::vector<RowTile>(static_cast<size_t>(
                              (seqlen_kv + kKeyTile - 1) / kKeyTile))) {
  if (rows.empty()) return;
  const int64_t last = *std::max_element(rows.begin(), rows.end());
  row_of_.resize(static_cast<size_t>(last) + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    row_of_[static_cast<size_t>(rows[i])] = static_cast<int64_t>(i);
  }
}

void Int8SlowPathCounter::Note(const Int8Tile& tile) {
  const auto row =
      static_cast<size_t>(row_of_[static_cast<size_t>(tile.position)]);
  tiles_[row][static_cast<size_t>(tile.first_key / kKeyTile)] = {
      true, tile.moved, tile.rise > 0};
}

void Int8SlowPathCounter::Count(size_t rows, Int8RuleCounts& all,
                                Int8RuleCounts& inner) const {
  for (size_t first = 0; first < tiles_.size(); first += rows) {
    // Rows see a run of tiles from the first on.
    std::vector<RowTile> tiles;
    for (size_t tile = 0; tile < tiles_[first].size(); ++tile) {
      RowTile any;
      for (size_t r = first; r < first + rows; ++r) {
        any.seen |= tiles_[r][tile].seen;
        any.moved |= tiles_[r][tile].moved;
        any.rose |= tiles_[r][tile].rose;
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

Int8SlowPaths Int8SlowPathCounter::Count() const {
  Int8SlowPaths paths;
  Count(kQueryTile / kWavesPerGroup, paths.wave, paths.wave_inner);
  Count(kQueryTile, paths.group, paths.group_inner);
  return paths;
}

}  // namespace zyfa::reference
