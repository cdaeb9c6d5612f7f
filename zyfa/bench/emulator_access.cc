#include "zyfa/bench/emulator_access.h"

#include <algorithm>
#include <cstdint>

#include "zyfa/emu/emulator.h"
#include "zyfa/emu/finding.h"
#include "zyfa/launch/emulator_device.h"

namespace zyfa::bench {

void SetEmulatorThreads(Device& device, int threads) {
  auto* emulator = dynamic_cast<EmulatorDevice*>(&device);
  if (emulator != nullptr) emulator->set_options({.threads = threads});
}

void RecordEmulatorReport(Device& device, proto::Record& record) {
  const auto* emulator = dynamic_cast<const EmulatorDevice*>(&device);
  if (emulator == nullptr) return;
  const emu::RunReport report = emulator->last_report();
  for (const auto& [name, count] : report.instructions_by_class) {
    (*record.mutable_instructions())[name] = count;
  }
  record.set_findings(static_cast<int32_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const emu::Finding& finding) {
                      return finding.severity == emu::Severity::kError;
                    })));
  record.set_wall_seconds(report.wall_seconds);
}

}  // namespace zyfa::bench
