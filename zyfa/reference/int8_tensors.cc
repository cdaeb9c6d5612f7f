#include "zyfa/reference/int8_tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/fp8_arithmetic.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/refuse.h"
#include "zyfa/reference/tiled_attention.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::reference {
namespace {

using numerics::E4m3;

constexpr int64_t kHeadDimV = 128;
constexpr double kLargestCode = 127.0;

// Sylvester's Hadamard matrix / sqrt(n).
void Rotate(double* x, int64_t n) {
  for (int64_t distance = 1; distance < n; distance *= 2) {
    for (int64_t i = 0; i < n; ++i) {
      if ((i & distance) != 0) continue;
      const double a = x[i], b = x[i + distance];
      x[i] = a + b;
      x[i + distance] = a - b;
    }
  }
  for (int64_t i = 0; i < n; ++i) x[i] /= std::sqrt(static_cast<double>(n));
}

void RotateRows(std::vector<double>& rows, int64_t dim) {
  for (size_t i = 0; i < rows.size(); i += dim) {
    Rotate(rows.data() + i, 128);
    if (dim > 128) Rotate(rows.data() + i + 128, dim - 128);
  }
}

void SubtractMean(std::vector<double>& rows, int64_t dim) {
  const int64_t count = static_cast<int64_t>(rows.size()) / dim;
  for (int64_t d = 0; d < dim; ++d) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) sum += rows[i * dim + d];
    for (int64_t i = 0; i < count; ++i) {
      rows[i * dim + d] -= sum / static_cast<double>(count);
    }
  }
}

double LargestMagnitude(const double* x, int64_t count) {
  double largest = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(x[i]));
  }
  return largest;
}

int8_t Code(double x) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyint(x), -kLargestCode, kLargestCode));
}

// Returns what one unit of y, the product with 1 in Q, stands for.
double QuantiseKey(const std::vector<double>& key, int64_t dim, bool multiplies,
                   Int8Tensors& t) {
  const int64_t count = static_cast<int64_t>(key.size()) / dim;
  const double largest =
      std::max(LargestMagnitude(key.data(), count * dim), 0x1p-100);
  double unit = largest / kLargestCode;
  if (multiplies) unit /= 255.0;
  for (int64_t i = 0; i < count; ++i) {
    const double* row = key.data() + i * dim;
    double step = unit;
    if (multiplies) {
      const double m = std::clamp(
          std::ceil(255.0 * LargestMagnitude(row, dim) / largest), 1.0, 255.0);
      t.multipliers.push_back(static_cast<uint32_t>(m));
      step *= m;
    }
    for (int64_t d = 0; d < dim; ++d) t.key.push_back(Code(row[d] / step));
  }
  return unit;
}

// `unit` as QuantiseKey() returns it.
void QuantiseQuery(const std::vector<double>& query, int64_t dim, double unit,
                   Int8Tensors& t) {
  const double codes = 8.0 / std::log(2.0) * t.problem.softmax_scale * unit;
  for (size_t i = 0; i < query.size(); i += dim) {
    const double largest =
        codes * std::max(LargestMagnitude(query.data() + i, dim), 0x1p-100);
    const double shift =
        std::clamp(std::floor(std::log2(127.49 / largest)), 0.0,
                   static_cast<double>(kInt8LargestShift));
    t.shifts.push_back(static_cast<uint8_t>(shift));
    for (int64_t d = 0; d < dim; ++d) {
      t.query.push_back(Code(query[i + d] * codes * std::exp2(shift)));
    }
  }
}

// Scores are binades.
class ExactSoftmax : public PlainSoftmax<double> {
 public:
  struct Row {
    double reference = 0.0;
    double sum = 0.0;
  };

  using PlainSoftmax::PlainSoftmax;

  double Weigh(Row& row, double* scores, int64_t count) const {
    const double largest = *std::max_element(scores, scores + count);
    double factor = 1.0;
    if (row.sum == 0.0 || std::exp2(largest - row.reference) >
                              std::max(1.0, row.sum * double{kMoveShare})) {
      factor = row.sum == 0.0 ? 0.0 : std::exp2(row.reference - largest);
      row.reference = largest;
    }
    row.sum *= factor;
    const double exponent = std::nearbyint(largest - row.reference);
    for (int64_t i = 0; i < count; ++i) {
      const double weight = std::exp2(scores[i] - row.reference - exponent + 8);
      const float code = E4m3::FromFloat(static_cast<float>(weight),
                                         numerics::Overflow::kSaturate)
                             .ToFloat();
      scores[i] = code * std::exp2(exponent - 8);
      row.sum += scores[i];
    }
    return factor;
  }

  void Finish(const Row& row, const double* accumulated, int64_t count,
              double* output, double* lse) const {
    for (int64_t i = 0; i < count; ++i) output[i] = accumulated[i] / row.sum;
    *lse = (row.reference + std::log2(row.sum)) * kLn2;
  }
};

// Q and K as numbers whose products are binades.
struct Binades {
  explicit Binades(const Int8Tensors& t)
      : query(t.query.begin(), t.query.end()), key(t.key.begin(), t.key.end()) {
    const int64_t dim = t.problem.head_dim_qk;
    for (size_t i = 0; i < query.size(); ++i) {
      query[i] *= std::exp2(-3 - t.shifts[i / dim]);
    }
    if (t.multipliers.empty()) return;
    for (size_t i = 0; i < key.size(); ++i) key[i] *= t.multipliers[i / dim];
  }

  std::vector<double> query;
  std::vector<double> key;
};

TensorView View(const Int8Tensors& t, TensorView::Data data, int64_t dim) {
  return TensorView::Dense(data, t.problem.seqlen_q, 1, dim);
}

}  // namespace

absl::StatusOr<Int8Tensors> Int8Tensors::Quantise(
    const numerics::RealLikeHead& head, int head_dim_qk, bool multiplies) {
  if (head_dim_qk != 128 && head_dim_qk != 192) {
    return Refuse("head_dim_qk", head_dim_qk, "128 and 192");
  }
  const size_t seqlen = head.value.size() / kHeadDimV;
  for (const auto& [name, values, dim] :
       {std::tuple<absl::string_view, const std::vector<float>*, int64_t>(
            "query", &head.query, head_dim_qk),
        {"key", &head.key, head_dim_qk},
        {"value", &head.value, kHeadDimV}}) {
    if (values->empty() || values->size() != seqlen * dim) {
      return Refuse(
          absl::StrCat("size of ", name), values->size(),
          absl::StrCat(dim, " for each of 1 or more tokens, of all tensors"));
    }
    for (float x : *values) {
      if (!std::isfinite(x)) {
        return Refuse(absl::StrCat("an element of ", name), x,
                      "finite numbers");
      }
    }
  }
  Int8Tensors t;
  t.problem.seqlen_q = t.problem.seqlen_kv = static_cast<int64_t>(seqlen);
  t.problem.head_dim_qk = head_dim_qk;
  t.problem.head_dim_v = kHeadDimV;
  t.problem.softmax_scale = 1.0 / std::sqrt(static_cast<double>(head_dim_qk));
  std::vector<double> rows(head.key.begin(), head.key.end());
  SubtractMean(rows, head_dim_qk);
  RotateRows(rows, head_dim_qk);
  const double unit = QuantiseKey(rows, head_dim_qk, multiplies, t);
  rows.assign(head.query.begin(), head.query.end());
  RotateRows(rows, head_dim_qk);
  QuantiseQuery(rows, head_dim_qk, unit, t);
  t.value = Fp8Tensor::Quantise(head.value).codes;
  return t;
}

absl::StatusOr<AttentionResult> Int8Tensors::Float64(
    const AttentionOptions& options) const {
  const Binades binades(*this);
  AttentionProblem p = problem;
  p.softmax_scale = std::log(2.0);
  return Attention(p, View(*this, binades.query.data(), p.head_dim_qk),
                   View(*this, binades.key.data(), p.head_dim_qk),
                   View(*this, value.data(), p.head_dim_v), options);
}

absl::StatusOr<AttentionResult> Int8Tensors::ExactP(
    const AttentionOptions& options) const {
  const Binades binades(*this);
  const TensorView q = View(*this, binades.query.data(), problem.head_dim_qk);
  const TensorView k = View(*this, binades.key.data(), problem.head_dim_qk);
  const TensorView v = View(*this, value.data(), problem.head_dim_v);
  const absl::Status status = Validate(problem, q, k, v, options);
  if (!status.ok()) return status;
  return TiledAttention<double>(problem, q, k, v, options, kKeyTile,
                                ExactSoftmax(problem));
}

absl::StatusOr<AttentionResult> Int8Tensors::Model(
    Int8ModelOptions options) const {
  options.shift = [this](int64_t, int64_t, int64_t position) {
    return shifts[position];
  };
  if (!multipliers.empty()) {
    options.multiplier = [this](int64_t, int64_t, int64_t i) {
      return multipliers[i];
    };
  }
  options.output = Fp8Output::kFloat32;
  return Int8Attention(problem, View(*this, query.data(), problem.head_dim_qk),
                       View(*this, key.data(), problem.head_dim_qk),
                       View(*this, value.data(), problem.head_dim_v), options);
}

}  // namespace zyfa::reference
