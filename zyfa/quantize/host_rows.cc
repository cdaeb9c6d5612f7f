#include "zyfa/quantize/host_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa {
namespace {

using numerics::Bf16;

constexpr int kBlock = 128;  // channels that are rotated together
constexpr int64_t kMostRows = int64_t{1} << 41;
constexpr int64_t kMostBatchHeads = (int64_t{1} << 31) - 1;
constexpr int kSums = 16;      // interleaved sums of a mean
constexpr size_t kLanes = 16;  // of a kernel that have a row

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

absl::Status CheckSize(absl::string_view name, size_t size, int64_t want) {
  if (size == static_cast<size_t>(want)) return absl::OkStatus();
  return RefuseOnHost(name, absl::StrCat(size),
                      absl::StrCat(want, ", which the sizes ask for"));
}

// "input[batch 0, token 3, head 1, channel 5]"
std::string ElementName(const QuantizeExtent& e, int64_t index) {
  const int64_t row = index / e.head_dim;
  return absl::StrCat("input[batch ", row / e.heads / e.seqlen, ", token ",
                      row / e.heads % e.seqlen, ", head ", row % e.heads,
                      ", channel ", index % e.head_dim, "]");
}

}  // namespace

absl::Status RefuseOnHost(absl::string_view what, absl::string_view value,
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
      return RefuseOnHost(size.name, absl::StrCat(size.value),
                          absl::StrCat("0 to ", kMostRows));
    }
    if (rows > 0 && size.value > kMostRows / rows) {
      return RefuseOnHost(
          size.name, absl::StrCat(size.value),
          absl::StrCat("sizes that give ", kMostRows, " rows at most"));
    }
    rows *= size.value;
  }
  // Without tokens they are no rows, but means and scales.
  if (e.heads > 0 && e.batch > kMostBatchHeads / e.heads) {
    return RefuseOnHost("batch", absl::StrCat(e.batch),
                        absl::StrCat("0 to ", kMostBatchHeads / e.heads,
                                     " with ", e.heads, " heads"));
  }
  if (e.head_dim != 128 && e.head_dim != 192) {
    return RefuseOnHost("head_dim", absl::StrCat(e.head_dim), "128, 192");
  }
  if (elements != static_cast<size_t>(e.elements())) {
    return RefuseOnHost(
        "input.size()", absl::StrCat(elements),
        absl::StrCat(e.elements(), ", which the sizes ask for"));
  }
  return absl::OkStatus();
}

absl::Status CheckInput(const QuantizeExtent& e, absl::Span<const Bf16> input) {
  const absl::Status status = CheckExtent(e, input.size());
  if (!status.ok()) return status;
  for (size_t i = 0; i < input.size(); ++i) {
    const float x = input[i].ToFloat();
    if (!std::isfinite(x)) {
      return RefuseOnHost(ElementName(e, static_cast<int64_t>(i)),
                          absl::StrCat(x), "finite numbers");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDescales(absl::string_view name,
                           absl::Span<const float> descales, int64_t count) {
  const absl::Status status =
      CheckSize(absl::StrCat(name, ".size()"), descales.size(), count);
  if (!status.ok()) return status;
  for (size_t i = 0; i < descales.size(); ++i) {
    if (!(descales[i] >= kQuantizeSmallestDescale &&
          descales[i] < kQuantizeDescaleLimit)) {
      return RefuseOnHost(absl::StrCat(name, "[", i, "]"),
                          absl::StrCat(descales[i]),
                          "from 2^-110 up, below 2^122");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCalibration(const QuantizeCalibration& calibration,
                              ScaleGranularity granularity, bool subtract_mean,
                              const QuantizeExtent& e) {
  absl::Status status =
      CheckDescales("calibration.descales", calibration.descales,
                    ScaleCount(granularity, e.batch, e.heads, e.seqlen));
  const absl::Span<const float> mean = calibration.mean;
  status.Update(CheckSize("calibration.mean.size()", mean.size(),
                          subtract_mean ? e.batch * e.heads * e.head_dim : 0));
  if (!status.ok()) return status;
  for (size_t i = 0; i < mean.size(); ++i) {
    if (!std::isfinite(mean[i])) {
      return RefuseOnHost(absl::StrCat("calibration.mean[", i, "]"),
                          absl::StrCat(mean[i]), "finite numbers");
    }
  }
  return absl::OkStatus();
}

int64_t RowBegin(const QuantizeExtent& e, int64_t batch, int64_t seq,
                 int64_t head) {
  return ((batch * e.seqlen + seq) * e.heads + head) * e.head_dim;
}

std::vector<float> MeanToken(const QuantizeExtent& e,
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

absl::StatusOr<std::vector<float>> PrepareRows(const QuantizeExtent& e,
                                               absl::Span<const Bf16> input,
                                               absl::Span<const float> mean,
                                               bool rotate) {
  std::vector<float> x(input.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = input[i].ToFloat();
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t s = 0; s < e.seqlen; ++s) {
      for (int64_t h = 0; h < e.heads; ++h) {
        const absl::Span<float> row =
            absl::MakeSpan(x).subspan(static_cast<size_t>(RowBegin(e, b, s, h)),
                                      static_cast<size_t>(e.head_dim));
        if (!mean.empty()) {
          const size_t first =
              static_cast<size_t>((b * e.heads + h) * e.head_dim);
          for (size_t c = 0; c < row.size(); ++c) row[c] -= mean[first + c];
        }
        if (rotate) {
          Rotate(row.subspan(0, kBlock));
          if (row.size() > kBlock) Rotate(row.subspan(kBlock));
        }
      }
    }
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      return RefuseOnHost(ElementName(e, static_cast<int64_t>(i)),
                          absl::StrCat(input[i].ToFloat()),
                          "numbers whose mean and rotation float32 can hold");
    }
  }
  return x;
}

std::vector<size_t> ScaleOfRows(ScaleGranularity granularity,
                                const QuantizeExtent& e) {
  std::vector<size_t> scales;
  scales.reserve(static_cast<size_t>(e.batch * e.seqlen * e.heads));
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t s = 0; s < e.seqlen; ++s) {
      for (int64_t h = 0; h < e.heads; ++h) {
        scales.push_back(
            static_cast<size_t>(ScaleIndex(granularity, e, b, s, h)));
      }
    }
  }
  return scales;
}

std::vector<float> LargestOfScales(const QuantizeExtent& e,
                                   absl::Span<const float> x,
                                   absl::Span<const size_t> scale_of_row,
                                   int64_t scales) {
  const auto dim = static_cast<size_t>(e.head_dim);
  std::vector<float> largest(static_cast<size_t>(scales), 0.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    float& l = largest[scale_of_row[i / dim]];
    l = std::max(l, std::fabs(x[i]));
  }
  return largest;
}

}  // namespace zyfa
