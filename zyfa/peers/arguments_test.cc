#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/peers/fmha_arguments.h"
#include "zyfa/peers/mla_arguments.h"
#include "zyfa/peers/mla_work.h"

namespace zyfa::peers {
namespace {

// Offsets as cdna4-isa 6.2 lists them.
TEST(FmhaArguments, Offsets) {
  EXPECT_EQ(offsetof(FmhaArguments, output), 0u);
  EXPECT_EQ(offsetof(FmhaArguments, query), 16u);
  EXPECT_EQ(offsetof(FmhaArguments, key), 32u);
  EXPECT_EQ(offsetof(FmhaArguments, value), 48u);
  EXPECT_EQ(offsetof(FmhaArguments, lse), 64u);
  EXPECT_EQ(offsetof(FmhaArguments, softmax_scale), 80u);
  EXPECT_EQ(offsetof(FmhaArguments, seqlen_q), 96u);
  EXPECT_EQ(offsetof(FmhaArguments, query_seq_stride), 112u);
  EXPECT_EQ(offsetof(FmhaArguments, query_tile_stride), 128u);
  EXPECT_EQ(offsetof(FmhaArguments, query_head_stride), 144u);
  EXPECT_EQ(offsetof(FmhaArguments, query_batch_stride), 160u);
  EXPECT_EQ(offsetof(FmhaArguments, head_ratio), 176u);
  EXPECT_EQ(offsetof(FmhaArguments, key_seq_stride), 192u);
  EXPECT_EQ(offsetof(FmhaArguments, key_head_stride), 208u);
  EXPECT_EQ(offsetof(FmhaArguments, key_batch_stride), 224u);
  EXPECT_EQ(offsetof(FmhaArguments, tuning), 240u);
  EXPECT_EQ(offsetof(FmhaArguments, write_lse), 256u);
  EXPECT_EQ(offsetof(FmhaArguments, seqlen_kv), 272u);
  EXPECT_EQ(offsetof(FmhaArguments, head_dim_qk), 288u);
  EXPECT_EQ(offsetof(FmhaArguments, head_dim_v), 304u);
  EXPECT_EQ(offsetof(FmhaArguments, heads_q), 320u);
  EXPECT_EQ(offsetof(FmhaArguments, value_seq_stride), 336u);
  EXPECT_EQ(offsetof(FmhaArguments, value_head_stride), 352u);
  EXPECT_EQ(offsetof(FmhaArguments, value_batch_stride), 368u);
  EXPECT_EQ(offsetof(FmhaArguments, output_seq_stride), 384u);
  EXPECT_EQ(offsetof(FmhaArguments, output_head_stride), 400u);
  EXPECT_EQ(offsetof(FmhaArguments, output_batch_stride), 416u);
  EXPECT_EQ(offsetof(FmhaArguments, query_starts), 432u);
  EXPECT_EQ(offsetof(FmhaArguments, key_starts), 448u);
  EXPECT_EQ(offsetof(FmhaArguments, lse_head_stride), 464u);
  EXPECT_EQ(offsetof(FmhaArguments, query_padded_starts), 480u);
  EXPECT_EQ(offsetof(FmhaArguments, key_padded_starts), 496u);
  EXPECT_EQ(offsetof(FmhaArguments, query_scale), 512u);
  EXPECT_EQ(offsetof(FmhaArguments, key_scale), 528u);
  EXPECT_EQ(offsetof(FmhaArguments, value_scale), 544u);
  EXPECT_EQ(offsetof(FmhaArguments, query_scale_batch_stride), 560u);
  EXPECT_EQ(offsetof(FmhaArguments, query_scale_head_stride), 576u);
  EXPECT_EQ(offsetof(FmhaArguments, key_scale_batch_stride), 592u);
  EXPECT_EQ(offsetof(FmhaArguments, key_scale_head_stride), 608u);
  EXPECT_EQ(offsetof(FmhaArguments, value_scale_batch_stride), 624u);
  EXPECT_EQ(offsetof(FmhaArguments, value_scale_head_stride), 640u);
}

TEST(FmhaArguments, Tuning) {
  EXPECT_EQ(FmhaTuning(false, 1, 65536), 5u);
  EXPECT_EQ(FmhaTuning(true, 8, 16384), 5u);
  EXPECT_EQ(FmhaTuning(true, 8, 16385), 3u);
  EXPECT_EQ(FmhaTuning(true, 12, 128), 3u);
}

TEST(MlaPsArguments, Offsets) {
  EXPECT_EQ(offsetof(MlaPsArguments, query), 0u);
  EXPECT_EQ(offsetof(MlaPsArguments, key), 16u);
  EXPECT_EQ(offsetof(MlaPsArguments, value), 32u);
  EXPECT_EQ(offsetof(MlaPsArguments, output), 48u);
  EXPECT_EQ(offsetof(MlaPsArguments, partial_output), 64u);
  EXPECT_EQ(offsetof(MlaPsArguments, partial_lse), 80u);
  EXPECT_EQ(offsetof(MlaPsArguments, work_starts), 96u);
  EXPECT_EQ(offsetof(MlaPsArguments, work_items), 112u);
  EXPECT_EQ(offsetof(MlaPsArguments, query_starts), 128u);
  EXPECT_EQ(offsetof(MlaPsArguments, key_starts), 144u);
  EXPECT_EQ(offsetof(MlaPsArguments, key_pages), 160u);
  EXPECT_EQ(offsetof(MlaPsArguments, query_scale), 176u);
  EXPECT_EQ(offsetof(MlaPsArguments, key_scale), 192u);
  EXPECT_EQ(offsetof(MlaPsArguments, value_scale), 208u);
  EXPECT_EQ(offsetof(MlaPsArguments, softmax_scale), 224u);
  EXPECT_EQ(offsetof(MlaPsArguments, query_tokens), 240u);
  EXPECT_EQ(offsetof(MlaPsArguments, heads_q), 256u);
  EXPECT_EQ(offsetof(MlaPsArguments, pages), 272u);
  EXPECT_EQ(offsetof(MlaPsArguments, used_pages), 288u);
}

// The metadata of the code objects: O 0, V 48, BT 64, CL 80, sclg 112, batch
// 144, Qs 160.
TEST(MlaPagedArguments, Offsets) {
  EXPECT_EQ(offsetof(MlaPagedArguments, output), 0u);
  EXPECT_EQ(offsetof(MlaPagedArguments, key_value), 48u);
  EXPECT_EQ(offsetof(MlaPagedArguments, key_starts), 64u);
  EXPECT_EQ(offsetof(MlaPagedArguments, key_pages), 80u);
  EXPECT_EQ(offsetof(MlaPagedArguments, softmax_scale), 112u);
  EXPECT_EQ(offsetof(MlaPagedArguments, key_splits), 144u);
  EXPECT_EQ(offsetof(MlaPagedArguments, query_token_stride), 160u);
  EXPECT_EQ(offsetof(MlaPagedArguments, query_starts), 208u);
}

TEST(MlaWork, CoversEveryQueryOfEveryHeadOnce) {
  AiterProblem problem;
  problem.sequences = {{300, 300}, {1, 40}, {512, 700}};
  problem.heads_q = problem.heads_kv = 3;
  for (const auto mask : {reference::Mask::kFull, reference::Mask::kCausal}) {
    const MlaWorkList list = MakeMlaWork(problem, mask, 4);
    ASSERT_EQ(list.starts.size(), 5u);
    EXPECT_EQ(list.starts.front(), 0);
    EXPECT_EQ(list.starts.back(), static_cast<int>(list.works.size()));
    std::map<std::pair<int, int>, int> seen;  // (query, head)
    for (const MlaWork& work : list.works) {
      const int query_base[] = {0, 300, 301};
      const int key_base[] = {0, 300, 340};
      const auto& s = problem.sequences[static_cast<size_t>(work.batch)];
      EXPECT_EQ(work.partial_row, -1);
      EXPECT_EQ(work.heads >> 16, (work.heads & 0xffff) + 1);
      EXPECT_LE(work.query_end - work.query_start, 256);
      EXPECT_EQ(work.key_start, key_base[work.batch]);
      // The last query of a tile sees the keys up to its own place.
      const int last = work.query_end - query_base[work.batch];
      const int keys = mask == reference::Mask::kFull
                           ? static_cast<int>(s.keys)
                           : static_cast<int>(s.keys - s.queries) + last;
      EXPECT_EQ(work.key_end - work.key_start, keys);
      EXPECT_EQ(work.key_offset, s.keys - keys);
      for (int q = work.query_start; q < work.query_end; ++q) {
        ++seen[{q, work.heads & 0xffff}];
      }
    }
    EXPECT_EQ(seen.size(), 813u * 3);
    for (const auto& [row, times] : seen) EXPECT_EQ(times, 1);
  }
}

int64_t Units(const MlaWorkList& list, size_t group) {
  int64_t units = 0;
  for (int32_t i = list.starts[group]; i < list.starts[group + 1]; ++i) {
    const MlaWork& work = list.works[static_cast<size_t>(i)];
    units += (work.key_end - work.key_start + 127) / 128;
  }
  return units;
}

// 20 heads on 16 groups: clusters of 4 groups for 5 heads each.
TEST(MlaWork, ScheduleCoversEveryKeyOfEveryQueryAndHeadOnce) {
  AiterProblem problem;
  problem.sequences = {{300, 300}, {1, 40}, {800, 1000}};
  problem.heads_q = problem.heads_kv = 20;
  for (const auto mask : {reference::Mask::kFull, reference::Mask::kCausal}) {
    const MlaWorkList whole = MakeMlaWork(problem, mask, 1);
    const MlaWorkList list = ScheduleMlaWork(problem, mask, 16);
    ASSERT_EQ(list.starts.size(), 17u);
    EXPECT_EQ(list.starts.front(), 0);
    EXPECT_EQ(list.starts.back(), static_cast<int>(list.works.size()));
    // (first query, heads) -> keys of its parts, ascending.
    std::map<std::pair<int, int>, std::set<std::pair<int, int>>> parts;
    std::set<std::pair<int, int>> partial_rows;  // (row, heads)
    size_t partial = 0;
    for (const MlaWork& work : list.works) {
      auto& keys = parts[{work.query_start, work.heads}];
      EXPECT_TRUE(keys.emplace(work.key_start, work.key_end).second);
      if (work.partial_row < 0) continue;
      EXPECT_LE(work.partial_row + 256, list.partial_rows());
      partial_rows.insert({work.partial_row, work.heads});
      ++partial;
    }
    EXPECT_EQ(partial_rows.size(), partial);
    EXPECT_EQ(parts.size(), whole.works.size());
    for (const MlaWork& work : whole.works) {
      int at = work.key_start;
      for (const auto& [begin, end] : parts[{work.query_start, work.heads}]) {
        EXPECT_EQ(begin, at);
        at = end;
      }
      EXPECT_EQ(at, work.key_end);
    }
    for (const MlaWork& work : list.works) {
      const bool split = parts[{work.query_start, work.heads}].size() > 1;
      EXPECT_EQ(work.partial_row >= 0, split);
      const auto& s = problem.sequences[static_cast<size_t>(work.batch)];
      const int key_base[] = {0, 300, 340};
      EXPECT_EQ(work.key_offset,
                s.keys - (work.key_end - key_base[work.batch]));
    }
  }
}

// A head of 1024 queries has 2 + 4 + 6 + 8 units of 128 keys for 16 groups of a
// cluster, from both ends: tiles 0, 3, 1, 2.
TEST(MlaWork, ScheduleGivesEqualUnits) {
  AiterProblem problem;
  problem.sequences = {{1024, 1024}};
  problem.heads_q = problem.heads_kv = 16;
  const MlaWorkList list =
      ScheduleMlaWork(problem, reference::Mask::kCausal, 256);
  ASSERT_EQ(list.starts.size(), 257u);
  for (size_t group = 0; group < 256; ++group) {
    EXPECT_EQ(Units(list, group), group % 16 < 4 ? 2 : 1);
  }
  EXPECT_EQ(list.works[0].query_start, 0);
  EXPECT_EQ(list.works[0].partial_row, -1);
  EXPECT_EQ(list.works[1].query_start, 768);
  EXPECT_EQ(list.works[1].key_end, 256);
  EXPECT_EQ(list.works[1].partial_row, 0);
}

// 8192 queries are 16 pairs of a short tile and a long one: none is split.
TEST(MlaWork, ScheduleOfEvenPairsSplitsNothing) {
  AiterProblem problem;
  problem.sequences = {{8192, 8192}};
  problem.heads_q = problem.heads_kv = 16;
  const MlaWorkList list =
      ScheduleMlaWork(problem, reference::Mask::kCausal, 256);
  EXPECT_EQ(list.works.size(), 512u);
  for (const MlaWork& work : list.works) EXPECT_EQ(work.partial_row, -1);
  EXPECT_EQ(list.partial_rows(), 256);
}

TEST(MlaWork, OfOneHeadKeepsWhatTakesTime) {
  AiterProblem problem;
  problem.sequences = {{300, 340}, {512, 700}};
  problem.heads_q = problem.heads_kv = 3;
  const MlaWorkList all = ScheduleMlaWork(problem, reference::Mask::kCausal, 4);
  const MlaWorkList one = MlaWorkOfOneHead(problem, all);
  EXPECT_EQ(one.starts, all.starts);
  ASSERT_EQ(one.works.size(), all.works.size());
  for (size_t i = 0; i < one.works.size(); ++i) {
    const MlaWork& a = all.works[i];
    const MlaWork& b = one.works[i];
    EXPECT_EQ(b.batch, 0);
    EXPECT_EQ(b.heads, 0x10000);
    EXPECT_EQ(b.partial_row, a.partial_row);
    EXPECT_EQ(b.key_offset, a.key_offset);
    EXPECT_EQ(b.query_start, a.query_start - (a.batch == 0 ? 0 : 300));
    EXPECT_EQ(b.query_end, a.query_end - (a.batch == 0 ? 0 : 300));
    EXPECT_EQ(b.key_start, a.key_start - (a.batch == 0 ? 0 : 340));
    EXPECT_EQ(b.key_end, a.key_end - (a.batch == 0 ? 0 : 340));
  }
}

}  // namespace
}  // namespace zyfa::peers
