// Runs one launch of any gfx950 code object on the emulator.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/inspect/breakpoint.h"
#include "zyfa/emu/inspect/trace.h"
#include "zyfa/emu/launch_file.h"
#include "zyfa/emu/report_json.h"
#include "zyfa/emu/run_flags.h"
#include "zyfa/emu/schedules.h"

ABSL_FLAG(std::string, launch, "",
          "file with a zyfa.emu.Launch message in protobuf text format");
ABSL_FLAG(std::string, summary, "", "file that gets counts and findings, JSON");
ABSL_FLAG(bool, strict, true,
          "check wait states, races and undefined values; results do not "
          "depend on it, only speed");
ABSL_FLAG(bool, all_schedules, false,
          "run under every wave order and landing moment and compare memory");
ABSL_FLAG(std::string, trace, "",
          "file that gets a line for every instruction of --group");
ABSL_FLAG(std::string, break, "",
          "byte of .text, such as 0x1a4: show --dump of --wave there");
ABSL_FLAG(uint64_t, hit, 1, "at which arrival at --break");
ABSL_FLAG(std::string, dump, "s0:31",
          "what --break shows: v0:7,a3,s0:31,lds0:255");
ABSL_FLAG(
    uint32_t, group, 0,
    "number of the work-group that --trace and --break follow, x fastest");
ABSL_FLAG(int, wave, -1,
          "its wave; -1 is all of them for --trace and wave 0 for --break");

namespace zyfa::emu {
namespace {

absl::StatusOr<RunOptions> OptionsFromFlags() {
  absl::StatusOr<RunOptions> options = RunOptionsFromFlags();
  if (!options.ok()) return options;
  options->strict = absl::GetFlag(FLAGS_strict);
  const int wave = absl::GetFlag(FLAGS_wave);
  if (wave < -1 || wave > 15) {
    return absl::InvalidArgumentError(
        absl::StrCat("--wave is ", wave, ", -1 to 15 are allowed"));
  }
  return options;
}

// nullptr without --trace.
absl::StatusOr<std::unique_ptr<TraceWriter>> OpenTrace() {
  const std::string path = absl::GetFlag(FLAGS_trace);
  if (path.empty()) return nullptr;
  if (absl::GetFlag(FLAGS_all_schedules)) {
    return absl::InvalidArgumentError(
        "--trace follows one run, --all_schedules makes several");
  }
  return TraceWriter::Open(path, absl::GetFlag(FLAGS_group),
                           absl::GetFlag(FLAGS_wave));
}

// nullptr without --break.
absl::StatusOr<std::unique_ptr<Breakpoint>> MakeBreakpoint() {
  const std::string pc = absl::GetFlag(FLAGS_break);
  if (pc.empty()) return nullptr;
  if (absl::GetFlag(FLAGS_all_schedules)) {
    return absl::InvalidArgumentError(
        "--break follows one run, --all_schedules makes several");
  }
  Breakpoint::Place place;
  if (!absl::SimpleHexAtoi(pc, &place.pc)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--break is '", pc, "', allowed: a hexadecimal byte of .text"));
  }
  place.hit = absl::GetFlag(FLAGS_hit);
  if (place.hit == 0) {
    return absl::InvalidArgumentError("--hit is 0, at least 1 is needed");
  }
  place.group = absl::GetFlag(FLAGS_group);
  place.wave = std::max(0, absl::GetFlag(FLAGS_wave));
  absl::StatusOr<std::vector<DumpRange>> ranges =
      ParseDump(absl::GetFlag(FLAGS_dump));
  if (!ranges.ok()) return ranges.status();
  return std::make_unique<Breakpoint>(place, *std::move(ranges));
}

// Runs the launch; `clean` tells whether it ended without an error finding.
absl::Status RunFromFlags(bool& clean) {
  absl::StatusOr<RunOptions> options = OptionsFromFlags();
  if (!options.ok()) return options.status();
  const std::string path = absl::GetFlag(FLAGS_launch);
  if (path.empty()) return absl::InvalidArgumentError("--launch is missing");
  DeviceMemory memory;
  absl::StatusOr<PreparedLaunch> prepared = LoadLaunch(path, memory);
  if (!prepared.ok()) return prepared.status();
  auto code = CodeObject::Load(prepared->code_object);
  if (!code.ok()) return code.status();
  const uint32_t* grid = prepared->shape.grid;
  const uint64_t groups = uint64_t{grid[0]} * grid[1] * grid[2];
  if (absl::GetFlag(FLAGS_group) >= groups) {
    return absl::InvalidArgumentError(
        absl::StrCat("--group is ", absl::GetFlag(FLAGS_group),
                     ", the launch has ", groups, " work-groups"));
  }
  absl::StatusOr<std::unique_ptr<TraceWriter>> trace = OpenTrace();
  if (!trace.ok()) return trace.status();
  if (*trace != nullptr) options->observers.push_back(trace->get());
  absl::StatusOr<std::unique_ptr<Breakpoint>> breakpoint = MakeBreakpoint();
  if (!breakpoint.ok()) return breakpoint.status();
  if (*breakpoint != nullptr) options->observers.push_back(breakpoint->get());

  const auto run =
      absl::GetFlag(FLAGS_all_schedules) ? RunUnderAllSchedules : Run;
  absl::StatusOr<RunReport> report =
      run(**code, prepared->kernel, prepared->shape, prepared->kernarg, memory,
          *options);
  if (!report.ok()) return report.status();
  if (*breakpoint != nullptr) {
    if ((*breakpoint)->text().empty()) {
      std::fprintf(stderr, "run: the wave never came to --break\n");
    }
    std::fputs((*breakpoint)->text().c_str(), stderr);
  }

  clean = !report->has_errors();
  for (const Finding& finding : report->findings) {
    std::fprintf(stderr, "%s\n", FindingToText(finding).c_str());
  }
  const std::string json = ReportToJson(*report);
  std::fputs(json.c_str(), stdout);
  const std::string summary = absl::GetFlag(FLAGS_summary);
  if (!summary.empty()) {
    absl::Status status = WriteBytes(
        summary, reinterpret_cast<const uint8_t*>(json.data()), json.size());
    if (!status.ok()) return status;
  }
  return WriteOutputs(*prepared, memory);
}

}  // namespace
}  // namespace zyfa::emu

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "run --launch=FILE [--summary=FILE]: runs a gfx950 kernel on the "
      "emulator. Exit status 0 if it ran to its end without an error-level "
      "finding, 1 if not or if a flag cannot be parsed, 2 if it could not be "
      "run.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(
        stderr,
        "run: unexpected argument '%s'; allowed are flags, see --help\n",
        positional[1]);
    return 2;
  }
  bool clean = false;
  absl::Status status = zyfa::emu::RunFromFlags(clean);
  status.Update(zyfa::cli::FlushOutput());
  if (!status.ok()) {
    std::fprintf(stderr, "run: %s\n", status.ToString().c_str());
    return 2;
  }
  return clean ? 0 : 1;
}
