#include "zyfa/peers/aiter_work.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/peers/aiter_time.h"

namespace zyfa::peers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const AiterKernel& Kernel(const std::string& name) {
  for (const AiterKernel& kernel : AiterKernels()) {
    if (Name(kernel) == name) return kernel;
  }
  ADD_FAILURE() << "no kernel " << name;
  return AiterKernels().front();
}
const char kBf16Causal[] = "fmha_v3_fwd/fwd_hd128_bf16_causal";
const char kBf16[] = "fmha_v3_fwd/fwd_hd128_bf16";
const char kMlaCausal[] = "fmha_v3_fwd/fwd_hd192_hd128_bf16_causal";
const char kFp8Causal[] = "fmha_v3_fwd/fwd_hd128_fp8_causal";
const char kMlaPs[] = "mla/mla_pfl_qh192_vh128_m32x8_n128x1_causal1";
const char kV4[] = "fmha_v4_fwd/fwd_hd128_fp8";

AiterProblem Problem(int64_t queries, int64_t keys, int64_t heads,
                     int64_t batch = 1) {
  AiterProblem problem;
  problem.sequences.assign(static_cast<size_t>(batch), {queries, keys});
  problem.heads_q = problem.heads_kv = heads;
  return problem;
}

// Executed matrix instructions of a whole group, from runs of the code objects:
// a wave makes 16 (head dims 128) or 20 (192 and 128) for 32 rows and 32 keys
// in BF16, and 4 for 32 rows and 64 keys in FP8, up to the last key that its
// tile sees.
int64_t MatrixInstructions(const AiterKernel& kernel,
                           const AiterProblem& problem, int64_t x) {
  int64_t keys = 0;
  for (const AiterTile& tile : AiterGroupTiles(kernel, problem, x)) {
    keys += tile.keys;
  }
  const int64_t waves = kernel.threads / 64;
  if (kernel.query.format != Format::kBf16) return waves * keys / 64 * 8;
  return waves * keys / 32 * (kernel.head_dim_qk + kernel.head_dim_v) / 16;
}

TEST(AiterWorkTest, WorkIsWhatTheKernelsExecute) {
  for (int64_t x = 0; x < 4; ++x) {
    EXPECT_EQ(
        MatrixInstructions(Kernel(kBf16Causal), Problem(2048, 2048, 1), x),
        9216);
  }
  // Five tiles: the group in the middle does its tile twice.
  for (int64_t x = 0; x < 3; ++x) {
    EXPECT_EQ(
        MatrixInstructions(Kernel(kBf16Causal), Problem(1280, 1280, 1), x),
        6144);
  }
  for (int64_t x = 0; x < 8; ++x) {
    EXPECT_EQ(MatrixInstructions(Kernel(kMlaCausal), Problem(2048, 2048, 1), x),
              5440);
  }
  // FP8 does it once.
  EXPECT_EQ(MatrixInstructions(Kernel(kFp8Causal), Problem(1280, 1280, 1), 0),
            1536);
  EXPECT_EQ(MatrixInstructions(Kernel(kFp8Causal), Problem(1280, 1280, 1), 2),
            768);
}

// By the bytes that groups loaded, 1024 queries of 8 heads in FP8, x is 0, 1,
// 0, 1 ...; by their instruction counts in BF16 with head dim 192, 0 for eight
// groups, then 1, 2 and 3, and the same for the next eight heads.
TEST(AiterWorkTest, Bf16TakesEightHeadsAtATime) {
  const AiterProblem problem = Problem(1024, 1024, 16);
  for (uint64_t group = 0; group < 64; ++group) {
    EXPECT_EQ(AiterGroupX(Kernel(kMlaCausal), problem, group),
              static_cast<int64_t>(group / 8 % 4));
    EXPECT_EQ(AiterGroupX(Kernel(kFp8Causal), problem, group),
              static_cast<int64_t>(group % 2));
  }
  // With other numbers of heads x runs fastest.
  for (uint64_t group = 0; group < 16; ++group) {
    EXPECT_EQ(AiterGroupX(Kernel(kMlaCausal), Problem(1024, 1024, 4), group),
              static_cast<int64_t>(group % 4));
  }
}

TEST(AiterWorkTest, TilesOfAGroup) {
  EXPECT_THAT(AiterGroupTiles(Kernel(kBf16Causal), Problem(1000, 1500, 1), 0),
              ElementsAre(AiterTile{232, 1500}, AiterTile{256, 756}));
  EXPECT_THAT(AiterGroupTiles(Kernel(kBf16), Problem(1000, 1500, 1), 3),
              ElementsAre(AiterTile{232, 1500}));
}

TEST(AiterWorkTest, EveryHeadHasAllGroups) {
  for (const char* name : {kBf16Causal, kBf16, kMlaCausal, kFp8Causal, kV4}) {
    const AiterProblem problem = Problem(1280, 1280, 8, 3);
    const auto work = AiterLaunchWork(Kernel(name), problem);
    ASSERT_TRUE(work.ok()) << work.status();
    const auto one = AiterLaunchWork(Kernel(name), OneHead(problem));
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_EQ(work->works, one->works);
    std::map<uint32_t, int> count, count_of_one;
    for (const uint32_t index : work->order) ++count[index];
    for (const uint32_t index : one->order) ++count_of_one[index];
    for (const auto& [index, number] : count_of_one) {
      EXPECT_EQ(count[index], 24 * number) << name;
    }
  }
}

// 16 groups for each of 16 heads. Of 4096 tokens, 17 units of 128 keys each:
// two for the short tile of a pair, which is split nowhere, and the long one in
// two parts. Of 8192, pairs of the longest and the shortest.
TEST(AiterWorkTest, MlaGroupsDoEqualWork) {
  const AiterKernel& kernel = Kernel(kMlaPs);
  auto work = AiterLaunchWork(kernel, Problem(4096, 4096, 16));
  ASSERT_TRUE(work.ok()) << work.status();
  ASSERT_EQ(work->order.size(), 256u);
  for (const emu::GroupWork& group : work->works) {
    EXPECT_EQ(group.total(), 2 * 17);
    EXPECT_EQ(group.kind,
              group.steps.size() == 2 ? 2 + (1 << 20) : 1 + (1 << 20));
  }
  work = AiterLaunchWork(kernel, Problem(8192, 8192, 16));
  ASSERT_TRUE(work.ok()) << work.status();
  ASSERT_EQ(work->order.size(), 256u);
  ASSERT_EQ(work->works.size(), 16u);
  for (const emu::GroupWork& pair : work->works) {
    EXPECT_EQ(pair.steps.size(), 2u);
    EXPECT_EQ(pair.kind, 2u);
    EXPECT_EQ(pair.total(), 4 * 33);
  }
}

// Of 4096 queries the 8 long tiles of each head are in two parts.
TEST(AiterTimeTest, SecondKernelReadsWhatWasSplit) {
  emu::CycleConstants constants = emu::CycleConstants::Defaults();
  constants.launch_overhead_us = 5;
  constants.hbm_bytes_per_ns = 1000;
  const AiterKernel& kernel = Kernel(kMlaPs);
  const double bytes = 16.0 * 8 * 2 * 256 * (128 + 1) * 4;
  EXPECT_DOUBLE_EQ(
      SecondKernelClocks(kernel, Problem(4096, 4096, 16), constants, 2.0),
      2.0 * (5000 + bytes / 1000));
  EXPECT_EQ(SecondKernelClocks(kernel, Problem(8192, 8192, 16), constants, 2.0),
            0);
  EXPECT_EQ(SecondKernelClocks(Kernel(kFp8Causal), Problem(4096, 4096, 16),
                               constants, 2.0),
            0);
}

TEST(AiterWorkTest, RefusesWhatItDoesNotKnow) {
  AiterProblem paged = Problem(256, 256, 1);
  paged.heads_q = 16;
  for (const auto& [name, problem] :
       {std::pair{"fmha_v3_fwd/fwd_hd128_bf16_group", Problem(256, 256, 1)},
        {"mla/mla_pfl_bf16_a16w16_causal_subQ16_mqa16", paged}}) {
    const auto work = AiterLaunchWork(Kernel(name), problem);
    EXPECT_EQ(work.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(work.status().message(), HasSubstr(name));
  }
  EXPECT_EQ(AiterLaunchWork(Kernel(kBf16), Problem(0, 256, 1)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(AiterTimeTest, BytesByFormat) {
  // BF16: Q, K, V, output of 2 heads, and LSE.
  EXPECT_EQ(AiterTensorBytes(Kernel(kBf16), Problem(100, 300, 2)),
            2 * 2 * 128.0 * (100 + 300 + 300 + 100) + 4 * 2 * 100);
  // FP8 in, BF16 out, no LSE.
  EXPECT_EQ(AiterTensorBytes(Kernel(kV4), Problem(100, 300, 2)),
            2 * 128.0 * (100 + 300 + 300 + 2 * 100));
}

TEST(AiterTimeTest, OptionsByFormat) {
  // 5.033 and 2.517 PFLOP/s.
  EXPECT_EQ(AiterTimeOptions(Kernel(kV4)).peak_flops_per_clock, 2048);
  EXPECT_EQ(AiterTimeOptions(Kernel(kBf16)).peak_flops_per_clock, 1024);
  EXPECT_EQ(AiterTimeOptions(Kernel(kV4)).clock.ghz({.matrix_busy = 0.9}), 1.7);
}

}  // namespace
}  // namespace zyfa::peers
