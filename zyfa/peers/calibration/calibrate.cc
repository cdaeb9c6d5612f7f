#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
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
#include "absl/strings/str_format.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/launch_file.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/aiter_time.h"
#include "zyfa/peers/calibration/aiter_loop.h"
#include "zyfa/peers/calibration/calibration_row.h"
#include "zyfa/peers/calibration/gluon_kernel.h"
#include "zyfa/peers/calibration/traced_loop.h"

ABSL_FLAG(std::string, aiter, "",
          "folder of AITER's code objects, named as zyfa/peers/README.md says");
ABSL_FLAG(std::string, gluon, "",
          "folder of the assembled kernels of gfx950-gluon-tutorials: FILE.co, "
          "FILE as in gluon_kernel.cc");
ABSL_FLAG(std::vector<std::string>, launches, {},
          "launch files of kernels of our own (//zyfa/bench:launch_file) whose "
          "loops stand beside AITER's, by comma");
ABSL_FLAG(std::string, constants, "",
          "file of constants of the cycle model; empty: the defaults");
ABSL_FLAG(int32_t, keys, 4096, "of the attention loops");
ABSL_FLAG(bool, whole_launches, true, "the rows in TFLOP/s too");
ABSL_FLAG(bool, sweep, false,
          "every uncertain constant at both ends of its range: effect on every "
          "loop");

namespace zyfa::peers {
namespace {

const AiterKernel* FindAiter(const std::string& name) {
  for (const AiterKernel& kernel : AiterKernels()) {
    if (Name(kernel) == name) return &kernel;
  }
  return nullptr;
}
const GluonKernel* FindGluon(const std::string& name) {
  for (const GluonKernel& kernel : GluonKernels()) {
    if (name == kernel.file) return &kernel;
  }
  return nullptr;
}

// Traces each kernel once, whatever constants it is then timed with.
class Loops {
 public:
  // nullptr: the file is not there.
  absl::StatusOr<const TracedLoop*> Of(const std::string& name) {
    const auto known = loops_.find(name);
    if (known != loops_.end()) return &known->second;
    absl::StatusOr<TracedLoop> loop = Trace(name);
    if (absl::IsNotFound(loop.status())) return nullptr;
    if (!loop.ok()) {
      return absl::Status(loop.status().code(),
                          absl::StrCat(name, ": ", loop.status().message()));
    }
    return &loops_.emplace(name, *std::move(loop)).first->second;
  }

 private:
  static absl::StatusOr<TracedLoop> Trace(const std::string& name) {
    if (const AiterKernel* kernel = FindAiter(name)) {
      const auto code = emu::LoadCodeObject(
          absl::StrCat(absl::GetFlag(FLAGS_aiter), "/", FlatFileName(*kernel)));
      if (!code.ok()) return code.status();
      return TraceAiterLoop(*kernel, **code, absl::GetFlag(FLAGS_keys));
    }
    if (const GluonKernel* kernel = FindGluon(name)) {
      const auto code = emu::LoadCodeObject(
          absl::StrCat(absl::GetFlag(FLAGS_gluon), "/", kernel->file, ".co"));
      if (!code.ok()) return code.status();
      return TraceGluonKernel(*kernel, **code);
    }
    return TraceLaunchFile(name);
  }
  static absl::StatusOr<TracedLoop> TraceLaunchFile(const std::string& path) {
    emu::DeviceMemory memory;
    const absl::StatusOr<emu::PreparedLaunch> launch =
        emu::LoadLaunch(path, memory);
    if (!launch.ok()) return launch.status();
    const auto code = emu::CodeObject::Load(launch->code_object);
    if (!code.ok()) return code.status();
    emu::TraceRecorder recorder;
    emu::RunOptions options;
    options.groups = {0};
    options.observers = {&recorder};
    const absl::StatusOr<emu::RunReport> report =
        emu::Run(**code, launch->kernel, launch->shape, launch->kernarg, memory,
                 options);
    if (!report.ok()) return report.status();
    return TracedLoopOf(recorder);
  }

  std::map<std::string, TracedLoop> loops_;
};

absl::StatusOr<double> ModelledTflops(const std::string& name,
                                      const CalibrationRow& row,
                                      const emu::CycleConstants& constants) {
  const AiterKernel* kernel = FindAiter(name);
  if (kernel == nullptr) {
    return absl::InternalError(absl::StrCat(name, " is no kernel of AITER"));
  }
  const auto code = emu::LoadCodeObject(
      absl::StrCat(absl::GetFlag(FLAGS_aiter), "/", FlatFileName(*kernel)));
  if (!code.ok()) return code.status();
  AiterProblem problem;
  problem.sequences.assign(static_cast<size_t>(row.batch),
                           {row.seqlen, row.seqlen});
  problem.heads_q = row.heads;
  problem.heads_kv = row.heads_kv;
  emu::KernelTimeOptions options = AiterTimeOptions(*kernel);
  options.constants = constants;
  const absl::StatusOr<emu::KernelTime> time =
      ModelAiterTime(*kernel, **code, problem, options);
  if (!time.ok()) return time.status();
  return time->tflops;
}

bool IsLaunch(const CalibrationRow& row) {
  return row.quantity == Quantity::kTflops ||
         row.quantity == Quantity::kCausalRatio;
}

// nullopt: the kernel's file is not there.
absl::StatusOr<std::optional<double>> Modelled(
    const CalibrationRow& row, const emu::CycleConstants& constants,
    Loops& loops) {
  if (IsLaunch(row)) {
    absl::StatusOr<double> tflops = ModelledTflops(row.kernel, row, constants);
    if (absl::IsNotFound(tflops.status())) return std::nullopt;
    if (!tflops.ok()) return tflops.status();
    if (row.quantity == Quantity::kTflops) return *tflops;
    const std::string causal = "_causal";
    const absl::StatusOr<double> full =
        ModelledTflops(row.kernel.substr(0, row.kernel.size() - causal.size()),
                       row, constants);
    if (!full.ok()) return full.status();
    return *tflops / *full;
  }
  const absl::StatusOr<const TracedLoop*> loop = loops.Of(row.kernel);
  if (!loop.ok()) return loop.status();
  if (*loop == nullptr) return std::nullopt;
  if (row.quantity == Quantity::kReadClocks) {
    return TimeReads(**loop, constants);
  }
  const emu::SteadyState state = TimeLoop(**loop, constants);
  return row.quantity == Quantity::kLoopBusy ? state.matrix_busy
                                             : state.clocks_per_pass;
}

std::string Figure(double value) {
  return absl::StrFormat(value < 10 ? "%.3f" : "%.0f", value);
}

std::string Shape(const CalibrationRow& row) {
  return IsLaunch(row) ? absl::StrFormat(", B%d H%d/%d, %d", row.batch,
                                         row.heads, row.heads_kv, row.seqlen)
                       : std::string();
}

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle]
                                : (values[middle - 1] + values[middle]) / 2;
}

absl::Status PrintRows(const emu::CycleConstants& constants, Loops& loops) {
  std::printf(
      "| kernel | quantity | published | modelled | ratio | source |\n"
      "| --- | --- | ---: | ---: | ---: | --- |\n");
  std::vector<double> errors;
  std::vector<std::string> reasons;
  int missing = 0;
  for (const CalibrationRow& row : CalibrationRows()) {
    if (IsLaunch(row) && !absl::GetFlag(FLAGS_whole_launches)) continue;
    const absl::StatusOr<std::optional<double>> modelled =
        Modelled(row, constants, loops);
    if (!modelled.ok()) return modelled.status();
    if (!modelled->has_value()) {
      ++missing;
      continue;
    }
    const double ratio = **modelled / row.published;
    std::printf("| %s%s%s | %s | %s | %s | %.3f | %s |\n", row.kernel.c_str(),
                Shape(row).c_str(), row.blind ? " (blind)" : "",
                QuantityName(row.quantity), Figure(row.published).c_str(),
                Figure(**modelled).c_str(), ratio, row.source.c_str());
    std::fflush(stdout);
    errors.push_back(std::abs(ratio - 1));
    if (errors.back() > 0.15) {
      reasons.push_back(
          absl::StrFormat("%s%s, %.3f: %s", row.kernel, Shape(row), ratio,
                          row.reason.empty() ? "no reason known" : row.reason));
    }
  }
  if (errors.empty()) {
    return absl::NotFoundError(
        "--aiter and --gluon: none of the kernels is there");
  }
  std::printf(
      "\n%d rows, median absolute error %.1f %%, largest %.1f %%; %d files "
      "missing.\n",
      static_cast<int>(errors.size()), 100 * Median(errors),
      100 * *std::max_element(errors.begin(), errors.end()), missing);
  if (!reasons.empty()) std::printf("\nAbove 15 %%:\n\n");
  for (const std::string& reason : reasons) {
    std::printf("- %s\n", reason.c_str());
  }
  return absl::OkStatus();
}

// The loops of the sweep: those of the rows and of our own kernels.
std::vector<std::string> SweptLoops() {
  std::vector<std::string> names;
  for (const CalibrationRow& row : CalibrationRows()) {
    if (row.quantity == Quantity::kLoopClocks) names.push_back(row.kernel);
  }
  names.emplace_back("fmha_v3_fwd/fwd_hd128_bf16");
  names.emplace_back("fmha_v3_fwd/fwd_hd192_hd128_bf16");
  for (const std::string& path : absl::GetFlag(FLAGS_launches)) {
    names.push_back(path);
  }
  return names;
}

// A launch file by the name of its folder, others by their own.
std::string ShortName(const std::string& name) {
  const std::filesystem::path path(name);
  return path.extension() == ".textproto"
             ? path.parent_path().filename().string()
             : name;
}

absl::Status PrintSweep(const emu::CycleConstants& constants, Loops& loops) {
  std::vector<std::pair<std::string, const TracedLoop*>> traced;
  for (const std::string& name : SweptLoops()) {
    const absl::StatusOr<const TracedLoop*> loop = loops.Of(name);
    if (!loop.ok()) return loop.status();
    if (*loop != nullptr) traced.emplace_back(ShortName(name), *loop);
  }
  std::vector<double> defaults;
  std::printf("\nClocks of a loop pass over those at the defaults.\n\n|");
  for (const auto& [name, loop] : traced) std::printf(" | %s", name.c_str());
  std::printf(" |\n| ---");
  for (size_t i = 0; i < traced.size(); ++i) std::printf(" | ---:");
  std::printf(" |\n| defaults, clk");
  for (const auto& [name, loop] : traced) {
    defaults.push_back(TimeLoop(*loop, constants).clocks_per_pass);
    std::printf(" | %.0f", defaults.back());
  }
  std::printf(" |\n");
  for (const emu::CycleConstant& constant : emu::CycleConstantTable()) {
    for (const double value : {constant.low, constant.high}) {
      if (value == constants.*constant.field) continue;
      emu::CycleConstants changed = constants;
      changed.*constant.field = value;
      std::vector<double> ratios;
      bool moves = false;
      for (size_t i = 0; i < traced.size(); ++i) {
        ratios.push_back(TimeLoop(*traced[i].second, changed).clocks_per_pass /
                         defaults[i]);
        moves |= std::abs(ratios.back() - 1) >= 0.0005;
      }
      std::printf("| %s = %g", constant.name, value);
      if (!moves) {
        std::printf(" | no loop moves |\n");
        continue;
      }
      for (const double ratio : ratios) std::printf(" | %.3f", ratio);
      std::printf(" |\n");
      std::fflush(stdout);
    }
  }
  return absl::OkStatus();
}

absl::Status Main() {
  const absl::StatusOr<emu::CycleConstants> constants =
      emu::LoadCycleConstants(absl::GetFlag(FLAGS_constants));
  if (!constants.ok()) return constants.status();
  if (absl::GetFlag(FLAGS_keys) < 2048 || absl::GetFlag(FLAGS_keys) > 65536) {
    return absl::InvalidArgumentError(
        absl::StrCat("--keys is ", absl::GetFlag(FLAGS_keys),
                     "; allowed: 2048 to 65536, so that loops settle"));
  }
  for (const std::string& changed : emu::ChangedConstants(*constants)) {
    std::printf("Constant changed: %s\n\n", changed.c_str());
  }
  Loops loops;
  const absl::Status status = PrintRows(*constants, loops);
  if (!status.ok() || !absl::GetFlag(FLAGS_sweep)) return status;
  return PrintSweep(*constants, loops);
}

}  // namespace
}  // namespace zyfa::peers

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "calibrate --aiter=DIR --gluon=DIR: other people's kernels in the cycle "
      "model against published figures, as a Markdown table. Kernels whose "
      "files are missing are left out. Exit status 0 if there was any, 1 if "
      "a flag cannot be parsed, 2 if not or if a flag or a file is wrong.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(stderr, "calibrate: unexpected argument '%s'\n",
                 positional[1]);
    return 2;
  }
  absl::Status status = zyfa::peers::Main();
  status.Update(zyfa::cli::FlushOutput());
  if (!status.ok()) {
    std::fprintf(stderr, "calibrate: %s\n", status.ToString().c_str());
    return 2;
  }
  return 0;
}
