#include "zyfa/quantize/pass_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/launch/refusal.h"
#include "zyfa/quantize/kernels.h"

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

uint64_t U64(int64_t n) { return static_cast<uint64_t>(n); }

}  // namespace

absl::StatusOr<PassSizes> CheckPassSizes(const TensorView& in,
                                         const TensorView& out,
                                         DataType codes) {
  if (in.data_type != DataType::kBf16) {
    return Refuse("input.data_type", DataTypeName(in.data_type), "bf16");
  }
  if (out.data_type != codes) {
    return Refuse("output.data_type", DataTypeName(out.data_type),
                  DataTypeName(codes));
  }
  if (in.head_dim != 128 && in.head_dim != 192) {
    return Refuse("input.head_dim", absl::StrCat(in.head_dim), "128, 192");
  }
  absl::Status status = MustLieIn("input.seqlen", in.seqlen, kMaxSeqlen);
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
  PassSizes s = {in.batch, in.seqlen, in.heads, in.head_dim, 0, 0};
  s.chunk_rows = QuantizeChunkRows(s.seqlen);
  s.chunks = (s.seqlen + s.chunk_rows - 1) / s.chunk_rows;
  return s;
}

absl::StatusOr<ScaledSizes> CheckScales(ScaleGranularity granularity,
                                        bool calibrated,
                                        const PassSizes& sizes) {
  ScaledSizes s = {sizes};
  s.scales = ScaleCount(granularity, s.batch, s.heads, s.seqlen);
  if (calibrated || granularity == ScaleGranularity::kToken) return s;
  s.maxima_per_scale = s.chunks;
  if (granularity != ScaleGranularity::kBatchHead)
    s.maxima_per_scale *= s.batch;
  if (granularity == ScaleGranularity::kTensor) s.maxima_per_scale *= s.heads;
  if (s.maxima_per_scale > kMaxMaximaPerScale) {
    return Refuse("input.seqlen", absl::StrCat(s.seqlen),
                  absl::StrCat("sizes that give a scale ", kMaxMaximaPerScale,
                               " chunks at most"));
  }
  return s;
}

absl::Status CheckLseCorrection(const LseCorrection& lse,
                                const TensorView& input) {
  absl::Status status = MustEqual("lse_correction.output.batch",
                                  lse.output.batch, "input.batch", input.batch);
  status.Update(MustEqual("lse_correction.output.heads", lse.output.heads,
                          "input.heads", input.heads));
  status.Update(MustEqual("lse_correction.output.seqlen", lse.output.seqlen,
                          "input.seqlen", input.seqlen));
  if (!status.ok()) return status;
  if (input.heads > 0 &&
      (lse.heads_kv < 1 || input.heads % lse.heads_kv != 0)) {
    return Refuse("lse_correction.heads_kv", absl::StrCat(lse.heads_kv),
                  absl::StrCat("divisors of input.heads, ", input.heads));
  }
  if (!std::isfinite(lse.softmax_scale)) {
    return Refuse("lse_correction.softmax_scale",
                  absl::StrCat(lse.softmax_scale), "any finite number");
  }
  return absl::OkStatus();
}

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

void Ranges::Add(const Rows& rows) {
  if (!status_.ok()) return;
  const auto range = CheckRows(rows);
  if (range.ok()) {
    (rows.written ? written_ : read_).push_back(*range);
  } else {
    status_ = range.status();
  }
}

absl::Status Ranges::Check() const {
  absl::Status status = status_;
  for (size_t i = 0; i < written_.size() && status.ok(); ++i) {
    for (const ByteRange& other : read_) {
      status.Update(CheckNoOverlap(written_[i], other));
    }
    for (size_t j = 0; j < i; ++j) {
      status.Update(CheckNoOverlap(written_[i], written_[j]));
    }
  }
  return status;
}

QuantizeArgs AddTensors(TensorView in, TensorView out, const PassSizes& s,
                        Ranges& ranges) {
  if (s.any_rows()) {
    ranges.Add(RowsOf("input", in, /*written=*/false));
    ranges.Add(RowsOf("output", out, /*written=*/true));
  }
  QuantizeArgs args = {};
  args.input = in.address;
  args.output = out.address;
  args.input_batch_stride = U64(in.batch_stride);
  args.input_head_stride = U64(in.head_stride);
  args.output_batch_stride = U64(out.batch_stride);
  args.output_head_stride = U64(out.head_stride);
  args.input_seq_stride = static_cast<uint32_t>(in.seq_stride);
  args.output_seq_stride = static_cast<uint32_t>(out.seq_stride);
  args.mean_head_stride = U64(4 * s.head_dim);
  args.mean_batch_stride = U64(4 * s.head_dim * s.heads);
  args.inverse_seqlen =
      s.seqlen > 0 ? 1.0f / static_cast<float>(s.seqlen) : 0.0f;
  args.seqlen = static_cast<uint32_t>(s.seqlen);
  args.chunk_rows = static_cast<uint32_t>(s.chunk_rows);
  args.chunks = static_cast<uint32_t>(s.chunks);
  args.head_dim = static_cast<uint32_t>(s.head_dim);
  args.heads = static_cast<uint32_t>(s.heads);
  return args;
}

void AddMeasured(uint64_t descale, uint64_t mean, bool subtract_mean,
                 bool calibrated, const ScaledSizes& s, Ranges& ranges,
                 QuantizeArgs& args) {
  // Without rows there are measurements, but nothing to be read.
  if (calibrated && !s.any_rows()) return;
  if (s.scales > 0) {
    ranges.Add(ArrayOf("descale", descale, 4 * s.scales, kFloatAlignment,
                       !calibrated));
  }
  args.descale = descale;
  if (!subtract_mean) return;
  if (s.mean_bytes() > 0) {
    ranges.Add(
        ArrayOf("mean", mean, s.mean_bytes(), kRowAlignment, !calibrated));
  }
  args.mean = mean;
  args.flags |= kQuantizeSubtractMean;
}

void AddLseCorrection(LseCorrection lse, const PassSizes& s, Ranges& ranges,
                      QuantizeArgs& args) {
  ranges.Add(RowsOf("lse_correction.output", lse.output, kFloatAlignment,
                    /*written=*/true));
  ranges.Add(ArrayOf("lse_correction.key_mean", lse.key_mean,
                     4 * s.batch * lse.heads_kv * s.head_dim, kRowAlignment,
                     false));
  args.flags |= kQuantizeCorrectLse;
  args.mean = lse.key_mean;
  args.mean_batch_stride = U64(4 * s.head_dim * lse.heads_kv);
  args.lse_correction = lse.output.address;
  args.lse_batch_stride = U64(lse.output.batch_stride);
  args.lse_head_stride = U64(lse.output.head_stride);
  args.softmax_scale = lse.softmax_scale;
}

void SetScaleStrides(ScaleGranularity granularity, int64_t heads,
                     int64_t seqlen, QuantizeArgs& args) {
  switch (granularity) {
    case ScaleGranularity::kTensor:
      break;
    case ScaleGranularity::kHead:
      args.scale_head_stride = 4;
      break;
    case ScaleGranularity::kBatchHead:
      args.scale_head_stride = 4;
      args.scale_batch_stride = U64(4 * heads);
      break;
    case ScaleGranularity::kToken:
      args.scale_head_stride = U64(4 * seqlen);
      args.scale_batch_stride = U64(4 * seqlen * heads);
      break;
  }
}

void SetMaximaStrides(ScaleGranularity granularity, const ScaledSizes& s,
                      QuantizeArgs& args) {
  args.maxima_per_scale = static_cast<uint32_t>(s.maxima_per_scale);
  args.maxima_head_stride = U64(4 * s.chunks);
  args.maxima_batch_stride = U64(4 * s.chunks * s.heads);
  if (granularity == ScaleGranularity::kHead) {
    // Of a head of all batch entries.
    args.maxima_head_stride = U64(4 * s.chunks * s.batch);
    args.maxima_batch_stride = U64(4 * s.chunks);
  }
}

void SetKeyHeads(int64_t heads, int64_t heads_kv, QuantizeArgs& args) {
  const int64_t ratio = heads / heads_kv;
  args.kv_head_multiplier =
      ratio == 1 ? 0 : static_cast<uint32_t>((int64_t{1} << 32) / ratio + 1);
}

// HIP allows 65535 work-groups along z.
void AddOverBatch(const std::string& kernel, const QuantizeArgs& all,
                  const PassSizes& s, int64_t chunks, int64_t threads,
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
    args.tokens += n * args.tokens_batch_stride;
    launch.shape.grid[0] = static_cast<uint32_t>(s.heads);
    launch.shape.grid[1] = static_cast<uint32_t>(chunks);
    launch.shape.grid[2] =
        static_cast<uint32_t>(std::min(s.batch - first, kMaxGridZ));
    launch.shape.block[0] = static_cast<uint32_t>(threads);
    launches.push_back(launch);
  }
}

void AddOverScales(const std::string& kernel, const QuantizeArgs& all,
                   int64_t scales, std::vector<QuantizeLaunch>& launches) {
  for (int64_t first = 0; first < scales; first += kMaxGridScales) {
    QuantizeLaunch launch;
    launch.kernel = FindQuantizeKernel(kernel);
    launch.args = all;
    launch.args.maxima += U64(4 * first) * all.maxima_per_scale;
    launch.args.multiplier += U64(4 * first);
    launch.args.descale += U64(4 * first);
    launch.shape.grid[0] =
        static_cast<uint32_t>(std::min(scales - first, kMaxGridScales));
    launch.shape.block[0] = kQuantizeThreads;
    launches.push_back(launch);
  }
}

void AddMean(const QuantizeArgs& all, const PassSizes& s,
             std::vector<QuantizeLaunch>& launches) {
  AddOverBatch(KernelName("sum", s), all, s, s.chunks, kQuantizeThreads,
               launches);
  AddOverBatch("quantize_mean", all, s, 1, s.head_dim, launches);
}

void AddMaxima(const std::string& scale_kernel, const QuantizeArgs& all,
               const ScaledSizes& s, std::vector<QuantizeLaunch>& launches) {
  AddOverBatch(KernelName("max", s), all, s, s.chunks, kQuantizeThreads,
               launches);
  AddOverScales(scale_kernel, all, s.scales, launches);
}

std::string KernelName(const std::string& what, const PassSizes& s) {
  return absl::StrCat("quantize_", what, "_d", s.head_dim);
}

QuantizeWorkspace WorkspaceOf(int64_t sums, int64_t maxima,
                              int64_t multipliers) {
  QuantizeWorkspace w;
  const auto take = [&](int64_t count) {
    const int64_t at = w.bytes;
    w.bytes += (4 * count + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    return at;
  };
  w.sums = take(sums);
  w.maxima = take(maxima);
  w.multipliers = take(multipliers);
  return w;
}

}  // namespace zyfa
