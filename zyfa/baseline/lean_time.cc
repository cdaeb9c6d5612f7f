// Models the lean kernel twice, as the generator schedules it and as a compiler
// does: a launch of all heads with batch 1 and equal lengths, and the steady
// state of the loop over keys.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/emu/cycles/steady_state.h"
#include "zyfa/emu/cycles/trace_recorder.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/random.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/item_order.h"
#include "zyfa/variant/set_items.h"
#include "zyfa/variant/variant.h"

ABSL_FLAG(std::string, code_object, "",
          "file of kernels hip_lean_d128_causal and hip_lean_d128_full; under "
          "'bazel run', that of lean_attention.hip");
ABSL_FLAG(int, seqlen, 4096, "queries and keys, 1 to 131072");
ABSL_FLAG(int, heads, 16, "query heads, as many as KV heads, 1 to 1024");
ABSL_FLAG(bool, causal, true, "with causal mask");

namespace zyfa {
namespace {

constexpr int kDim = 128;
constexpr uint32_t kComputeUnits = 256;

// One head of Gaussian values, which stands for all heads.
uint64_t Upload(uint64_t stream, int seqlen, emu::DeviceMemory& memory) {
  std::vector<float> values(static_cast<size_t>(seqlen) * kDim);
  numerics::FillGaussian(1, stream, values);
  std::vector<uint8_t> codes;
  for (float x : values) {
    codes.push_back(
        numerics::E4m3::FromFloat(x, numerics::Overflow::kSaturate).code);
  }
  const uint64_t address = *memory.Allocate(codes.size());
  memory.Write(address, codes).IgnoreError();
  return address;
}

AttentionArgs Arguments(int seqlen, int heads, emu::DeviceMemory& memory) {
  AttentionArgs args = {};
  args.query = Upload(0, seqlen, memory);
  args.key = Upload(1, seqlen, memory);
  args.value = Upload(2, seqlen, memory);
  args.output = *memory.Allocate(static_cast<size_t>(seqlen) * kDim * 2);
  args.query_seq_stride = args.key_seq_stride = args.value_seq_stride = kDim;
  args.output_seq_stride = 2 * kDim;
  args.seqlen_q = args.seqlen_kv = static_cast<uint32_t>(seqlen);
  args.query_tiles = (args.seqlen_q + kQueryTile - 1) / kQueryTile;
  args.query_descale_value = args.key_descale_value = 1;
  args.value_descale_value = args.output_scale_value = 1;
  args.softmax_scale = 0.0883883476f;
  args.lean_top = 126.5f;
  SetItems(static_cast<uint32_t>(heads), 1, args);
  args.groups = std::min(args.items, kComputeUnits);
  return args;
}

// Key tiles of each item of a group.
emu::GroupWork WorkOf(const AttentionArgs& args, bool causal, uint64_t group) {
  emu::GroupWork work;
  for (uint64_t round = 0;; ++round) {
    const uint64_t item =
        ItemOfGroup(args, static_cast<uint32_t>(group), round);
    if (item >= args.items) return work;
    const uint64_t tile = args.query_tiles - 1 - item / args.columns;
    const uint64_t keys =
        causal ? std::min<uint64_t>((tile + 1) * kQueryTile, args.seqlen_kv)
               : args.seqlen_kv;
    work.kind = static_cast<uint32_t>(round);
    work.steps.push_back(
        static_cast<int64_t>((keys + kKeyTile - 1) / kKeyTile));
  }
}

// Modelled figures of one of the two kernels.
struct Figures {
  emu::KernelTime launch;
  // Of the loop over plain tiles.
  emu::SteadyState steady;
  // Matrix time of a tile of 64 keys, 8 instructions of 64 clocks for each of
  // the two waves of a SIMD, over the share that it is busy with them.
  double steady_clocks() const { return 1024 / steady.useful_busy; }
};

emu::EmulatedLaunch LaunchOf(const emu::CodeObject& code,
                             const std::string& kernel,
                             const AttentionArgs& args,
                             emu::DeviceMemory& memory) {
  emu::EmulatedLaunch launch;
  launch.code = &code;
  launch.kernel = kernel;
  launch.shape.grid[0] = args.groups;
  launch.shape.workgroup[0] = kThreadsPerGroup;
  launch.kernarg = {reinterpret_cast<const uint8_t*>(&args), sizeof(args)};
  launch.memory = &memory;
  return launch;
}

// Of the last query tile of one head of 4096 tokens, whatever the launch.
absl::StatusOr<emu::SteadyState> ModelSteadyState(const emu::CodeObject& code,
                                                  const std::string& kernel) {
  emu::DeviceMemory memory;
  const AttentionArgs args = Arguments(4096, 1, memory);
  const emu::EmulatedLaunch launch = LaunchOf(code, kernel, args, memory);
  emu::TraceRecorder recorder;
  emu::RunOptions run;
  run.groups = {0};
  run.observers = {&recorder};
  const absl::StatusOr<emu::RunReport> report =
      emu::Run(code, kernel, launch.shape, launch.kernarg, memory, run);
  if (!report.ok()) return report.status();
  if (report->has_errors()) {
    const emu::Finding& finding = report->findings[0];
    return absl::InternalError(absl::StrCat(kernel, ": ", finding.rule, " at ",
                                            finding.disassembly, ": ",
                                            finding.detail));
  }
  const emu::GroupTrace& trace = recorder.groups().at(0);
  const std::vector<emu::TracedLoop> loops = emu::FindLoops(trace);
  if (loops.empty()) {
    return absl::InternalError(absl::StrCat(kernel, " has no loop"));
  }
  emu::ComputeUnitOptions unit;
  unit.marked_steps = {loops[0].head};
  unit.auxiliary = recorder.auxiliary();
  const emu::GroupTrace* traces[] = {&trace};
  return emu::SteadyStateOf(
      emu::RunComputeUnit(recorder.instructions(), traces, unit), loops[0].head,
      0);
}

absl::StatusOr<Figures> Model(const emu::CodeObject& code,
                              const std::string& kernel, int seqlen, int heads,
                              bool causal) {
  emu::DeviceMemory memory;
  const AttentionArgs args = Arguments(seqlen, heads, memory);
  emu::KernelTimeOptions options;
  options.peak_flops_per_clock = emu::kFp8FlopsPerClock;
  options.clock = *emu::FixedClock(emu::kFp8ClockGhz);
  options.hbm_bytes = 5.0 * seqlen * kDim * heads;
  const absl::StatusOr<emu::KernelTime> time = emu::ModelKernelTime(
      LaunchOf(code, kernel, args, memory),
      emu::CollectWork(
          args.groups,
          [&](uint64_t group) { return WorkOf(args, causal, group); },
          [](uint64_t group) { return group; }),
      options);
  if (!time.ok()) return time.status();
  const absl::StatusOr<emu::SteadyState> steady =
      ModelSteadyState(code, kernel);
  if (!steady.ok()) return steady.status();
  return Figures{*time, *steady};
}

void Print(const char* kernel, const Figures& figures) {
  std::printf("%-9s %12.0f %6.1f%% %8.1f%% %14.0f %6.1f%%\n", kernel,
              figures.launch.clocks, 100 * figures.launch.useful_busy,
              100 * figures.launch.useful_occupied, figures.steady_clocks(),
              100 * figures.steady.useful_busy);
}

absl::Status PrintBoth() {
  const int seqlen = absl::GetFlag(FLAGS_seqlen);
  const int heads = absl::GetFlag(FLAGS_heads);
  const bool causal = absl::GetFlag(FLAGS_causal);
  if (seqlen < 1 || seqlen > 131072 || heads < 1 || heads > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seqlen=", seqlen, " --heads=", heads,
                     "; allowed: 1 to 131072 and 1 to 1024"));
  }
  const std::string path = absl::GetFlag(FLAGS_code_object);
  const auto hip_code = emu::LoadCodeObject(path);
  if (!hip_code.ok()) {
    return absl::Status(
        hip_code.status().code(),
        absl::StrCat("--code_object: ", hip_code.status().message()));
  }
  const KernelEntry* entry = FindKernel(
      Variant{DataType::kFp8, kDim, kDim, causal ? Mask::kCausal : Mask::kFull,
              Probability::kLean});
  if (entry == nullptr) return absl::NotFoundError("no lean kernel is linked");
  const auto assembly_code = emu::CodeObject::Load(entry->code_object);
  if (!assembly_code.ok()) return assembly_code.status();

  const absl::StatusOr<Figures> assembly =
      Model(**assembly_code, std::string(entry->symbol), seqlen, heads, causal);
  if (!assembly.ok()) return assembly.status();
  const absl::StatusOr<Figures> hip =
      Model(**hip_code, causal ? "hip_lean_d128_causal" : "hip_lean_d128_full",
            seqlen, heads, causal);
  if (!hip.ok()) return hip.status();
  std::printf(
      "Modelled: %d tokens, %d heads, %s mask. Useful: QK and PV on the matrix "
      "pipes, of all clocks; in groups: of those of work-groups.\n",
      seqlen, heads, causal ? "causal" : "no");
  std::printf("%-9s %12s %7s %9s %14s %7s\n", "kernel", "clocks", "useful",
              "in groups", "loop, 64 keys", "useful");
  Print("assembly", *assembly);
  Print("HIP", *hip);
  std::printf(
      "HIP over assembly: %.3f clocks of the launch, %.3f of the loop\n",
      hip->launch.clocks / assembly->launch.clocks,
      hip->steady_clocks() / assembly->steady_clocks());
  return cli::FlushOutput();
}

}  // namespace
}  // namespace zyfa

int main(int argc, char** argv) {
  // 'bazel run' starts where the data is.
  std::error_code ignored;
  absl::SetFlag(
      &FLAGS_code_object,
      std::filesystem::absolute("zyfa/baseline/lean_attention.co", ignored)
          .string());
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Models the lean kernel in assembly and in HIP C++: clocks and useful "
      "matrix busy of a launch and of the loop over keys. Exit status 0 if it "
      "went well, 1 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  const absl::Status status =
      positional.size() > 1 ? absl::InvalidArgumentError(absl::StrCat(
                                  "unexpected argument '", positional[1], "'"))
                            : zyfa::PrintBoth();
  if (!status.ok()) {
    std::fprintf(stderr, "lean_time: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
