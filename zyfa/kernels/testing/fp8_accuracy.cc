// Errors of the FP8 kernels on long sequences, lean and exact P side by side
// and, with AITER's code objects at hand, beside its kernel for the same
// shapes. All on the emulator, with the same codes and descales.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/real_like_operands.h"

ABSL_FLAG(std::string, code_objects, "",
          "folder of AITER's code objects, named as zyfa/peers/README.md says; "
          "empty: without AITER");
ABSL_FLAG(int64_t, seqlen, 16384,
          "queries and keys of the causal head, 64 to 65536");
ABSL_FLAG(std::string, sets, "G,M,X,V,D,E",
          "inputs, by comma: G Gaussian, others as in real_like.h");
ABSL_FLAG(uint64_t, seed, 1, "of the inputs");

namespace zyfa::testing {
namespace {

using numerics::Bf16;
using numerics::E4m3;
using peers::AiterKernel;
using peers::AiterOperands;
using peers::AiterProblem;

// What sets like real heads and AITER's kernels allow.
constexpr int64_t kMinSeqlen = 64;
constexpr int64_t kMaxSeqlen = 65536;

// One of AITER's two kernels; no code without --code_objects.
struct Peer {
  const AiterKernel* kernel = nullptr;
  std::unique_ptr<emu::CodeObject> code;
};

// Values and scale of a tensor, as a case takes them.
void SetTensor(const peers::QuantizedTensor& from, AttentionCase::Fill& fill,
               CaseScale& descale) {
  const int64_t dim = from.extent.dim;
  fill = [&from, dim](int64_t, int64_t row, int64_t, int64_t channel, float) {
    return E4m3{static_cast<uint8_t>(from.codes[row * dim + channel])}
        .ToFloat();
  };
  const float scale = from.float_scales[0];
  descale.value = [scale](int64_t, int64_t) { return scale; };
}

double RelativeRmse(std::span<const Bf16> got, const std::vector<double>& want,
                    int64_t dim) {
  return numerics::CompareToReference(got, std::span<const double>(want), dim)
      .value()
      .relative_rmse;
}

absl::StatusOr<std::vector<Bf16>> RunAiter(const AiterKernel& kernel,
                                           const emu::CodeObject& code,
                                           const AiterProblem& problem,
                                           const AiterOperands& operands) {
  emu::DeviceMemory memory;
  const absl::StatusOr<peers::AiterLaunch> launch =
      PrepareAiterLaunch(kernel, problem, operands, memory);
  if (!launch.ok()) return launch.status();
  // The order of time that AITER's kernels rely on (cdna4-isa 5.3).
  emu::RunOptions options;
  options.wave_order = emu::WaveOrder::kRotate;
  options.rotate_instructions = 8;
  const auto report = emu::Run(code, launch->kernel, launch->shape,
                               launch->kernarg, memory, options);
  if (!report.ok()) return report.status();
  std::vector<Bf16> output(problem.queries() * problem.heads_q *
                           kernel.head_dim_v);
  const absl::Status status = memory.Read(
      launch->output, absl::MakeSpan(reinterpret_cast<uint8_t*>(output.data()),
                                     2 * output.size()));
  if (!status.ok()) return status;
  return output;
}

// Errors of one set.
struct Errors {
  double lean = 0;
  double exact = 0;
  double aiter = 0;
};

absl::StatusOr<Errors> Measure(const Peer& peer, const std::string& set) {
  const AiterKernel& kernel = *peer.kernel;
  AiterProblem problem;
  const int64_t seqlen = absl::GetFlag(FLAGS_seqlen);
  problem.sequences = {{seqlen, seqlen}};
  problem.seed = absl::GetFlag(FLAGS_seed);
  const absl::Status valid = Validate(kernel, problem);
  if (!valid.ok()) return valid;
  const absl::StatusOr<AiterOperands> operands =
      set == "G" ? peers::MakeOperands(kernel, problem)
                 : peers::MakeRealLikeOperands(kernel, problem, set);
  if (!operands.ok()) return operands.status();

  AttentionCase c;
  c.variant.data_type = DataType::kFp8;
  c.variant.head_dim_qk = kernel.head_dim_qk;
  c.seqlen_q = c.seqlen_kv = seqlen;
  SetTensor(operands->query, c.fill_query, c.query_descale);
  SetTensor(operands->key, c.fill_key, c.key_descale);
  SetTensor(operands->value, c.fill_value, c.value_descale);
  const auto want = Reference(c);
  if (!want.ok()) return want.status();
  Errors errors;
  for (const Probability probability :
       {Probability::kLean, Probability::kExact}) {
    c.variant.probability = probability;
    const auto got = RunCase(c, emu::RunOptions());
    if (!got.ok()) return got.status();
    (probability == Probability::kLean ? errors.lean : errors.exact) =
        RelativeRmse(got->output, want->output, c.variant.head_dim_v);
  }
  if (peer.code != nullptr) {
    const auto theirs = RunAiter(kernel, *peer.code, problem, *operands);
    if (!theirs.ok()) return theirs.status();
    errors.aiter = RelativeRmse(*theirs, want->output, c.variant.head_dim_v);
  }
  return errors;
}

absl::StatusOr<std::vector<Peer>> LoadPeers() {
  const std::string folder = absl::GetFlag(FLAGS_code_objects);
  std::vector<Peer> peers;
  for (const char* file :
       {"fmha_v3_fwd__fwd_hd128_fp8_causal.co",
        "mla__mla_pfl_qh192_vh128_m32x8_n128x1_causal1.co"}) {
    Peer& peer = peers.emplace_back();
    peer.kernel = peers::FindByFlatFileName(file);
    if (folder.empty()) continue;
    auto code = emu::LoadCodeObject(absl::StrCat(folder, "/", file));
    if (!code.ok()) return code.status();
    peer.code = *std::move(code);
  }
  return peers;
}

absl::Status Main() {
  const int64_t seqlen = absl::GetFlag(FLAGS_seqlen);
  if (seqlen < kMinSeqlen || seqlen > kMaxSeqlen) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--seqlen is ", seqlen, "; allowed: ", kMinSeqlen, " to ", kMaxSeqlen));
  }
  const std::vector<std::string> set_names =
      absl::StrSplit(absl::GetFlag(FLAGS_sets), ',');
  for (const std::string& set : set_names) {
    if (set == "G" || numerics::RealLikeSet(set).ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--sets has '", set, "'; allowed: G, M, X, V, D, E"));
  }
  const absl::StatusOr<std::vector<Peer>> peers = LoadPeers();
  if (!peers.ok()) return peers.status();
  for (const Peer& peer : *peers) {
    const AiterKernel& kernel = *peer.kernel;
    std::printf("Head dims %d/%d, causal, one head of %d tokens; AITER: %s\n",
                kernel.head_dim_qk, kernel.head_dim_v, static_cast<int>(seqlen),
                peers::Name(kernel).c_str());
    std::printf("%-4s %10s %10s %10s %11s %11s %11s\n", "set", "lean", "exact",
                "AITER", "lean/exact", "lean/AITER", "exact/AITER");
    double log_ratio = 0;
    double worst = 0;
    for (const std::string& set : set_names) {
      const absl::StatusOr<Errors> e = Measure(peer, set);
      if (!e.ok()) return e.status();
      const double ratio = e->lean / e->exact;
      log_ratio += std::log(ratio);
      worst = std::max(worst, ratio);
      std::printf("%-4s %10.3e %10.3e", set.c_str(), e->lean, e->exact);
      if (e->aiter > 0) {
        std::printf(" %10.3e %11.3f %11.4f %11.4f\n", e->aiter, ratio,
                    e->lean / e->aiter, e->exact / e->aiter);
      } else {
        std::printf(" %10s %11.3f\n", "-", ratio);
      }
      std::fflush(stdout);
    }
    std::printf("lean/exact: geometric mean %.3f, worst %.3f\n",
                std::exp(log_ratio / static_cast<double>(set_names.size())),
                worst);
  }
  return cli::FlushOutput();
}

}  // namespace
}  // namespace zyfa::testing

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "fp8_accuracy [--code_objects=DIR]: relative RMSE of the FP8 kernels "
      "against float64 on the same codes, on the emulator. Exit status 0 if "
      "all were measured, 1 if a flag cannot be parsed, 2 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::fprintf(stderr, "fp8_accuracy: unexpected argument '%s'\n",
                 positional[1]);
    return 2;
  }
  const absl::Status status = zyfa::testing::Main();
  if (!status.ok()) {
    std::fprintf(stderr, "fp8_accuracy: %s\n", status.ToString().c_str());
    return 2;
  }
  return 0;
}
