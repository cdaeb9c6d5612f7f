#ifndef ZYFA_VARIANT_SET_ITEMS_H_
#define ZYFA_VARIANT_SET_ITEMS_H_

#include <bit>
#include <cstdint>

#include "zyfa/variant/attention_args.h"

namespace zyfa {

// Sets what says how many items there are and which column an item has:
// heads_q, columns, items and the multipliers. query_tiles is there already;
// items must be from 1 to 2^31 - 1.
//
// Quotients are exact (Granlund and Montgomery, "Division by invariant integers
// using multiplication", 1994): with d <= 2^shift, the multiplier is
// 2^(31 + shift) / d rounded up, less than 2^shift / d too large, which times
// n / 2^(31 + shift) is less than 1 / d.
constexpr void SetItems(uint32_t heads_q, uint32_t batches,
                        AttentionArgs& args) {
  const auto invert = [](uint32_t d, uint32_t& multiplier, uint32_t& shift) {
    shift = static_cast<uint32_t>(std::bit_width(d - 1));
    multiplier =
        static_cast<uint32_t>(((uint64_t{1} << (31 + shift)) + d - 1) / d);
  };
  args.heads_q = heads_q;
  args.columns = heads_q * batches;
  args.items = args.query_tiles * args.columns;
  invert(args.columns, args.columns_multiplier, args.columns_shift);
  invert(args.heads_q, args.heads_multiplier, args.heads_shift);
}

}  // namespace zyfa

#endif  // ZYFA_VARIANT_SET_ITEMS_H_
