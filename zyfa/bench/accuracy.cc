// The accuracy laboratory, one attention call at a time: captured layers, and
// made ones, through the numeric models of the kernels and others.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "zyfa/bench/aiter_peer.h"
#include "zyfa/bench/lab_table.h"
#include "zyfa/bench/layer_files.h"
#include "zyfa/bench/layer_runs.h"
#include "zyfa/bench/layer_study.h"
#include "zyfa/bench/made_layer.h"
#include "zyfa/bench/open_records.h"
#include "zyfa/bench/progress.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/bench/versions.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/proto/record_file.h"

ABSL_FLAG(
    std::string, layers, "",
    "folders of captured layers, by comma, each with "
    "layer_0.safetensors and so on, as //zyfa/models:capture writes them");
ABSL_FLAG(std::string, sets, "",
          "made inputs, by comma: G (Gaussian) and the sets of "
          "zyfa/numerics/real_like.h, head dim 128");
ABSL_FLAG(std::string, seqlen, "16384", "tokens of a set");
ABSL_FLAG(std::string, heads, "4", "heads of a set, each with a seed");
ABSL_FLAG(std::string, seed, "100", "seed of a set's first head");
ABSL_FLAG(std::string, studies, "layers,stages,preparation,statistics",
          "which, by comma (docs/accuracy.md)");
ABSL_FLAG(std::string, rows_per_head, "512",
          "query rows that errors are taken of: work-groups of 256, evenly "
          "spread");
ABSL_FLAG(std::string, code_objects, "",
          "folder of AITER's code objects, named as zyfa/peers/README.md says; "
          "empty: only the model of its FP8 kernel");
ABSL_FLAG(std::string, threads, "0", "host threads; 0: one a core");
ABSL_FLAG(std::string, records, "",
          "file for the records: JSON lines, or length-delimited binary if its "
          "name ends in .binpb");
ABSL_FLAG(bool, append, false,
          "add to the file of --records instead of replacing it");

namespace zyfa::bench {
namespace {

constexpr const char* kStudies[] = {"layers", "stages", "preparation",
                                    "statistics"};

struct Options {
  std::vector<LayerFile> layers;
  std::vector<std::string> sets;
  std::vector<std::string> studies;
  int64_t seqlen = 0;
  int heads = 0;
  uint32_t seed = 0;
  LayerRunOptions run;
};

std::vector<std::string> ByComma(const std::string& text) {
  if (text.empty()) return {};
  return absl::StrSplit(text, ',');
}

absl::Status ParseNumbers(Options& options) {
  int64_t heads = 0, seed = 0, threads = 0;
  const struct {
    const char* name;
    std::string value;
    int64_t low, high;
    int64_t* target;
  } numbers[] = {
      {"seqlen", absl::GetFlag(FLAGS_seqlen), 256, 1048576, &options.seqlen},
      {"heads", absl::GetFlag(FLAGS_heads), 1, 64, &heads},
      {"rows_per_head", absl::GetFlag(FLAGS_rows_per_head), 1, 1048576,
       &options.run.rows_per_head},
      {"seed", absl::GetFlag(FLAGS_seed), 0,
       std::numeric_limits<uint32_t>::max(), &seed},
      {"threads", absl::GetFlag(FLAGS_threads), 0, 1024, &threads}};
  for (const auto& number : numbers) {
    const absl::StatusOr<int64_t> parsed =
        ParseNumber(number.name, number.value, number.low, number.high);
    if (!parsed.ok()) return parsed.status();
    *number.target = *parsed;
  }
  options.heads = static_cast<int>(heads);
  options.seed = static_cast<uint32_t>(seed);
  options.run.threads = static_cast<int>(threads);
  return absl::OkStatus();
}

absl::StatusOr<Options> ParseOptions() {
  Options options;
  options.sets = ByComma(absl::GetFlag(FLAGS_sets));
  for (const std::string& set : options.sets) {
    if (set == "G") continue;
    const auto params = numerics::RealLikeSet(set);
    if (!params.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--sets=", absl::GetFlag(FLAGS_sets), ": G, or ",
                       params.status().message()));
    }
  }
  options.studies = ByComma(absl::GetFlag(FLAGS_studies));
  for (const std::string& study : options.studies) {
    if (std::find(std::begin(kStudies), std::end(kStudies), study) ==
        std::end(kStudies)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--studies=", absl::GetFlag(FLAGS_studies), ": has '", study,
          "'; allowed: layers, stages, preparation, statistics"));
    }
  }
  absl::Status status = ParseNumbers(options);
  if (!status.ok()) return status;
  if (!options.sets.empty()) {
    status = CheckRows(options.run.rows_per_head, options.seqlen);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--", status.message()));
    }
  }
  auto layers = ListLayers(absl::GetFlag(FLAGS_layers));
  if (!layers.ok()) return layers.status();
  options.layers = *std::move(layers);
  if (options.layers.empty() && options.sets.empty()) {
    return absl::InvalidArgumentError(
        "nothing to measure: needs --layers=FOLDER or --sets=G");
  }
  return options;
}

// AITER's code objects, each loaded once.
class AiterCodes {
 public:
  // The FP8 kernel for a head dim; none without --code_objects.
  absl::StatusOr<AiterCode> ForHeadDim(int head_dim_qk) {
    const std::string folder = absl::GetFlag(FLAGS_code_objects);
    if (folder.empty()) return AiterCode();
    const peers::AiterKernel* kernel =
        PeerOf({.data_type = DataType::kFp8,
                .head_dim_qk = head_dim_qk,
                .head_dim_v = 128,
                .mask = Mask::kCausal,
                .probability = Probability::kLean});
    if (kernel == nullptr) return AiterCode();
    std::unique_ptr<emu::CodeObject>& code = codes_[kernel];
    if (code == nullptr) {
      auto loaded = emu::LoadCodeObject(
          absl::StrCat(folder, "/", peers::FlatFileName(*kernel)));
      if (!loaded.ok()) return loaded.status();
      code = *std::move(loaded);
    }
    return AiterCode{kernel, code.get()};
  }

 private:
  std::map<const peers::AiterKernel*, std::unique_ptr<emu::CodeObject>> codes_;
};

class Laboratory {
 public:
  Laboratory(const Options& options, std::optional<proto::RecordFile> file)
      : options_(options),
        file_(std::move(file)),
        progress_(
            isatty(STDERR_FILENO) ? &std::cerr : nullptr,
            static_cast<int>(options.sets.size() + options.layers.size())) {}

  absl::Status Run() {
    for (const std::string& set : options_.sets) {
      const std::string source = absl::StrCat("set ", set);
      progress_.Show(done_++, source);
      const auto layer =
          MadeLayer(set, options_.seqlen, options_.heads, options_.seed);
      if (!layer.ok()) return layer.status();
      absl::Status status = Study(*layer, source, options_.seed);
      if (!status.ok()) return status;
    }
    for (const LayerFile& file : options_.layers) {
      progress_.Show(done_++, file.source);
      const auto layer = models::ReadCapturedLayer(file.path);
      if (!layer.ok()) return layer.status();
      absl::Status status = Study(*layer, file.source, std::nullopt);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const std::vector<proto::Record>& records() const { return records_; }

 private:
  absl::Status Study(const models::CapturedLayer& layer,
                     const std::string& source, std::optional<uint32_t> seed) {
    const std::time_t start = std::time(nullptr);
    auto records = Measure(layer);
    if (!records.ok()) {
      return absl::Status(
          records.status().code(),
          absl::StrCat(source, ": ", records.status().message()));
    }
    for (proto::Record& record : *records) {
      record.set_source(source);
      if (seed.has_value()) record.set_seed(*seed);
      record.mutable_start_time()->set_seconds(start);
      record.mutable_versions()->set_host_compiler(
          BuildVersions().host_compiler());
      records_.push_back(std::move(record));
      if (!file_.has_value()) continue;
      absl::Status status = file_->Add(records_.back());
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<proto::Record>> Measure(
      const models::CapturedLayer& layer) {
    absl::StatusOr<LayerRuns> runs = LayerRuns::Make(layer, options_.run);
    if (!runs.ok()) return runs.status();
    std::vector<proto::Record> all;
    for (const std::string& study : options_.studies) {
      absl::StatusOr<std::vector<proto::Record>> records =
          std::vector<proto::Record>();
      if (study == "layers") {
        const auto aiter =
            aiter_.ForHeadDim(static_cast<int>(layer.head_dim_qk));
        if (!aiter.ok()) return aiter.status();
        records = StudyLayers(*runs, *aiter);
      } else if (study == "stages") {
        records = StudyStages(*runs);
      } else if (study == "preparation") {
        records = StudyPreparation(*runs);
      } else {
        records = StudyStatistics(*runs);
      }
      if (!records.ok()) return records.status();
      all.insert(all.end(), records->begin(), records->end());
    }
    return all;
  }

  Options options_;
  std::optional<proto::RecordFile> file_;
  Progress progress_;
  AiterCodes aiter_;
  std::vector<proto::Record> records_;
  int done_ = 0;
};

absl::Status Main() {
  const absl::StatusOr<Options> options = ParseOptions();
  if (!options.ok()) return options.status();
  absl::StatusOr<std::optional<proto::RecordFile>> file =
      OpenRecords(absl::GetFlag(FLAGS_records), absl::GetFlag(FLAGS_append));
  if (!file.ok()) return file.status();
  Laboratory laboratory(*options, *std::move(file));
  absl::Status status = laboratory.Run();
  std::cout << RenderLab(laboratory.records());
  status.Update(cli::FlushOutput());
  return status;
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Errors of single attention calls on captured layers: by kernel, by "
      "stage, by preparation of the inputs, and what the inputs are like "
      "(docs/accuracy.md).\nStatus: 0 if all was measured, 1 if a flag cannot "
      "be parsed, 2 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "accuracy: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  const absl::Status status = zyfa::bench::Main();
  if (!status.ok()) {
    std::cerr << "accuracy: " << status.message() << "\n";
    return 2;
  }
  return 0;
}
