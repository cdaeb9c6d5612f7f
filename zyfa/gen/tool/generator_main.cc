#include "zyfa/gen/tool/generator_main.h"

#include <cstdio>
#include <fstream>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

ABSL_FLAG(std::string, variant, "", "name of the kernel");
ABSL_FLAG(std::string, out, "", "assembly file to write");

namespace zyfa::gen {
namespace {

absl::Status Write(const std::string& text, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    return absl::UnavailableError(
        absl::StrCat("--out: cannot write '", path, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

int GeneratorMain(
    int argc, char** argv, const char* tool,
    const std::function<absl::StatusOr<std::string>(const std::string& name)>&
        generate) {
  absl::ParseCommandLine(argc, argv);
  const absl::StatusOr<std::string> text =
      generate(absl::GetFlag(FLAGS_variant));
  const absl::Status status =
      text.ok() ? Write(*text, absl::GetFlag(FLAGS_out)) : text.status();
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", tool, status.ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace zyfa::gen
