#include "zyfa/bench/slow_paths.h"

#include <algorithm>

#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

double PerThousand(int64_t count, int64_t of) {
  return of == 0
             ? 0.0
             : 1000.0 * static_cast<double>(count) / static_cast<double>(of);
}

}  // namespace

SlowPaths::SlowPaths(std::vector<int64_t> rows, int64_t seqlen_kv)
    : tiles_(rows.size(), std::vector<RowTile>(static_cast<size_t>(
                              (seqlen_kv + kKeyTile - 1) / kKeyTile))) {
  if (rows.empty()) return;
  const int64_t last = *std::max_element(rows.begin(), rows.end());
  row_of_.assign(static_cast<size_t>(last) + 1, -1);
  for (size_t i = 0; i < rows.size(); ++i) {
    row_of_[static_cast<size_t>(rows[i])] = static_cast<int64_t>(i);
  }
}

void SlowPaths::Note(const reference::Int8Tile& tile) {
  const auto row =
      static_cast<size_t>(row_of_[static_cast<size_t>(tile.position)]);
  tiles_[row][static_cast<size_t>(tile.first_key / kKeyTile)] = {
      true, tile.rise > 0, tile.moved};
}

void SlowPaths::Add(size_t run, Counts& counts) const {
  for (size_t first = 0; first < tiles_.size(); first += run) {
    for (size_t tile = 1; tile < tiles_[first].size(); ++tile) {
      RowTile any;
      for (size_t row = first; row < first + run; ++row) {
        any.seen |= tiles_[row][tile].seen;
        any.rose |= tiles_[row][tile].rose;
        any.moved |= tiles_[row][tile].moved;
      }
      counts.tiles += any.seen;
      counts.rises += any.rose;
      counts.moves += any.moved;
    }
  }
}

void SlowPaths::EndHead() {
  Add(kQueryTile / kWavesPerGroup, wave_);
  Add(kQueryTile, group_);
  for (auto& row : tiles_) std::fill(row.begin(), row.end(), RowTile{});
}

proto::SlowPaths SlowPaths::Figures() const {
  proto::SlowPaths figures;
  figures.set_wave_rises(PerThousand(wave_.rises, wave_.tiles));
  figures.set_wave_moves(PerThousand(wave_.moves, wave_.tiles));
  figures.set_group_rises(PerThousand(group_.rises, group_.tiles));
  figures.set_group_moves(PerThousand(group_.moves, group_.tiles));
  return figures;
}

}  // namespace zyfa::bench
