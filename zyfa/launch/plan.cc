#include "zyfa/launch/plan.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace zyfa {
namespace {

constexpr int64_t kAlignment = 16;  // of a load or store per lane
constexpr int64_t kLseAlignment = 4;
// A tile's rows must stay within 32-bit offsets of its first one.
constexpr int64_t kSeqStrideLimit = int64_t{1} << 25;
// Tile ends are computed in signed 32-bit numbers.
constexpr int64_t kMaxSeqlen = (int64_t{1} << 31) - 513;
constexpr int64_t kMaxHeads = 65536;  // kv_head_multiplier is exact up to here
constexpr int kAddressBits = 48;
constexpr int64_t kMaxGridYZ = 65535;

absl::Status Refuse(absl::string_view argument, absl::string_view value,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is ", value, "; allowed: ", allowed));
}

absl::Status MustEqual(absl::string_view argument, int64_t value,
                       absl::string_view other, int64_t other_value) {
  if (value == other_value) return absl::OkStatus();
  return Refuse(argument, absl::StrCat(value),
                absl::StrCat(other_value, ", which is ", other));
}

absl::Status MustLieIn(absl::string_view argument, int64_t value,
                       int64_t most) {
  if (value >= 0 && value <= most) return absl::OkStatus();
  return Refuse(argument, absl::StrCat(value), absl::StrCat("0 to ", most));
}

// Bytes [begin, end) that a tensor reaches from its first to its last element.
struct ByteRange {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A dimension outside the contiguous rows.
struct Dimension {
  std::string argument;  // as the message names its stride
  int64_t size = 0;
  int64_t* stride = nullptr;
  int64_t limit = INT64_MAX;  // the stride must stay below it
};

// A tensor reduced to contiguous rows that repeat over dimensions.
struct Rows {
  std::string name;
  uint64_t address = 0;
  int64_t row_bytes = 0;
  int64_t alignment = kAlignment;
  bool written = false;
  std::vector<Dimension> dimensions;
};

absl::Status CheckStrides(const Rows& rows) {
  for (const Dimension& d : rows.dimensions) {
    if (d.size < 2) continue;
    const int64_t stride = *d.stride;
    if (stride < 0 || stride % rows.alignment != 0 || stride >= d.limit) {
      std::string allowed = absl::StrCat("multiples of ", rows.alignment,
                                         " that are not negative");
      if (d.limit != INT64_MAX) {
        absl::StrAppend(&allowed, " and less than ", d.limit);
      }
      return Refuse(d.argument, absl::StrCat(stride, " bytes"), allowed);
    }
  }
  return absl::OkStatus();
}

// Refuses rows that may lie upon each other: taken by growing stride, every
// dimension has to step over all that the ones before it cover. Call it after
// RangeOf() has shown that sizes times strides stay in range.
absl::Status CheckDisjointRows(const Rows& rows) {
  const auto smaller_stride = [](const Dimension& a, const Dimension& b) {
    return *a.stride < *b.stride;
  };
  std::vector<Dimension> used;
  for (const Dimension& d : rows.dimensions) {
    if (d.size <= 1) continue;
    used.insert(std::upper_bound(used.begin(), used.end(), d, smaller_stride),
                d);
  }
  int64_t covered = rows.row_bytes;
  for (const Dimension& d : used) {
    if (*d.stride < covered) {
      return Refuse(
          d.argument, absl::StrCat(*d.stride, " bytes"),
          absl::StrCat("at least ", covered, ", so that no two rows of ",
                       rows.name, " overlap"));
    }
    covered += (d.size - 1) * *d.stride;
  }
  return absl::OkStatus();
}

absl::StatusOr<ByteRange> RangeOf(const Rows& rows) {
  const std::string argument = absl::StrCat(rows.name, ".address");
  const std::string value = absl::StrCat("0x", absl::Hex(rows.address));
  if (rows.address == 0 || rows.address % rows.alignment != 0) {
    return Refuse(argument, value,
                  absl::StrCat("multiples of ", rows.alignment, ", and not 0"));
  }
  // Sizes and strides are below 2^63: three products and the rest stay below
  // 2^128.
  absl::uint128 end = rows.address;
  end += static_cast<uint64_t>(rows.row_bytes);
  for (const Dimension& d : rows.dimensions) {
    if (d.size < 2) continue;
    end += absl::uint128(static_cast<uint64_t>(d.size - 1)) *
           static_cast<uint64_t>(*d.stride);
  }
  if (end > absl::uint128(1) << kAddressBits) {
    std::string reach = "2^64 or more";
    if (absl::Uint128High64(end) == 0) {
      reach = absl::StrCat("0x", absl::Hex(absl::Uint128Low64(end)));
    }
    return Refuse(
        argument,
        absl::StrCat(value, " and the tensor's strides end it at ", reach),
        absl::StrCat("an end at 2^", kAddressBits, " at most"));
  }
  return ByteRange{rows.name, rows.address, absl::Uint128Low64(end)};
}

absl::StatusOr<ByteRange> CheckRows(const Rows& rows) {
  absl::Status status = CheckStrides(rows);
  if (!status.ok()) return status;
  auto range = RangeOf(rows);
  if (range.ok() && rows.written) {
    status = CheckDisjointRows(rows);
    if (!status.ok()) return status;
  }
  return range;
}

Rows RowsOf(const std::string& name, TensorView& view, bool written) {
  Rows rows;
  rows.name = name;
  rows.address = view.address;
  rows.row_bytes = view.head_dim * BytesPerElement(view.data_type);
  rows.written = written;
  rows.dimensions = {
      {name + ".batch_stride", view.batch, &view.batch_stride},
      {name + ".seq_stride", view.seqlen, &view.seq_stride, kSeqStrideLimit},
      {name + ".head_stride", view.heads, &view.head_stride}};
  // What an unused stride says must not matter. Kernels do multiply sequence
  // strides with rows beyond the end, which then lie behind the only row.
  view.batch_stride = view.batch > 1 ? view.batch_stride : 0;
  view.head_stride = view.heads > 1 ? view.head_stride : 0;
  view.seq_stride = view.seqlen > 1 ? view.seq_stride : rows.row_bytes;
  return rows;
}

Rows RowsOf(const std::string& name, LseView& view) {
  Rows rows;
  rows.name = name;
  rows.address = view.address;
  rows.row_bytes = view.seqlen * 4;
  rows.alignment = kLseAlignment;
  rows.written = true;
  rows.dimensions = {{name + ".batch_stride", view.batch, &view.batch_stride},
                     {name + ".head_stride", view.heads, &view.head_stride}};
  view.batch_stride = view.batch > 1 ? view.batch_stride : 0;
  view.head_stride = view.heads > 1 ? view.head_stride : 0;
  return rows;
}

absl::Status CheckNoOverlap(const ByteRange& written, const ByteRange& other) {
  if (written.end <= other.begin || other.end <= written.begin) {
    return absl::OkStatus();
  }
  const auto text = [](const ByteRange& range) {
    return absl::StrCat("0x", absl::Hex(range.begin), " to 0x",
                        absl::Hex(range.end));
  };
  return Refuse(
      absl::StrCat(written.name, ".address"),
      absl::StrCat("0x", absl::Hex(written.begin)),
      absl::StrCat("none where ", written.name, " (bytes ", text(written),
                   ") overlaps ", other.name, " (bytes ", text(other), ")"));
}

absl::Status CheckTypes(const AttentionParams& params) {
  const struct {
    const char* argument;
    DataType type;
  } kTypes[] = {{"query.data_type", params.query.data_type},
                {"key.data_type", params.key.data_type},
                {"value.data_type", params.value.data_type},
                {"output.data_type", params.output.data_type}};
  for (const auto& t : kTypes) {
    if (t.type != DataType::kBf16) {
      return Refuse(t.argument, absl::StrCat(static_cast<int>(t.type)), "bf16");
    }
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

absl::StatusOr<const KernelEntry*> ChooseKernel(const AttentionParams& params) {
  const int64_t qk = params.query.head_dim;
  const int64_t v = params.value.head_dim;
  if (params.mask != Mask::kCausal && params.mask != Mask::kFull) {
    return Refuse("mask", absl::StrCat(static_cast<int>(params.mask)),
                  "causal, full");
  }
  if (!params.variant.empty()) {
    const KernelEntry* kernel = FindKernel(params.variant);
    if (kernel == nullptr) {
      const auto name = [](std::string* out, const KernelEntry& entry) {
        absl::StrAppend(out, entry.name);
      };
      return absl::NotFoundError(absl::StrCat(
          "variant is '", params.variant,
          "'; allowed: ", absl::StrJoin(AllKernels(), ", ", name)));
    }
    const Variant& variant = kernel->variant;
    const std::string of =
        absl::StrCat("what variant ", kernel->name, " takes");
    absl::Status status =
        MustEqual("query.head_dim", qk, of, variant.head_dim_qk);
    status.Update(MustEqual("value.head_dim", v, of, variant.head_dim_v));
    if (status.ok() && params.mask != variant.mask) {
      const auto text = [](Mask mask) {
        return mask == Mask::kCausal ? "causal" : "full";
      };
      status = Refuse("mask", text(params.mask),
                      absl::StrCat(text(variant.mask), ", which is ", of));
    }
    if (!status.ok()) return status;
    return kernel;
  }
  std::vector<std::string> pairs;
  for (const KernelEntry& entry : AllKernels()) {
    const Variant& variant = entry.variant;
    if (variant.mask != params.mask) continue;
    if (variant.head_dim_qk == qk && variant.head_dim_v == v) return &entry;
    pairs.push_back(
        absl::StrCat(variant.head_dim_qk, " and ", variant.head_dim_v));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("query.head_dim and value.head_dim are ", qk, " and ", v,
                   "; allowed: ", absl::StrJoin(pairs, ", ")));
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

// A causal work-group takes one tile from each end, so that all cost the same.
int64_t TilesPerGroup(const AttentionPlan& plan) {
  return IsCausal(plan) ? 2 : 1;
}

int64_t RowsPerPiece(const AttentionPlan& plan) {
  return kMaxGridYZ * TilesPerGroup(plan) * kQueryTile;
}

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace

absl::StatusOr<AttentionPlan> PlanAttention(const AttentionParams& params) {
  absl::Status status = CheckTypes(params);
  if (!status.ok()) return status;
  status = CheckSizes(params);
  if (!status.ok()) return status;
  const auto kernel = ChooseKernel(params);
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
  AttentionArgs& args = plan.args;
  args.seqlen_q = static_cast<uint32_t>(params.query.seqlen);
  args.seqlen_kv = static_cast<uint32_t>(params.key.seqlen);
  args.query_tiles = QueryTiles(params.query.seqlen);
  FillScale(scale, args);
  if (PieceCount(plan) == 0) return plan;  // no rows: no memory is looked at

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
    k = DenseTensor(0, k.batch, 0, k.heads, k.head_dim);
    v = DenseTensor(0, v.batch, 0, v.heads, v.head_dim);
  }
  if (status.ok()) status = check(RowsOf("output", o, /*written=*/true));
  if (status.ok() && params.lse.has_value()) status = check(RowsOf("lse", lse));
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

int64_t PieceCount(const AttentionPlan& plan) {
  if (plan.heads_q == 0) return 0;
  return CeilDiv(plan.batch, kMaxGridYZ) *
         CeilDiv(plan.args.seqlen_q, RowsPerPiece(plan));
}

AttentionPiece MakePiece(const AttentionPlan& plan, int64_t index) {
  AttentionPiece piece;
  piece.args = plan.args;
  AttentionArgs& args = piece.args;

  const int64_t batch_pieces = CeilDiv(plan.batch, kMaxGridYZ);
  const int64_t first_batch = index % batch_pieces * kMaxGridYZ;
  const int64_t batches = std::min(plan.batch - first_batch, kMaxGridYZ);
  const int64_t first_row = index / batch_pieces * RowsPerPiece(plan);
  const int64_t last_row =  // exclusive
      std::min<int64_t>(plan.args.seqlen_q, first_row + RowsPerPiece(plan));

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

  piece.shape.grid[0] = static_cast<uint32_t>(plan.heads_q);
  piece.shape.grid[1] =
      static_cast<uint32_t>(CeilDiv(args.query_tiles, TilesPerGroup(plan)));
  piece.shape.grid[2] = static_cast<uint32_t>(batches);
  piece.shape.block[0] = kThreadsPerGroup;
  return piece;
}

}  // namespace zyfa
