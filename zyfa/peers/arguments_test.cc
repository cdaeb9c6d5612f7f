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

int64_t Load(const MlaWorkList& list, size_t group) {
  int64_t load = 0;
  for (int32_t i = list.starts[group]; i < list.starts[group + 1]; ++i) {
    const MlaWork& work = list.works[static_cast<size_t>(i)];
    load += work.key_end - work.key_start + kMlaWorkKeys;
  }
  return load;
}

// The same works as MakeMlaWork()'s.
TEST(MlaWork, BalancedIsTheSameWork) {
  AiterProblem problem;
  problem.sequences = {{300, 300}, {1, 40}, {5120, 5220}};
  problem.heads_q = problem.heads_kv = 3;
  const auto rows_of = [](const MlaWorkList& list) {
    std::multiset<std::vector<int>> rows;
    for (const MlaWork& w : list.works) {
      rows.insert({w.batch, w.partial_row, w.query_start, w.query_end,
                   w.key_start, w.key_end, w.key_offset, w.heads});
    }
    return rows;
  };
  for (const auto mask : {reference::Mask::kFull, reference::Mask::kCausal}) {
    EXPECT_EQ(rows_of(BalanceMlaWork(problem, mask, 7)),
              rows_of(MakeMlaWork(problem, mask, 7)));
  }
}

// 20 tiles of 3 heads among 7 groups, causal: none has more than another by a
// work that the other could have had, and each starts with its longest.
TEST(MlaWork, BalancedLoads) {
  AiterProblem problem;
  problem.sequences = {{5120, 5120}};
  problem.heads_q = problem.heads_kv = 3;
  const MlaWorkList list = BalanceMlaWork(problem, reference::Mask::kCausal, 7);
  ASSERT_EQ(list.starts.size(), 8u);
  EXPECT_EQ(list.starts.front(), 0);
  EXPECT_EQ(list.starts.back(), 60);
  int64_t least = INT64_MAX;
  for (size_t group = 0; group < 7; ++group) {
    least = std::min(least, Load(list, group));
  }
  for (size_t group = 0; group < 7; ++group) {
    const auto begin = list.works.begin() + list.starts[group];
    const auto end = list.works.begin() + list.starts[group + 1];
    EXPECT_TRUE(
        std::is_sorted(begin, end, [](const MlaWork& a, const MlaWork& b) {
          return a.key_end > b.key_end;
        }));
    // It was not above any other when it got its last work.
    EXPECT_LE(Load(list, group) - (end[-1].key_end + kMlaWorkKeys), least);
  }
  // As many groups as works, if there are fewer.
  problem.sequences = {{512, 512}};
  EXPECT_EQ(
      BalanceMlaWork(problem, reference::Mask::kCausal, 256).starts.size(), 7u);
}

TEST(MlaWork, OfOneHeadKeepsWhatTakesTime) {
  AiterProblem problem;
  problem.sequences = {{300, 340}, {512, 700}};
  problem.heads_q = problem.heads_kv = 3;
  const MlaWorkList all = BalanceMlaWork(problem, reference::Mask::kCausal, 4);
  const MlaWorkList one = MlaWorkOfOneHead(problem, all);
  EXPECT_EQ(one.starts, all.starts);
  ASSERT_EQ(one.works.size(), all.works.size());
  for (size_t i = 0; i < one.works.size(); ++i) {
    const MlaWork& a = all.works[i];
    const MlaWork& b = one.works[i];
    EXPECT_EQ(b.batch, 0);
    EXPECT_EQ(b.heads, 0x10000);
    EXPECT_EQ(b.partial_row, -1);
    EXPECT_EQ(b.key_offset, a.key_offset);
    EXPECT_EQ(b.query_start, a.query_start - (a.batch == 0 ? 0 : 300));
    EXPECT_EQ(b.query_end, a.query_end - (a.batch == 0 ? 0 : 300));
    EXPECT_EQ(b.key_start, 0);
    EXPECT_EQ(b.key_end, a.key_end - (a.batch == 0 ? 0 : 340));
  }
}

}  // namespace
}  // namespace zyfa::peers
