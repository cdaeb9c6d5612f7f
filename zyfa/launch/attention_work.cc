#include "zyfa/launch/attention_work.h"

#include <algorithm>

#include "zyfa/launch/tensor.h"

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

}  // namespace

std::vector<QueryTileWork> WorkOfGroup(const Variant& variant,
                                       const AttentionArgs& args,
                                       const LaunchShape& shape,
                                       uint64_t group) {
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
  const uint64_t heads = shape.grid[0];
  const uint64_t last_kv_head =
      args.kv_head_multiplier == 0
          ? heads - 1
          : (heads - 1) * args.kv_head_multiplier >> 32;
  const double query_rows = 1.0 * args.seqlen_q * static_cast<double>(heads);
  const double key_rows =
      1.0 * args.seqlen_kv * static_cast<double>(last_kv_head + 1);
  const double row_elements = variant.head_dim_qk + variant.head_dim_v;
  const double lse = args.lse != 0 ? 4 * query_rows : 0;
  return shape.grid[2] *
         ((query_rows + key_rows) * row_elements *
              static_cast<double>(BytesPerElement(variant.data_type)) +
          lse);
}

}  // namespace zyfa
