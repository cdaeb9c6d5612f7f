// Where tensors lie: independent strides, padding, head ratios, extents around
// 2^31 and 2^32 bytes, and calls that need more than one launch.

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/plan.h"

namespace zyfa::testing {
namespace {

class LayoutTest : public ::testing::TestWithParam<KernelEntry> {
 protected:
  AttentionCase Case(int64_t seqlen_q, int64_t seqlen_kv) const {
    AttentionCase c;
    c.variant = GetParam().variant;
    c.seqlen_q = seqlen_q;
    c.seqlen_kv = seqlen_kv;
    return c;
  }
};

TEST_P(LayoutTest, IndependentStridesAndPadding) {
  AttentionCase c = Case(70, 130);
  c.batch = 2;
  c.heads_q = 6;
  c.heads_kv = 3;
  c.query = {Layout::kBshd, 16, 48, 32};
  c.key = {Layout::kBhsd, 0, 16, 16};
  c.value = {Layout::kBshd, 1008, 0, 0};
  c.output = {Layout::kBhsd, 112, 2064, 48};
  EXPECT_EQ(Verify(c), "");
  std::swap(c.query.order, c.key.order);
  std::swap(c.value.order, c.output.order);
  EXPECT_EQ(Verify(c), "");
}

TEST_P(LayoutTest, EveryHeadRatio) {
  for (int64_t ratio :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
    AttentionCase c = Case(9, 40);
    c.heads_kv = 3;
    c.heads_q = ratio * c.heads_kv;
    EXPECT_EQ(Verify(c), "");
  }
}

TEST_P(LayoutTest, BatchAndLseAreOptional) {
  AttentionCase c = Case(40, 40);
  c.batch = 3;
  c.want_lse = false;
  EXPECT_EQ(Verify(c), "");
}

// One tensor reaches just below, up to or above 2^31 or 2^32 bytes; its memory
// is virtual and only the rows are touched.
TEST_P(LayoutTest, ExtentsAroundTwoAndFourGiB) {
  const Variant variant = GetParam().variant;
  // So that row strides stay below the limit of 2^25 bytes.
  constexpr int64_t kRows = 131;
  for (int64_t extent : {int64_t{1} << 31, int64_t{1} << 32}) {
    for (int64_t delta : {-1, 0, 1}) {
      for (int which = 0; which < 4; ++which) {
        emu::DeviceMemory memory;
        AttentionParams params;
        params.mask = variant.mask;
        TensorView* views[] = {&params.query, &params.key, &params.value,
                               &params.output};
        std::vector<numerics::Bf16> rows[4];
        for (int t = 0; t < 4; ++t) {
          const int64_t dim = t < 2 ? variant.head_dim_qk : variant.head_dim_v;
          // The last row begins one row below the extent, at it, or one above.
          int64_t stride = 2 * dim;
          if (t == which) stride = (extent / (kRows - 1) + 15) / 16 * 16;
          const int64_t last = (kRows - 1) * stride;
          int64_t lead = 0;
          if (t == which) {
            lead = extent + delta * 2 * dim - last;
            lead = lead > 0 ? lead / 16 * 16 : 0;
          }
          const uint64_t address =
              memory.Allocate(lead + last + 2 * dim).value() + lead;
          *views[t] = {DataType::kBf16, address, 1, kRows, 1, dim, 0,
                       stride,          0};
          rows[t].resize(kRows * dim);
          for (int64_t i = 0; t < 3 && i < kRows * dim; ++i) {
            rows[t][i] = numerics::Bf16::FromFloat(
                static_cast<float>((i * 37 + t * 11) % 17 - 8) / 8);
          }
          for (int64_t r = 0; t < 3 && r < kRows; ++r) {
            ASSERT_TRUE(
                memory
                    .Write(address + r * stride,
                           absl::MakeConstSpan(
                               reinterpret_cast<uint8_t*>(&rows[t][r * dim]),
                               2 * dim))
                    .ok());
          }
        }
        const auto plan = PlanAttention(params);
        ASSERT_TRUE(plan.ok()) << plan.status();
        ASSERT_EQ(PieceCount(*plan), 1);
        const AttentionPiece piece = MakePiece(*plan, 0);
        emu::LaunchShape shape;
        std::copy_n(piece.shape.grid, 3, shape.grid);
        std::copy_n(piece.shape.block, 3, shape.workgroup);
        const auto report = emu::Run(
            LinkedKernel(variant), std::string(GetParam().symbol), shape,
            absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&piece.args),
                                sizeof(piece.args)),
            memory);
        ASSERT_TRUE(report.ok()) << report.status();
        ASSERT_TRUE(report->findings.empty()) << report->findings[0].detail;

        AttentionCase dense = Case(kRows, kRows);
        for (int t = 0; t < 3; ++t) {
          auto& fill = t == 0   ? dense.fill_query
                       : t == 1 ? dense.fill_key
                                : dense.fill_value;
          fill = [&rows, t, &variant](int64_t, int64_t row, int64_t,
                                      int64_t channel, float) {
            const int64_t dim =
                t < 2 ? variant.head_dim_qk : variant.head_dim_v;
            return rows[t][row * dim + channel].ToFloat();
          };
        }
        const auto want = RunCase(dense);
        ASSERT_TRUE(want.ok()) << want.status();
        for (int64_t r = 0; r < kRows; ++r) {
          std::vector<numerics::Bf16> got(variant.head_dim_v);
          ASSERT_TRUE(
              memory
                  .Read(params.output.address + r * params.output.seq_stride,
                        absl::MakeSpan(reinterpret_cast<uint8_t*>(got.data()),
                                       2 * got.size()))
                  .ok());
          ASSERT_EQ(
              std::memcmp(got.data(), &want->output[r * variant.head_dim_v],
                          2 * got.size()),
              0)
              << "tensor " << which << " extent " << extent << " delta "
              << delta << " row " << r;
        }
      }
    }
  }
}

// More batch entries than a grid dimension holds: several launches.
TEST(GridLimitTest, BatchBeyondIt) {
  AttentionCase c;
  c.variant = ParseVariant("bf16_d128_full").value();
  c.seqlen_q = c.seqlen_kv = 1;
  c.batch = 65537;
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t, float) { return 1.0f; };
  c.fill_key = c.fill_query;
  // One key a row: the output is its value.
  c.fill_value = [](int64_t batch, int64_t, int64_t, int64_t channel, float) {
    return static_cast<float>((batch + channel) % 251);
  };
  const auto got = RunCase(c);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->report.findings.empty());
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t i = 0; i < c.variant.head_dim_v; ++i) {
      ASSERT_EQ(got->output[b * c.variant.head_dim_v + i].ToFloat(),
                static_cast<float>((b + i) % 251))
          << b << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LayoutTest, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing
