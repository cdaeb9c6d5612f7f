#ifndef ZYFA_BENCH_LAYER_STUDY_H_
#define ZYFA_BENCH_LAYER_STUDY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/bench/layer_runs.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// AITER's kernel for a head dim; nothing of it is owned.
struct AiterCode {
  const peers::AiterKernel* kernel = nullptr;  // nullptr: none at hand
  const emu::CodeObject* code = nullptr;
};

// Studies of the accuracy laboratory over one layer. Errors are the
// quantiser's, and of AITER's kernel the emulator's. The records have no source
// and no time yet.

// A record for each of kContenders: rel_rmse, p99_row_rel_rmse and
// worst_row_rel_rmse of the output before it is rounded to bf16, against
// float64 attention on the same rounded inputs; total_rel_rmse of the output in
// bf16, against float64 attention on the layer; exact_p_rel_rmse,
// value_rel_rmse and slow_paths. AITER's kernel, whose output is bf16, on the
// inputs of both FP8 preparations.
absl::StatusOr<std::vector<proto::Record>> StudyLayers(LayerRuns& runs,
                                                       const AiterCode& aiter);

// What each rounding costs, by Record.stage. "query", "key", "value", "inputs":
// these alone are rounded, all else is float64 (total_rel_rmse). "p": what the
// kernel's arithmetic adds on rounded inputs, which is P but for float32 sums
// (rel_rmse). "rest": what rounding the output to bf16 adds to that (rel_rmse).
// "total": all of it (total_rel_rmse).
absl::StatusOr<std::vector<proto::Record>> StudyStages(LayerRuns& runs);

// total_rel_rmse with and without mean key and rotation, by granularity of
// scales: of kernels ("model"), and of FP8 inputs alone with all else in
// float64 (stage "inputs", "reference"), which has scales of tokens too.
absl::StatusOr<std::vector<proto::Record>> StudyPreparation(LayerRuns& runs);

// One record, with input_statistics.
std::vector<proto::Record> StudyStatistics(LayerRuns& runs);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LAYER_STUDY_H_
