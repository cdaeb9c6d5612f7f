// Writes the assembly of one kernel of the quantiser:
// quantize --variant=quantize_max_d128 --out=FILE

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/quantize/quantize_kernel.h"

ABSL_FLAG(std::string, variant, "", "kernel, as in quantize_max_d128");
ABSL_FLAG(std::string, out, "", "assembly file to write");

namespace {

absl::Status WriteKernel(const std::string& name, const std::string& path) {
  absl::StatusOr<std::string> text = zyfa::gen::GenerateQuantizeKernel(name);
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
      WriteKernel(absl::GetFlag(FLAGS_variant), absl::GetFlag(FLAGS_out));
  if (!status.ok()) {
    std::fprintf(stderr, "quantize: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
