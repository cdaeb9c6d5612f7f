// What the units of a compute unit do while one of AITER's kernels runs: pipes,
// LDS and operand toggling, as the cycle model and the emulator have them. All
// figures are modelled. The lines are what clock_points.csv is made from.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <regex>
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
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/cycles/clock_model.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/matrix_operands.h"
#include "zyfa/emu/cycles/toggle_meter.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/real_like_operands.h"

ABSL_FLAG(std::string, code_objects, "",
          "folder with AITER's code objects, as for aiter_check");
ABSL_FLAG(std::string, kernel, "",
          "only kernels in whose name (FOLDER/FILE) this regular expression is "
          "found");
ABSL_FLAG(std::string, inputs, "gaussian",
          "gaussian, or a set of heads like real ones: M, X, V, D, E");
ABSL_FLAG(int64_t, seqlen, 4096, "queries and keys");
ABSL_FLAG(uint64_t, seed, 1, "of the inputs");
ABSL_FLAG(uint64_t, first, 0,
          "matrix instructions of each wave to leave out at the start");
ABSL_FLAG(uint64_t, count, 1 << 30, "how many to look at after that");
ABSL_FLAG(bool, steps, false, "also a line for every matrix instruction");

namespace zyfa::peers {
namespace {

// One line for each matrix instruction of the code object that ran.
void PrintSteps(const emu::FlipReport& report,
                const std::vector<emu::InstructionTime>& instructions) {
  for (size_t i = 0; i < report.steps.size(); ++i) {
    const emu::FlipCounts& counts = report.steps[i];
    if (counts.instructions == 0) continue;
    std::printf("  %#06x A %.3f B %.3f C %.3f D %.3f  %s\n",
                static_cast<unsigned>(instructions[i].address),
                counts.of(emu::MatrixOperand::kA).share(),
                counts.of(emu::MatrixOperand::kB).share(),
                counts.of(emu::MatrixOperand::kC).share(),
                counts.of(emu::MatrixOperand::kD).share(),
                instructions[i].text.c_str());
  }
}

// Runs the last work-group, whose queries see all keys.
absl::Status RunKernel(const AiterKernel& kernel) {
  const auto code = emu::LoadCodeObject(absl::StrCat(
      absl::GetFlag(FLAGS_code_objects), "/", FlatFileName(kernel)));
  if (!code.ok()) return code.status();
  const int64_t length = absl::GetFlag(FLAGS_seqlen);
  AiterProblem problem;
  problem.sequences = {{length, length}};
  problem.seed = absl::GetFlag(FLAGS_seed);
  if (absl::Status valid = Validate(kernel, problem); !valid.ok()) return valid;
  const std::string inputs = absl::GetFlag(FLAGS_inputs);
  absl::StatusOr<AiterOperands> operands =
      inputs == "gaussian" ? MakeOperands(kernel, problem)
                           : MakeRealLikeOperands(kernel, problem, inputs);
  if (!operands.ok()) return operands.status();
  emu::DeviceMemory memory;
  absl::StatusOr<AiterLaunch> launch =
      PrepareAiterLaunch(kernel, problem, *operands, memory);
  if (!launch.ok()) return launch.status();

  emu::TraceRecorder traces;
  emu::MatrixOperandRecorder kept({.first = absl::GetFlag(FLAGS_first),
                                   .count = absl::GetFlag(FLAGS_count),
                                   .max_bytes = size_t{768} << 20});
  const uint32_t* grid = launch->shape.grid;
  emu::RunOptions options;
  options.groups = {uint64_t{1} * grid[0] * grid[1] * grid[2] - 1};
  options.observers = {&traces, &kept};
  absl::StatusOr<emu::RunReport> run = emu::Run(
      **code, launch->kernel, launch->shape, launch->kernarg, memory, options);
  if (!run.ok()) return run.status();
  if (traces.groups().empty()) {
    return absl::InternalError("the work-group did not end");
  }
  const emu::GroupTrace* const trace = &traces.groups().begin()->second;
  const emu::GroupMatrixOperands* const words = &kept.groups().begin()->second;
  emu::ToggleMeter meter(traces.instructions(), {&trace, 1}, {&words, 1});
  emu::ComputeUnitOptions cu;
  cu.listener = &meter;
  emu::RunComputeUnit(traces.instructions(), {&trace, 1}, cu);
  const emu::FlipReport report = meter.Report();
  const emu::Activity& a = report.activity;
  std::printf("%s,%s,%d,%d,%.4f,%.4f,%.4f,%.2f,%.3f,%.3f,%.3f,%.3f,%.3f%s\n",
              Name(kernel).c_str(), inputs.c_str(), static_cast<int>(length),
              static_cast<int>(report.total.instructions), a.matrix_busy,
              a.vector_busy, a.lds_busy, a.flips_per_clock,
              report.total.of(emu::MatrixOperand::kA).share(),
              report.total.of(emu::MatrixOperand::kB).share(),
              report.total.of(emu::MatrixOperand::kC).share(),
              report.total.of(emu::MatrixOperand::kD).share(),
              emu::ModelledClockGhz(a, emu::ClockConstants::Defaults()),
              kept.full() ? " (operands of the end were not kept)" : "");
  if (absl::GetFlag(FLAGS_steps)) PrintSteps(report, traces.instructions());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status RunAll() {
  std::regex filter;
  try {
    filter = std::regex(absl::GetFlag(FLAGS_kernel));
  } catch (const std::regex_error& e) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kernel is '", absl::GetFlag(FLAGS_kernel),
                     "', a regular expression is allowed: ", e.what()));
  }
  const std::string folder = absl::GetFlag(FLAGS_code_objects);
  if (folder.empty()) {
    return absl::InvalidArgumentError("--code_objects is missing");
  }
  std::vector<const AiterKernel*> found;
  for (const AiterKernel& kernel : AiterKernels()) {
    std::error_code error;
    if (std::regex_search(Name(kernel), filter) &&
        std::filesystem::exists(
            std::filesystem::path(folder) / FlatFileName(kernel), error)) {
      found.push_back(&kernel);
    }
  }
  if (found.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no kernel of AITER in ", folder, " that --kernel='",
                     absl::GetFlag(FLAGS_kernel), "' selects"));
  }
  std::printf(
      "kernel,inputs,seqlen,matrix instructions,matrix busy,vector busy,LDS "
      "busy,live flips of A and B a clock,share A,share B,share C,share "
      "D,modelled "
      "GHz\n");
  for (const AiterKernel* kernel : found) {
    const absl::Status status = RunKernel(*kernel);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(Name(*kernel), ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace zyfa::peers

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "aiter_activity --code_objects=DIR: what the units of a compute unit do "
      "in "
      "AITER's gfx950 attention kernels, by the cycle model. Exit status 0, "
      "1 if a flag cannot be parsed, or 2 if a kernel could not be run.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  absl::Status status = positional.size() > 1
                            ? absl::InvalidArgumentError(absl::StrCat(
                                  "unexpected argument '", positional[1], "'"))
                            : zyfa::peers::RunAll();
  status.Update(zyfa::cli::FlushOutput());
  if (!status.ok()) {
    std::fprintf(stderr, "aiter_activity: %s\n", status.ToString().c_str());
    return 2;
  }
  return 0;
}
