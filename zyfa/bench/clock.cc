// The shader clock under loops of matrix instructions whose operands stay the
// same or change at every instruction: measured on a GPU, modelled elsewhere.

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
#include "zyfa/bench/clock_case.h"
#include "zyfa/bench/open_records.h"
#include "zyfa/bench/outcome.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/proto/record_file.h"

ABSL_FLAG(std::string, device, "auto",
          "auto (a GPU if there is one, else the emulator), emulator or hip");
ABSL_FLAG(std::string, seed, "1", "seed of the random bits, 0 to 2^32 - 1");
ABSL_FLAG(
    std::string, trips, "20000",
    "of the loop, 8 instructions each, on a GPU; timed with twice as many "
    "too");
ABSL_FLAG(std::string, warmups, "50", "launches before timing, on a GPU");
ABSL_FLAG(std::string, runs, "20", "launches that are timed, on a GPU");
ABSL_FLAG(std::string, records, "",
          "file for the records: JSON lines, or length-delimited binary if its "
          "name ends in .binpb");

namespace zyfa::bench {
namespace {

absl::StatusOr<ClockOptions> ParseOptions() {
  ClockOptions options;
  const absl::StatusOr<int64_t> seed =
      ParseNumber("seed", absl::GetFlag(FLAGS_seed), 0,
                  std::numeric_limits<uint32_t>::max());
  if (!seed.ok()) return seed.status();
  options.seed = static_cast<uint32_t>(*seed);
  struct {
    const char* name;
    std::string value;
    int low;
    int* target;
  } numbers[] = {{"trips", absl::GetFlag(FLAGS_trips), 1, &options.trips},
                 {"warmups", absl::GetFlag(FLAGS_warmups), 0, &options.warmups},
                 {"runs", absl::GetFlag(FLAGS_runs), 1, &options.runs}};
  for (const auto& number : numbers) {
    const absl::StatusOr<int64_t> parsed =
        ParseNumber(number.name, number.value, number.low, 100000000);
    if (!parsed.ok()) return parsed.status();
    *number.target = static_cast<int>(*parsed);
  }
  return options;
}

absl::Status RunAll(std::vector<proto::Record>& records) {
  const absl::StatusOr<ClockOptions> options = ParseOptions();
  if (!options.ok()) return options.status();
  absl::StatusOr<std::optional<proto::RecordFile>> file =
      OpenRecords(absl::GetFlag(FLAGS_records), false);
  if (!file.ok()) return file.status();
  const std::string kind = absl::GetFlag(FLAGS_device);
  std::string why_not_hip;
  const absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(kind, {}, &why_not_hip);
  if (!device.ok()) {
    return absl::Status(
        device.status().code(),
        absl::StrCat("--device=", kind, ": ", device.status().message()));
  }
  if (kind == "auto" && !why_not_hip.empty()) {
    std::cerr << "On the emulator: " << why_not_hip << "\n";
  }
  for (const ClockCase& c : ClockCases()) {
    records.push_back(RunClockCase(c, **device, *options));
    if (!file->has_value()) continue;
    absl::Status status = (*file)->Add(records.back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

int Main() {
  std::vector<proto::Record> records;
  const absl::Status status = RunAll(records);
  return PrintOutcome("clock", records, status);
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Runs loops of matrix instructions with constant and with random "
      "operands "
      "and prints the shader clock: on a GPU from their rate, on the emulator "
      "from the clock model (docs/clock-model.md).\nStatus: 0 if all went "
      "well, 1 if one failed or a flag cannot be parsed, 2 if nothing could be "
      "run or the table not be written.");
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "clock: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  return zyfa::bench::Main();
}
