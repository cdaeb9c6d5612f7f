// Sweeps kernel variants over sequence lengths with Gaussian inputs: error
// against float64 attention, instruction counts (emulator) or time (GPU).

#include <unistd.h>

#include <cstdint>
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
#include "zyfa/bench/emulator_access.h"
#include "zyfa/bench/open_records.h"
#include "zyfa/bench/outcome.h"
#include "zyfa/bench/progress.h"
#include "zyfa/bench/run_case.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/proto/record_file.h"

ABSL_FLAG(std::string, variants, "",
          "kernel variants, by comma; empty: all of them");
ABSL_FLAG(std::string, seqlens, "1024,4096",
          "lengths of queries and keys, by comma");
ABSL_FLAG(std::string, batch, "1", "batch size");
ABSL_FLAG(std::string, heads, "1/1",
          "query heads and KV heads as Q/KV, or one number for both");
ABSL_FLAG(std::string, device, "auto",
          "auto (a GPU if there is one, else the emulator), emulator or hip");
ABSL_FLAG(std::string, seed, "1", "seed of the inputs, 0 to 2^32 - 1");
ABSL_FLAG(std::string, warmups, "500", "launches before timing, on a GPU");
ABSL_FLAG(std::string, runs, "100", "launches that are timed, on a GPU");
ABSL_FLAG(std::string, threads, "0",
          "host threads of emulator and reference; 0: one a core");
ABSL_FLAG(bool, modelled_time_only, false,
          "on the emulator: run only what the modelled time needs, a few "
          "work-groups of one head, and check no accuracy");
ABSL_FLAG(std::string, cycle_constants, "",
          "file of constants of the cycle model, lines of name = value; those "
          "left out have their defaults");
ABSL_FLAG(std::string, clock, "",
          "shader clock of modelled time; empty: line for BF16, 1.7 GHz for "
          "FP8. line (a published fit for BF16 "
          "attention, by how busy the matrix pipe is), toggling (by pipes, LDS "
          "and flips of the operands' bits), or a number of GHz");
ABSL_FLAG(std::string, records, "",
          "file for the records: JSON lines, or length-delimited binary if its "
          "name ends in .binpb");
ABSL_FLAG(bool, append, false,
          "add to the file of --records instead of replacing it");

namespace zyfa::bench {
namespace {

struct Options {
  std::vector<Case> cases;
  RunCaseOptions run;
};

std::vector<std::string> LinkedVariants() {
  std::vector<std::string> names;
  for (const KernelEntry& kernel : AllKernels()) {
    names.emplace_back(kernel.name);
  }
  return names;
}

absl::StatusOr<Options> ParseOptions() {
  Options options;
  absl::StatusOr<std::vector<Case>> cases =
      ParseSweep({.variants = absl::GetFlag(FLAGS_variants),
                  .seqlens = absl::GetFlag(FLAGS_seqlens),
                  .batch = absl::GetFlag(FLAGS_batch),
                  .heads = absl::GetFlag(FLAGS_heads)},
                 LinkedVariants());
  if (!cases.ok()) return cases.status();
  options.cases = *std::move(cases);

  const absl::StatusOr<int64_t> seed =
      ParseNumber("seed", absl::GetFlag(FLAGS_seed), 0,
                  std::numeric_limits<uint32_t>::max());
  if (!seed.ok()) return seed.status();
  options.run.seed = static_cast<uint32_t>(*seed);

  struct {
    const char* name;
    std::string value;
    int low;
    int* target;
  } numbers[] = {
      {"warmups", absl::GetFlag(FLAGS_warmups), 0, &options.run.warmups},
      {"runs", absl::GetFlag(FLAGS_runs), 1, &options.run.runs},
      {"threads", absl::GetFlag(FLAGS_threads), 0, &options.run.threads}};
  for (const auto& number : numbers) {
    const absl::StatusOr<int64_t> parsed =
        ParseNumber(number.name, number.value, number.low, 1000000);
    if (!parsed.ok()) return parsed.status();
    *number.target = static_cast<int>(*parsed);
  }
  options.run.timing = {.constants = absl::GetFlag(FLAGS_cycle_constants),
                        .clock = absl::GetFlag(FLAGS_clock),
                        .threads = options.run.threads,
                        .only = absl::GetFlag(FLAGS_modelled_time_only)};
  if (absl::Status status = CheckTiming(options.run.timing); !status.ok()) {
    return status;
  }
  return options;
}

// The device of --device.
absl::StatusOr<std::unique_ptr<Device>> OpenDeviceOfFlag(int threads) {
  const std::string kind = absl::GetFlag(FLAGS_device);
  std::string why_not_hip;
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(kind, {}, &why_not_hip);
  if (!device.ok()) {
    return absl::Status(
        device.status().code(),
        absl::StrCat("--device=", kind, ": ", device.status().message()));
  }
  if (kind == "auto" && !why_not_hip.empty()) {
    std::cerr << "On the emulator: " << why_not_hip << "\n";
  }
  SetEmulatorThreads(**device, threads);
  return device;
}

// Runs the cases and appends to `records`. An error is not a case's own
// failure, which its record tells, but the end of the sweep.
absl::Status RunSweep(std::vector<proto::Record>& records) {
  const absl::StatusOr<Options> options = ParseOptions();
  if (!options.ok()) return options.status();
  absl::StatusOr<std::optional<proto::RecordFile>> file =
      OpenRecords(absl::GetFlag(FLAGS_records), absl::GetFlag(FLAGS_append));
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDeviceOfFlag(options->run.threads);
  if (!device.ok()) return device.status();

  Progress progress(isatty(STDERR_FILENO) ? &std::cerr : nullptr,
                    static_cast<int>(options->cases.size()));
  for (const Case& c : options->cases) {
    progress.Show(static_cast<int>(records.size()), CaseLabel(c));
    records.push_back(RunCase(c, **device, options->run));
    if (!file->has_value()) continue;
    // At once, so that an interrupted sweep keeps what it has.
    absl::Status status = (*file)->Add(records.back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

int Main() {
  std::vector<proto::Record> records;
  const absl::Status status = RunSweep(records);
  return PrintOutcome("gaussian", records, status);
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Runs attention kernels on Gaussian inputs, compares them with float64 "
      "attention and prints a table.\nStatus: 0 if every case went well, 1 if "
      "one failed or was refused or a flag cannot be parsed, 2 if nothing "
      "could be run or the table not be written.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "gaussian: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  return zyfa::bench::Main();
}
