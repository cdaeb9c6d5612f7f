#include "zyfa/launch/plan.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/choose_kernel.h"
#include "zyfa/launch/int8_arguments.h"
#include "zyfa/launch/refusal.h"
#include "zyfa/launch/scale_arguments.h"
#include "zyfa/launch/tensor_rows.h"
#include "zyfa/variant/set_items.h"

namespace zyfa {
namespace {

// Tile ends are computed in signed 32-bit numbers.
constexpr int64_t kMaxSeqlen = (int64_t{1} << 31) - 513;
constexpr int64_t kMaxHeads = 65536;  // kv_head_multiplier is exact up to here
constexpr int64_t kMaxGridYZ = 65535;
constexpr int64_t kMaxItems = (int64_t{1} << 31) - 1;  // of an FP8 launch
constexpr int64_t kXcds = 8;

absl::Status CheckTypes(const AttentionParams& params) {
  const DataType type = params.query.data_type;
  if (type != DataType::kBf16 && type != DataType::kFp8 &&
      type != DataType::kInt8) {
    return Refuse("query.data_type", DataTypeName(type), "bf16, fp8, int8");
  }
  if (params.key.data_type != type) {
    return Refuse(
        "key.data_type", DataTypeName(params.key.data_type),
        absl::StrCat(DataTypeName(type), ", which is query.data_type"));
  }
  const bool int8 = type == DataType::kInt8;
  const DataType value = int8 ? DataType::kFp8 : type;
  if (params.value.data_type != value) {
    return Refuse(
        "value.data_type", DataTypeName(params.value.data_type),
        absl::StrCat(DataTypeName(value), int8 ? ", for query.data_type is int8"
                                               : ", which is query.data_type"));
  }
  const DataType output = params.output.data_type;
  if (output != DataType::kBf16 && output != value) {
    return Refuse("output.data_type", DataTypeName(output),
                  value == DataType::kFp8 ? "bf16, fp8" : "bf16");
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const AttentionParams& params) {
  const TensorView& q = params.query;
  const TensorView& k = params.key;
  const TensorView& v = params.value;
  const TensorView& o = params.output;
  absl::Status status = MustLieIn("query.batch", q.batch, INT64_MAX);
  status.Update(MustLieIn("query.seqlen", q.seqlen, kMaxSeqlen));
  status.Update(MustLieIn("key.seqlen", k.seqlen, kMaxSeqlen));
  status.Update(MustLieIn("query.heads", q.heads, kMaxHeads));
  status.Update(MustLieIn("key.heads", k.heads, kMaxHeads));
  status.Update(MustEqual("key.batch", k.batch, "query.batch", q.batch));
  status.Update(MustEqual("value.batch", v.batch, "query.batch", q.batch));
  status.Update(MustEqual("output.batch", o.batch, "query.batch", q.batch));
  status.Update(MustEqual("value.seqlen", v.seqlen, "key.seqlen", k.seqlen));
  status.Update(MustEqual("output.seqlen", o.seqlen, "query.seqlen", q.seqlen));
  status.Update(MustEqual("value.heads", v.heads, "key.heads", k.heads));
  status.Update(MustEqual("output.heads", o.heads, "query.heads", q.heads));
  status.Update(
      MustEqual("key.head_dim", k.head_dim, "query.head_dim", q.head_dim));
  status.Update(
      MustEqual("output.head_dim", o.head_dim, "value.head_dim", v.head_dim));
  if (params.lse.has_value()) {
    const LseView& lse = *params.lse;
    status.Update(MustEqual("lse.batch", lse.batch, "query.batch", q.batch));
    status.Update(MustEqual("lse.heads", lse.heads, "query.heads", q.heads));
    status.Update(
        MustEqual("lse.seqlen", lse.seqlen, "query.seqlen", q.seqlen));
  }
  if (!status.ok()) return status;
  if (q.heads > 0 && (k.heads == 0 || q.heads % k.heads != 0)) {
    return Refuse("key.heads", absl::StrCat(k.heads),
                  absl::StrCat("divisors of query.heads, ", q.heads));
  }
  return status;
}

void FillScale(float scale, AttentionArgs& args) {
  const float magnitude = std::fabs(scale);
  args.negate_query = scale < 0 ? 0x80008000u : 0;
  // A zero scale becomes the smallest normal number: a score has to pass 2^100
  // before softmax or LSE see it, and minus infinity, the maximum of a row
  // without a key, stays minus infinity.
  args.scale = std::max(magnitude, FLT_MIN);
  args.scale_log2e = static_cast<float>(
      std::clamp<double>(magnitude * 1.4426950408889634, FLT_MIN, FLT_MAX));
  // In float on purpose: the quotient may be infinity, which is never exceeded.
  args.rescale_threshold = kRescaleBinades / args.scale_log2e;
}

uint32_t QueryTiles(int64_t rows) {
  return static_cast<uint32_t>((rows + kQueryTile - 1) / kQueryTile);
}

bool IsCausal(const AttentionPlan& plan) {
  return plan.kernel->variant.mask == Mask::kCausal;
}

bool IsPersistent(const AttentionPlan& plan) {
  return IsPersistent(plan.kernel->variant);
}

// A causal work-group of a BF16 kernel takes one tile from each end, so that
// all cost the same.
int64_t TilesPerGroup(const AttentionPlan& plan) {
  return IsCausal(plan) ? 2 : 1;
}

// What one launch may be given.
struct PieceSize {
  int64_t rows;
  int64_t batches;
};

// There is a head.
PieceSize LargestPiece(const AttentionPlan& plan) {
  if (!IsPersistent(plan)) {
    return {kMaxGridYZ * TilesPerGroup(plan) * kQueryTile, kMaxGridYZ};
  }
  const int64_t most_tiles = kMaxItems / plan.heads_q;
  const int64_t tiles =
      std::clamp<int64_t>(plan.args.query_tiles, 1, most_tiles);
  return {most_tiles * kQueryTile, kMaxItems / (tiles * plan.heads_q)};
}

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Persistent work-groups of an FP8 launch: in turn on the XCDs, and no compute
// unit with two of them, unless there are fewer than XCDs.
uint32_t Groups(uint32_t items, uint32_t compute_units) {
  if (items < std::max<uint32_t>(compute_units, kXcds)) return items;
  return std::max<uint32_t>(kXcds, compute_units / kXcds * kXcds);
}

}  // namespace

absl::StatusOr<AttentionPlan> PlanAttention(const AttentionParams& params,
                                            const LaunchTarget& target) {
  absl::Status status = CheckTypes(params);
  if (!status.ok()) return status;
  status = CheckSizes(params);
  if (!status.ok()) return status;
  status = CheckScales(params);
  status.Update(CheckInt8(params));
  if (!status.ok()) return status;
  const auto kernel = ChooseKernel(params, target.kernels);
  if (!kernel.ok()) return kernel.status();
  const float scale = params.softmax_scale.value_or(
      1.0f / std::sqrt(static_cast<float>(params.query.head_dim)));
  if (!std::isfinite(scale)) {
    return Refuse("softmax_scale", absl::StrCat(scale), "any finite number");
  }

  AttentionPlan plan;
  plan.kernel = *kernel;
  plan.batch = params.query.batch;
  plan.heads_q = params.query.heads;
  plan.compute_units = target.compute_units;
  AttentionArgs& args = plan.args;
  args.seqlen_q = static_cast<uint32_t>(params.query.seqlen);
  args.seqlen_kv = static_cast<uint32_t>(params.key.seqlen);
  args.query_tiles = QueryTiles(params.query.seqlen);
  if (IsPersistent(plan)) {
    // Kernels multiply it by log2(e) first; beyond this all weight is on the
    // largest score anyway.
    constexpr float kLargest = std::numeric_limits<float>::max() / 1.5f;
    args.softmax_scale = std::clamp(scale, -kLargest, kLargest);
    args.lean_top = target.lean_top;
    args.flags =
        params.output.data_type == DataType::kFp8 ? uint32_t{kOutputFp8} : 0;
  } else {
    FillScale(scale, args);
  }
  if (plan.batch == 0 || plan.heads_q == 0 || args.seqlen_q == 0) {
    return plan;  // no rows: no memory is looked at
  }

  TensorView q = params.query, k = params.key, v = params.value,
             o = params.output;
  LseView lse = params.lse.value_or(LseView{});
  std::vector<ByteRange> written, read;
  const auto check = [&](const Rows& rows) -> absl::Status {
    const auto range = CheckRows(rows);
    if (!range.ok()) return range.status();
    (rows.written ? written : read).push_back(*range);
    return absl::OkStatus();
  };
  status = check(RowsOf("query", q, /*written=*/false));
  if (status.ok() && k.seqlen > 0) {
    status = check(RowsOf("key", k, /*written=*/false));
    if (status.ok()) status = check(RowsOf("value", v, /*written=*/false));
  } else {
    // Nothing of them is read; what their fields say reaches no kernel.
    k = DenseTensor(0, k.batch, 0, k.heads, k.head_dim, k.data_type);
    v = DenseTensor(0, v.batch, 0, v.heads, v.head_dim, v.data_type);
  }
  if (status.ok()) status = check(RowsOf("output", o, /*written=*/true));
  if (status.ok() && params.lse.has_value()) {
    status = check(RowsOf("lse", lse, sizeof(float), /*written=*/true));
  }
  if (status.ok() && IsPersistent(plan)) {
    status = FillScales(params, read, args);
  }
  if (status.ok() && params.query_shift.has_value()) {
    status = FillInt8(params, read, args);
  }
  for (size_t i = 0; i < written.size() && status.ok(); ++i) {
    for (const ByteRange& range : read) {
      status.Update(CheckNoOverlap(written[i], range));
    }
    if (i > 0) status.Update(CheckNoOverlap(written[i], written[0]));
  }
  if (!status.ok()) return status;

  const auto u64 = [](int64_t n) { return static_cast<uint64_t>(n); };
  const auto u32 = [](int64_t n) { return static_cast<uint32_t>(n); };
  args.query = q.address;
  args.key = k.address;
  args.value = v.address;
  args.output = o.address;
  args.lse = lse.address;
  args.query_batch_stride = u64(q.batch_stride);
  args.query_head_stride = u64(q.head_stride);
  args.key_batch_stride = u64(k.batch_stride);
  args.key_head_stride = u64(k.head_stride);
  args.value_batch_stride = u64(v.batch_stride);
  args.value_head_stride = u64(v.head_stride);
  args.output_batch_stride = u64(o.batch_stride);
  args.output_head_stride = u64(o.head_stride);
  args.lse_batch_stride = u64(lse.batch_stride);
  args.lse_head_stride = u64(lse.head_stride);
  args.query_seq_stride = u32(q.seq_stride);
  args.key_seq_stride = u32(k.seq_stride);
  args.value_seq_stride = u32(v.seq_stride);
  args.output_seq_stride = u32(o.seq_stride);
  const int64_t ratio = q.heads / k.heads;
  args.kv_head_multiplier =
      ratio == 1 ? 0 : u32((int64_t{1} << 32) / ratio + 1);
  return plan;
}

// Rows of the output lie apart below 2^48, so this cannot overflow.
int64_t PieceCount(const AttentionPlan& plan) {
  if (plan.heads_q == 0) return 0;
  const PieceSize most = LargestPiece(plan);
  return CeilDiv(plan.batch, most.batches) *
         CeilDiv(plan.args.seqlen_q, most.rows);
}

AttentionPiece MakePiece(const AttentionPlan& plan, int64_t index) {
  AttentionPiece piece;
  piece.args = plan.args;
  AttentionArgs& args = piece.args;

  const PieceSize most = LargestPiece(plan);
  const int64_t batch_pieces = CeilDiv(plan.batch, most.batches);
  const int64_t first_batch = index % batch_pieces * most.batches;
  const int64_t batches = std::min(plan.batch - first_batch, most.batches);
  const int64_t first_row = index / batch_pieces * most.rows;
  const int64_t last_row =  // exclusive
      std::min<int64_t>(plan.args.seqlen_q, first_row + most.rows);

  const auto batch = static_cast<uint64_t>(first_batch);
  const auto row = static_cast<uint64_t>(first_row);
  args.query += batch * args.query_batch_stride + row * args.query_seq_stride;
  args.key += batch * args.key_batch_stride;
  args.value += batch * args.value_batch_stride;
  args.output +=
      batch * args.output_batch_stride + row * args.output_seq_stride;
  if (args.lse != 0) {
    args.lse += batch * args.lse_batch_stride + row * sizeof(float);
  }
  if (IsCausal(plan)) {
    // The diagonal stays where it is: without the rows behind last_row, the
    // keys that only those see go too. No keys left: none of these rows sees
    // any.
    const int64_t keys =
        int64_t{args.seqlen_kv} - (int64_t{args.seqlen_q} - last_row);
    args.seqlen_kv = static_cast<uint32_t>(std::max<int64_t>(keys, 0));
  }
  args.seqlen_q = static_cast<uint32_t>(last_row - first_row);
  args.query_tiles = QueryTiles(args.seqlen_q);

  piece.shape.block[0] = kThreadsPerGroup;
  if (IsPersistent(plan)) {
    // A stride is 0 where there is no tensor or one entry.
    args.query_descale += batch * args.query_descale_batch_stride;
    args.key_descale += batch * args.key_descale_batch_stride;
    args.value_descale += batch * args.value_descale_batch_stride;
    if (args.query_shift != 0) {
      args.query_shift += batch * args.query_shift_batch_stride + row;
    }
    args.key_multiplier += batch * args.key_multiplier_batch_stride;
    SetItems(static_cast<uint32_t>(plan.heads_q),
             static_cast<uint32_t>(batches), args);
    args.groups = Groups(args.items, plan.compute_units);
    piece.shape.grid[0] = args.groups;
    return piece;
  }
  piece.shape.grid[0] = static_cast<uint32_t>(plan.heads_q);
  piece.shape.grid[1] =
      static_cast<uint32_t>(CeilDiv(args.query_tiles, TilesPerGroup(plan)));
  piece.shape.grid[2] = static_cast<uint32_t>(batches);
  return piece;
}

LaunchTarget TargetOf(const DeviceProperties& properties) {
  LaunchTarget target;
  target.compute_units = properties.compute_units;
  return target;
}

}  // namespace zyfa
