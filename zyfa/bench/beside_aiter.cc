#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/bench/aiter_peer.h"
#include "zyfa/bench/run_case.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/aiter_time.h"

ABSL_FLAG(std::string, code_objects, "",
          "folder of AITER's code objects, named as zyfa/peers/README.md says");
ABSL_FLAG(std::string, variants, "bf16_d128_causal,bf16_d192x128_causal",
          "kernel variants, by comma; empty: all");
ABSL_FLAG(std::string, seqlens, "1024,2048,4096,8192,16384,32768",
          "lengths of queries and keys, by comma");
ABSL_FLAG(std::string, batch, "16", "batch size");
ABSL_FLAG(std::string, heads, "16",
          "query heads and KV heads as Q/KV, or one number for both");
ABSL_FLAG(std::string, cycle_constants, "",
          "file of constants of the cycle model; empty: the defaults");

namespace zyfa::bench {
namespace {

struct Peer {
  emu::KernelTime time;
  double second_kernel = 0;  // clocks
  double clocks() const { return time.clocks + second_kernel; }
};

// Code objects of AITER's kernels for the cases.
using PeerCodes =
    std::map<const peers::AiterKernel*, std::unique_ptr<emu::CodeObject>>;

absl::StatusOr<PeerCodes> LoadPeers(const std::vector<Case>& cases) {
  const std::string folder = absl::GetFlag(FLAGS_code_objects);
  if (folder.empty()) {
    return absl::InvalidArgumentError("--code_objects is missing");
  }
  PeerCodes codes;
  for (const Case& c : cases) {
    const peers::AiterKernel* kernel = PeerOf(c.variant);
    if (kernel == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--variants has ", VariantName(c.variant),
                       "; allowed: variants for which AITER has a kernel"));
    }
    if (codes.contains(kernel)) continue;
    auto code = emu::LoadCodeObject(
        absl::StrCat(folder, "/", peers::FlatFileName(*kernel)));
    if (!code.ok()) return code.status();
    codes[kernel] = *std::move(code);
  }
  return codes;
}

absl::StatusOr<Peer> PeerTime(const Case& c, const PeerCodes& codes,
                              const emu::CycleConstants& constants) {
  const peers::AiterKernel* kernel = PeerOf(c.variant);
  peers::AiterProblem problem;
  problem.sequences.assign(static_cast<size_t>(c.batch),
                           {c.seqlen_q, c.seqlen_kv});
  problem.heads_q = c.heads_q;
  problem.heads_kv = c.heads_kv;
  emu::KernelTimeOptions options = peers::AiterTimeOptions(*kernel);
  options.constants = constants;
  const absl::StatusOr<emu::KernelTime> time =
      peers::ModelAiterTime(*kernel, *codes.at(kernel), problem, options);
  if (!time.ok()) {
    return absl::Status(time.status().code(),
                        absl::StrCat(peers::FlatFileName(*kernel), ": ",
                                     time.status().message()));
  }
  return Peer{*time, peers::SecondKernelClocks(*kernel, problem, constants,
                                               time->clock_ghz)};
}

absl::Status PrintCase(const Case& c, const PeerCodes& codes, Device& device,
                       const emu::CycleConstants& constants) {
  RunCaseOptions options;
  options.timing.only = true;
  options.timing.constants = absl::GetFlag(FLAGS_cycle_constants);
  const proto::Record ours = RunCase(c, device, options);
  if (!ours.has_clocks()) {
    return absl::InternalError(
        absl::StrCat(CaseLabel(c), ": ", ours.message()));
  }
  const absl::StatusOr<Peer> theirs = PeerTime(c, codes, constants);
  if (!theirs.ok()) return theirs.status();
  absl::PrintF(
      "%-25s %5d %4d/%-4d %6d %11.0f %5.1f%% %8.1f%% %11.0f %5.1f%% %8.1f%% "
      "%8.0f %6.3f\n",
      VariantName(c.variant), c.batch, c.heads_q, c.heads_kv, c.seqlen_q,
      ours.clocks(), 100 * ours.useful_busy(), 100 * ours.useful_occupied(),
      theirs->time.clocks, 100 * theirs->time.useful_busy,
      100 * theirs->time.useful_occupied, theirs->second_kernel,
      theirs->clocks() / ours.clocks());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Main() {
  std::vector<std::string> available;
  for (const KernelEntry& entry : AllKernels()) {
    available.emplace_back(entry.name);
  }
  const absl::StatusOr<std::vector<Case>> cases =
      ParseSweep({absl::GetFlag(FLAGS_variants), absl::GetFlag(FLAGS_seqlens),
                  absl::GetFlag(FLAGS_batch), absl::GetFlag(FLAGS_heads)},
                 available);
  if (!cases.ok()) return cases.status();
  const absl::StatusOr<emu::CycleConstants> constants =
      emu::LoadCycleConstants(absl::GetFlag(FLAGS_cycle_constants));
  if (!constants.ok()) return constants.status();
  const absl::StatusOr<PeerCodes> codes = LoadPeers(*cases);
  if (!codes.ok()) return codes.status();
  absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice("emulator");
  if (!device.ok()) return device.status();
  std::printf(
      "Modelled clocks of whole launches; ratio: AITER's over ours. Useful: QK "
      "and PV on the matrix pipes, of all clocks of all compute units; in "
      "groups: of the clocks of work-groups alone. Second: clocks of the "
      "kernel "
      "that adds up AITER's partial outputs, which the ratio includes.\n");
  for (const std::string& changed : emu::ChangedConstants(*constants)) {
    std::printf("Constant changed: %s\n", changed.c_str());
  }
  std::printf("%-25s %5s %9s %6s %11s %6s %9s %11s %6s %9s %8s %6s\n",
              "variant", "batch", "heads", "seqlen", "ours", "useful",
              "in groups", "AITER", "useful", "in groups", "second", "ratio");
  for (const Case& c : *cases) {
    const absl::Status status = PrintCase(c, *codes, **device, *constants);
    if (!status.ok()) return status;
  }
  return cli::FlushOutput();
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "beside_aiter --code_objects=DIR: our kernels and AITER's for the same "
      "shapes in one run of the cycle model. Exit status 0 if all cases were "
      "modelled, 1 if a flag cannot be parsed, 2 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(stderr, "beside_aiter: unexpected argument '%s'\n",
                 positional[1]);
    return 2;
  }
  const absl::Status status = zyfa::bench::Main();
  if (!status.ok()) {
    std::fprintf(stderr, "beside_aiter: %s\n", status.ToString().c_str());
    return 2;
  }
  return 0;
}
