#include "zyfa/emu/run_flags.h"

#include <cstdint>
#include <map>
#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

ABSL_FLAG(std::string, wave_order, "rotate",
          "order of a work-group's waves: rotate, alone, alone-reversed");
ABSL_FLAG(int, rotate_instructions, 8,
          "instructions a wave runs at a turn under --wave_order=rotate");
ABSL_FLAG(std::string, dma_landing, "wait",
          "when loads into LDS land: wait (at the retiring s_waitcnt), issue");
ABSL_FLAG(std::string, matrix_model, "exact",
          "how matrix instructions add up: exact, cdna3, groups64, "
          "truncated17, fma-chain");
ABSL_FLAG(int, threads, 0, "host threads, 0 for one a core");
ABSL_FLAG(uint64_t, instruction_budget, uint64_t{1} << 28,
          "instructions after which a wave is taken for endless");

namespace zyfa::emu {

absl::StatusOr<RunOptions> RunOptionsFromFlags() {
  RunOptions options;
  const std::string order = absl::GetFlag(FLAGS_wave_order);
  if (order == "rotate") {
    options.wave_order = WaveOrder::kRotate;
  } else if (order == "alone") {
    options.wave_order = WaveOrder::kAlone;
  } else if (order == "alone-reversed") {
    options.wave_order = WaveOrder::kAloneReversed;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--wave_order is '", order,
                     "', allowed: rotate, alone, alone-reversed"));
  }
  const std::string landing = absl::GetFlag(FLAGS_dma_landing);
  if (landing == "wait") {
    options.dma_landing = DmaLanding::kAtWait;
  } else if (landing == "issue") {
    options.dma_landing = DmaLanding::kAtIssue;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--dma_landing is '", landing, "', allowed: wait, issue"));
  }
  static const auto& kModels = *new std::map<std::string, MatrixModel>{
      {"exact", MatrixModel::kExact},
      {"cdna3", MatrixModel::kCdna3},
      {"groups64", MatrixModel::kGroups64},
      {"truncated17", MatrixModel::kTruncated17},
      {"fma-chain", MatrixModel::kFmaChain}};
  const std::string model = absl::GetFlag(FLAGS_matrix_model);
  if (!kModels.contains(model)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--matrix_model is '", model,
        "', allowed: exact, cdna3, groups64, truncated17, fma-chain"));
  }
  options.matrix_model = kModels.at(model);
  options.rotate_instructions = absl::GetFlag(FLAGS_rotate_instructions);
  if (options.rotate_instructions < 1) {
    return absl::InvalidArgumentError(absl::StrCat("--rotate_instructions is ",
                                                   options.rotate_instructions,
                                                   ", at least 1 is needed"));
  }
  options.threads = absl::GetFlag(FLAGS_threads);
  if (options.threads < 0 || options.threads > 1024) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--threads is ", options.threads, ", 0 to 1024 are allowed"));
  }
  options.instruction_budget = absl::GetFlag(FLAGS_instruction_budget);
  return options;
}

}  // namespace zyfa::emu
