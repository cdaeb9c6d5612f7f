#include "zyfa/bench/rung_errors.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/rung.h"
#include "zyfa/bench/rung_inputs.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/bf16_model.h"
#include "zyfa/reference/fp8_model.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/reference/int8_slow_paths.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;
using numerics::E4m3;
using reference::AttentionOptions;
using reference::AttentionProblem;
using reference::Fp8Tensors;
using reference::Int8SlowPathCounter;
using reference::Int8SlowPaths;
using reference::Int8Tensors;
using reference::TensorView;

constexpr int64_t kHeadDimV = 128;

// Sums of squares over the rows of all heads.
struct Sums {
  double total = 0.0;  // distance from float64 attention on the layer itself
  double given_output = 0.0;  // float64 attention on what the kernel is given
  double p = 0.0;             // distance from that
  std::optional<double> exact_p = std::nullopt;
  std::optional<Int8SlowPaths> slow_paths = std::nullopt;
};

double Square(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double v : x) sum += v * v;
  return sum;
}

std::vector<double> Times(std::vector<double> x, float factor) {
  for (double& v : x) v *= double{factor};
  return x;
}

double SquaredDistance(const std::vector<double>& a,
                       const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

template <typename T>
const std::vector<T>& As(const Elements& elements) {
  return std::get<std::vector<T>>(elements.values);
}

class Study {
 public:
  Study(const CapturedLayer& layer, const RungErrorOptions& options)
      : layer_(layer) {
    problem_.seqlen_q = problem_.seqlen_kv = layer.seqlen;
    problem_.head_dim_qk = layer.head_dim_qk;
    problem_.head_dim_v = layer.head_dim_v;
    problem_.softmax_scale =
        1.0 / std::sqrt(static_cast<double>(layer.head_dim_qk));
    attention_.threads = options.threads;
    attention_.rows.emplace();
    const int64_t most = layer.seqlen / kQueryTile;
    const int64_t groups = options.rows_per_head / kQueryTile;
    for (int64_t i = 0; i < groups; ++i) {
      const int64_t group = (2 * i + 1) * most / (2 * groups);
      for (int64_t r = 0; r < kQueryTile; ++r) {
        attention_.rows->push_back(group * kQueryTile + r);
      }
    }
  }

  absl::Status Run() {
    for (int64_t i = 0; i < layer_.heads_q; ++i) {
      const absl::Status status = MeasureHead(HeadOf(layer_, i));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  proto::Record RecordOf(const Rung& rung) const {
    const Sums& sums = sums_.at(&rung);
    proto::Record record;
    record.set_variant(
        VariantName(rung.VariantFor(static_cast<int>(layer_.head_dim_qk))));
    record.set_batch(1);
    record.set_heads_q(static_cast<int32_t>(layer_.heads_q));
    record.set_heads_kv(static_cast<int32_t>(layer_.heads_kv));
    record.set_seqlen_q(static_cast<int32_t>(layer_.seqlen));
    record.set_seqlen_kv(static_cast<int32_t>(layer_.seqlen));
    record.set_head_dim_qk(static_cast<int32_t>(layer_.head_dim_qk));
    record.set_head_dim_v(static_cast<int32_t>(layer_.head_dim_v));
    record.set_mask(proto::MASK_CAUSAL);
    record.set_softmax_scale(problem_.softmax_scale);
    record.set_quantisation(std::string(rung.quantisation));
    record.set_rows_checked(static_cast<int32_t>(
        static_cast<int64_t>(attention_.rows->size()) * layer_.heads_q));
    record.set_rel_rmse(std::sqrt(sums.p / sums.given_output));
    record.set_total_rel_rmse(std::sqrt(sums.total / output_));
    if (sums.exact_p.has_value()) {
      record.set_exact_p_rel_rmse(std::sqrt(*sums.exact_p / sums.given_output));
    }
    if (rung.data_type != DataType::kBf16) {
      record.set_value_rel_rmse(std::sqrt(value_error_ / output_));
    }
    if (sums.slow_paths.has_value()) {
      const Int8SlowPaths& paths = *sums.slow_paths;
      proto::SlowPaths& figures = *record.mutable_slow_paths();
      figures.set_wave_rises(paths.wave.Rises());
      figures.set_wave_moves(paths.wave.Moves());
      figures.set_group_rises(paths.group.Rises());
      figures.set_group_moves(paths.group.Moves());
    }
    record.set_outcome(proto::OUTCOME_OK);
    return record;
  }

 private:
  absl::Status MeasureHead(const CapturedLayer& head) {
    const int64_t dim = layer_.head_dim_qk;
    const TensorView query = View(head.query.data(), dim);
    const TensorView key = View(head.key.data(), dim);
    const auto expected = reference::Attention(
        problem_, query, key, View(head.value.data(), kHeadDimV), attention_);
    if (!expected.ok()) return expected.status();
    output_ += Square(expected->output);
    bool value_done = false;  // all quantised rungs have the same V
    for (const Rung& rung : kRungs) {
      const auto inputs = RungInputs(rung, head);
      if (!inputs.ok()) return inputs.status();
      Sums& sums = sums_[&rung];
      absl::Status status;
      switch (rung.data_type) {
        case DataType::kFp8:
          status = MeasureFp8(rung, *inputs, expected->output, sums);
          break;
        case DataType::kInt8:
          status = MeasureInt8(*inputs, expected->output, sums);
          break;
        case DataType::kBf16:
          status = MeasureBf16(*inputs, expected->output, sums);
          break;
      }
      if (!status.ok()) return status;
      if (value_done || rung.data_type == DataType::kBf16) continue;
      value_done = true;
      const auto rounded = reference::Attention(
          problem_, query, key, View(As<E4m3>(inputs->value).data(), kHeadDimV),
          attention_);
      if (!rounded.ok()) return rounded.status();
      value_error_ += SquaredDistance(
          Times(rounded->output, inputs->value_descale), expected->output);
    }
    return absl::OkStatus();
  }

  TensorView View(TensorView::Data data, int64_t dim) const {
    return TensorView::Dense(data, layer_.seqlen, 1, dim);
  }

  // `output` before it is rounded to bf16; `given`: float64 attention on the
  // same inputs.
  static void Add(const std::vector<double>& output,
                  const std::vector<double>& given,
                  const std::vector<double>& expected, Sums& sums) {
    std::vector<double> stored;
    stored.reserve(output.size());
    for (const double x : output) {
      stored.push_back(
          double{Bf16::FromFloat(static_cast<float>(x)).ToFloat()});
    }
    sums.total += SquaredDistance(stored, expected);
    sums.given_output += Square(given);
    sums.p += SquaredDistance(output, given);
  }

  absl::Status MeasureBf16(const Inputs& in,
                           const std::vector<double>& expected, Sums& sums) {
    reference::Bf16ModelOptions options;
    options.attention = attention_;
    const int64_t dim = layer_.head_dim_qk;
    const auto model = reference::Bf16Attention(
        problem_, View(As<Bf16>(in.query).data(), dim),
        View(As<Bf16>(in.key).data(), dim),
        View(As<Bf16>(in.value).data(), kHeadDimV), options);
    if (!model.ok()) return model.status();
    Add(model->output, expected, expected, sums);
    return absl::OkStatus();
  }

  absl::Status MeasureFp8(const Rung& rung, const Inputs& in,
                          const std::vector<double>& expected, Sums& sums) {
    Fp8Tensors t;
    t.problem = problem_;
    t.problem.softmax_scale = double{in.softmax_scale};
    t.query = {As<E4m3>(in.query), in.query_descale};
    t.key = {As<E4m3>(in.key), in.key_descale};
    t.value = {As<E4m3>(in.value), in.value_descale};
    reference::Fp8ModelOptions options;
    options.probability = rung.probability;
    options.output = reference::Fp8Output::kFloat32;
    options.attention = attention_;
    const auto given = t.Float64(attention_);
    if (!given.ok()) return given.status();
    const auto model = t.Model(options);
    if (!model.ok()) return model.status();
    Add(model->output, given->output, expected, sums);
    // Exact P comes before lean P.
    if (rung.probability == Probability::kExact) fp8_exact_p_ = sums.p;
    if (rung.prepared) sums.exact_p = fp8_exact_p_;
    return absl::OkStatus();
  }

  absl::Status MeasureInt8(const Inputs& in,
                           const std::vector<double>& expected, Sums& sums) {
    Int8Tensors t;
    t.problem = problem_;
    t.query = As<int8_t>(in.query);
    t.key = As<int8_t>(in.key);
    t.value = As<E4m3>(in.value);
    t.shifts = in.query_shifts;
    t.multipliers = in.key_multipliers;
    Int8SlowPathCounter counter(*attention_.rows, layer_.seqlen);
    reference::Int8ModelOptions options;
    options.attention = attention_;
    options.on_tile = [&](const reference::Int8Tile& tile) {
      counter.Note(tile);
    };
    const auto given = t.Float64(attention_);
    if (!given.ok()) return given.status();
    const auto exact = t.ExactP(attention_);
    if (!exact.ok()) return exact.status();
    const auto model = t.Model(options);
    if (!model.ok()) return model.status();
    if (!sums.slow_paths.has_value()) sums.slow_paths.emplace();
    *sums.slow_paths += counter.Count();
    // Heads count as they are in the layer.
    const std::vector<double> given_output =
        Times(given->output, in.value_descale);
    Add(Times(model->output, in.value_descale), given_output, expected, sums);
    sums.exact_p =
        sums.exact_p.value_or(0.0) +
        SquaredDistance(Times(exact->output, in.value_descale), given_output);
    return absl::OkStatus();
  }

  const CapturedLayer& layer_;
  AttentionProblem problem_;  // of one head
  AttentionOptions attention_;
  // Of float64 attention on the layer itself, and with V rounded.
  double output_ = 0.0;
  double value_error_ = 0.0;
  std::map<const Rung*, Sums> sums_;
  double fp8_exact_p_ = 0.0;
};

}  // namespace

absl::StatusOr<CapturedLayer> MadeLayer(absl::string_view set, int64_t seqlen,
                                        int heads, uint32_t seed) {
  CapturedLayer layer{.seqlen = seqlen,
                      .heads_q = heads,
                      .heads_kv = heads,
                      .head_dim_qk = 128,
                      .head_dim_v = kHeadDimV};
  const auto size = static_cast<size_t>(seqlen * heads * 128);
  for (std::vector<Bf16>* x : {&layer.query, &layer.key, &layer.value}) {
    x->resize(size);
  }
  for (int h = 0; h < heads; ++h) {
    const auto head = reference::MakeHead(
        set, seqlen, 128, kHeadDimV, uint64_t{seed} + static_cast<uint64_t>(h));
    if (!head.ok()) return head.status();
    for (const auto& [from, to] : {std::pair(&head->query, &layer.query),
                                   std::pair(&head->key, &layer.key),
                                   std::pair(&head->value, &layer.value)}) {
      for (size_t i = 0; i < from->size(); ++i) {
        (*to)[(i / 128 * static_cast<size_t>(heads) + static_cast<size_t>(h)) *
                  128 +
              i % 128] = Bf16::FromFloat((*from)[i]);
      }
    }
  }
  return layer;
}

absl::Status CheckRows(int64_t rows_per_head, int64_t seqlen) {
  if (rows_per_head >= kQueryTile && rows_per_head <= seqlen &&
      rows_per_head % kQueryTile == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rows_per_head is ", rows_per_head, " of ", seqlen,
                   "; allowed: multiples of ", kQueryTile, " of at most that"));
}

absl::StatusOr<std::vector<proto::Record>> MeasureRungs(
    const CapturedLayer& layer, const RungErrorOptions& options) {
  absl::Status status = CheckRows(options.rows_per_head, layer.seqlen);
  if (!status.ok()) return status;
  if ((layer.head_dim_qk != 128 && layer.head_dim_qk != 192) ||
      layer.head_dim_v != kHeadDimV) {
    return absl::InvalidArgumentError(
        absl::StrCat("head dims are ", layer.head_dim_qk, " and ",
                     layer.head_dim_v, "; allowed: 128 or 192, and 128"));
  }
  Study study(layer, options);
  status = study.Run();
  if (!status.ok()) return status;
  std::vector<proto::Record> records;
  for (const Rung& rung : kRungs) records.push_back(study.RecordOf(rung));
  return records;
}

}  // namespace zyfa::bench
