// Where tensors lie: independent strides, padding, head ratios, extents around
// 2^31 and 2^32 bytes, and calls that need more than one launch.

#include <cstring>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/plan.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"

namespace zyfa::testing {
namespace {

class LayoutTest : public KernelTest {};

TEST_P(LayoutTest, IndependentStridesAndPadding) {
  AttentionCase c = Case(70, 130);
  c.batch = 2;
  c.heads_q = 6;
  c.heads_kv = 3;
  c.query = {Layout::kBshd, 16, 48, 32};
  c.key = {Layout::kBhsd, 0, 16, 16};
  c.value = {Layout::kBshd, 1008, 0, 0};
  c.output = {Layout::kBhsd, 112, 2064, 48};
  c.query_shift = {Layout::kBshd, 5, 7, 3};
  c.key_multiplier = {Layout::kBhsd, 12, 20, 4};
  EXPECT_EQ(Verify(c), "");
  std::swap(c.query.order, c.key.order);
  std::swap(c.value.order, c.output.order);
  std::swap(c.query_shift.order, c.key_multiplier.order);
  EXPECT_EQ(Verify(c), "");
}

TEST_P(LayoutTest, EveryHeadRatio) {
  for (int64_t ratio = 1; ratio <= 16; ++ratio) {
    if (!SweepTakes(GetParam(), ratio, 16)) continue;
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

// Strides of tensors whose memory is virtual: only the rows are touched.
struct SparseLayout {
  int64_t seqlen, heads, batch;
  int64_t seq_stride, head_stride, batch_stride;
  int64_t queries = 0;  // 0: as many as keys

  int64_t Offset(int64_t b, int64_t s, int64_t h) const {
    return b * batch_stride + s * seq_stride + h * head_stride;
  }
};

float Element(int tensor, int64_t b, int64_t row, int64_t head,
              int64_t channel) {
  const int64_t mixed =
      channel * 37 + row * 101 + head * 7 + b * 13 + tensor * 11;
  return static_cast<float>(mixed % 17 - 8) / 8;
}

// INT8: codes of Q and K, and what gives scores of some binades with them.
float Code(int tensor, int64_t b, int64_t row, int64_t head, int64_t channel) {
  return 64 * Element(tensor, b, row, head, channel);
}
uint8_t Shift(const Variant& variant, int64_t b, int64_t head, int64_t row) {
  const int least = variant.probability == Probability::kMultiply ? 16 : 9;
  return static_cast<uint8_t>(least + (b + head + row) % 3);
}
uint32_t Multiplier(int64_t b, int64_t head, int64_t key) {
  return static_cast<uint32_t>(1 + (key * 37 + head * 11 + b * 5) % 255);
}

DataType TypeOf(const Variant& variant, int tensor) {
  return tensor == 3   ? DataType::kBf16
         : tensor == 2 ? ValueType(variant)
                       : variant.data_type;
}

// A row of a tensor in memory.
std::vector<uint8_t> RowBytes(const Variant& variant, int tensor, int64_t b,
                              int64_t s, int64_t h) {
  const DataType type = TypeOf(variant, tensor);
  const int64_t dim = tensor < 2 ? variant.head_dim_qk : variant.head_dim_v;
  std::vector<uint8_t> row(BytesPerElement(type) * dim);
  for (int64_t i = 0; i < dim; ++i) {
    const float x = Element(tensor, b, s, h, i);
    switch (type) {
      case DataType::kInt8:
        row[i] =
            static_cast<uint8_t>(static_cast<int8_t>(Code(tensor, b, s, h, i)));
        break;
      case DataType::kFp8:
        row[i] =
            numerics::E4m3::FromFloat(x, numerics::Overflow::kSaturate).code;
        break;
      case DataType::kBf16: {
        const auto bf16 = numerics::Bf16::FromFloat(x);
        std::memcpy(&row[2 * i], &bf16, 2);
      }
    }
  }
  return row;
}

// Numbers of tokens under strides of their own.
template <typename T>
absl::StatusOr<TokenView> SparseTokens(
    emu::DeviceMemory& memory, const SparseLayout& l, int64_t seqlen,
    const std::function<T(int64_t batch, int64_t head, int64_t token)>& value) {
  TokenView view = {0,
                    l.batch,
                    l.heads,
                    seqlen,
                    l.batch_stride + 7 * int64_t{sizeof(T)},
                    l.head_stride + 3 * int64_t{sizeof(T)}};
  std::vector<uint8_t> row(sizeof(T) * seqlen);
  const auto address = memory.Allocate((l.batch - 1) * view.batch_stride +
                                       (l.heads - 1) * view.head_stride +
                                       static_cast<int64_t>(row.size()));
  if (!address.ok()) return address.status();
  view.address = *address;
  for (int64_t b = 0; b < l.batch; ++b) {
    for (int64_t h = 0; h < l.heads; ++h) {
      for (int64_t s = 0; s < seqlen; ++s) {
        const T x = value(b, h, s);
        std::memcpy(&row[sizeof(T) * s], &x, sizeof(T));
      }
      const absl::Status status = memory.Write(
          *address + b * view.batch_stride + h * view.head_stride, row);
      if (!status.ok()) return status;
    }
  }
  return view;
}

// All tensors under such strides give the bits of the dense case.
void ExpectDenseBits(const KernelEntry& kernel, const SparseLayout& l) {
  const Variant& variant = kernel.variant;
  const bool int8 = variant.data_type == DataType::kInt8;
  const int64_t queries = l.queries == 0 ? l.seqlen : l.queries;
  emu::DeviceMemory memory;
  AttentionParams params;
  params.mask = variant.mask;
  params.variant = std::string(kernel.name);
  TensorView* views[] = {&params.query, &params.key, &params.value,
                         &params.output};
  for (int t = 0; t < 4; ++t) {
    const int64_t dim = t < 2 ? variant.head_dim_qk : variant.head_dim_v;
    const DataType type = TypeOf(variant, t);
    const int64_t rows = t % 3 == 0 ? queries : l.seqlen;
    const auto address =
        memory.Allocate(l.Offset(l.batch - 1, rows - 1, l.heads - 1) +
                        BytesPerElement(type) * dim);
    ASSERT_TRUE(address.ok()) << address.status();
    *views[t] = {type, *address,       l.batch,      rows,         l.heads,
                 dim,  l.batch_stride, l.seq_stride, l.head_stride};
    if (t == 3) continue;
    for (int64_t b = 0; b < l.batch; ++b) {
      for (int64_t s = 0; s < rows; ++s) {
        for (int64_t h = 0; h < l.heads; ++h) {
          ASSERT_TRUE(memory
                          .Write(*address + l.Offset(b, s, h),
                                 RowBytes(variant, t, b, s, h))
                          .ok());
        }
      }
    }
  }
  const auto shift = [variant](int64_t b, int64_t h, int64_t s) {
    return Shift(variant, b, h, s);
  };
  if (int8) {
    const auto shifts = SparseTokens<uint8_t>(memory, l, queries, shift);
    ASSERT_TRUE(shifts.ok()) << shifts.status();
    params.query_shift = *shifts;
  }
  if (variant.probability == Probability::kMultiply) {
    const auto tokens = SparseTokens<uint32_t>(memory, l, l.seqlen, Multiplier);
    ASSERT_TRUE(tokens.ok()) << tokens.status();
    params.key_multiplier = *tokens;
  }
  const int64_t lse_head = l.head_stride + 4;
  const int64_t lse_batch = l.batch_stride + 12;
  const auto lse_address = memory.Allocate(
      (l.batch - 1) * lse_batch + (l.heads - 1) * lse_head + 4 * queries);
  ASSERT_TRUE(lse_address.ok()) << lse_address.status();
  params.lse = {*lse_address, l.batch, l.heads, queries, lse_batch, lse_head};

  const auto plan = PlanAttention(params);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(PieceCount(*plan), 1);
  const AttentionPiece piece = MakePiece(*plan, 0);
  emu::LaunchShape shape;
  std::copy_n(piece.shape.grid, 3, shape.grid);
  std::copy_n(piece.shape.block, 3, shape.workgroup);
  const auto report = emu::Run(
      LinkedKernel(variant), std::string(kernel.symbol), shape,
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&piece.args),
                          sizeof(piece.args)),
      memory);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->findings.empty()) << report->findings[0].detail;

  AttentionCase dense;
  dense.variant = variant;
  dense.batch = l.batch;
  dense.heads_q = dense.heads_kv = l.heads;
  dense.seqlen_q = queries;
  dense.seqlen_kv = l.seqlen;
  AttentionCase::Fill* fills[] = {&dense.fill_query, &dense.fill_key,
                                  &dense.fill_value};
  for (int t = 0; t < 3; ++t) {
    const auto element = int8 && t < 2 ? Code : Element;
    *fills[t] = [=](int64_t b, int64_t s, int64_t h, int64_t i, float) {
      return element(t, b, s, h, i);
    };
  }
  if (int8) {
    dense.shift = shift;
    dense.multiplier = Multiplier;
  }
  const auto want = RunCase(dense);
  ASSERT_TRUE(want.ok()) << want.status();
  const int64_t dim = variant.head_dim_v;
  std::vector<uint8_t> row(2 * dim);
  std::vector<uint8_t> lse(4 * queries);
  for (int64_t b = 0; b < l.batch; ++b) {
    for (int64_t h = 0; h < l.heads; ++h) {
      for (int64_t s = 0; s < queries; ++s) {
        const uint64_t at = params.output.address + l.Offset(b, s, h);
        ASSERT_TRUE(memory.Read(at, absl::MakeSpan(row)).ok());
        const int64_t i = ((b * queries + s) * l.heads + h) * dim;
        ASSERT_EQ(std::memcmp(row.data(), &want->output[i], row.size()), 0)
            << "batch " << b << " head " << h << " row " << s;
      }
      const uint64_t at = *lse_address + b * lse_batch + h * lse_head;
      ASSERT_TRUE(memory.Read(at, absl::MakeSpan(lse)).ok());
      const int64_t i = (b * l.heads + h) * queries;
      ASSERT_EQ(std::memcmp(lse.data(), &want->lse[i], lse.size()), 0)
          << "LSE of batch " << b << " head " << h;
    }
  }
}

// Rows, heads and batch entries all reach beyond 2^32 bytes, with carries
// between the halves of an address on the way.
TEST_P(LayoutTest, StridesBeyondFourGiB) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  ExpectDenseBits(GetParam(), {200, 3, 3, (int64_t{1} << 25) - 16,
                               7 * kGiB + 0xfff0, 23 * kGiB + 0xffff0});
}

// A head begins one row below, at, and one row above 2^31 and 2^32 bytes.
TEST_P(LayoutTest, ExtentsAroundTwoAndFourGiB) {
  // Of the output too.
  const int64_t row = 2 * GetParam().variant.head_dim_qk;
  for (int64_t extent : {int64_t{1} << 31, int64_t{1} << 32}) {
    for (int64_t delta : {-row, int64_t{0}, row}) {
      ExpectDenseBits(GetParam(), {70, 2, 1, row, extent + delta, 0});
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
