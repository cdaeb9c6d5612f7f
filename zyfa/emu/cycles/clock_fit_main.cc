// Fits the clock model to the published points and prints docs/clock-fit.md.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/clock_fit.h"

namespace {

absl::Status Print(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  const std::string text((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  auto points = zyfa::emu::ParseClockPoints(text);
  if (!points.ok()) return points.status();
  auto fit = zyfa::emu::FitClock(*points);
  if (!fit.ok()) return fit.status();
  std::cout << zyfa::emu::ClockFitPage(*points, *fit);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: clock_fit POINTS\n");
    return 2;
  }
  const absl::Status status = Print(argv[1]);
  if (!status.ok()) {
    std::fprintf(stderr, "clock_fit: %s\n", status.ToString().c_str());
    return 2;
  }
  return 0;
}
