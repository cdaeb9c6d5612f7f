#include "zyfa/quantize/host_quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using numerics::E4m3;

constexpr float kLargest = 448.0f;
constexpr int kBlock = 128;  // channels that are rotated together
constexpr int64_t kMostRows = int64_t{1} << 41;
constexpr int64_t kMostBatchHeads = (int64_t{1} << 31) - 1;
constexpr int kSums = 16;      // interleaved sums of a mean
constexpr size_t kLanes = 16;  // of a kernel that have a row

absl::Status Refuse(absl::string_view what, absl::string_view value,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; allowed: ", allowed));
}

absl::Status CheckExtent(const QuantizeExtent& e, size_t elements) {
  const struct {
    const char* name;
    int64_t value;
  } kSizes[] = {{"batch", e.batch}, {"seqlen", e.seqlen}, {"heads", e.heads}};
  int64_t rows = 1;
  for (const auto& size : kSizes) {
    if (size.value < 0 || size.value > kMostRows) {
      return Refuse(size.name, absl::StrCat(size.value),
                    absl::StrCat("0 to ", kMostRows));
    }
    if (rows > 0 && size.value > kMostRows / rows) {
      return Refuse(
          size.name, absl::StrCat(size.value),
          absl::StrCat("sizes that give ", kMostRows, " rows at most"));
    }
    rows *= size.value;
  }
  // Without tokens they are no rows, but means and scales.
  if (e.heads > 0 && e.batch > kMostBatchHeads / e.heads) {
    return Refuse("batch", absl::StrCat(e.batch),
                  absl::StrCat("0 to ", kMostBatchHeads / e.heads, " with ",
                               e.heads, " heads"));
  }
  if (e.head_dim != 128 && e.head_dim != 192) {
    return Refuse("head_dim", absl::StrCat(e.head_dim), "128, 192");
  }
  if (elements != static_cast<size_t>(e.elements())) {
    return Refuse("input.size()", absl::StrCat(elements),
                  absl::StrCat(e.elements(), ", which the sizes ask for"));
  }
  return absl::OkStatus();
}

// A row of a dense [batch][seqlen][heads][head_dim].
int64_t RowBegin(const QuantizeExtent& e, int64_t batch, int64_t seq,
                 int64_t head) {
  return ((batch * e.seqlen + seq) * e.heads + head) * e.head_dim;
}

// Sylvester's Hadamard matrix, normalised. A lane of a kernel has 1/16 of the
// channels; between lanes the difference is taken the other way round, and the
// last multiplication sets that right (a zero may have another sign).
void Rotate(absl::Span<float> x) {
  const size_t n = x.size();
  const size_t lane = n / kLanes;
  for (size_t h = 1; h < n; h *= 2) {
    for (size_t i = 0; i < n; ++i) {
      if ((i & h) != 0) continue;
      const float a = x[i];
      const float b = x[i + h];
      x[i] = a + b;
      x[i + h] = h < lane ? a - b : b - a;
    }
  }
  const float norm = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
  for (size_t i = 0; i < n; ++i) {
    x[i] *= std::popcount(i / lane) % 2 == 0 ? norm : -norm;
  }
}

std::vector<float> MeanOf(const QuantizeExtent& e,
                          absl::Span<const Bf16> input) {
  std::vector<float> mean(static_cast<size_t>(e.batch * e.heads * e.head_dim),
                          0.0f);
  const float inverse = e.seqlen > 0 ? 1.0f / static_cast<float>(e.seqlen) : 0;
  const int64_t chunk = QuantizeChunkRows(e.seqlen);
  size_t at = 0;
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t h = 0; h < e.heads; ++h) {
      for (int64_t c = 0; c < e.head_dim; ++c, ++at) {
        float sum = 0;
        for (int64_t first = 0; first < e.seqlen; first += chunk) {
          std::array<float, kSums> sums = {};
          const int64_t end = std::min(first + chunk, e.seqlen);
          for (int64_t s = first; s < end; ++s) {
            sums[static_cast<size_t>((s - first) % kSums)] +=
                input[static_cast<size_t>(RowBegin(e, b, s, h) + c)].ToFloat();
          }
          float of_chunk = sums[0];
          for (int i = 1; i < kSums; ++i) of_chunk += sums[i];
          sum += of_chunk;
        }
        mean[at] = sum * inverse;
      }
    }
  }
  return mean;
}

// The numbers that are scaled and rounded, dense as the input.
std::vector<float> Prepare(const QuantizeOptions& options,
                           const QuantizeExtent& e,
                           absl::Span<const Bf16> input,
                           const std::vector<float>& mean) {
  std::vector<float> x(input.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = input[i].ToFloat();
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t s = 0; s < e.seqlen; ++s) {
      for (int64_t h = 0; h < e.heads; ++h) {
        const absl::Span<float> row =
            absl::MakeSpan(x).subspan(static_cast<size_t>(RowBegin(e, b, s, h)),
                                      static_cast<size_t>(e.head_dim));
        if (options.subtract_mean) {
          const size_t first =
              static_cast<size_t>((b * e.heads + h) * e.head_dim);
          for (size_t c = 0; c < row.size(); ++c) row[c] -= mean[first + c];
        }
        if (options.rotate) {
          Rotate(row.subspan(0, kBlock));
          if (row.size() > kBlock) Rotate(row.subspan(kBlock));
        }
      }
    }
  }
  return x;
}

struct Scale {
  float descale = 1;
  float multiplier = 1;
};

Scale ScaleOf(float largest, const std::optional<float>& unit) {
  if (largest == 0) {
    if (!unit.has_value()) return {1.0f, 1.0f};
    return {*unit, 1.0f / *unit};
  }
  largest = std::max(largest, kQuantizeSmallestMaximum);
  if (!unit.has_value()) {
    return {largest * (1.0f / kLargest), kLargest / largest};
  }
  const float full = kLargest * *unit;
  int n = -126;
  while (std::ldexp(full, n) < largest) ++n;
  return {std::ldexp(*unit, n), std::ldexp(1.0f / *unit, -n)};
}

int64_t ScaleIndex(ScaleGranularity granularity, const QuantizeExtent& e,
                   int64_t batch, int64_t seq, int64_t head) {
  switch (granularity) {
    case ScaleGranularity::kTensor:
      return 0;
    case ScaleGranularity::kHead:
      return head;
    case ScaleGranularity::kBatchHead:
      return batch * e.heads + head;
    case ScaleGranularity::kToken:
      return (batch * e.heads + head) * e.seqlen + seq;
  }
  return 0;
}

int64_t ScaleCount(ScaleGranularity granularity, const QuantizeExtent& e) {
  switch (granularity) {
    case ScaleGranularity::kTensor:
      return 1;
    case ScaleGranularity::kHead:
      return e.heads;
    case ScaleGranularity::kBatchHead:
      return e.batch * e.heads;
    case ScaleGranularity::kToken:
      return e.batch * e.heads * e.seqlen;
  }
  return 0;
}

// "input[batch 0, token 3, head 1, channel 5]"
std::string ElementName(const QuantizeExtent& e, int64_t index) {
  const int64_t row = index / e.head_dim;
  return absl::StrCat("input[batch ", row / e.heads / e.seqlen, ", token ",
                      row / e.heads % e.seqlen, ", head ", row % e.heads,
                      ", channel ", index % e.head_dim, "]");
}

}  // namespace

absl::StatusOr<QuantizedTensor> QuantizeOnHost(const QuantizeOptions& options,
                                               const QuantizeExtent& extent,
                                               absl::Span<const Bf16> input) {
  absl::Status status = CheckExtent(extent, input.size());
  if (!status.ok()) return status;
  status = CheckQuantizeOptions(options);
  if (!status.ok()) return status;
  for (size_t i = 0; i < input.size(); ++i) {
    const float x = input[i].ToFloat();
    if (!std::isfinite(x)) {
      return Refuse(ElementName(extent, static_cast<int64_t>(i)),
                    absl::StrCat(x), "finite numbers");
    }
  }
  QuantizedTensor out;
  if (options.subtract_mean) out.mean = MeanOf(extent, input);
  const std::vector<float> x = Prepare(options, extent, input, out.mean);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      return Refuse(ElementName(extent, static_cast<int64_t>(i)),
                    absl::StrCat(input[i].ToFloat()),
                    "numbers whose mean and rotation float32 can hold");
    }
  }

  const size_t dim = static_cast<size_t>(extent.head_dim);
  std::vector<size_t> scale_of_row;
  scale_of_row.reserve(x.size() / dim);
  for (int64_t b = 0; b < extent.batch; ++b) {
    for (int64_t s = 0; s < extent.seqlen; ++s) {
      for (int64_t h = 0; h < extent.heads; ++h) {
        scale_of_row.push_back(static_cast<size_t>(
            ScaleIndex(options.granularity, extent, b, s, h)));
      }
    }
  }
  std::vector<float> largest(
      static_cast<size_t>(ScaleCount(options.granularity, extent)), 0.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    float& l = largest[scale_of_row[i / dim]];
    l = std::max(l, std::fabs(x[i]));
  }
  std::vector<float> multipliers;
  for (const float l : largest) {
    const Scale scale = ScaleOf(l, options.unit);
    out.descales.push_back(scale.descale);
    multipliers.push_back(scale.multiplier);
  }
  out.codes.resize(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    out.codes[i] = E4m3::FromFloat(x[i] * multipliers[scale_of_row[i / dim]],
                                   numerics::Overflow::kSaturate);
  }
  return out;
}

absl::StatusOr<std::vector<float>> LseCorrectionOnHost(
    const QuantizeExtent& e, absl::Span<const Bf16> query, int64_t heads_kv,
    absl::Span<const float> key_mean, float softmax_scale) {
  absl::Status status = CheckExtent(e, query.size());
  if (!status.ok()) return status;
  if (!std::isfinite(softmax_scale)) {
    return Refuse("softmax_scale", absl::StrCat(softmax_scale),
                  "any finite number");
  }
  if (e.heads == 0) return std::vector<float>();
  if (heads_kv < 1 || e.heads % heads_kv != 0) {
    return Refuse("heads_kv", absl::StrCat(heads_kv),
                  absl::StrCat("divisors of heads, ", e.heads));
  }
  if (key_mean.size() != static_cast<size_t>(e.batch * heads_kv * e.head_dim)) {
    return Refuse("key_mean.size()", absl::StrCat(key_mean.size()),
                  absl::StrCat(e.batch * heads_kv * e.head_dim,
                               ", which the sizes ask for"));
  }
  const size_t per_lane = 8;
  std::vector<float> out;
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t h = 0; h < e.heads; ++h) {
      const float* mean =
          key_mean.data() +
          (b * heads_kv + h / (e.heads / heads_kv)) * e.head_dim;
      for (int64_t s = 0; s < e.seqlen; ++s) {
        const Bf16* q = query.data() + RowBegin(e, b, s, h);
        // As sixteen lanes have the channels, then pairs of lanes.
        std::array<float, kLanes> sums;
        for (size_t lane = 0; lane < sums.size(); ++lane) {
          const size_t first = per_lane * lane;
          float sum = q[first].ToFloat() * mean[first];
          for (size_t i = 1; i < per_lane; ++i) {
            sum = std::fma(q[first + i].ToFloat(), mean[first + i], sum);
          }
          if (e.head_dim > kBlock) {
            const size_t tail = kBlock + per_lane / 2 * lane;
            for (size_t i = 0; i < per_lane / 2; ++i) {
              sum = std::fma(q[tail + i].ToFloat(), mean[tail + i], sum);
            }
          }
          sums[lane] = sum;
        }
        for (size_t n = sums.size() / 2; n > 0; n /= 2) {
          for (size_t i = 0; i < n; ++i)
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        }
        out.push_back(softmax_scale * sums[0]);
      }
    }
  }
  return out;
}

}  // namespace zyfa
