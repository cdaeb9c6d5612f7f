#include "zyfa/bench/layer_study.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/bench/aiter_layer.h"
#include "zyfa/bench/contender.h"
#include "zyfa/bench/input_statistics.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/bench/row_errors.h"
#include "zyfa/reference/int8_slow_paths.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using proto::Record;
using Rows = LayerRuns::Rows;

constexpr absl::string_view kModel = "model";
constexpr absl::string_view kReference = "reference";

Record Describe(const LayerRuns& runs, proto::Study study) {
  const CapturedLayer& layer = runs.layer();
  Record record;
  record.set_study(study);
  record.set_batch(1);
  record.set_heads_q(static_cast<int32_t>(layer.heads_q));
  record.set_heads_kv(static_cast<int32_t>(layer.heads_kv));
  record.set_seqlen_q(static_cast<int32_t>(layer.seqlen));
  record.set_seqlen_kv(static_cast<int32_t>(layer.seqlen));
  record.set_head_dim_qk(static_cast<int32_t>(layer.head_dim_qk));
  record.set_head_dim_v(static_cast<int32_t>(layer.head_dim_v));
  record.set_mask(proto::MASK_CAUSAL);
  record.set_softmax_scale(ExactSoftmaxScale(layer));
  record.set_rows_checked(static_cast<int32_t>(
      static_cast<int64_t>(runs.rows().size()) * layer.heads_q));
  record.set_outcome(proto::OUTCOME_OK);
  return record;
}

Record Describe(const LayerRuns& runs, proto::Study study,
                const std::string& variant, const Preparation& preparation,
                absl::string_view computed_by) {
  Record record = Describe(runs, study);
  record.set_variant(variant);
  record.set_quantisation(Quantisation(preparation));
  record.set_computed_by(std::string(computed_by));
  return record;
}

std::string VariantOf(const LayerRuns& runs, const Contender& contender) {
  return VariantOf(contender, static_cast<int>(runs.layer().head_dim_qk));
}

RowErrors Compare(const LayerRuns& runs, const Rows& rows,
                  const Rows& expected) {
  return CompareRows(rows, expected, runs.layer().head_dim_v);
}

void SetKernelErrors(const RowErrors& errors, Record& record) {
  record.set_rel_rmse(errors.rel_rmse);
  record.set_p99_row_rel_rmse(errors.p99_row);
  record.set_worst_row_rel_rmse(errors.worst_row);
}

void SetSlowPaths(const reference::Int8SlowPaths& paths, Record& record) {
  proto::SlowPaths& figures = *record.mutable_slow_paths();
  figures.set_wave_rises(paths.wave.Rises());
  figures.set_wave_moves(paths.wave.Moves());
  figures.set_group_rises(paths.group.Rises());
  figures.set_group_moves(paths.group.Moves());
}

// Float64 attention on a layer and what a contender makes of it.
struct Outputs {
  const Rows* layer;
  const Rows* given;  // float64 on rounded inputs
  const Rows* model;  // output not yet rounded
};

absl::StatusOr<Outputs> Run(LayerRuns& runs, const Contender& contender) {
  const auto layer = runs.Float64();
  if (!layer.ok()) return layer.status();
  const bool rounds = contender.preparation.data_type != DataType::kBf16;
  const auto given =
      runs.Float64(contender.preparation, rounds ? kAllRounded : kNothing);
  if (!given.ok()) return given.status();
  const auto model = runs.Model(contender.arithmetic, contender.preparation);
  if (!model.ok()) return model.status();
  return Outputs{*layer, *given, *model};
}

// Error of P that is e4m3 of its exact value.
absl::Status SetExactP(LayerRuns& runs, const Contender& contender,
                       const Rows& given, Record& record) {
  const bool int8 = contender.arithmetic == Arithmetic::kInt8;
  if (!int8 && contender.arithmetic != Arithmetic::kLean &&
      contender.arithmetic != Arithmetic::kExact) {
    return absl::OkStatus();
  }
  const auto exact =
      int8 ? runs.ExactP(contender.preparation)
           : runs.Model(Arithmetic::kExact, contender.preparation);
  if (!exact.ok()) return exact.status();
  record.set_exact_p_rel_rmse(Compare(runs, **exact, given).rel_rmse);
  return absl::OkStatus();
}

absl::StatusOr<Record> LayerRecord(LayerRuns& runs,
                                   const Contender& contender) {
  const auto outputs = Run(runs, contender);
  if (!outputs.ok()) return outputs.status();
  Record record =
      Describe(runs, proto::STUDY_LAYERS, VariantOf(runs, contender),
               contender.preparation, kModel);
  SetKernelErrors(Compare(runs, *outputs->model, *outputs->given), record);
  record.set_total_rel_rmse(
      Compare(runs, RoundedToBf16(*outputs->model), *outputs->layer).rel_rmse);
  if (contender.preparation.data_type == DataType::kBf16) return record;
  const auto value = runs.Float64(contender.preparation, kValueRounded);
  if (!value.ok()) return value.status();
  record.set_value_rel_rmse(Compare(runs, **value, *outputs->layer).rel_rmse);
  if (contender.arithmetic == Arithmetic::kInt8) {
    SetSlowPaths(runs.slow_paths(contender.preparation), record);
  }
  absl::Status status = SetExactP(runs, contender, *outputs->given, record);
  if (!status.ok()) return status;
  return record;
}

absl::StatusOr<Record> AiterRecord(LayerRuns& runs, const AiterCode& aiter,
                                   const Preparation& preparation) {
  const auto layer = runs.Float64();
  if (!layer.ok()) return layer.status();
  const auto given = runs.Float64(preparation, kAllRounded);
  if (!given.ok()) return given.status();
  const auto inputs = runs.Prepare(preparation);
  if (!inputs.ok()) return inputs.status();
  const auto output = RunAiterOnLayer(*aiter.kernel, *aiter.code, runs.layer(),
                                      **inputs, runs.rows(), runs.threads());
  if (!output.ok()) return output.status();
  Record record = Describe(runs, proto::STUDY_LAYERS,
                           absl::StrCat("AITER ", peers::Name(*aiter.kernel)),
                           preparation, "kernel");
  record.set_device("emulator");
  SetKernelErrors(Compare(runs, *output, **given), record);
  record.set_total_rel_rmse(Compare(runs, *output, **layer).rel_rmse);
  return record;
}

// The contenders whose error is taken apart.
constexpr absl::string_view kStaged[] = {"FP8 lean", "FP8 lean, as is",
                                         "INT8 shift", "BF16"};

absl::Status AddStages(LayerRuns& runs, const Contender& contender,
                       std::vector<Record>& records) {
  const auto outputs = Run(runs, contender);
  if (!outputs.ok()) return outputs.status();
  const auto add = [&](absl::string_view stage,
                       absl::string_view computed_by) -> Record& {
    Record& record = records.emplace_back(
        Describe(runs, proto::STUDY_STAGES, VariantOf(runs, contender),
                 contender.preparation, computed_by));
    record.set_stage(std::string(stage));
    return record;
  };
  if (contender.preparation.data_type != DataType::kBf16) {
    const std::pair<absl::string_view, unsigned> kInputs[] = {
        {"query", kQueryRounded},
        {"key", kKeyRounded},
        {"value", kValueRounded},
        {"inputs", kAllRounded}};
    for (const auto& [stage, rounding] : kInputs) {
      const auto rows = runs.Float64(contender.preparation, rounding);
      if (!rows.ok()) return rows.status();
      add(stage, kReference)
          .set_total_rel_rmse(Compare(runs, **rows, *outputs->layer).rel_rmse);
    }
  }
  const Rows stored = RoundedToBf16(*outputs->model);
  add("p", kModel)
      .set_rel_rmse(Compare(runs, *outputs->model, *outputs->given).rel_rmse);
  add("rest", kModel)
      .set_rel_rmse(Compare(runs, stored, *outputs->model).rel_rmse);
  add("total", kModel)
      .set_total_rel_rmse(Compare(runs, stored, *outputs->layer).rel_rmse);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Record>> StudyLayers(LayerRuns& runs,
                                                const AiterCode& aiter) {
  std::vector<Record> records;
  for (const Contender& contender : kContenders) {
    auto record = LayerRecord(runs, contender);
    if (!record.ok()) return record.status();
    records.push_back(*std::move(record));
  }
  if (aiter.kernel == nullptr) return records;
  for (const Preparation& preparation : {kFp8Prepared, kFp8AsIs}) {
    auto record = AiterRecord(runs, aiter, preparation);
    if (!record.ok()) return record.status();
    records.push_back(*std::move(record));
  }
  return records;
}

absl::StatusOr<std::vector<Record>> StudyStages(LayerRuns& runs) {
  std::vector<Record> records;
  for (const absl::string_view name : kStaged) {
    for (const Contender& contender : kContenders) {
      if (contender.name != name) continue;
      absl::Status status = AddStages(runs, contender, records);
      if (!status.ok()) return status;
    }
  }
  return records;
}

absl::StatusOr<std::vector<Record>> StudyPreparation(LayerRuns& runs) {
  std::vector<Record> records;
  const auto layer = runs.Float64();
  if (!layer.ok()) return layer.status();
  for (const DataType type : {DataType::kFp8, DataType::kInt8}) {
    for (const ScalesOf scales :
         {ScalesOf::kTensor, ScalesOf::kHead, ScalesOf::kToken}) {
      for (const auto& [mean, rotate] : {std::pair(false, false),
                                         {false, true},
                                         {true, false},
                                         {true, true}}) {
        const Preparation preparation = {type, mean, rotate, scales};
        const Contender contender = {
            "", type == DataType::kFp8 ? Arithmetic::kLean : Arithmetic::kInt8,
            preparation};
        const std::string variant = VariantOf(runs, contender);
        if (type == DataType::kFp8) {
          const auto rows = runs.Float64(preparation, kAllRounded);
          if (!rows.ok()) return rows.status();
          Record& record =
              records.emplace_back(Describe(runs, proto::STUDY_PREPARATION,
                                            variant, preparation, kReference));
          record.set_stage("inputs");
          record.set_total_rel_rmse(Compare(runs, **rows, **layer).rel_rmse);
          // No kernel takes them.
          if (scales == ScalesOf::kToken) continue;
        }
        const auto model = runs.Model(contender.arithmetic, preparation);
        if (!model.ok()) return model.status();
        Record& record = records.emplace_back(Describe(
            runs, proto::STUDY_PREPARATION, variant, preparation, kModel));
        record.set_total_rel_rmse(
            Compare(runs, RoundedToBf16(**model), **layer).rel_rmse);
      }
    }
  }
  return records;
}

std::vector<Record> StudyStatistics(LayerRuns& runs) {
  Record record = Describe(runs, proto::STUDY_STATISTICS);
  record.set_computed_by(std::string(kReference));
  *record.mutable_input_statistics() =
      StatisticsOf(runs.layer(), runs.rows(), runs.threads());
  return {record};
}

}  // namespace zyfa::bench
