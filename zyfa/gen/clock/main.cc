// Writes the assembly of one loop: clock_loop --variant=clock_fp8 --out=FILE

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/clock/clock_loop.h"

ABSL_FLAG(std::string, variant, "", "clock_bf16 or clock_fp8");
ABSL_FLAG(std::string, out, "", "assembly file to write");

namespace {

absl::Status WriteLoop(const std::string& name, const std::string& path) {
  absl::StatusOr<std::string> text = zyfa::gen::ClockLoop(name);
  if (!text.ok()) return text.status();
  std::ofstream file(path, std::ios::binary);
  file << *text;
  file.close();
  if (!file) {
    return absl::UnavailableError(
        absl::StrCat("--out: cannot write '", path, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status =
      WriteLoop(absl::GetFlag(FLAGS_variant), absl::GetFlag(FLAGS_out));
  if (!status.ok()) {
    std::fprintf(stderr, "clock_loop: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
