#include "zyfa/launch/attention_work.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/launch/plan.h"

namespace zyfa {
namespace {

using ::testing::ElementsAre;

// The launch of a call with one piece, on addresses that nobody uses.
struct Planned {
  Variant variant;
  AttentionPiece piece;
};

Planned PlanFor(Mask mask, int64_t seqlen_q, int64_t seqlen_kv,
                int64_t heads_q = 1, int64_t heads_kv = 1, int64_t batch = 1) {
  AttentionParams params;
  params.mask = mask;
  params.query = DenseTensor(1ull << 40, batch, seqlen_q, heads_q, 128);
  params.key = DenseTensor(2ull << 40, batch, seqlen_kv, heads_kv, 128);
  params.value = DenseTensor(3ull << 40, batch, seqlen_kv, heads_kv, 128);
  params.output = DenseTensor(4ull << 40, batch, seqlen_q, heads_q, 128);
  const auto plan = PlanAttention(params);
  EXPECT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(PieceCount(*plan), 1);
  return {plan->kernel->variant, MakePiece(*plan, 0)};
}

// Key tiles that some row of a query tile needs, by asking every row and key.
int64_t NeededKeyTiles(const Planned& p, int64_t tile) {
  int64_t needed = 0;
  const int64_t offset =
      int64_t{p.piece.args.seqlen_kv} - p.piece.args.seqlen_q;
  for (int64_t row = 256 * tile;
       row < std::min<int64_t>(256 * tile + 256, p.piece.args.seqlen_q);
       ++row) {
    for (int64_t key = 0; key < p.piece.args.seqlen_kv; ++key) {
      const bool visible = p.variant.mask == Mask::kFull || key <= row + offset;
      if (visible) needed = std::max(needed, key / 64 + 1);
    }
  }
  return needed;
}

TEST(AttentionWorkTest, EveryQueryTileIsDoneOnceAndInFull) {
  const struct {
    Mask mask;
    int64_t seqlen_q, seqlen_kv;
  } kCases[] = {{Mask::kFull, 700, 333},     {Mask::kFull, 256, 0},
                {Mask::kCausal, 1024, 1024}, {Mask::kCausal, 1100, 1100},
                {Mask::kCausal, 700, 1500},  {Mask::kCausal, 1500, 700},
                {Mask::kCausal, 1, 1},       {Mask::kCausal, 769, 65}};
  for (const auto& c : kCases) {
    const Planned p = PlanFor(c.mask, c.seqlen_q, c.seqlen_kv);
    const int64_t tiles = (c.seqlen_q + 255) / 256;
    std::vector<int64_t> expected, done;
    int64_t rows = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      expected.push_back(NeededKeyTiles(p, tile));
    }
    for (uint64_t group = 0; group < p.piece.shape.grid[1]; ++group) {
      for (const QueryTileWork& work :
           WorkOfGroup(p.variant, p.piece.args, p.piece.shape, group)) {
        done.push_back(work.key_tiles);
        rows += work.rows;
      }
    }
    std::sort(done.begin(), done.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(done, expected) << c.seqlen_q << " x " << c.seqlen_kv;
    EXPECT_EQ(rows, c.seqlen_q);
  }
}

TEST(AttentionWorkTest, CausalGroupsTakeATileFromEachEnd) {
  // Five tiles; the last has 76 rows.
  const Planned p = PlanFor(Mask::kCausal, 1100, 1100, 3);
  const auto group = [&p](uint64_t y) {
    return WorkOfGroup(p.variant, p.piece.args, p.piece.shape, 3 * y + 2);
  };
  EXPECT_THAT(group(0),
              ElementsAre(QueryTileWork{76, 18}, QueryTileWork{256, 4}));
  EXPECT_THAT(group(1),
              ElementsAre(QueryTileWork{256, 16}, QueryTileWork{256, 8}));
  EXPECT_THAT(group(2), ElementsAre(QueryTileWork{256, 12}));
}

TEST(AttentionWorkTest, HeadsAndBatchesRepeatTheSame) {
  const Planned p = PlanFor(Mask::kCausal, 2048, 2048, 4, 2, 3);
  const LaunchShape& shape = p.piece.shape;
  ASSERT_EQ(shape.grid[0] * shape.grid[1] * shape.grid[2], 4u * 4 * 3);
  for (uint64_t group = 0; group < 48; ++group) {
    EXPECT_EQ(WorkOfGroup(p.variant, p.piece.args, shape, group),
              WorkOfGroup(p.variant, p.piece.args, shape, group / 4 % 4 * 4))
        << group;
  }
}

TEST(AttentionWorkTest, TensorsCountInFullAndOnce) {
  // Q and output: 3 x 5 x 8 rows of 128 bf16; K and V: 3 x 7 x 2.
  const Planned p = PlanFor(Mask::kFull, 5, 7, 8, 2, 3);
  EXPECT_EQ(TensorBytes(p.variant, p.piece.args, p.piece.shape),
            2.0 * 3 * 5 * 8 * 256 + 2.0 * 3 * 7 * 2 * 256);
  AttentionArgs with_lse = p.piece.args;
  with_lse.lse = 4096;
  EXPECT_EQ(TensorBytes(p.variant, with_lse, p.piece.shape),
            2.0 * 3 * 5 * 8 * 256 + 2.0 * 3 * 7 * 2 * 256 + 3 * 5 * 8 * 4);
  // As many KV heads as heads.
  const Planned mha = PlanFor(Mask::kFull, 5, 7, 8, 8);
  EXPECT_EQ(TensorBytes(mha.variant, mha.piece.args, mha.piece.shape),
            2.0 * 8 * 256 * (5 + 7));
}

// The same of an FP8 call, on a device of `compute_units`.
Planned PlanFp8(Mask mask, int64_t seqlen_q, int64_t seqlen_kv, int64_t heads_q,
                int64_t heads_kv, int64_t batch, uint32_t compute_units,
                DataType output = DataType::kBf16) {
  constexpr DataType kType = DataType::kFp8;
  AttentionParams params;
  params.mask = mask;
  params.query = DenseTensor(1ull << 40, batch, seqlen_q, heads_q, 192, kType);
  params.key = DenseTensor(2ull << 40, batch, seqlen_kv, heads_kv, 192, kType);
  params.value =
      DenseTensor(3ull << 40, batch, seqlen_kv, heads_kv, 128, kType);
  params.output =
      DenseTensor(4ull << 40, batch, seqlen_q, heads_q, 128, output);
  LaunchTarget target;
  target.compute_units = compute_units;
  const auto plan = PlanAttention(params, target);
  EXPECT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(PieceCount(*plan), 1);
  return {plan->kernel->variant, MakePiece(*plan, 0)};
}

TEST(AttentionWorkTest, PersistentGroupsDoEveryQueryTileOfEveryHead) {
  const struct {
    Mask mask;
    int64_t seqlen_q, seqlen_kv, heads, batch;
    uint32_t compute_units;
  } kCases[] = {{Mask::kFull, 700, 333, 4, 2, 16},
                {Mask::kFull, 256, 0, 3, 1, 256},
                {Mask::kCausal, 1024, 1024, 16, 1, 16},
                {Mask::kCausal, 1100, 1100, 5, 3, 24},
                {Mask::kCausal, 1500, 700, 7, 1, 8},
                {Mask::kCausal, 769, 65, 2, 2, 256}};
  for (const auto& c : kCases) {
    const Planned p = PlanFp8(c.mask, c.seqlen_q, c.seqlen_kv, c.heads, c.heads,
                              c.batch, c.compute_units);
    std::vector<int64_t> expected, done;
    for (int64_t tile = 0; tile < (c.seqlen_q + 255) / 256; ++tile) {
      expected.insert(expected.end(), c.heads * c.batch,
                      NeededKeyTiles(p, tile));
    }
    int64_t rows = 0;
    for (uint64_t group = 0; group < p.piece.shape.grid[0]; ++group) {
      int64_t last = INT64_MAX;
      for (const QueryTileWork& work :
           WorkOfGroup(p.variant, p.piece.args, p.piece.shape, group)) {
        done.push_back(work.key_tiles);
        rows += work.rows;
        EXPECT_LE(work.key_tiles, last) << "longest first";
        last = work.key_tiles;
      }
    }
    std::sort(done.begin(), done.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(done, expected) << c.seqlen_q << " x " << c.seqlen_kv;
    EXPECT_EQ(rows, c.seqlen_q * c.heads * c.batch);
  }
}

TEST(AttentionWorkTest, PersistentGroupsTakeTurns) {
  // Five tiles, the last of 76 rows, of four heads on 8 compute units: items 0
  // to 3 are the last tile, 4 to 7 the one before and so on.
  const Planned p = PlanFp8(Mask::kCausal, 1100, 1100, 4, 4, 1, 8);
  ASSERT_EQ(p.piece.shape.grid[0], 8u);
  for (uint64_t group = 0; group < 8; ++group) {
    std::vector<QueryTileWork> expected =
        group < 4 ? std::vector<QueryTileWork>{{76, 18}, {256, 12}, {256, 4}}
                  : std::vector<QueryTileWork>{{256, 16}, {256, 8}};
    EXPECT_EQ(WorkOfGroup(p.variant, p.piece.args, p.piece.shape, group),
              expected)
        << group;
  }
  // 16 compute units: the second round, of four items, goes to the last eight
  // groups first.
  const Planned q = PlanFp8(Mask::kCausal, 1100, 1100, 4, 4, 1, 16);
  ASSERT_EQ(q.piece.shape.grid[0], 16u);
  for (uint64_t group = 0; group < 16; ++group) {
    std::vector<QueryTileWork> expected = {
        {group < 4 ? 76 : 256,
         group < 4 ? 18 : 16 - 4 * (int64_t(group) / 4 - 1)}};
    if (group >= 8 && group < 12) expected.push_back({256, 4});
    EXPECT_EQ(WorkOfGroup(q.variant, q.piece.args, q.piece.shape, group),
              expected)
        << group;
  }
}

TEST(AttentionWorkTest, Fp8ElementsAreBytes) {
  // Q: 3 x 5 x 8 rows of 192, output of 128; K and V: 3 x 7 x 2 of 320.
  const Planned p = PlanFp8(Mask::kFull, 5, 7, 8, 2, 3, 256);
  EXPECT_EQ(TensorBytes(p.variant, p.piece.args, p.piece.shape),
            3.0 * 5 * 8 * (192 + 2 * 128) + 3.0 * 7 * 2 * 320);
  AttentionArgs with_lse = p.piece.args;
  with_lse.lse = 4096;
  EXPECT_EQ(TensorBytes(p.variant, with_lse, p.piece.shape),
            3.0 * 5 * 8 * (192 + 2 * 128 + 4) + 3.0 * 7 * 2 * 320);
  const Planned fp8 = PlanFp8(Mask::kFull, 5, 7, 8, 2, 3, 256, DataType::kFp8);
  EXPECT_EQ(TensorBytes(fp8.variant, fp8.piece.args, fp8.piece.shape),
            3.0 * 5 * 8 * 320 + 3.0 * 7 * 2 * 320);
}

TEST(AttentionWorkTest, Int8TokensHaveShiftsAndMultipliers) {
  AttentionParams params;
  params.mask = Mask::kFull;
  params.query = DenseTensor(1ull << 40, 3, 5, 8, 192, DataType::kInt8);
  params.key = DenseTensor(2ull << 40, 3, 7, 2, 192, DataType::kInt8);
  params.value = DenseTensor(3ull << 40, 3, 7, 2, 128, DataType::kFp8);
  params.output = DenseTensor(4ull << 40, 3, 5, 8, 128);
  params.query_shift = DenseTokens(5ull << 40, 3, 8, 5, 1);
  const auto bytes = [&params] {
    const auto plan = PlanAttention(params);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const AttentionPiece piece = MakePiece(*plan, 0);
    return TensorBytes(plan->kernel->variant, piece.args, piece.shape);
  };
  const double shift = 3.0 * 5 * 8 * (192 + 2 * 128 + 1) + 3.0 * 7 * 2 * 320;
  EXPECT_EQ(bytes(), shift);
  params.key_multiplier = DenseTokens(6ull << 40, 3, 2, 7, 4);
  EXPECT_EQ(bytes(), shift + 3.0 * 7 * 2 * 4);
}

}  // namespace
}  // namespace zyfa
