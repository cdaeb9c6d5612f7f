#include "zyfa/launch/attention_work.h"

#include <algorithm>

#include "zyfa/launch/tensor.h"
#include "zyfa/variant/item_order.h"

namespace zyfa {
namespace {

// Keys that the last row of a query tile sees.
int64_t VisibleKeys(const Variant& variant, const AttentionArgs& args,
                    int64_t last_row) {
  const int64_t keys = args.seqlen_kv;
  if (variant.mask == Mask::kFull) return keys;
  return std::clamp<int64_t>(last_row + 1 + keys - args.seqlen_q, 0, keys);
}

QueryTileWork WorkOfTile(const Variant& variant, const AttentionArgs& args,
                         int64_t tile) {
  const int64_t first = tile * kQueryTile;
  QueryTileWork work;
  work.rows = std::min<int64_t>(kQueryTile, args.seqlen_q - first);
  const int64_t keys = VisibleKeys(variant, args, first + work.rows - 1);
  work.key_tiles = (keys + kKeyTile - 1) / kKeyTile;
  return work;
}

// The items that a persistent work-group takes.
std::vector<QueryTileWork> WorkOfPersistentGroup(const Variant& variant,
                                                 const AttentionArgs& args,
                                                 uint64_t group) {
  std::vector<QueryTileWork> works;
  for (uint64_t round = 0; round * args.groups < args.items; ++round) {
    const uint64_t item =
        ItemOfGroup(args, static_cast<uint32_t>(group), round);
    if (item >= args.items) continue;
    const auto tile = static_cast<int64_t>(item / args.columns);
    works.push_back(WorkOfTile(variant, args, args.query_tiles - 1 - tile));
  }
  return works;
}

}  // namespace

std::vector<QueryTileWork> WorkOfGroup(const Variant& variant,
                                       const AttentionArgs& args,
                                       const LaunchShape& shape,
                                       uint64_t group) {
  if (IsPersistent(variant)) {
    return WorkOfPersistentGroup(variant, args, group);
  }
  const auto y = static_cast<int64_t>(group / shape.grid[0] % shape.grid[1]);
  if (variant.mask == Mask::kFull) return {WorkOfTile(variant, args, y)};
  // A causal group takes one tile from each end, the longer one first.
  const int64_t other = int64_t{args.query_tiles} - 1 - y;
  std::vector<QueryTileWork> works = {WorkOfTile(variant, args, other)};
  if (other != y) works.push_back(WorkOfTile(variant, args, y));
  return works;
}

double TensorBytes(const Variant& variant, const AttentionArgs& args,
                   const LaunchShape& shape) {
  const bool persistent = IsPersistent(variant);
  const uint64_t heads = persistent ? args.heads_q : shape.grid[0];
  const uint64_t batch =
      persistent ? args.columns / args.heads_q : shape.grid[2];
  const uint64_t last_kv_head =
      args.kv_head_multiplier == 0
          ? heads - 1
          : (heads - 1) * args.kv_head_multiplier >> 32;
  const auto element = static_cast<double>(BytesPerElement(variant.data_type));
  const DataType output =
      (args.flags & kOutputFp8) != 0 ? DataType::kFp8 : DataType::kBf16;
  const double query_row =
      variant.head_dim_qk * element +
      variant.head_dim_v * static_cast<double>(BytesPerElement(output)) +
      (args.lse != 0 ? 4 : 0) + (args.query_shift != 0 ? 1 : 0);
  const double key_row = (variant.head_dim_qk + variant.head_dim_v) * element +
                         (args.key_multiplier != 0 ? 4 : 0);
  const double query_rows = 1.0 * args.seqlen_q * static_cast<double>(heads);
  const double key_rows =
      1.0 * args.seqlen_kv * static_cast<double>(last_kv_head + 1);
  return static_cast<double>(batch) *
         (query_rows * query_row + key_rows * key_row);
}

}  // namespace zyfa
