// Prints what a device does where no document is sure.

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/emu/run_flags.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/probe/fact.h"

ABSL_FLAG(std::string, device, "auto",
          "hip, emulator, or auto: HIP if it has a gfx950, else the emulator");

namespace zyfa::probe {
namespace {

absl::StatusOr<std::unique_ptr<Device>> DeviceOfFlags() {
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
  if (auto* emulator = dynamic_cast<EmulatorDevice*>(device->get())) {
    absl::StatusOr<emu::RunOptions> options = emu::RunOptionsFromFlags();
    if (!options.ok()) return options.status();
    options->strict = true;
    emulator->set_options(*options);
  }
  return device;
}

int Main() {
  const absl::StatusOr<std::unique_ptr<Device>> device = DeviceOfFlags();
  if (!device.ok()) {
    std::cerr << "zyfa_probe: " << device.status() << "\n";
    return 2;
  }
  const absl::StatusOr<std::vector<Fact>> facts = AllFacts(**device);
  if (!facts.ok()) {
    std::cerr << "zyfa_probe: " << facts.status() << "\n";
    return 2;
  }
  const DeviceProperties& properties = (*device)->properties();
  std::cout << (properties.modelled ? "modelled: " : "measured: ")
            << properties.name << ", " << properties.runtime << "\n\n"
            << FactTable(*facts);
  const absl::Status written = cli::FlushOutput();
  if (!written.ok()) {
    std::cerr << "zyfa_probe: " << written << "\n";
    return 2;
  }
  return AsNeeded(*facts) ? 0 : 1;
}

}  // namespace
}  // namespace zyfa::probe

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Runs small kernels that find out what a device does where no document "
      "is sure, and prints what was seen beside what our kernels need.\n"
      "Status: 0 if all is as they need it, 1 if something is not or a flag "
      "cannot be parsed, 2 if nothing could be run or the table not be "
      "written.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "zyfa_probe: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  return zyfa::probe::Main();
}
