// Prints docs/emulator-coverage.md.
#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/emu/coverage_report.h"

int main() {
  const absl::StatusOr<std::string> report = zyfa::emu::CoverageReport();
  if (!report.ok()) {
    std::fprintf(stderr, "%s\n", report.status().ToString().c_str());
    return 1;
  }
  std::fputs(report->c_str(), stdout);
  return 0;
}
