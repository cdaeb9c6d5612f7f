#ifndef ZYFA_VARIANT_ITEM_ORDER_H_
#define ZYFA_VARIANT_ITEM_ORDER_H_

#include <cstdint>

#include "zyfa/variant/attention_args.h"

namespace zyfa {

// Which items the persistent work-groups of an FP8 launch take, and in which
// order. Item k is query tile query_tiles - 1 - k / columns of column
// k % columns, that is of batch entry column / heads_q and query head
// column % heads_q: with a causal mask, longest first.
//
// Round r hands out items r * groups onwards. Odd rounds go through the groups
// backwards, in eights, so that sums of lengths stay alike and a column stays
// on its XCD (work-groups go to the 8 XCDs in turn).

// The item of `group` in `round`; it is none if not below args.items.
constexpr uint64_t ItemOfGroup(const AttentionArgs& args, uint32_t group,
                               uint64_t round) {
  const uint32_t place =
      round % 2 == 0 ? group : args.groups - 8 - (group & ~7u) + (group & 7u);
  return round * args.groups + place;
}

}  // namespace zyfa

#endif  // ZYFA_VARIANT_ITEM_ORDER_H_
