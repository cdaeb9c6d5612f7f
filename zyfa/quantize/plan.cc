#include "zyfa/quantize/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/refusal.h"
#include "zyfa/launch/tensor_rows.h"

namespace zyfa {
namespace {

constexpr int64_t kMaxSeqlen = (int64_t{1} << 31) - 513;
constexpr int64_t kMaxHeads = 65536;
constexpr int64_t kMaxBatchHeads = (int64_t{1} << 31) - 1;
// More rows of codes do not fit below address 2^48.
constexpr int64_t kMaxRows = int64_t{1} << 41;
constexpr int64_t kMaxMaximaPerScale = int64_t{1} << 28;
constexpr int64_t kMaxGridZ = 65535;
// Scales of one launch; its work-items stay below 2^32.
constexpr int64_t kMaxGridScales = int64_t{1} << 20;
constexpr int64_t kRowAlignment = 16;
constexpr int64_t kFloatAlignment = 4;
constexpr float kLargest = 448.0f;

// What follows from the sizes.
struct Sizes {
  int64_t batch, seqlen, heads, head_dim;
  int64_t chunk_rows, chunks;
  int64_t scales;            // descales of the tensor
  int64_t maxima_per_scale;  // 0 for kToken
};

// Of a call whose options are known too.
absl::StatusOr<Sizes> CheckSizes(const QuantizeParams& params) {
  const TensorView& in = params.input;
  const TensorView& out = params.output;
  if (in.data_type != DataType::kBf16) {
    return Refuse("input.data_type", DataTypeName(in.data_type), "bf16");
  }
  if (out.data_type != DataType::kFp8) {
    return Refuse("output.data_type", DataTypeName(out.data_type), "fp8");
  }
  if (in.head_dim != 128 && in.head_dim != 192) {
    return Refuse("input.head_dim", absl::StrCat(in.head_dim), "128, 192");
  }
  absl::Status status = CheckQuantizeOptions(params.options);
  status.Update(MustLieIn("input.seqlen", in.seqlen, kMaxSeqlen));
  status.Update(MustLieIn("input.heads", in.heads, kMaxHeads));
  status.Update(
      MustLieIn("input.batch", in.batch,
                kMaxBatchHeads / std::clamp(in.heads, int64_t{1}, kMaxHeads)));
  status.Update(MustEqual("output.batch", out.batch, "input.batch", in.batch));
  status.Update(
      MustEqual("output.seqlen", out.seqlen, "input.seqlen", in.seqlen));
  status.Update(MustEqual("output.heads", out.heads, "input.heads", in.heads));
  status.Update(MustEqual("output.head_dim", out.head_dim, "input.head_dim",
                          in.head_dim));
  if (!status.ok()) return status;
  const int64_t rows = in.batch * in.heads * in.seqlen;
  if (rows > kMaxRows) {
    return Refuse("input.batch * heads * seqlen", absl::StrCat(rows),
                  absl::StrCat("0 to ", kMaxRows));
  }
  Sizes s = {in.batch, in.seqlen, in.heads, in.head_dim, 0, 0, 0, 0};
  s.chunk_rows = QuantizeChunkRows(s.seqlen);
  s.chunks = (s.seqlen + s.chunk_rows - 1) / s.chunk_rows;
  switch (params.options.granularity) {
    case ScaleGranularity::kTensor:
      s.scales = 1;
      s.maxima_per_scale = s.batch * s.heads * s.chunks;
      break;
    case ScaleGranularity::kHead:
      s.scales = s.heads;
      s.maxima_per_scale = s.batch * s.chunks;
      break;
    case ScaleGranularity::kBatchHead:
      s.scales = s.batch * s.heads;
      s.maxima_per_scale = s.chunks;
      break;
    case ScaleGranularity::kToken:
      s.scales = s.batch * s.heads * s.seqlen;
      s.maxima_per_scale = 0;
      break;
  }
  if (s.maxima_per_scale > kMaxMaximaPerScale) {
    return Refuse("input.seqlen", absl::StrCat(s.seqlen),
                  absl::StrCat("sizes that give a scale ", kMaxMaximaPerScale,
                               " chunks at most"));
  }
  return s;
}

absl::Status CheckLseCorrection(const QuantizeParams& params) {
  if (!params.lse_correction.has_value()) return absl::OkStatus();
  const LseCorrection& lse = *params.lse_correction;
  if (params.options.subtract_mean) {
    return Refuse("lse_correction", "given",
                  "none with options.subtract_mean, which is for keys");
  }
  absl::Status status =
      MustEqual("lse_correction.output.batch", lse.output.batch, "input.batch",
                params.input.batch);
  status.Update(MustEqual("lse_correction.output.heads", lse.output.heads,
                          "input.heads", params.input.heads));
  status.Update(MustEqual("lse_correction.output.seqlen", lse.output.seqlen,
                          "input.seqlen", params.input.seqlen));
  if (!status.ok()) return status;
  if (params.input.heads > 0 &&
      (lse.heads_kv < 1 || params.input.heads % lse.heads_kv != 0)) {
    return Refuse(
        "lse_correction.heads_kv", absl::StrCat(lse.heads_kv),
        absl::StrCat("divisors of input.heads, ", params.input.heads));
  }
  if (!std::isfinite(lse.softmax_scale)) {
    return Refuse("lse_correction.softmax_scale",
                  absl::StrCat(lse.softmax_scale), "any finite number");
  }
  return absl::OkStatus();
}

// A dense array.
Rows ArrayOf(const std::string& name, uint64_t address, int64_t bytes,
             int64_t alignment, bool written) {
  Rows rows;
  rows.name = rows.address_argument = name;
  rows.address = address;
  rows.row_bytes = bytes;
  rows.alignment = alignment;
  rows.written = written;
  return rows;
}

// The ranges of all that the pass reads and writes, checked one by one.
class Ranges {
 public:
  absl::Status Add(const Rows& rows) {
    const auto range = CheckRows(rows);
    if (!range.ok()) return range.status();
    (rows.written ? written_ : read_).push_back(*range);
    return absl::OkStatus();
  }
  absl::Status CheckOverlaps() const {
    for (size_t i = 0; i < written_.size(); ++i) {
      absl::Status status;
      for (const ByteRange& other : read_) {
        status.Update(CheckNoOverlap(written_[i], other));
      }
      for (size_t j = 0; j < i; ++j) {
        status.Update(CheckNoOverlap(written_[i], written_[j]));
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<ByteRange> written_, read_;
};

int64_t MeanBytes(const Sizes& s) { return 4 * s.batch * s.heads * s.head_dim; }

QuantizeWorkspace Workspace(const QuantizeParams& params, const Sizes& s) {
  QuantizeWorkspace w;
  const auto take = [&](int64_t count) {
    const int64_t at = w.bytes;
    w.bytes += (4 * count + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    return at;
  };
  const int64_t chunks = s.batch * s.heads * s.chunks;
  if (params.options.subtract_mean) w.sums = take(chunks * s.head_dim);
  if (params.options.granularity != ScaleGranularity::kToken) {
    w.maxima = take(chunks);
    w.multipliers = take(s.scales);
  }
  return w;
}

void FillStrides(const QuantizeParams& params, const Sizes& s,
                 QuantizeArgs& args) {
  const auto u64 = [](int64_t n) { return static_cast<uint64_t>(n); };
  args.mean_head_stride = u64(4 * s.head_dim);
  args.mean_batch_stride = u64(4 * s.head_dim * s.heads);
  args.maxima_head_stride = u64(4 * s.chunks);
  args.maxima_batch_stride = u64(4 * s.chunks * s.heads);
  switch (params.options.granularity) {
    case ScaleGranularity::kTensor:
      break;
    case ScaleGranularity::kHead:
      // The maxima of a head of all batch entries are neighbours.
      args.maxima_head_stride = u64(4 * s.chunks * s.batch);
      args.maxima_batch_stride = u64(4 * s.chunks);
      args.scale_head_stride = 4;
      break;
    case ScaleGranularity::kBatchHead:
      args.scale_head_stride = 4;
      args.scale_batch_stride = u64(4 * s.heads);
      break;
    case ScaleGranularity::kToken:
      args.scale_head_stride = u64(4 * s.seqlen);
      args.scale_batch_stride = u64(4 * s.seqlen * s.heads);
      break;
  }
}

void FillOptions(const QuantizeParams& params, const Sizes& s,
                 QuantizeArgs& args) {
  const QuantizeOptions& options = params.options;
  args.flags = (options.rotate ? kQuantizeRotate : 0u) |
               (options.subtract_mean ? kQuantizeSubtractMean : 0u) |
               (params.lse_correction.has_value() ? kQuantizeCorrectLse : 0u) |
               (options.unit.has_value() ? kQuantizeUnit : 0u);
  args.unit = options.unit.value_or(1.0f);
  args.inverse_unit = 1.0f / args.unit;
  args.ceiling = 0x7fffffu - std::bit_cast<uint32_t>(kLargest * args.unit);
  args.inverse_seqlen =
      s.seqlen > 0 ? 1.0f / static_cast<float>(s.seqlen) : 0.0f;
  args.seqlen = static_cast<uint32_t>(s.seqlen);
  args.chunk_rows = static_cast<uint32_t>(s.chunk_rows);
  args.chunks = static_cast<uint32_t>(s.chunks);
  args.maxima_per_scale = static_cast<uint32_t>(s.maxima_per_scale);
  args.head_dim = static_cast<uint32_t>(s.head_dim);
  args.heads = static_cast<uint32_t>(s.heads);
}

// Launches over heads, chunks and batch; HIP allows 65535 work-groups along z.
void AddOverBatch(const std::string& kernel, const QuantizeArgs& all,
                  const Sizes& s, int64_t chunks, int64_t threads,
                  std::vector<QuantizeLaunch>& launches) {
  if (s.heads == 0 || chunks == 0) return;
  for (int64_t first = 0; first < s.batch; first += kMaxGridZ) {
    QuantizeLaunch launch;
    launch.kernel = FindQuantizeKernel(kernel);
    QuantizeArgs& args = launch.args = all;
    const auto n = static_cast<uint64_t>(first);
    args.input += n * args.input_batch_stride;
    args.output += n * args.output_batch_stride;
    if (args.mean != 0) args.mean += n * args.mean_batch_stride;
    args.sums += n * static_cast<uint64_t>(4 * s.heads * s.chunks * s.head_dim);
    args.maxima += n * args.maxima_batch_stride;
    args.multiplier += n * args.scale_batch_stride;
    args.descale += n * args.scale_batch_stride;
    args.lse_correction += n * args.lse_batch_stride;
    launch.shape.grid[0] = static_cast<uint32_t>(s.heads);
    launch.shape.grid[1] = static_cast<uint32_t>(chunks);
    launch.shape.grid[2] =
        static_cast<uint32_t>(std::min(s.batch - first, kMaxGridZ));
    launch.shape.block[0] = static_cast<uint32_t>(threads);
    launches.push_back(launch);
  }
}

void AddScales(const QuantizeArgs& all, const Sizes& s,
               std::vector<QuantizeLaunch>& launches) {
  for (int64_t first = 0; first < s.scales; first += kMaxGridScales) {
    QuantizeLaunch launch;
    launch.kernel = FindQuantizeKernel("quantize_scale");
    launch.args = all;
    launch.args.maxima += static_cast<uint64_t>(4 * first * s.maxima_per_scale);
    launch.args.multiplier += static_cast<uint64_t>(4 * first);
    launch.args.descale += static_cast<uint64_t>(4 * first);
    launch.shape.grid[0] =
        static_cast<uint32_t>(std::min(s.scales - first, kMaxGridScales));
    launch.shape.block[0] = kQuantizeThreads;
    launches.push_back(launch);
  }
}

}  // namespace

absl::StatusOr<QuantizeWorkspace> PlanQuantizeWorkspace(
    const QuantizeParams& params) {
  const auto sizes = CheckSizes(params);
  if (!sizes.ok()) return sizes.status();
  return Workspace(params, *sizes);
}

absl::StatusOr<std::vector<QuantizeLaunch>> PlanQuantize(
    const QuantizeParams& params) {
  const auto sizes = CheckSizes(params);
  if (!sizes.ok()) return sizes.status();
  const Sizes& s = *sizes;
  absl::Status status = CheckLseCorrection(params);
  if (!status.ok()) return status;

  const QuantizeWorkspace workspace = Workspace(params, s);
  const bool any_rows = s.batch > 0 && s.heads > 0 && s.seqlen > 0;
  TensorView in = params.input;
  TensorView out = params.output;
  LseCorrection lse = params.lse_correction.value_or(LseCorrection{});
  Ranges ranges;
  const auto add = [&](const Rows& rows) {
    if (status.ok()) status = ranges.Add(rows);
  };
  if (any_rows) {
    add(RowsOf("input", in, /*written=*/false));
    add(RowsOf("output", out, /*written=*/true));
  }
  if (s.scales > 0) {
    add(ArrayOf("descale", params.descale, 4 * s.scales, kFloatAlignment,
                true));
  }
  if (params.options.subtract_mean && MeanBytes(s) > 0) {
    add(ArrayOf("mean", params.mean, MeanBytes(s), kRowAlignment, true));
  }
  if (params.lse_correction.has_value() && any_rows) {
    add(RowsOf("lse_correction.output", lse.output));
    add(ArrayOf("lse_correction.key_mean", lse.key_mean,
                4 * s.batch * lse.heads_kv * s.head_dim, kRowAlignment, false));
  }
  if (workspace.bytes > 0) {
    add(ArrayOf("workspace", params.workspace, workspace.bytes, kRowAlignment,
                true));
  }
  if (status.ok()) status = ranges.CheckOverlaps();
  if (!status.ok()) return status;

  const auto u64 = [](int64_t n) { return static_cast<uint64_t>(n); };
  QuantizeArgs args = {};
  args.input = in.address;
  args.output = out.address;
  args.descale = params.descale;
  args.sums = params.workspace + u64(workspace.sums);
  args.maxima = params.workspace + u64(workspace.maxima);
  args.multiplier = params.workspace + u64(workspace.multipliers);
  args.input_batch_stride = u64(in.batch_stride);
  args.input_head_stride = u64(in.head_stride);
  args.output_batch_stride = u64(out.batch_stride);
  args.output_head_stride = u64(out.head_stride);
  args.input_seq_stride = static_cast<uint32_t>(in.seq_stride);
  args.output_seq_stride = static_cast<uint32_t>(out.seq_stride);
  FillStrides(params, s, args);
  FillOptions(params, s, args);
  if (params.options.subtract_mean) args.mean = params.mean;
  if (params.lse_correction.has_value() && any_rows) {
    args.mean = lse.key_mean;
    args.mean_batch_stride = u64(4 * s.head_dim * lse.heads_kv);
    args.lse_correction = lse.output.address;
    args.lse_batch_stride = u64(lse.output.batch_stride);
    args.lse_head_stride = u64(lse.output.head_stride);
    args.softmax_scale = lse.softmax_scale;
    const int64_t ratio = s.heads / lse.heads_kv;
    args.mean_head_multiplier =
        ratio == 1 ? 0 : static_cast<uint32_t>((int64_t{1} << 32) / ratio + 1);
  }

  const std::string dim = absl::StrCat("_d", s.head_dim);
  std::vector<QuantizeLaunch> launches;
  if (params.options.subtract_mean) {
    AddOverBatch("quantize_sum" + dim, args, s, s.chunks, kQuantizeThreads,
                 launches);
    AddOverBatch("quantize_mean", args, s, 1, s.head_dim, launches);
  }
  if (params.options.granularity == ScaleGranularity::kToken) {
    AddOverBatch("quantize_token" + dim, args, s, s.chunks, kQuantizeThreads,
                 launches);
    return launches;
  }
  AddOverBatch("quantize_max" + dim, args, s, s.chunks, kQuantizeThreads,
               launches);
  AddScales(args, s, launches);
  AddOverBatch("quantize_head" + dim, args, s, s.chunks, kQuantizeThreads,
               launches);
  return launches;
}

}  // namespace zyfa
