// Runs one launch of any gfx950 code object on the emulator, replays
// work-groups of it on a modelled compute unit, and says what the clocks went
// to.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/code_region.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/period_csv.h"
#include "zyfa/emu/cycles/region_account.h"
#include "zyfa/emu/cycles/steady_state.h"
#include "zyfa/emu/cycles/timeline.h"
#include "zyfa/emu/cycles/trace_json.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/cycles/view_text.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/launch_file.h"
#include "zyfa/emu/report_json.h"
#include "zyfa/emu/run_flags.h"

ABSL_FLAG(std::string, launch, "",
          "file with a zyfa.emu.Launch message in protobuf text format; its "
          "'out' files are not written");
ABSL_FLAG(std::string, groups, "0",
          "work-groups to replay, in this order, by linear number (x fastest), "
          "by comma; one may come several times");
ABSL_FLAG(int, resident, 1, "work-groups that are on the compute unit at once");
ABSL_FLAG(std::string, constants, "",
          "file with lines 'name = value' that override the model's constants");
ABSL_FLAG(int, top, 20, "instructions in the table of stalls");
ABSL_FLAG(std::string, trace_json, "",
          "file that gets a timeline for chrome://tracing and Perfetto");
ABSL_FLAG(int, trace_passes, 2,
          "how many passes of the main loop's steady state --trace_json shows");
ABSL_FLAG(std::string, period_csv, "",
          "file that gets one pass of the main loop on --simd, for "
          "draw_period");
ABSL_FLAG(int, simd, 0, "SIMD of --period_csv, 0 to 3");
ABSL_FLAG(int64_t, from_clock, -1,
          "first clock of --trace_json and --period_csv, instead of passes");
ABSL_FLAG(int64_t, to_clock, -1, "their last clock; -1: the end");

namespace zyfa::emu {
namespace {

absl::Status BadFlag(const char* name, const std::string& value,
                     const std::string& allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, " is '", value, "', allowed: ", allowed));
}

absl::Status CheckNumber(const char* name, int64_t value, int64_t low,
                         int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return BadFlag(name, absl::StrCat(value), absl::StrCat(low, " to ", high));
}

absl::Status CheckFlags() {
  for (absl::Status status :
       {CheckNumber("resident", absl::GetFlag(FLAGS_resident), 1, 32),
        CheckNumber("top", absl::GetFlag(FLAGS_top), 0, 1000000),
        CheckNumber("simd", absl::GetFlag(FLAGS_simd), 0, kSimds - 1),
        CheckNumber("trace_passes", absl::GetFlag(FLAGS_trace_passes), 1,
                    1000000),
        CheckNumber("from_clock", absl::GetFlag(FLAGS_from_clock), -1,
                    int64_t{1} << 62)}) {
    if (!status.ok()) return status;
  }
  const int64_t from = absl::GetFlag(FLAGS_from_clock);
  const int64_t to = absl::GetFlag(FLAGS_to_clock);
  if (to != -1 && to <= from) {
    return BadFlag("to_clock", absl::StrCat(to),
                   absl::StrCat("-1, or more than --from_clock=", from));
  }
  return absl::OkStatus();
}

// The numbers of --groups.
absl::StatusOr<std::vector<uint32_t>> GroupsOfFlag(const uint32_t grid[3]) {
  const uint64_t count = uint64_t{grid[0]} * grid[1] * grid[2];
  const std::string flag = absl::GetFlag(FLAGS_groups);
  std::vector<uint32_t> groups;
  for (const auto piece : absl::StrSplit(flag, ',')) {
    uint32_t group = 0;
    if (!absl::SimpleAtoi(piece, &group) || group >= count) {
      return BadFlag("groups", flag,
                     absl::StrCat("numbers by comma, 0 to ", count - 1));
    }
    groups.push_back(group);
  }
  return groups;
}

// Whether --resident groups of the kernel fit on a compute unit.
absl::Status CheckResident(const KernelInfo& kernel, const LaunchShape& shape) {
  const uint64_t resident =
      static_cast<uint64_t>(absl::GetFlag(FLAGS_resident));
  const uint64_t items =
      uint64_t{shape.workgroup[0]} * shape.workgroup[1] * shape.workgroup[2];
  const uint64_t waves = (items + 63) / 64;
  const uint64_t lds = kernel.lds_bytes + uint64_t{shape.dynamic_lds_bytes};
  constexpr uint64_t kWavesPerCu = 32, kLdsBytes = 160 * 1024, kRegisters = 512;
  const uint64_t waves_per_simd = (resident * waves + kSimds - 1) / kSimds;
  if (resident > 1 &&
      (resident * waves > kWavesPerCu || resident * lds > kLdsBytes ||
       waves_per_simd * kernel.vgprs > kRegisters)) {
    return BadFlag(
        "resident", absl::StrCat(resident),
        absl::StrCat("what fits on a compute unit; a group of ", kernel.name,
                     " has ", waves, " waves of ", kernel.vgprs,
                     " registers and ", lds, " bytes of LDS"));
  }
  return absl::OkStatus();
}

// Everything that one replay needs.
struct Replay {
  TraceRecorder recorder;
  std::vector<uint32_t> groups;
  std::vector<const GroupTrace*> traces;
  ComputeUnitOptions options;

  ComputeUnitReport Run(IssueListener& listener) {
    options.listener = &listener;
    return RunComputeUnit(recorder.instructions(), traces, options);
  }
};

// Executes the groups and fills `replay`; `clean` tells whether the kernel ran
// without an error-level finding.
absl::Status Record(const CodeObject& code, const PreparedLaunch& launch,
                    DeviceMemory& memory, Replay& replay, bool& clean) {
  absl::StatusOr<RunOptions> options = RunOptionsFromFlags();
  if (!options.ok()) return options.status();
  options->groups.assign(replay.groups.begin(), replay.groups.end());
  std::sort(options->groups.begin(), options->groups.end());
  options->groups.erase(
      std::unique(options->groups.begin(), options->groups.end()),
      options->groups.end());
  options->observers.push_back(&replay.recorder);
  const absl::StatusOr<RunReport> report = emu::Run(
      code, launch.kernel, launch.shape, launch.kernarg, memory, *options);
  if (!report.ok()) return report.status();
  clean = !report->has_errors();
  for (const Finding& finding : report->findings) {
    std::fprintf(stderr, "%s\n", FindingToText(finding).c_str());
  }
  if (!clean) return absl::OkStatus();
  for (const uint32_t group : replay.groups) {
    replay.traces.push_back(&replay.recorder.groups().at(group));
  }
  replay.options.auxiliary = replay.recorder.auxiliary();
  return absl::OkStatus();
}

absl::Status WriteText(const std::string& path, const std::string& text) {
  return WriteBytes(path, reinterpret_cast<const uint8_t*>(text.data()),
                    text.size());
}

// The window of the flags, else that many passes of the main loop, else all.
ClockWindow WindowOf(const ComputeUnitReport& report,
                     const std::vector<TracedLoop>& loops, size_t simd,
                     uint64_t passes) {
  const int64_t from = absl::GetFlag(FLAGS_from_clock);
  const int64_t to = absl::GetFlag(FLAGS_to_clock);
  ClockWindow all = {0, report.clocks + 4};
  if (from >= 0 || to >= 0) {
    if (from > 0) all.from = static_cast<uint64_t>(from);
    if (to >= 0) all.to = std::min(all.to, static_cast<uint64_t>(to));
    return all;
  }
  if (loops.empty()) return all;
  return SteadyWindow(report, loops.front().head, simd, passes).value_or(all);
}

absl::Status WriteTimelines(const ComputeUnitReport& report,
                            const std::vector<TracedLoop>& loops,
                            const TimelineNames& names, Replay& replay) {
  const int64_t from = absl::GetFlag(FLAGS_from_clock);
  if (from >= 0 && static_cast<uint64_t>(from) >= report.clocks) {
    return BadFlag("from_clock", absl::StrCat(from),
                   absl::StrCat("less than ", report.clocks,
                                ", the clocks of these work-groups"));
  }
  const std::string json_path = absl::GetFlag(FLAGS_trace_json);
  if (!json_path.empty()) {
    const auto passes =
        static_cast<uint64_t>(absl::GetFlag(FLAGS_trace_passes));
    Timeline timeline(names.instructions, WindowOf(report, loops, 0, passes));
    replay.Run(timeline);
    timeline.Finish();
    const absl::StatusOr<std::string> json = TraceEventJson(timeline, names);
    if (!json.ok()) return json.status();
    if (absl::Status status = WriteText(json_path, *json); !status.ok()) {
      return status;
    }
  }
  const std::string csv_path = absl::GetFlag(FLAGS_period_csv);
  if (csv_path.empty()) return absl::OkStatus();
  const auto simd = static_cast<size_t>(absl::GetFlag(FLAGS_simd));
  Timeline timeline(names.instructions, WindowOf(report, loops, simd, 1));
  replay.Run(timeline);
  timeline.Finish();
  return WriteText(csv_path,
                   PeriodCsv(timeline, names, replay.options.auxiliary, simd));
}

void PrintTables(const ComputeUnitReport& report, const RegionAccount& account,
                 const std::vector<TracedLoop>& loops, size_t first_loop,
                 const Replay& replay) {
  std::vector<SteadyState> steady(first_loop);
  for (const TracedLoop& loop : loops) {
    steady.push_back(MeanSteadyState(report, loop.head));
  }
  std::printf(
      "\nClocks, passes and instructions of a wave; shares of its clocks in "
      "which the SIMD's\npipes were busy, with whichever wave's instructions, "
      "and with its own\n%s",
      RegionTable(account, steady).c_str());
  std::printf("\nClocks of a wave, a pass of each region\n%s",
              StallTable("region", RowsOfRegions(account)).c_str());
  const auto groups = static_cast<double>(replay.groups.size());
  std::printf("\nClocks of each wave, whole kernel\n%s",
              StallTable("wave", RowsOfWaves(account.waves(), groups)).c_str());
  if (!loops.empty()) {
    const CodeRegion& loop = account.regions()[first_loop];
    const double passes =
        static_cast<double>(account.use()[first_loop].passes) /
        static_cast<double>(account.wave_count());
    std::printf(
        "\nClocks of each wave, a pass of %s\n%s", loop.name.c_str(),
        StallTable("wave", RowsOfWaves(account.WavesIn(loop), groups * passes))
            .c_str());
  }
  const auto top = static_cast<size_t>(absl::GetFlag(FLAGS_top));
  if (top == 0) return;
  std::printf("\nInstructions that waited most, all waves together\n%s",
              TopTable(report, replay.recorder.instructions(), top).c_str());
}

absl::Status ModelFromFlags(bool& clean) {
  if (absl::Status status = CheckFlags(); !status.ok()) return status;
  const std::string path = absl::GetFlag(FLAGS_launch);
  if (path.empty()) return absl::InvalidArgumentError("--launch is missing");
  Replay replay;
  const std::string overrides = absl::GetFlag(FLAGS_constants);
  const absl::StatusOr<CycleConstants> constants =
      LoadCycleConstants(overrides);
  if (!constants.ok()) {
    return absl::Status(
        constants.status().code(),
        absl::StrCat("--constants: ", constants.status().message()));
  }
  replay.options.constants = *constants;
  replay.options.resident = absl::GetFlag(FLAGS_resident);

  DeviceMemory memory;
  const absl::StatusOr<PreparedLaunch> launch = LoadLaunch(path, memory);
  if (!launch.ok()) return launch.status();
  const auto code = CodeObject::Load(launch->code_object);
  if (!code.ok()) return code.status();
  absl::StatusOr<std::vector<uint32_t>> groups =
      GroupsOfFlag(launch->shape.grid);
  if (!groups.ok()) return groups.status();
  replay.groups = *std::move(groups);
  if (absl::Status status = Record(**code, *launch, memory, replay, clean);
      !status.ok() || !clean) {
    return status;
  }
  const KernelInfo& kernel = *(*code)->FindKernel(launch->kernel);
  if (absl::Status status = CheckResident(kernel, launch->shape);
      !status.ok()) {
    return status;
  }

  const GroupTrace& longest =
      **std::max_element(replay.traces.begin(), replay.traces.end(),
                         [](const GroupTrace* a, const GroupTrace* b) {
                           return a->instructions() < b->instructions();
                         });
  const std::vector<TracedLoop> loops = FindLoops(longest);
  const std::vector<InstructionTime>& instructions =
      replay.recorder.instructions();
  std::vector<CodeRegion> phases = PhasesBySymbol(**code, kernel);
  if (phases.empty()) phases = PhasesByLoop(loops, instructions);

  std::vector<CodeRegion> regions = {
      {"whole kernel", 0, static_cast<uint32_t>(instructions.size())}};
  std::vector<CodeRegion> whole_loops;
  for (const TracedLoop& loop : loops) {
    whole_loops.push_back(RegionOf(loop, instructions));
    replay.options.marked_steps.push_back(loop.head);
  }
  for (CodeRegion phase : phases) {
    const bool is_loop = std::any_of(
        whole_loops.begin(), whole_loops.end(),
        [&phase](const CodeRegion& loop) { return loop.name == phase.name; });
    if (is_loop) continue;
    phase.name = absl::StrCat("phase ", phase.name);
    regions.push_back(std::move(phase));
  }
  const size_t first_loop = regions.size();
  regions.insert(regions.end(), whole_loops.begin(), whole_loops.end());
  RegionAccount account(instructions, replay.options.auxiliary,
                        std::move(regions));
  const ComputeUnitReport report = replay.Run(account);
  account.Finish();

  std::printf(
      "modelled: %s, work-group %s of the launch on one compute unit, %d at "
      "once, constants: %s\n%llu clocks, %llu instructions of %llu waves\n",
      kernel.name.c_str(), absl::StrJoin(replay.groups, ",").c_str(),
      replay.options.resident,
      overrides.empty() ? "defaults" : overrides.c_str(),
      static_cast<unsigned long long>(report.clocks),
      static_cast<unsigned long long>(report.instructions),
      static_cast<unsigned long long>(account.wave_count()));
  PrintTables(report, account, loops, first_loop, replay);
  const TimelineNames names = {kernel.name, instructions, phases,
                               replay.groups};
  return WriteTimelines(report, loops, names, replay);
}

}  // namespace
}  // namespace zyfa::emu

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "model --launch=FILE [--groups=0,1] [--trace_json=FILE]: runs "
      "work-groups "
      "of a gfx950 kernel on the emulator, replays them on a modelled compute "
      "unit and prints where its clocks go. Exit status 0 if all went well, 1 "
      "if the kernel had an error-level finding or a flag cannot be parsed, 2 "
      "if it could not be run.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(
        stderr,
        "model: unexpected argument '%s'; allowed are flags, see --help\n",
        positional[1]);
    return 2;
  }
  bool clean = false;
  absl::Status status = zyfa::emu::ModelFromFlags(clean);
  status.Update(zyfa::cli::FlushOutput());
  if (!status.ok()) {
    std::fprintf(stderr, "model: %s\n", status.ToString().c_str());
    return 2;
  }
  return clean ? 0 : 1;
}
