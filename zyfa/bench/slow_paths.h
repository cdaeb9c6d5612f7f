#ifndef ZYFA_BENCH_SLOW_PATHS_H_
#define ZYFA_BENCH_SLOW_PATHS_H_

#include <cstdint>
#include <vector>

#include "zyfa/proto/record.pb.h"
#include "zyfa/reference/int8_model.h"

namespace zyfa::bench {

// Counts over heads how often the reference of INT8 rows rises or moves, as
// waves and work-groups meet it (Record.slow_paths).
class SlowPaths {
 public:
  // `rows`: query positions, whole work-groups of consecutive ones.
  SlowPaths(std::vector<int64_t> rows, int64_t seqlen_kv);

  // What a head's rows did; from several threads at once for different rows.
  void Note(const reference::Int8Tile& tile);
  // Adds up what was noted and forgets it, for the next head.
  void EndHead();

  proto::SlowPaths Figures() const;

 private:
  struct RowTile {
    bool seen = false, rose = false, moved = false;
  };
  struct Counts {
    int64_t tiles = 0, rises = 0, moves = 0;
  };

  void Add(size_t run, Counts& counts) const;

  std::vector<int64_t> row_of_;              // by position, -1 for others
  std::vector<std::vector<RowTile>> tiles_;  // by row and tile
  Counts wave_, group_;
};

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_SLOW_PATHS_H_
