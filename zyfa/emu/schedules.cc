#include "zyfa/emu/schedules.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::emu {
namespace {

// The first byte at which two memories of the same allocations differ.
bool FirstDifference(const DeviceMemory::Content& a,
                     const DeviceMemory::Content& b, uint64_t& address) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const auto [x, y] = std::mismatch(a[i].bytes.begin(), a[i].bytes.end(),
                                      b[i].bytes.begin(), b[i].bytes.end());
    if (x == a[i].bytes.end()) continue;
    address = a[i].address + static_cast<uint64_t>(x - a[i].bytes.begin());
    return true;
  }
  return false;
}

}  // namespace

std::vector<RunOptions> AllSchedules(const RunOptions& base) {
  std::vector<RunOptions> all;
  for (const DmaLanding landing : {DmaLanding::kAtIssue, DmaLanding::kAtWait}) {
    RunOptions options = base;
    options.dma_landing = landing;
    for (const WaveOrder order :
         {WaveOrder::kAlone, WaveOrder::kAloneReversed}) {
      options.wave_order = order;
      all.push_back(options);
    }
    options.wave_order = WaveOrder::kRotate;
    for (const int instructions : {1, 8, 64}) {
      options.rotate_instructions = instructions;
      all.push_back(options);
    }
  }
  return all;
}

std::string ScheduleName(const RunOptions& options) {
  const std::string order =
      options.wave_order == WaveOrder::kAlone ? "alone"
      : options.wave_order == WaveOrder::kAloneReversed
          ? "alone reversed"
          : absl::StrCat("rotate ", options.rotate_instructions);
  return absl::StrCat(order, options.dma_landing == DmaLanding::kAtIssue
                                 ? ", landing at issue"
                                 : ", landing at the wait");
}

absl::StatusOr<RunReport> RunUnderAllSchedules(
    const CodeObject& code, const std::string& kernel, const LaunchShape& shape,
    absl::Span<const uint8_t> kernarg, DeviceMemory& memory,
    const RunOptions& base) {
  const DeviceMemory::Content before = memory.Save();
  DeviceMemory::Content first;
  RunReport report;
  std::set<std::tuple<std::string, uint64_t, Severity>> told;
  const std::vector<RunOptions> schedules = AllSchedules(base);
  for (const RunOptions& options : schedules) {
    const bool is_first = &options == &schedules.front();
    if (!is_first) memory.Restore(before);
    absl::StatusOr<RunReport> one =
        Run(code, kernel, shape, kernarg, memory, options);
    if (!one.ok()) return one.status();
    std::vector<Finding> findings = std::move(one->findings);
    one->findings.clear();
    if (is_first) report = *std::move(one);
    for (Finding& finding : findings) {
      if (!told.insert({finding.rule, finding.pc, finding.severity}).second) {
        continue;
      }
      finding.detail += absl::StrCat(" (", ScheduleName(options), ")");
      report.findings.push_back(std::move(finding));
    }
    if (is_first) {
      first = memory.Save();
      continue;
    }
    uint64_t address = 0;
    if (!FirstDifference(first, memory.Save(), address)) continue;
    Finding finding;
    finding.rule = "schedule";
    finding.kernel = kernel;
    finding.detail = absl::StrFormat(
        "memory at %#x differs between the schedules '%s' and '%s'", address,
        ScheduleName(schedules.front()), ScheduleName(options));
    report.findings.push_back(std::move(finding));
  }
  memory.Restore(first);
  return report;
}

}  // namespace zyfa::emu
