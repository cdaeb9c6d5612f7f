#include "zyfa/bench/slow_paths.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/proto/record.pb.h"
#include "zyfa/reference/int8_model.h"

namespace zyfa::bench {
namespace {

// Rows 256 .. 511, causal: the waves see 4, 4, 5, 5, 6, 6, 7 and 7 tiles behind
// the first, together 44, and the group 7.
class SlowPathsTest : public ::testing::Test {
 protected:
  static std::vector<int64_t> Rows() {
    std::vector<int64_t> rows(256);
    std::iota(rows.begin(), rows.end(), 256);
    return rows;
  }

  static reference::Int8Tile Tile(int64_t row, int64_t tile) {
    reference::Int8Tile t = {};
    t.position = row;
    t.first_key = 64 * tile;
    return t;
  }

  void NoteQuietHead() {
    for (int64_t row : Rows()) {
      for (int64_t tile = 0; tile <= row / 64; ++tile) {
        paths_.Note(Tile(row, tile));
      }
    }
  }

  SlowPaths paths_{Rows(), 512};
};

TEST_F(SlowPathsTest, CountsWavesAndGroups) {
  NoteQuietHead();
  for (int64_t row : Rows()) {
    reference::Int8Tile first = Tile(row, 0);
    first.moved = true;  // every row does; not counted
    paths_.Note(first);
  }
  // Two rows of a wave rise, and one of them in another tile as well; one moves
  // there.
  for (const auto& [row, tile] : {std::pair(300, 3), {301, 3}, {301, 4}}) {
    reference::Int8Tile t = Tile(row, tile);
    t.rise = 2;
    paths_.Note(t);
  }
  for (const auto& [row, tile] :
       {std::pair(302, 3), {511, 7}, {320, 3}, {330, 2}}) {
    reference::Int8Tile t = Tile(row, tile);
    t.moved = true;
    paths_.Note(t);
  }
  paths_.EndHead();
  proto::SlowPaths figures = paths_.Figures();
  EXPECT_DOUBLE_EQ(figures.wave_rises(), 2000.0 / 44);
  EXPECT_DOUBLE_EQ(figures.wave_moves(), 4000.0 / 44);
  EXPECT_DOUBLE_EQ(figures.group_rises(), 2000.0 / 7);
  EXPECT_DOUBLE_EQ(figures.group_moves(), 3000.0 / 7);

  // Nothing stays of a head for the next one.
  NoteQuietHead();
  paths_.EndHead();
  figures = paths_.Figures();
  EXPECT_DOUBLE_EQ(figures.wave_rises(), 1000.0 / 44);
  EXPECT_DOUBLE_EQ(figures.group_moves(), 1500.0 / 7);

  // Nor where no row of it has tiles, as none has whose shift is too large.
  paths_.EndHead();
  EXPECT_DOUBLE_EQ(paths_.Figures().group_moves(), 1500.0 / 7);
}

}  // namespace
}  // namespace zyfa::bench
