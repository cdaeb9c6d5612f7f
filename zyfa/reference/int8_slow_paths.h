#ifndef ZYFA_REFERENCE_INT8_SLOW_PATHS_H_
#define ZYFA_REFERENCE_INT8_SLOW_PATHS_H_

#include <cstdint>
#include <vector>

#include "zyfa/reference/int8_model.h"

namespace zyfa::reference {

// Pairs of a run of neighbouring rows and a tile that one of them sees, the
// first tile apart, and those of them where a row's base moves, where a row's e
// rises and where either is so.
struct Int8RuleCounts {
  Int8RuleCounts& operator+=(const Int8RuleCounts& other);

  // Of 1000 pairs; 0 if there are none.
  double Moves() const;
  double Rises() const;
  double Changes() const;

  int64_t pairs = 0;
  int64_t moves = 0;
  int64_t rises = 0;
  int64_t changes = 0;
};

// Of waves (32 rows) and work-groups (256): of all tiles, and of those with
// more than 8 tiles between them and either end of what the run sees.
struct Int8SlowPaths {
  Int8SlowPaths& operator+=(const Int8SlowPaths& other);

  Int8RuleCounts wave;
  Int8RuleCounts wave_inner;
  Int8RuleCounts group;
  Int8RuleCounts group_inner;
};

// Counts them for a head.
class Int8SlowPathCounter {
 public:
  // `rows`: query positions, whole work-groups of consecutive ones.
  Int8SlowPathCounter(const std::vector<int64_t>& rows, int64_t seqlen_kv);

  // What a row did; from several threads at once for different rows.
  void Note(const Int8Tile& tile);

  Int8SlowPaths Count() const;

 private:
  struct RowTile {
    bool seen = false, moved = false, rose = false;
  };

  // Of runs of `rows` rows.
  void Count(size_t rows, Int8RuleCounts& all, Int8RuleCounts& inner) const;

  std::vector<int64_t> row_of_;              // by position
  std::vector<std::vector<RowTile>> tiles_;  // by row and tile
};

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_INT8_SLOW_PATHS_H_
