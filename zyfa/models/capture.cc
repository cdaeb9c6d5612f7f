// Runs a model on a segment of text and writes what its layers hand to
// attention: OUTPUT_DIR/layer_N.safetensors with q, k and v in bf16.

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"

ABSL_FLAG(std::string, model, "",
          "directory with config.json and model.safetensors");
ABSL_FLAG(std::string, text, "",
          "file of text in segments of 16384 bytes; empty: val_256k.txt beside "
          "the model's directory");
ABSL_FLAG(int64_t, segment, 0, "which segment of the text");
ABSL_FLAG(int64_t, tokens, zyfa::models::kSegmentBytes,
          "how many tokens from the segment's start, 1 to 16384");
ABSL_FLAG(std::string, output_dir, "",
          "directory for the files; it is made if there is none");
ABSL_FLAG(int, threads, 0, "host threads; 0: one a core");

namespace zyfa::models {
namespace {

absl::Status Capture() {
  const std::string directory = absl::GetFlag(FLAGS_model);
  const std::filesystem::path output = absl::GetFlag(FLAGS_output_dir);
  if (directory.empty() || output.empty()) {
    return absl::InvalidArgumentError("needs --model=DIR and --output_dir=DIR");
  }
  const int threads = absl::GetFlag(FLAGS_threads);
  if (threads < 0 || threads > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads=", threads, "; allowed: 0 .. 1024"));
  }
  const absl::StatusOr<Transformer> model = Transformer::Load(directory);
  if (!model.ok()) return model.status();
  std::string text = absl::GetFlag(FLAGS_text);
  if (text.empty()) {
    text = (std::filesystem::path(directory) / ".." / "val_256k.txt").string();
  }
  const absl::StatusOr<TextSegment> segment =
      ReadTextSegment(text, absl::GetFlag(FLAGS_segment),
                      absl::GetFlag(FLAGS_tokens), model->config().bos);
  if (!segment.ok()) return segment.status();

  std::error_code error;
  std::filesystem::create_directories(output, error);
  if (!std::filesystem::is_directory(output)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "--output_dir=", output.string(), ": no directory can be made there"));
  }
  const absl::StatusOr<std::vector<CapturedLayer>> layers =
      CaptureLayers(*model, segment->tokens, threads);
  if (!layers.ok()) return layers.status();
  for (size_t i = 0; i < layers->size(); ++i) {
    const std::string path =
        (output / absl::StrCat("layer_", i, ".safetensors")).string();
    const CapturedLayer& layer = (*layers)[i];
    if (absl::Status status = WriteCapturedLayer(path, layer); !status.ok()) {
      return status;
    }
    std::cout << path << ": q [" << layer.seqlen << ", " << layer.heads_q
              << ", " << layer.head_dim_qk << "], k [" << layer.seqlen << ", "
              << layer.heads_kv << ", " << layer.head_dim_qk << "], v ["
              << layer.seqlen << ", " << layer.heads_kv << ", "
              << layer.head_dim_v << "]\n";
  }
  return cli::FlushOutput();
}

}  // namespace
}  // namespace zyfa::models

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Writes Q, K and V of each layer of a model on a segment of text, as a "
      "kernel receives them.\nStatus: 0 if all files are written, else 1 (a "
      "flag cannot be parsed) or 2.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  absl::Status status = absl::OkStatus();
  if (positional.size() > 1) {
    status = absl::InvalidArgumentError(
        absl::StrCat("unexpected argument '", positional[1],
                     "'; allowed are flags, see --help"));
  } else {
    status = zyfa::models::Capture();
  }
  if (!status.ok()) {
    std::cerr << "capture: " << status.message() << "\n";
    return 2;
  }
  return 0;
}
