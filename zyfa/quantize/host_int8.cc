#include "zyfa/quantize/host_int8.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/quantize/host_rows.h"
#include "zyfa/quantize/score_factor.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa {
namespace {

using numerics::Bf16;

constexpr float kLargest = kQuantizeInt8Largest;

int8_t CodeOf(float x) {
  return static_cast<int8_t>(
      std::nearbyint(std::clamp(x, -kLargest, kLargest)));
}

float DescaleOf(float largest) {
  if (largest == 0) return 1.0f;
  return std::max(largest, kQuantizeSmallestMaximum) * (1.0f / kLargest);
}

constexpr uint32_t kMostMultiplier = kQuantizeMostTokenMultiplier;

// 1 / (what one unit of code and multiplier stands for).
float UnitsOf(float descale) {
  return static_cast<float>(kMostMultiplier) / descale;
}

// Smallest m of 1 .. 255 with which the codes of a token fit.
uint32_t TokenMultiplierOf(float largest, float units) {
  const float m = std::ceil(largest * units * (1.0f / kLargest));
  return static_cast<uint32_t>(
      std::clamp(m, 1.0f, static_cast<float>(kMostMultiplier)));
}

float LargestOfRow(absl::Span<const float> row) {
  float largest = 0;
  for (const float x : row) largest = std::max(largest, std::fabs(x));
  return largest;
}

struct RowScale {
  int exponent = 0;  // code = rne((x * 2^exponent) * factor)
  float factor = 0;
  uint8_t shift = 0;
};

// Products of mantissas in [0.5, 1), exponents apart.
RowScale RowScaleOf(float largest, const ScoreFactor& score, float descale) {
  int of_descale = 0, of_largest = 0, of_product = 0;
  const float g = score.mantissa * std::frexp(descale, &of_descale);
  const float mantissa = std::frexp(largest, &of_largest);
  const float product = std::frexp(std::fabs(g) * mantissa, &of_product);
  if (product == 0) return {-of_largest, 0.0f, kQuantizeMostShift};
  // largest * g * 2^power; the largest shift that leaves 127.49 of it at most.
  const int power = score.exponent + of_descale + of_largest;
  const int room = product <= kQuantizeInt8QueryLargest / 128 ? 7 : 6;
  const int shift = std::min(room - of_product - power, kQuantizeMostShift);
  if (shift < 0) return {-of_largest, std::copysign(kLargest / mantissa, g), 0};
  return {-of_largest, std::ldexp(g, power + shift),
          static_cast<uint8_t>(shift)};
}

}  // namespace

absl::StatusOr<Int8Keys> QuantizeKeysInt8OnHost(
    const KeyInt8Options& options, const QuantizeExtent& extent,
    absl::Span<const Bf16> keys,
    const std::optional<QuantizeCalibration>& calibration) {
  absl::Status status = CheckInput(extent, keys);
  if (!status.ok()) return status;
  status = CheckKeyInt8Options(options);
  if (!status.ok()) return status;
  const int64_t scales = ScaleCount(options.granularity, extent.batch,
                                    extent.heads, extent.seqlen);
  Int8Keys out;
  if (calibration.has_value()) {
    status = CheckCalibration(*calibration, options.granularity,
                              options.subtract_mean, extent);
    if (!status.ok()) return status;
    out.descales.assign(calibration->descales.begin(),
                        calibration->descales.end());
    out.mean.assign(calibration->mean.begin(), calibration->mean.end());
  } else if (options.subtract_mean) {
    out.mean = MeanToken(extent, keys);
  }
  const auto x = PrepareRows(extent, keys, out.mean, options.rotate);
  if (!x.ok()) return x.status();
  const std::vector<size_t> scale_of_row =
      ScaleOfRows(options.granularity, extent);
  if (!calibration.has_value()) {
    for (const float l : LargestOfScales(extent, *x, scale_of_row, scales)) {
      out.descales.push_back(DescaleOf(l));
    }
  }

  out.codes.resize(x->size());
  if (options.token_multipliers) {
    out.multipliers.resize(scale_of_row.size());
  }
  const auto dim = static_cast<size_t>(extent.head_dim);
  size_t row = 0;
  for (int64_t b = 0; b < extent.batch; ++b) {
    for (int64_t s = 0; s < extent.seqlen; ++s) {
      for (int64_t h = 0; h < extent.heads; ++h, ++row) {
        const auto values = absl::MakeConstSpan(*x).subspan(row * dim, dim);
        const float units = UnitsOf(out.descales[scale_of_row[row]]);
        uint32_t m = kMostMultiplier;
        if (options.token_multipliers) {
          m = TokenMultiplierOf(LargestOfRow(values), units);
          out.multipliers[static_cast<size_t>(
              (b * extent.heads + h) * extent.seqlen + s)] = m;
        }
        const float multiplier = units * (1.0f / static_cast<float>(m));
        for (size_t c = 0; c < dim; ++c) {
          out.codes[row * dim + c] = CodeOf(values[c] * multiplier);
        }
      }
    }
  }
  return out;
}

absl::StatusOr<Int8Queries> QuantizeQueriesInt8OnHost(
    const QueryInt8Options& options, const QuantizeExtent& extent,
    absl::Span<const Bf16> queries, absl::Span<const float> key_descales) {
  absl::Status status = CheckInput(extent, queries);
  if (!status.ok()) return status;
  status = CheckQueryInt8Options(options, extent.heads);
  if (!status.ok()) return status;
  if (extent.heads == 0) return Int8Queries();
  // Of KV heads, one token.
  const QuantizeExtent of_keys = {extent.batch, 1, options.heads_kv,
                                  extent.head_dim};
  status = CheckDescales("key_descales", key_descales,
                         ScaleCount(options.key_granularity, extent.batch,
                                    options.heads_kv, extent.seqlen));
  if (!status.ok()) return status;
  const auto x = PrepareRows(extent, queries, {}, options.rotate);
  if (!x.ok()) return x.status();

  const std::vector<size_t> scale_of_key_head =
      ScaleOfRows(options.key_granularity, of_keys);
  const ScoreFactor score =
      ScoreFactorOf(options.softmax_scale, options.multipliers);
  const int64_t group = extent.heads / options.heads_kv;
  const auto dim = static_cast<size_t>(extent.head_dim);
  Int8Queries out;
  out.codes.resize(x->size());
  out.shifts.resize(x->size() / dim);
  size_t row = 0;
  for (int64_t b = 0; b < extent.batch; ++b) {
    for (int64_t s = 0; s < extent.seqlen; ++s) {
      for (int64_t h = 0; h < extent.heads; ++h, ++row) {
        const auto values = absl::MakeConstSpan(*x).subspan(row * dim, dim);
        const auto key_head =
            static_cast<size_t>(b * options.heads_kv + h / group);
        const RowScale scale =
            RowScaleOf(LargestOfRow(values), score,
                       key_descales[scale_of_key_head[key_head]]);
        out.shifts[static_cast<size_t>((b * extent.heads + h) * extent.seqlen +
                                       s)] = scale.shift;
        for (size_t c = 0; c < dim; ++c) {
          out.codes[row * dim + c] =
              CodeOf(std::ldexp(values[c], scale.exponent) * scale.factor);
        }
      }
    }
  }
  return out;
}

}  // namespace zyfa
