#include "zyfa/peers/mla_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/mla_arguments.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

constexpr int64_t kQueryTile = 256;
constexpr int64_t kUnitKeys = 128;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A tile of queries, for all heads.
struct Tile {
  MlaWork work;  // over all its keys, head 0
  int64_t units = 0;
};

// Of all sequences, of each from both ends in turn.
std::vector<Tile> TilesFromBothEnds(const AiterProblem& problem,
                                    reference::Mask mask) {
  AiterProblem one = problem;
  one.heads_q = one.heads_kv = 1;
  const MlaWorkList ascending = MakeMlaWork(one, mask, 1);
  std::vector<Tile> tiles;
  size_t first = 0;
  for (const AiterProblem::Sequence& s : problem.sequences) {
    const auto count = static_cast<size_t>(CeilDiv(s.queries, kQueryTile));
    for (size_t i = 0; i < count; ++i) {
      const size_t place = i % 2 == 0 ? i / 2 : count - 1 - i / 2;
      const MlaWork& work = ascending.works[first + place];
      tiles.push_back(
          {work, CeilDiv(work.key_end - work.key_start, kUnitKeys)});
    }
    first += count;
  }
  return tiles;
}

// Where a group's share of the units begins.
struct Place {
  size_t tile = 0;
  int64_t unit = 0;     // of the tile
  int32_t partial = 0;  // partial outputs so far
};

// Appends `units` from `place` on, for one head; returns where they end.
Place TakeUnits(const std::vector<Tile>& tiles, Place place, int64_t units,
                int32_t head, std::vector<MlaWork>& works) {
  while (units > 0 && place.tile < tiles.size()) {
    const Tile& tile = tiles[place.tile];
    const int64_t taken = std::min(units, tile.units - place.unit);
    MlaWork work = tile.work;
    work.heads = head | (head + 1) << 16;
    work.key_start += static_cast<int32_t>(place.unit * kUnitKeys);
    if (place.unit + taken < tile.units) {
      const auto end = work.key_start + static_cast<int32_t>(taken * kUnitKeys);
      work.key_offset += work.key_end - end;
      work.key_end = end;
    }
    if (taken < tile.units) {
      work.partial_row = place.partial++ * static_cast<int32_t>(kQueryTile);
    }
    works.push_back(work);
    units -= taken;
    place.unit += taken;
    if (place.unit == tile.units) {
      ++place.tile;
      place.unit = 0;
    }
  }
  return place;
}

}  // namespace

int64_t MlaWorkList::partial_rows() const {
  int64_t rows = kQueryTile;
  for (const MlaWork& work : works) {
    rows = std::max(rows, work.partial_row + kQueryTile);
  }
  return rows;
}

MlaWorkList MakeMlaWork(const AiterProblem& problem, reference::Mask mask,
                        int groups) {
  std::vector<MlaWork> works;
  int64_t query_base = 0;
  int64_t key_base = 0;
  for (size_t batch = 0; batch < problem.sequences.size(); ++batch) {
    const AiterProblem::Sequence& s = problem.sequences[batch];
    for (int64_t start = 0; start < s.queries; start += kQueryTile) {
      const int64_t end = std::min(start + kQueryTile, s.queries);
      const int64_t keys =
          mask == reference::Mask::kCausal ? s.keys - s.queries + end : s.keys;
      for (int64_t head = 0; head < problem.heads_q; ++head) {
        works.push_back(
            {.batch = static_cast<int32_t>(batch),
             .query_start = static_cast<int32_t>(query_base + start),
             .query_end = static_cast<int32_t>(query_base + end),
             .key_start = static_cast<int32_t>(key_base),
             .key_end = static_cast<int32_t>(key_base + keys),
             .key_offset = static_cast<int32_t>(s.keys - keys),
             .heads = static_cast<int32_t>(head | (head + 1) << 16)});
      }
    }
    query_base += s.queries;
    key_base += s.keys;
  }

  MlaWorkList list;
  list.starts.push_back(0);
  const size_t used = std::min(works.size(), static_cast<size_t>(groups));
  for (size_t group = 0; group < used; ++group) {
    for (size_t i = group; i < works.size(); i += used) {
      list.works.push_back(works[i]);
    }
    list.starts.push_back(static_cast<int32_t>(list.works.size()));
  }
  return list;
}

MlaWorkList ScheduleMlaWork(const AiterProblem& problem, reference::Mask mask,
                            int groups) {
  const std::vector<Tile> tiles = TilesFromBothEnds(problem, mask);
  int64_t units = 0;
  for (const Tile& tile : tiles) units += tile.units;
  const int64_t clusters = std::gcd(problem.heads_q, int64_t{groups});
  const int64_t cluster_groups = groups / clusters;
  const int64_t cluster_heads = problem.heads_q / clusters;
  MlaWorkList list;
  list.starts.push_back(0);
  for (int64_t cluster = 0; cluster < clusters; ++cluster) {
    Place place;
    for (int64_t group = 0; group < cluster_groups; ++group) {
      const int64_t share =
          units / cluster_groups + (group < units % cluster_groups ? 1 : 0);
      Place next;
      for (int64_t i = 0; i < cluster_heads; ++i) {
        const auto head = static_cast<int32_t>(cluster * cluster_heads + i);
        next = TakeUnits(tiles, place, share, head, list.works);
      }
      place = next;
      list.starts.push_back(static_cast<int32_t>(list.works.size()));
    }
  }
  return list;
}

MlaWorkList MlaWorkOfOneHead(const AiterProblem& problem, MlaWorkList list) {
  std::vector<AiterProblem::Sequence> before = {{0, 0}};  // tokens, summed up
  for (const AiterProblem::Sequence& s : problem.sequences) {
    before.push_back(
        {before.back().queries + s.queries, before.back().keys + s.keys});
  }
  for (MlaWork& work : list.works) {
    const AiterProblem::Sequence& base =
        before[static_cast<size_t>(work.batch)];
    work.query_start -= static_cast<int32_t>(base.queries);
    work.query_end -= static_cast<int32_t>(base.queries);
    work.key_start -= static_cast<int32_t>(base.keys);
    work.key_end -= static_cast<int32_t>(base.keys);
    work.batch = 0;
    work.heads = 1 << 16;
  }
  return list;
}

}  // namespace zyfa::peers
