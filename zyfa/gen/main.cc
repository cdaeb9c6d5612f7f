// Writes the assembly of one kernel variant.

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/attention/attention_kernel.h"
#include "zyfa/gen/fp8/fp8_kernel.h"
#include "zyfa/variant/variant.h"

ABSL_FLAG(std::string, variant, "", "kernel variant, as in bf16_d128_causal");
ABSL_FLAG(std::string, out, "", "assembly file to write");

namespace {

absl::Status WriteKernel(const std::string& name, const std::string& path) {
  absl::StatusOr<zyfa::Variant> variant = zyfa::ParseVariant(name);
  if (!variant.ok()) return variant.status();
  absl::StatusOr<std::string> text =
      variant->data_type == zyfa::DataType::kFp8
          ? zyfa::gen::GenerateFp8Kernel(*variant)
          : zyfa::gen::GenerateAttentionKernel(*variant);
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
    std::fprintf(stderr, "gen: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
