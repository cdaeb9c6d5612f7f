// The ladder from FP8 to BF16: errors of the kernels' numeric models on made
// and captured layers, and the modelled speed of the kernels.

#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <limits>
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
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/ladder_table.h"
#include "zyfa/bench/progress.h"
#include "zyfa/bench/run_case.h"
#include "zyfa/bench/rung.h"
#include "zyfa/bench/rung_errors.h"
#include "zyfa/bench/rung_inputs.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/bench/versions.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/proto/record_file.h"

ABSL_FLAG(std::string, sets, "G,M,X,V,D,E",
          "made inputs, by comma: G (Gaussian) and the sets of "
          "zyfa/numerics/real_like.h, head dim 128; empty: none");
ABSL_FLAG(std::string, layers, "",
          "folder of captured layers, layer_0.safetensors and so on, as "
          "//zyfa/models:capture writes them; empty: none");
ABSL_FLAG(std::string, seqlen, "16384",
          "tokens of the sets and of the launches for speed");
ABSL_FLAG(std::string, heads, "4", "heads of a set, each with a seed");
ABSL_FLAG(std::string, rows_per_head, "512",
          "query rows that errors are taken of: work-groups of 256, evenly "
          "spread");
ABSL_FLAG(std::string, seed, "100", "seed of a set's first head");
ABSL_FLAG(std::string, speed, "128",
          "head dims whose causal kernels' time is modelled, batch 1, 16 "
          "heads: 128, 192, by comma; empty: none");
ABSL_FLAG(std::string, speed_inputs, "gaussian",
          "inputs for that: gaussian, or layers: the first head of each of "
          "--layers, prepared as for errors");
ABSL_FLAG(bool, errors, true, "whether errors are measured");
ABSL_FLAG(std::string, threads, "0", "host threads; 0: one a core");
ABSL_FLAG(std::string, records, "",
          "file for the records: JSON lines, or length-delimited binary if its "
          "name ends in .binpb");

namespace zyfa::bench {
namespace {

constexpr int32_t kSpeedHeads = 16;

struct Options {
  std::vector<std::string> sets;
  std::vector<std::string> layers;  // files
  std::vector<int> speed_dims;
  bool errors = true;
  bool speed_on_layers = false;
  int64_t seqlen = 0;
  int heads = 0;
  uint32_t seed = 0;
  RungErrorOptions error_options;
};

std::vector<std::string> ByComma(const std::string& text) {
  if (text.empty()) return {};
  return absl::StrSplit(text, ',');
}

// Files of --layers.
absl::StatusOr<std::vector<std::string>> LayerFiles(const std::string& folder) {
  std::vector<std::string> files;
  if (folder.empty()) return files;
  for (;;) {
    const std::string file =
        absl::StrCat(folder, "/layer_", files.size(), ".safetensors");
    std::error_code error;
    if (!std::filesystem::exists(file, error)) break;
    files.push_back(file);
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--layers=", folder, ": allowed: a folder with layer_0.safetensors"));
  }
  return files;
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
  for (const std::string& dim : ByComma(absl::GetFlag(FLAGS_speed))) {
    if (dim != "128" && dim != "192") {
      return absl::InvalidArgumentError(
          absl::StrCat("--speed=", absl::GetFlag(FLAGS_speed), ": has '", dim,
                       "'; allowed: 128, 192"));
    }
    options.speed_dims.push_back(dim == "128" ? 128 : 192);
  }
  options.errors = absl::GetFlag(FLAGS_errors);
  const std::string speed_inputs = absl::GetFlag(FLAGS_speed_inputs);
  if (speed_inputs != "gaussian" && speed_inputs != "layers") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--speed_inputs=", speed_inputs, ": allowed: gaussian, layers"));
  }
  options.speed_on_layers = speed_inputs == "layers";
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
       &options.error_options.rows_per_head},
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
  options.error_options.threads = static_cast<int>(threads);
  if (!options.sets.empty()) {
    const absl::Status status =
        CheckRows(options.error_options.rows_per_head, options.seqlen);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--", status.message()));
    }
  }
  auto layers = LayerFiles(absl::GetFlag(FLAGS_layers));
  if (!layers.ok()) return layers.status();
  options.layers = *std::move(layers);
  if (options.speed_on_layers && options.layers.empty()) {
    return absl::InvalidArgumentError(
        "--speed_inputs=layers: needs captured layers, --layers=FOLDER");
  }
  return options;
}

// The ladder, as it grows.
class Ladder {
 public:
  static absl::StatusOr<Ladder> Make(const Options& options) {
    Ladder ladder(options);
    const std::string path = absl::GetFlag(FLAGS_records);
    if (path.empty()) return ladder;
    auto file =
        proto::RecordFile::Open(path, proto::RecordFileMode::kOverwrite);
    if (!file.ok()) return file.status();
    ladder.file_ = *std::move(file);
    return ladder;
  }

  absl::Status Run() {
    absl::Status status;
    if (options_.errors) {
      for (const std::string& set : options_.sets) {
        if (!status.ok()) return status;
        status = OfSet(set);
      }
    }
    std::unique_ptr<Device> device;
    if (!options_.speed_dims.empty()) {
      absl::StatusOr<std::unique_ptr<Device>> opened = OpenDevice("emulator");
      if (!opened.ok()) return opened.status();
      device = *std::move(opened);
    }
    for (const std::string& file : options_.layers) {
      if (!status.ok()) return status;
      status = OfLayer(file, device.get());
    }
    if (device == nullptr || options_.speed_on_layers) return status;
    for (const int dim : options_.speed_dims) {
      if (!status.ok()) return status;
      status = AddSpeed(dim, nullptr, "", *device);
    }
    return status;
  }

  const std::vector<proto::Record>& records() const { return records_; }

 private:
  explicit Ladder(const Options& options) : options_(options) {
    const size_t speeds =
        options_.speed_dims.size() * std::size(kRungs) *
        (options_.speed_on_layers ? options_.layers.size() : 1);
    progress_ = std::make_unique<Progress>(
        isatty(STDERR_FILENO) ? &std::cerr : nullptr,
        static_cast<int>((options_.errors ? options_.sets.size() : 0) +
                         options_.layers.size() + speeds));
  }

  absl::Status Add(proto::Record record) {
    records_.push_back(std::move(record));
    return file_.has_value() ? file_->Add(records_.back()) : absl::OkStatus();
  }

  absl::Status AddErrors(const models::CapturedLayer& layer,
                         const std::string& name,
                         std::optional<uint32_t> seed) {
    const std::time_t start = std::time(nullptr);
    auto records = MeasureRungs(layer, options_.error_options);
    if (!records.ok()) {
      return absl::Status(records.status().code(),
                          absl::StrCat(name, ": ", records.status().message()));
    }
    for (proto::Record& record : *records) {
      record.set_input_distribution(name);
      if (seed.has_value()) record.set_seed(*seed);
      record.mutable_start_time()->set_seconds(start);
      record.mutable_versions()->set_host_compiler(
          BuildVersions().host_compiler());
      absl::Status status = Add(std::move(record));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status OfSet(const std::string& set) {
    progress_->Show(done_++, absl::StrCat("set ", set));
    auto layer = MadeLayer(set, options_.seqlen, options_.heads, options_.seed);
    if (!layer.ok()) return layer.status();
    return AddErrors(*layer, absl::StrCat("set ", set), options_.seed);
  }

  // `device`: for speed.
  absl::Status OfLayer(const std::string& file, Device* device) {
    progress_->Show(done_++, file);
    auto layer = models::ReadCapturedLayer(file);
    if (!layer.ok()) return layer.status();
    const std::filesystem::path path(file);
    const std::string name = absl::StrCat(
        path.parent_path().filename().string(), "/", path.stem().string());
    if (options_.errors) {
      absl::Status status = AddErrors(*layer, name, std::nullopt);
      if (!status.ok()) return status;
    }
    for (const int dim : options_.speed_dims) {
      if (!options_.speed_on_layers || dim != layer->head_dim_qk) continue;
      const models::CapturedLayer head = HeadOf(*layer, 0);
      absl::Status status =
          AddSpeed(dim, &head, absl::StrCat(name, " head 0"), *device);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // On `head`, of that name, or on Gaussian inputs.
  absl::Status AddSpeed(int dim, const models::CapturedLayer* head,
                        const std::string& name, Device& device) {
    for (const Rung& rung : kRungs) {
      progress_->Show(done_++, absl::StrCat(rung.name, " ", dim, " ", name));
      // The same kernel as with prepared inputs.
      if (!rung.prepared && rung.data_type == DataType::kFp8) continue;
      const int64_t seqlen = head == nullptr ? options_.seqlen : head->seqlen;
      const Case c{.variant = rung.VariantFor(dim),
                   .batch = 1,
                   .heads_q = kSpeedHeads,
                   .heads_kv = kSpeedHeads,
                   .seqlen_q = static_cast<int32_t>(seqlen),
                   .seqlen_kv = static_cast<int32_t>(seqlen)};
      RunCaseOptions run;
      run.threads = options_.error_options.threads;
      run.timing.only = true;
      run.timing.clock = "toggling";
      run.timing.threads = run.threads;
      std::optional<Inputs> inputs;
      if (head != nullptr) {
        absl::StatusOr<Inputs> made = RungInputs(rung, *head);
        if (!made.ok()) return made.status();
        inputs = *std::move(made);
        run.inputs = &*inputs;
      }
      proto::Record record = RunCase(c, device, run);
      if (!record.has_clocks()) {
        return absl::InternalError(
            absl::StrCat(CaseLabel(c), ": ", record.message()));
      }
      if (head != nullptr) {
        record.set_input_distribution(name);
        record.set_quantisation(std::string(rung.quantisation));
      }
      if (rung.vector_clocks_per_score > 0) {
        record.set_vector_clocks_per_score(rung.vector_clocks_per_score);
      }
      absl::Status status = Add(std::move(record));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  Options options_;
  std::vector<proto::Record> records_;
  std::optional<proto::RecordFile> file_;
  std::unique_ptr<Progress> progress_;
  int done_ = 0;
};

absl::Status Main() {
  const absl::StatusOr<Options> options = ParseOptions();
  if (!options.ok()) return options.status();
  absl::StatusOr<Ladder> ladder = Ladder::Make(*options);
  if (!ladder.ok()) return ladder.status();
  absl::Status status = ladder->Run();
  std::cout << RenderLadder(ladder->records());
  status.Update(cli::FlushOutput());
  return status;
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Errors and modelled speed of attention with FP8, INT8 and BF16 scores "
      "(docs/int8-scores.md).\nStatus: 0 if all was measured, 1 if a flag "
      "cannot be parsed, 2 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "int8_ladder: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  const absl::Status status = zyfa::bench::Main();
  if (!status.ok()) {
    std::cerr << "int8_ladder: " << status.message() << "\n";
    return 2;
  }
  return 0;
}
