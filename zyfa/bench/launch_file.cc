// Writes a launch of one of our kernels for //zyfa/emu:run and
// //zyfa/emu/cycles:model.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/bench/attention_launch.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/kernels/registry.h"

ABSL_FLAG(std::string, variant, "", "kernel variant, such as bf16_d128_causal");
ABSL_FLAG(std::string, seqlen, "1024", "length of queries and keys");
ABSL_FLAG(std::string, batch, "1", "batch size");
ABSL_FLAG(std::string, heads, "1/1",
          "query heads and KV heads as Q/KV, or one number for both");
ABSL_FLAG(std::string, seed, "1", "seed of the inputs, 0 to 2^32 - 1");
ABSL_FLAG(std::string, directory, "", "folder that gets the files");

namespace zyfa::bench {
namespace {

absl::Status WriteFromFlags() {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  if (directory.empty()) {
    return absl::InvalidArgumentError("--directory is missing");
  }
  const std::string variant = absl::GetFlag(FLAGS_variant);
  if (variant.empty()) {
    return absl::InvalidArgumentError("--variant is missing");
  }
  std::vector<std::string> names;
  for (const KernelEntry& kernel : AllKernels()) {
    names.emplace_back(kernel.name);
  }
  const absl::StatusOr<std::vector<Case>> cases =
      ParseSweep({.variants = variant,
                  .seqlens = absl::GetFlag(FLAGS_seqlen),
                  .batch = absl::GetFlag(FLAGS_batch),
                  .heads = absl::GetFlag(FLAGS_heads),
                  .variants_flag = "variant",
                  .seqlens_flag = "seqlen"},
                 names);
  if (!cases.ok()) return cases.status();
  if (cases->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--variant is '", variant, "', --seqlen is '",
                     absl::GetFlag(FLAGS_seqlen), "': one of each is allowed"));
  }
  const absl::StatusOr<int64_t> seed =
      ParseNumber("seed", absl::GetFlag(FLAGS_seed), 0,
                  std::numeric_limits<uint32_t>::max());
  if (!seed.ok()) return seed.status();
  return WriteAttentionLaunch(cases->front(), static_cast<uint32_t>(*seed),
                              directory);
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "launch_file --variant=bf16_d128_causal --seqlen=1024 --directory=DIR: "
      "writes DIR/launch.textproto and the files that it names. Exit status 0 "
      "if they were written, 1 if a flag cannot be parsed, 2 if not.");
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(stderr,
                 "launch_file: unexpected argument '%s'; allowed are flags, "
                 "see --help\n",
                 positional[1]);
    return 2;
  }
  const absl::Status status = zyfa::bench::WriteFromFlags();
  if (!status.ok()) {
    std::fprintf(stderr, "launch_file: %s\n", status.ToString().c_str());
    return 2;
  }
  return 0;
}
