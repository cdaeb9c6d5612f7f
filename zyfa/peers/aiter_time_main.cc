// Modelled time of AITER's attention kernels by length, on an MI355X that the
// cycle model imagines.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/kernel_clock.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/aiter_time.h"

ABSL_FLAG(std::string, code_objects, "",
          "folder of the .co files, as README.md");
ABSL_FLAG(std::vector<std::string>, kernels,
          std::vector<std::string>({"fmha_v3_fwd/fwd_hd128_bf16_causal"}),
          "names of the table in aiter_kernel.cc, by comma");
ABSL_FLAG(std::vector<std::string>, seqlens,
          std::vector<std::string>({"1024", "4096"}),
          "lengths of queries and keys, by comma");
ABSL_FLAG(int32_t, batch, 1, "sequences");
ABSL_FLAG(int32_t, heads, 16, "query heads");
ABSL_FLAG(int32_t, heads_kv, 0, "key heads; 0: as many as query heads");
ABSL_FLAG(std::string, cycle_constants, "",
          "file of constants of the cycle model; empty: the defaults");
ABSL_FLAG(
    std::string, clock, "",
    "shader clock: line (a fit for BF16 attention), toggling, or a number "
    "of GHz; empty: line for BF16, 1.7 for other formats");
ABSL_FLAG(int32_t, threads, 0, "of the host; 0: one a core");

namespace zyfa::peers {
namespace {

absl::StatusOr<const AiterKernel*> FindByName(const std::string& name) {
  for (const AiterKernel& kernel : AiterKernels()) {
    if (Name(kernel) == name) return &kernel;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--kernels has ", name, "; allowed: names of aiter_kernel.cc"));
}

absl::StatusOr<std::unique_ptr<emu::CodeObject>> LoadCode(
    const AiterKernel& kernel) {
  const std::string folder = absl::GetFlag(FLAGS_code_objects);
  if (folder.empty()) {
    return absl::InvalidArgumentError("--code_objects is missing");
  }
  return emu::LoadCodeObject(absl::StrCat(folder, "/", FlatFileName(kernel)));
}

absl::StatusOr<AiterProblem> ProblemOf(const std::string& text) {
  int64_t seqlen = 0;
  if (!absl::SimpleAtoi(text, &seqlen)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seqlens has ", text, "; allowed: whole numbers"));
  }
  const int32_t batch = absl::GetFlag(FLAGS_batch);
  if (batch < 1 || batch > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch is ", batch, "; allowed: 1 to 1024"));
  }
  const int64_t heads_kv = absl::GetFlag(FLAGS_heads_kv);
  AiterProblem problem;
  problem.sequences.assign(static_cast<size_t>(batch), {seqlen, seqlen});
  problem.heads_q = absl::GetFlag(FLAGS_heads);
  problem.heads_kv = heads_kv == 0 ? problem.heads_q : heads_kv;
  return problem;
}

absl::StatusOr<emu::KernelTimeOptions> OptionsFor(const AiterKernel& kernel) {
  emu::KernelTimeOptions options = AiterTimeOptions(kernel);
  options.threads = absl::GetFlag(FLAGS_threads);
  const absl::StatusOr<emu::CycleConstants> constants =
      emu::LoadCycleConstants(absl::GetFlag(FLAGS_cycle_constants));
  if (!constants.ok()) return constants.status();
  options.constants = *constants;
  if (!absl::GetFlag(FLAGS_clock).empty()) {
    const absl::StatusOr<emu::KernelClock> clock =
        emu::ParseKernelClock(absl::GetFlag(FLAGS_clock));
    if (!clock.ok()) return clock.status();
    options.clock = *clock;
  }
  return options;
}

absl::Status PrintAll() {
  absl::PrintF("Modelled time of whole launches.\n");
  const absl::StatusOr<emu::CycleConstants> constants =
      emu::LoadCycleConstants(absl::GetFlag(FLAGS_cycle_constants));
  if (!constants.ok()) return constants.status();
  for (const std::string& changed : emu::ChangedConstants(*constants)) {
    absl::PrintF("Constant changed: %s\n", changed);
  }
  absl::PrintF("%-38s %-16s %10s %12s %6s %6s %5s %8s %6s  %s\n", "kernel",
               "shape", "ms", "clocks", "busy", "useful", "GHz", "TFLOP/s",
               "peak", "sampled");
  for (const std::string& name : absl::GetFlag(FLAGS_kernels)) {
    const absl::StatusOr<const AiterKernel*> kernel = FindByName(name);
    if (!kernel.ok()) return kernel.status();
    const absl::StatusOr<emu::KernelTimeOptions> options = OptionsFor(**kernel);
    if (!options.ok()) return options.status();
    const auto code = LoadCode(**kernel);
    if (!code.ok()) return code.status();
    for (const std::string& seqlen : absl::GetFlag(FLAGS_seqlens)) {
      const absl::StatusOr<AiterProblem> problem = ProblemOf(seqlen);
      if (!problem.ok()) return problem.status();
      const absl::StatusOr<emu::KernelTime> time =
          ModelAiterTime(**kernel, **code, *problem, *options);
      if (!time.ok()) return time.status();
      absl::PrintF(
          "%-38s %-16s %10.4f %12.0f %5.1f%% %5.1f%% %5.2f %8.1f %5.1f%%  "
          "%d of %d\n",
          name,
          absl::StrCat(problem->sequences.size(), "x", problem->heads_q, "/",
                       problem->heads_kv, " ", seqlen),
          time->milliseconds, time->clocks, 100 * time->activity.matrix_busy,
          100 * time->useful_busy, time->clock_ghz, time->tflops,
          100 * time->peak_share, time->samples.size(), time->works);
      std::fflush(stdout);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace zyfa::peers

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "aiter_time --code_objects=DIR: what the cycle model says of AITER's "
      "attention kernels on an MI355X. Everything is modelled. Status 1 if a "
      "flag cannot be parsed, 2 if a flag or a file is wrong.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  absl::Status status;
  if (positional.size() > 1) {
    status = absl::InvalidArgumentError(
        absl::StrCat("unexpected argument '", positional[1],
                     "'; allowed are flags, see --help"));
  } else {
    status = zyfa::peers::PrintAll();
  }
  status.Update(zyfa::cli::FlushOutput());
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "aiter_time: %s\n", std::string(status.message()));
  return 2;
}
