#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
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
#include "absl/strings/str_format.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/finding.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/aiter_shapes.h"
#include "zyfa/peers/aiter_verdict.h"
#include "zyfa/peers/known_findings.h"

ABSL_FLAG(std::string, code_objects, "",
          "folder with AITER's code objects, named FOLDER__FILE.co as in "
          "hsa/gfx950/FOLDER/FILE.co");
ABSL_FLAG(std::string, kernel, "",
          "only kernels in whose name (FOLDER/FILE) this regular expression is "
          "found");
ABSL_FLAG(int64_t, seqlen, 0, "queries; 0: the shapes of the kernel's family");
ABSL_FLAG(int64_t, seqlen_kv, 0, "keys; 0: as many as queries");
ABSL_FLAG(int64_t, batch, 1, "sequences, with --seqlen");
ABSL_FLAG(int64_t, heads, 0, "query heads, with --seqlen; 0: the fewest");
ABSL_FLAG(int64_t, heads_kv, 0, "key heads, with --seqlen; 0: as many");
ABSL_FLAG(bool, all_shapes, false, "more shapes of each kernel's family");
ABSL_FLAG(uint64_t, seed, 1, "of the inputs");
ABSL_FLAG(int, threads, 0, "host threads of the emulator; 0: one a core");
ABSL_FLAG(bool, strict, false, "check what hardware does not");
ABSL_FLAG(int, rotate, 8, "instructions of a wave before the next one's turn");
ABSL_FLAG(int, findings, 3, "findings to print of each run");
ABSL_FLAG(int64_t, rows, 1024,
          "compare at most this many query tokens of each sequence");

namespace zyfa::peers {
namespace {

// A code object on disk and the row of the table that it is.
struct Found {
  std::string path;
  const AiterKernel* kernel = nullptr;
};

absl::StatusOr<std::vector<Found>> FindKernels() {
  const std::string folder = absl::GetFlag(FLAGS_code_objects);
  if (folder.empty()) {
    return absl::InvalidArgumentError("--code_objects is missing");
  }
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot list ", folder, ": ", error.message()));
  }
  std::regex filter;
  try {
    filter = std::regex(absl::GetFlag(FLAGS_kernel));
  } catch (const std::regex_error& e) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kernel is '", absl::GetFlag(FLAGS_kernel),
                     "', a regular expression is allowed: ", e.what()));
  }
  for (const auto& file : files) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() == ".co" &&
        FindByFlatFileName(name) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path().string(),
                       " is no kernel of the table in aiter_kernel.cc"));
    }
  }
  std::vector<Found> found;
  for (const AiterKernel& kernel : AiterKernels()) {
    const std::filesystem::path path =
        std::filesystem::path(folder) / FlatFileName(kernel);
    if (std::filesystem::exists(path, error) &&
        std::regex_search(Name(kernel), filter)) {
      found.push_back({path.string(), &kernel});
    }
  }
  if (found.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no kernel of AITER in ", folder, " that --kernel='",
                     absl::GetFlag(FLAGS_kernel), "' selects"));
  }
  return found;
}

std::vector<AiterProblem> Problems(const AiterKernel& kernel) {
  std::vector<AiterProblem> problems;
  const int64_t queries = absl::GetFlag(FLAGS_seqlen);
  if (queries == 0) {
    problems = AiterShapes(kernel, absl::GetFlag(FLAGS_all_shapes));
  } else {
    AiterProblem problem;
    const int64_t keys = absl::GetFlag(FLAGS_seqlen_kv);
    problem.sequences.assign(
        static_cast<size_t>(std::max<int64_t>(absl::GetFlag(FLAGS_batch), 0)),
        {queries, keys == 0 ? queries : keys});
    problem.heads_q = absl::GetFlag(FLAGS_heads);
    if (problem.heads_q == 0) {
      problem.heads_q = std::max(kernel.head_ratio, 1);
    }
    problem.heads_kv = absl::GetFlag(FLAGS_heads_kv);
    if (problem.heads_kv == 0) {
      problem.heads_kv = problem.heads_q / std::max(kernel.head_ratio, 1);
    }
    problems.push_back(problem);
  }
  for (AiterProblem& problem : problems) {
    problem.seed = absl::GetFlag(FLAGS_seed);
  }
  return problems;
}

constexpr char kRow[] =
    "%-45s %-14s %-24s %8s %8s %6s %8s %7s %12s %8s %8s %8s %s\n";

// Runs one shape and prints its row; false if it is wrong.
absl::StatusOr<bool> RunShape(const AiterKernel& kernel,
                              const emu::CodeObject& code,
                              const AiterProblem& problem) {
  const absl::Status valid = Validate(kernel, problem);
  if (!valid.ok()) return valid;
  const AiterOperands operands = MakeOperands(kernel, problem);
  emu::DeviceMemory memory;
  absl::StatusOr<AiterLaunch> launch =
      PrepareAiterLaunch(kernel, problem, operands, memory);
  if (!launch.ok()) return launch.status();
  // Rotating waves with loads into LDS landing at once is the order of time
  // that AITER's kernels rely on (cdna4-isa 5.3).
  emu::RunOptions options;
  options.wave_order = emu::WaveOrder::kRotate;
  options.rotate_instructions = absl::GetFlag(FLAGS_rotate);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.strict = absl::GetFlag(FLAGS_strict);
  absl::StatusOr<emu::RunReport> report = emu::Run(
      code, launch->kernel, launch->shape, launch->kernarg, memory, options);
  if (!report.ok()) return report.status();
  absl::StatusOr<AiterVerdict> verdict = JudgeAiterLaunch(
      kernel, problem, operands, *launch, memory, absl::GetFlag(FLAGS_rows));
  if (!verdict.ok()) return verdict.status();

  int errors = 0;
  int known = 0;
  for (const emu::Finding& finding : report->findings) {
    if (finding.severity != emu::Severity::kError) continue;
    ++(Explain(kernel, finding) != nullptr ? known : errors);
  }
  const bool ok = errors == 0 && verdict->ok();
  const double seconds = report->wall_seconds;
  std::printf(
      kRow, Name(kernel).c_str(), FormatsName(kernel).c_str(),
      ShapeName(problem).c_str(),
      absl::StrFormat("%.2g", verdict->max_error).c_str(),
      verdict->limit.has_value()
          ? absl::StrFormat("%.2g", *verdict->limit).c_str()
          : "-",
      absl::StrFormat("%.2f", verdict->max_share).c_str(),
      absl::StrFormat("%.2g", verdict->max_output).c_str(),
      launch->lse != 0 ? absl::StrFormat("%.0e", verdict->max_lse_error).c_str()
                       : "-",
      absl::StrFormat(
          "%d/%d/%d", errors, known,
          static_cast<int>(report->findings.size()) - errors - known)
          .c_str(),
      absl::StrFormat("%.2f", seconds).c_str(),
      absl::StrFormat("%.2g", MultiplyAdds(kernel, problem) / seconds).c_str(),
      absl::StrFormat("%.2g",
                      static_cast<double>(report->instructions) * 64 / seconds)
          .c_str(),
      ok ? "ok" : "WRONG");
  int shown = 0;
  for (const emu::Finding& finding : report->findings) {
    if (++shown > absl::GetFlag(FLAGS_findings)) break;
    std::printf("    %s %s pc 0x%x '%s' group %d,%d,%d wave %d lane %d: %s\n",
                finding.severity == emu::Severity::kError ? "error" : "warning",
                finding.rule.c_str(), static_cast<unsigned>(finding.pc),
                finding.disassembly.c_str(), finding.workgroup[0],
                finding.workgroup[1], finding.workgroup[2], finding.wave,
                finding.lane, finding.detail.c_str());
  }
  std::fflush(stdout);
  return ok;
}

absl::StatusOr<bool> CheckAll() {
  absl::StatusOr<std::vector<Found>> found = FindKernels();
  if (!found.ok()) return found.status();
  std::printf(kRow, "kernel", "formats", "shape", "error", "limit", "share",
              "max |o|", "lse", "err/known/wrn", "seconds", "MAC/s", "lanes/s",
              "");
  bool all_ok = true;
  for (const Found& f : *found) {
    const auto code = emu::LoadCodeObject(f.path);
    if (!code.ok()) return code.status();
    for (const AiterProblem& problem : Problems(*f.kernel)) {
      absl::StatusOr<bool> ok = RunShape(*f.kernel, **code, problem);
      if (!ok.ok()) {
        return absl::Status(
            ok.status().code(),
            absl::StrCat(Name(*f.kernel), " ", ShapeName(problem), ": ",
                         ok.status().message()));
      }
      all_ok = all_ok && *ok;
    }
  }
  return all_ok;
}

}  // namespace
}  // namespace zyfa::peers

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "aiter_check --code_objects=DIR: runs AITER's gfx950 attention kernels "
      "on "
      "the emulator and compares them with float64 attention. Exit status 0 if "
      "all are right and have no error-level finding, 1 if not or if a flag "
      "cannot be parsed, 2 if one could not be run.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(
        stderr,
        "aiter_check: unexpected argument '%s'; allowed are flags, see "
        "--help\n",
        positional[1]);
    return 2;
  }
  const absl::StatusOr<bool> ok = zyfa::peers::CheckAll();
  absl::Status status = ok.status();
  status.Update(zyfa::cli::FlushOutput());
  if (!status.ok()) {
    std::fprintf(stderr, "aiter_check: %s\n", status.ToString().c_str());
    return 2;
  }
  return *ok ? 0 : 1;
}
