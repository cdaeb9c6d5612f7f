#include "zyfa/peers/aiter_work.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/cycles/machine.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/fmha_arguments.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

constexpr int64_t kStepKeys = 64;

bool IsCausal(const AiterKernel& kernel) {
  return kernel.mask == reference::Mask::kCausal;
}

int64_t QueryTiles(const AiterKernel& kernel, const AiterProblem& problem) {
  return (problem.longest_queries() + kernel.query_tile - 1) /
         kernel.query_tile;
}

// Work-groups of one head.
int64_t GroupsOfHead(const AiterKernel& kernel, const AiterProblem& problem) {
  const int64_t tiles = QueryTiles(kernel, problem);
  return IsCausal(kernel) ? (tiles + 1) / 2 : tiles;
}

AiterTile TileOf(const AiterKernel& kernel, const AiterProblem& problem,
                 int64_t tile) {
  const int64_t queries = problem.longest_queries();
  const int64_t keys = problem.longest_keys();
  const int64_t end = std::min(queries, (tile + 1) * kernel.query_tile);
  AiterTile out;
  out.rows = end - tile * kernel.query_tile;
  out.keys = IsCausal(kernel) ? end + keys - queries : keys;
  return out;
}

// Groups are of one kind if they do as many works, as many with fewer rows and
// as many with partial outputs.
emu::LaunchWork WorkOfMla(const MlaWorkList& list, int64_t query_tile) {
  const auto work_of = [&](uint64_t group) {
    emu::GroupWork out;
    for (int32_t i = list.starts[group]; i < list.starts[group + 1]; ++i) {
      const MlaWork& work = list.works[static_cast<size_t>(i)];
      const bool whole = work.query_end - work.query_start == query_tile;
      out.kind += 1;
      if (!whole) out.kind += 1 << 10;
      if (work.partial_row >= 0) out.kind += 1 << 20;
      out.steps.push_back((work.key_end - work.key_start + kStepKeys - 1) /
                          kStepKeys);
    }
    return out;
  };
  return emu::CollectWork(list.starts.size() - 1, work_of,
                          [](uint64_t group) { return group; });
}

}  // namespace

MlaWorkList AiterMlaWork(const AiterKernel& kernel,
                         const AiterProblem& problem) {
  return ScheduleMlaWork(problem, kernel.mask,
                         emu::Machine{}.all_compute_units());
}

std::vector<AiterTile> AiterGroupTiles(const AiterKernel& kernel,
                                       const AiterProblem& problem, int64_t x) {
  if (!IsCausal(kernel)) return {TileOf(kernel, problem, x)};
  const int64_t other = QueryTiles(kernel, problem) - 1 - x;
  std::vector<AiterTile> tiles = {TileOf(kernel, problem, other)};
  if (other != x || kernel.query.format == Format::kBf16) {
    tiles.push_back(TileOf(kernel, problem, x));
  }
  return tiles;
}

int64_t AiterGroupX(const AiterKernel& kernel, const AiterProblem& problem,
                    uint64_t group) {
  const int64_t groups = GroupsOfHead(kernel, problem);
  const auto linear = static_cast<int64_t>(group);
  if (IsCausal(kernel) && kernel.query.format == Format::kBf16 &&
      FmhaTuning(true, problem.heads_q, problem.longest_queries()) == 5) {
    return linear / 8 % groups;
  }
  return linear % groups;
}

AiterProblem OneHead(const AiterProblem& problem) {
  AiterProblem one = problem;
  one.sequences.resize(1);
  one.heads_q = one.heads_kv = 1;
  return one;
}

absl::StatusOr<emu::LaunchWork> AiterLaunchWork(const AiterKernel& kernel,
                                                const AiterProblem& problem) {
  if (absl::Status status = Validate(kernel, problem); !status.ok()) {
    return status;
  }
  if (kernel.family == Family::kMlaPs) {
    return WorkOfMla(AiterMlaWork(kernel, problem), kernel.query_tile);
  }
  if (kernel.group ||
      (kernel.family != Family::kFmhaV3 && kernel.family != Family::kFmhaV4)) {
    return absl::UnimplementedError(
        absl::StrCat("work of ", Name(kernel),
                     "; allowed: fmha kernels for sequences of one length and "
                     "mla_pfl_qh192_vh128"));
  }
  const emu::LaunchShape shape = AiterLaunchShape(kernel, problem);
  const auto work_of = [&](uint64_t group) {
    emu::GroupWork work;
    for (const AiterTile& tile : AiterGroupTiles(
             kernel, problem, AiterGroupX(kernel, problem, group))) {
      work.kind = work.kind << 10 | static_cast<uint32_t>(tile.rows);
      work.steps.push_back((tile.keys + kStepKeys - 1) / kStepKeys);
    }
    return work;
  };
  return emu::CollectWork(
      uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2], work_of,
      [&](uint64_t group) {
        return static_cast<uint64_t>(AiterGroupX(kernel, problem, group));
      });
}

}  // namespace zyfa::peers
