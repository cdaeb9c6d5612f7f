#include "zyfa/quantize/host_quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/quantize/host_rows.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using numerics::E4m3;

constexpr float kLargest = 448.0f;
constexpr int kBlock = 128;    // channels that sixteen lanes have as 8 each
constexpr size_t kLanes = 16;  // of a kernel that have a row

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

// Of a descale that is given: 1 / descale, but for one rounding that kernels
// have as well (1 / x they could not round correctly).
float MultiplierOf(float descale) {
  return kQuantizeReciprocalFactor / (kQuantizeReciprocalFactor * descale);
}

}  // namespace

absl::StatusOr<QuantizedTensor> QuantizeOnHost(
    const QuantizeOptions& options, const QuantizeExtent& extent,
    absl::Span<const Bf16> input,
    const std::optional<QuantizeCalibration>& calibration) {
  absl::Status status = CheckInput(extent, input);
  if (!status.ok()) return status;
  status = CheckQuantizeOptions(options, calibration.has_value());
  if (!status.ok()) return status;
  QuantizedTensor out;
  std::vector<float> multipliers;
  if (calibration.has_value()) {
    status = CheckCalibration(*calibration, options.granularity,
                              options.subtract_mean, extent);
    if (!status.ok()) return status;
    out.descales.assign(calibration->descales.begin(),
                        calibration->descales.end());
    out.mean.assign(calibration->mean.begin(), calibration->mean.end());
    for (const float d : out.descales) multipliers.push_back(MultiplierOf(d));
  } else if (options.subtract_mean) {
    out.mean = MeanToken(extent, input);
  }
  const auto x = PrepareRows(extent, input, out.mean, options.rotate);
  if (!x.ok()) return x.status();
  const std::vector<size_t> scale_of_row =
      ScaleOfRows(options.granularity, extent);
  if (!calibration.has_value()) {
    for (const float l :
         LargestOfScales(extent, *x, scale_of_row,
                         ScaleCount(options.granularity, extent.batch,
                                    extent.heads, extent.seqlen))) {
      const Scale scale = ScaleOf(l, options.unit);
      out.descales.push_back(scale.descale);
      multipliers.push_back(scale.multiplier);
    }
  }
  const auto dim = static_cast<size_t>(extent.head_dim);
  out.codes.resize(x->size());
  for (size_t i = 0; i < x->size(); ++i) {
    out.codes[i] = E4m3::FromFloat((*x)[i] * multipliers[scale_of_row[i / dim]],
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
    return RefuseOnHost("softmax_scale", absl::StrCat(softmax_scale),
                        "any finite number");
  }
  if (e.heads == 0) return std::vector<float>();
  if (heads_kv < 1 || e.heads % heads_kv != 0) {
    return RefuseOnHost("heads_kv", absl::StrCat(heads_kv),
                        absl::StrCat("divisors of heads, ", e.heads));
  }
  if (key_mean.size() != static_cast<size_t>(e.batch * heads_kv * e.head_dim)) {
    return RefuseOnHost("key_mean.size()", absl::StrCat(key_mean.size()),
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
