#ifndef ZYFA_LAUNCH_ATTENTION_WORK_H_
#define ZYFA_LAUNCH_ATTENTION_WORK_H_

#include <cstdint>
#include <vector>

#include "zyfa/launch/device.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// A query tile as a work-group takes it on.
struct QueryTileWork {
  int64_t rows = 0;       // that exist: 1 to kQueryTile
  int64_t key_tiles = 0;  // of kKeyTile keys; 0: no row sees a key
  bool operator==(const QueryTileWork&) const = default;
};

// The query tiles of work-group `group` (linear, x fastest) of a launch that
// MakePiece() gave, in the group's order; of an FP8 variant, a persistent
// group's from first to last. Groups with equal lists run the same
// instructions, but for where data makes softmax rescale.
std::vector<QueryTileWork> WorkOfGroup(const Variant& variant,
                                       const AttentionArgs& args,
                                       const LaunchShape& shape,
                                       uint64_t group);

// Bytes of Q, K, V, output and LSE, each once: what a launch moves from and to
// memory at least, but for scales. Tensors count in full, also where strides of
// 0 repeat them.
double TensorBytes(const Variant& variant, const AttentionArgs& args,
                   const LaunchShape& shape);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_ATTENTION_WORK_H_
