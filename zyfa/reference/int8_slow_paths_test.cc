#include "zyfa/reference/int8_slow_paths.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/reference/int8_model.h"

namespace zyfa::reference {
namespace {

// Rows 256 .. 511, causal: the waves see 4, 4, 5, 5, 6, 6, 7 and 7 tiles behind
// the first, together 44, and the group 7.
class Int8SlowPathsTest : public ::testing::Test {
 protected:
  static std::vector<int64_t> Rows() {
    std::vector<int64_t> rows(256);
    std::iota(rows.begin(), rows.end(), 256);
    return rows;
  }

  static Int8Tile Tile(int64_t row, int64_t tile) {
    Int8Tile t = {};
    t.position = row;
    t.first_key = 64 * tile;
    return t;
  }

  // Of a head whose rows change nowhere.
  static Int8SlowPathCounter QuietHead() {
    Int8SlowPathCounter counter(Rows(), 512);
    for (int64_t row : Rows()) {
      for (int64_t tile = 0; tile <= row / 64; ++tile) {
        counter.Note(Tile(row, tile));
      }
    }
    return counter;
  }
};

TEST_F(Int8SlowPathsTest, CountsWavesAndGroups) {
  Int8SlowPathCounter counter = QuietHead();
  for (int64_t row : Rows()) {
    Int8Tile first = Tile(row, 0);
    first.moved = true;  // every row does; not counted
    counter.Note(first);
  }
  // Two rows of a wave rise, and one of them in another tile as well; one moves
  // there.
  for (const auto& [row, tile] : {std::pair(300, 3), {301, 3}, {301, 4}}) {
    Int8Tile t = Tile(row, tile);
    t.rise = 2;
    counter.Note(t);
  }
  for (const auto& [row, tile] :
       {std::pair(302, 3), {511, 7}, {320, 3}, {330, 2}}) {
    Int8Tile t = Tile(row, tile);
    t.moved = true;
    counter.Note(t);
  }
  Int8SlowPaths paths = counter.Count();
  EXPECT_DOUBLE_EQ(paths.wave.Rises(), 2000.0 / 44);
  EXPECT_DOUBLE_EQ(paths.wave.Moves(), 4000.0 / 44);
  EXPECT_DOUBLE_EQ(paths.group.Rises(), 2000.0 / 7);
  EXPECT_DOUBLE_EQ(paths.group.Moves(), 3000.0 / 7);
  // Once where rows of a run rise and move in the same tile.
  EXPECT_DOUBLE_EQ(paths.wave.Changes(), 5000.0 / 44);
  EXPECT_DOUBLE_EQ(paths.group.Changes(), 4000.0 / 7);

  // With a second head.
  paths += QuietHead().Count();
  EXPECT_DOUBLE_EQ(paths.wave.Rises(), 1000.0 / 44);
  EXPECT_DOUBLE_EQ(paths.group.Moves(), 1500.0 / 7);

  // And one of which no row has tiles, as none has whose shift is too large.
  paths += Int8SlowPathCounter(Rows(), 512).Count();
  EXPECT_DOUBLE_EQ(paths.group.Moves(), 1500.0 / 7);
  EXPECT_EQ(Int8SlowPathCounter(Rows(), 512).Count().group.Moves(), 0.0);
}

}  // namespace
}  // namespace zyfa::reference
