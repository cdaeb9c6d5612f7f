// Models a launch of the HIP baseline: all heads, batch 1, equal lengths.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/random.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/item_order.h"

ABSL_FLAG(std::string, code_object, "", "lean_attention.co");
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
  args.heads_q = args.columns = static_cast<uint32_t>(heads);
  args.items = args.query_tiles * args.columns;
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

absl::Status Model() {
  const int seqlen = absl::GetFlag(FLAGS_seqlen);
  const int heads = absl::GetFlag(FLAGS_heads);
  const bool causal = absl::GetFlag(FLAGS_causal);
  if (seqlen < 1 || seqlen > 131072 || heads < 1 || heads > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seqlen=", seqlen, " --heads=", heads,
                     "; allowed: 1 to 131072 and 1 to 1024"));
  }
  std::ifstream file(absl::GetFlag(FLAGS_code_object), std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                   std::istreambuf_iterator<char>()};
  auto code = emu::CodeObject::Load(bytes);
  if (!code.ok()) return code.status();
  emu::DeviceMemory memory;
  const AttentionArgs args = Arguments(seqlen, heads, memory);
  emu::EmulatedLaunch launch;
  launch.code = code->get();
  launch.kernel = causal ? "hip_lean_d128_causal" : "hip_lean_d128_full";
  launch.shape.grid[0] = args.groups;
  launch.shape.workgroup[0] = kThreadsPerGroup;
  launch.kernarg = {reinterpret_cast<const uint8_t*>(&args), sizeof(args)};
  launch.memory = &memory;
  emu::KernelTimeOptions options;
  options.peak_flops_per_clock = emu::kFp8FlopsPerClock;
  options.clock = *emu::FixedClock(emu::kFp8ClockGhz);
  const double pairs =
      causal ? 0.5 * seqlen * (seqlen + 1.0) : 1.0 * seqlen * seqlen;
  options.flops = 4 * pairs * kDim * heads;
  options.hbm_bytes = 5.0 * seqlen * kDim * heads;
  const auto time = emu::ModelKernelTime(
      launch,
      emu::CollectWork(
          args.groups,
          [&](uint64_t group) { return WorkOf(args, causal, group); },
          [](uint64_t group) { return group; }),
      options);
  if (!time.ok()) return time.status();
  std::printf(
      "modelled: %s, %d tokens, %d heads: %.0f clocks, useful matrix "
      "busy %.1f %%, %.0f TFLOP/s at %.2f GHz\n",
      launch.kernel.c_str(), seqlen, heads, time->clocks,
      100 * time->useful_busy, time->tflops, time->clock_ghz);
  return absl::OkStatus();
}

}  // namespace
}  // namespace zyfa

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Models a launch of the HIP baseline: clocks, useful matrix busy, "
      "TFLOP/s. "
      "Exit status 0 if it went well, 1 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  const absl::Status status =
      positional.size() > 1 ? absl::InvalidArgumentError(absl::StrCat(
                                  "unexpected argument '", positional[1], "'"))
                            : zyfa::Model();
  if (!status.ok()) {
    std::fprintf(stderr, "lean_time: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
