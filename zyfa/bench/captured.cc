// Modelled speed of the kernels on captured layers beside Gaussian inputs: what
// moved references, flips of the operands' bits and the clock that follows from
// them make of it.

#include <unistd.h>

#include <cstdint>
#include <iostream>
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
#include "zyfa/bench/captured_table.h"
#include "zyfa/bench/contender.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/layer_files.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/bench/open_records.h"
#include "zyfa/bench/progress.h"
#include "zyfa/bench/run_case.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/proto/record_file.h"
#include "zyfa/variant/variant.h"

ABSL_FLAG(
    std::string, layers, "",
    "folders of captured layers, by comma, each with "
    "layer_0.safetensors and so on, as //zyfa/models:capture writes them");
ABSL_FLAG(std::string, head, "0",
          "query head of each layer that all heads of the launch share");
ABSL_FLAG(std::string, heads, "16", "heads of the launch, batch 1");
ABSL_FLAG(std::string, threads, "0", "host threads; 0: one a core");
ABSL_FLAG(std::string, records, "",
          "file for the records: JSON lines, or length-delimited binary if its "
          "name ends in .binpb");
ABSL_FLAG(bool, append, false,
          "add to the file of --records instead of replacing it");

namespace zyfa::bench {
namespace {

// A causal kernel, what its inputs are made by, and vector clocks a score:
// those of phase vector_plain_1_of_0 of the generated text, 4 an instruction
// and 8 an exponential, but for the few a tile. FP8 (docs/schedule.md): 2 for
// the maximum, lean 4 + 2, exact 8 + 2. INT8: half a v_max3_i32, half a
// v_ashr_pk_u8_i32, with multipliers a v_mad_i32_i24. 0: not counted.
struct Kernel {
  Probability probability;
  Preparation preparation;
  double vector_clocks;
};
constexpr Kernel kKernels[] = {
    {Probability::kExact, kFp8Prepared, 12},
    {Probability::kLean, kFp8Prepared, 8},
    {Probability::kShift, kInt8Shift, 4},
    {Probability::kMultiply, kInt8Multiply, 8},
    {Probability::kExact, {}, 0},
};

struct Options {
  std::vector<LayerFile> layers;
  int64_t head = 0;
  int32_t heads = 0;
  int threads = 0;
};

absl::StatusOr<Options> ParseOptions() {
  Options options;
  int64_t heads = 0, threads = 0;
  const struct {
    const char* name;
    std::string value;
    int64_t low, high;
    int64_t* target;
  } numbers[] = {{"head", absl::GetFlag(FLAGS_head), 0, 1023, &options.head},
                 {"heads", absl::GetFlag(FLAGS_heads), 1, 1024, &heads},
                 {"threads", absl::GetFlag(FLAGS_threads), 0, 1024, &threads}};
  for (const auto& number : numbers) {
    const absl::StatusOr<int64_t> parsed =
        ParseNumber(number.name, number.value, number.low, number.high);
    if (!parsed.ok()) return parsed.status();
    *number.target = *parsed;
  }
  options.heads = static_cast<int32_t>(heads);
  options.threads = static_cast<int>(threads);
  auto layers = ListLayers(absl::GetFlag(FLAGS_layers));
  if (!layers.ok()) return layers.status();
  if (layers->empty()) {
    return absl::InvalidArgumentError("--layers is missing");
  }
  options.layers = *std::move(layers);
  return options;
}

class Comparison {
 public:
  Comparison(const Options& options, std::optional<proto::RecordFile> file,
             Device& device)
      : options_(options),
        file_(std::move(file)),
        device_(device),
        progress_(
            isatty(STDERR_FILENO) ? &std::cerr : nullptr,
            static_cast<int>(options.layers.size() * std::size(kKernels))) {}

  absl::Status Run() {
    for (const LayerFile& file : options_.layers) {
      const auto layer = models::ReadCapturedLayer(file.path);
      if (!layer.ok()) return layer.status();
      absl::Status status = OfLayer(*layer, file.source);
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat(file.source, ": ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  const std::vector<proto::Record>& records() const { return records_; }

 private:
  absl::Status OfLayer(const models::CapturedLayer& layer,
                       const std::string& source) {
    if ((layer.head_dim_qk != 128 && layer.head_dim_qk != 192) ||
        layer.head_dim_v != 128) {
      return absl::InvalidArgumentError(
          absl::StrCat("head dims are ", layer.head_dim_qk, " and ",
                       layer.head_dim_v, "; allowed: 128 or 192, and 128"));
    }
    if (options_.head >= layer.heads_q) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--head=", options_.head, ": the layer has ", layer.heads_q,
          " heads; allowed: 0 .. ", layer.heads_q - 1));
    }
    const models::CapturedLayer head = HeadOf(layer, options_.head);
    for (const Kernel& kernel : kKernels) {
      const Variant variant = {
          .data_type = kernel.preparation.data_type,
          .head_dim_qk = static_cast<int>(head.head_dim_qk),
          .head_dim_v = 128,
          .mask = Mask::kCausal,
          .probability = kernel.probability};
      progress_.Show(done_++, absl::StrCat(source, " ", VariantName(variant)));
      const auto prepared = LayerInputs::Make(head, kernel.preparation);
      if (!prepared.ok()) return prepared.status();
      const Inputs inputs = prepared->Head(0);
      absl::Status status = Gaussian(variant, head.seqlen, kernel);
      if (!status.ok()) return status;
      auto record = Model(variant, head.seqlen, kernel, &inputs);
      if (!record.ok()) return record.status();
      record->set_source(absl::StrCat(source, " head ", options_.head));
      record->set_quantisation(Quantisation(kernel.preparation));
      status = Add(*std::move(record));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Once for each variant and length.
  absl::Status Gaussian(const Variant& variant, int64_t seqlen,
                        const Kernel& kernel) {
    for (const proto::Record& r : records_) {
      if (r.variant() == VariantName(variant) && r.seqlen_q() == seqlen &&
          !r.has_source()) {
        return absl::OkStatus();
      }
    }
    auto record = Model(variant, seqlen, kernel, nullptr);
    if (!record.ok()) return record.status();
    return Add(*std::move(record));
  }

  // Without inputs: Gaussian ones.
  absl::StatusOr<proto::Record> Model(const Variant& variant, int64_t seqlen,
                                      const Kernel& kernel,
                                      const Inputs* inputs) {
    const Case c{.variant = variant,
                 .batch = 1,
                 .heads_q = options_.heads,
                 .heads_kv = options_.heads,
                 .seqlen_q = static_cast<int32_t>(seqlen),
                 .seqlen_kv = static_cast<int32_t>(seqlen)};
    RunCaseOptions run;
    run.threads = options_.threads;
    run.timing.only = true;
    run.timing.clock = "toggling";
    run.timing.threads = options_.threads;
    run.inputs = inputs;
    proto::Record record = RunCase(c, device_, run);
    if (!record.has_clocks()) {
      return absl::InternalError(
          absl::StrCat(CaseLabel(c), ": ", record.message()));
    }
    record.set_study(proto::STUDY_CAPTURED_SPEED);
    record.set_computed_by("kernel");
    if (kernel.vector_clocks > 0) {
      record.set_vector_clocks_per_score(kernel.vector_clocks);
    }
    return record;
  }

  absl::Status Add(proto::Record record) {
    records_.push_back(std::move(record));
    return file_.has_value() ? file_->Add(records_.back()) : absl::OkStatus();
  }

  Options options_;
  std::optional<proto::RecordFile> file_;
  Device& device_;
  Progress progress_;
  std::vector<proto::Record> records_;
  int done_ = 0;
};

absl::Status Main() {
  const absl::StatusOr<Options> options = ParseOptions();
  if (!options.ok()) return options.status();
  absl::StatusOr<std::optional<proto::RecordFile>> file =
      OpenRecords(absl::GetFlag(FLAGS_records), absl::GetFlag(FLAGS_append));
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice("emulator");
  if (!device.ok()) return device.status();
  Comparison comparison(*options, *std::move(file), **device);
  absl::Status status = comparison.Run();
  std::cout << RenderCaptured(comparison.records());
  status.Update(cli::FlushOutput());
  return status;
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Modelled clocks, toggling and speed of the causal kernels on captured "
      "layers beside Gaussian inputs (docs/accuracy.md).\nStatus: 0 if all was "
      "modelled, 1 if a flag cannot be parsed, 2 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "captured: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  const absl::Status status = zyfa::bench::Main();
  if (!status.ok()) {
    std::cerr << "captured: " << status.message() << "\n";
    return 2;
  }
  return 0;
}
