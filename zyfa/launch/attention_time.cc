#include "zyfa/launch/attention_time.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/machine.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention_work.h"

namespace zyfa {
namespace {

// Numbers the kinds of work-groups of a launch as they come.
class Kinds {
 public:
  // Tiles that lack rows leave waves idle, and tiles without keys take another
  // path: neither is to be interpolated with others, nor are lists of different
  // lengths.
  uint32_t Of(const std::vector<QueryTileWork>& tiles) {
    std::vector<std::pair<int64_t, bool>> shapes;
    for (const QueryTileWork& tile : tiles) {
      shapes.emplace_back(tile.rows, tile.key_tiles == 0);
    }
    return kinds_.try_emplace(std::move(shapes), Count()).first->second;
  }

 private:
  uint32_t Count() const { return static_cast<uint32_t>(kinds_.size()); }

  std::map<std::vector<std::pair<int64_t, bool>>, uint32_t> kinds_;
};

// nullptr if there is none.
const KernelEntry* EntryOf(const std::string& symbol) {
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.symbol == symbol) return &entry;
  }
  return nullptr;
}

}  // namespace

bool IsAttentionKernel(const std::string& kernel) {
  return EntryOf(kernel) != nullptr;
}

emu::LaunchWork AttentionLaunchWork(const Variant& variant,
                                    const AttentionArgs& args,
                                    const LaunchShape& shape) {
  const uint64_t groups =
      uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  Kinds kinds;
  return emu::CollectWork(
      groups,
      [&](uint64_t group) {
        const std::vector<QueryTileWork> tiles =
            WorkOfGroup(variant, args, shape, group);
        emu::GroupWork work;
        work.kind = kinds.Of(tiles);
        for (const QueryTileWork& tile : tiles) {
          work.steps.push_back(tile.key_tiles);
        }
        return work;
      },
      [](uint64_t group) { return group; });
}

absl::StatusOr<emu::KernelTime> ModelAttentionTime(
    const emu::CodeObject& code, const std::string& kernel,
    const LaunchShape& shape, absl::Span<const uint8_t> arguments,
    emu::DeviceMemory& memory, const emu::KernelTimeOptions& options) {
  const KernelEntry* entry = EntryOf(kernel);
  if (entry == nullptr || arguments.size() != sizeof(AttentionArgs)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "modelled time: kernel is ", kernel, " with ", arguments.size(),
        " bytes of arguments; allowed: linked variants, ",
        sizeof(AttentionArgs), " bytes"));
  }
  AttentionArgs args;
  std::memcpy(&args, arguments.data(), sizeof(args));
  emu::EmulatedLaunch launch;
  launch.code = &code;
  launch.kernel = kernel;
  for (int i = 0; i < 3; ++i) {
    launch.shape.grid[i] = shape.grid[i];
    launch.shape.workgroup[i] = shape.block[i];
  }
  launch.shape.dynamic_lds_bytes = shape.dynamic_lds_bytes;
  launch.kernarg = arguments;
  launch.memory = &memory;
  emu::KernelTimeOptions own = options;
  own.hbm_bytes = TensorBytes(entry->variant, args, shape);
  // INT8 products run at the rate of FP8 ones.
  own.peak_flops_per_clock = IsPersistent(entry->variant)
                                 ? emu::kFp8FlopsPerClock
                                 : emu::kBf16FlopsPerClock;
  return emu::ModelKernelTime(
      launch, AttentionLaunchWork(entry->variant, args, shape), own);
}

}  // namespace zyfa
