#ifndef ZYFA_GEN_FP8_KERNEL_STATE_H_
#define ZYFA_GEN_FP8_KERNEL_STATE_H_

#include <cstddef>

#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/fp8/geometry.h"

namespace zyfa::gen::fp8 {

// Where a stream of tile loads stands: the descriptor of the next tile, the
// keys from there to the end of what the item needs, and the tiles until the
// stream goes on to the next item.
struct TileCursor {
  SReg desc, left, tiles;
};

// What the group's items of 64 rounds need, one a lane: of lane i, the round
// whose number is i modulo 64. Rounds without an item: `keys` is 0 and `tiles`
// kEndless.
struct ItemTable {
  VReg keys;        // that any row of the group sees
  VReg tiles;       // key tiles of the group, kLeastTiles at least
  VReg key, value;  // addresses of K, V at the item's batch entry and head
  // Words 0..2 of the buffer descriptors of the wave's rows of Q, O, LSE.
  VReg query, output, lse;
  VReg diagonal;     // causal: last key that the wave's first row sees; INT8
                     // without a mask: the key of that row's number
  VReg full_keys;    // keys that all of the wave's rows see
  VReg wave_tiles;   // key tiles that this wave needs
  VReg plain_tiles;  // of those, how many need no mask
  // KernelState's scales of the item.
  VReg value_descale;
  VReg unit_scale, inverse_unit, negate;  // FP8
  VReg code_scale;                        // lean
  VReg least_max, score_scales;           // exact
  // INT8: words 0..2 of the descriptor of the shifts of the wave's rows, and
  // the address of the keys' multipliers.
  VReg shift, multiplier;
};

// The registers that live through the kernel, by name. Temporaries are taken
// from the pools where they are needed.
struct KernelState {
  KernelState(Assembler& assembler, const Geometry& sizes);

  // Scalar register of a field of AttentionArgs that stays loaded.
  SReg Shape(size_t offset) const {
    return shape[static_cast<int>(offset - kShapeOffset) / 4];
  }
  SReg Control(size_t offset) const {
    return control[static_cast<int>(offset - kControlOffset) / 4];
  }
  static constexpr size_t kShapeOffset =
      offsetof(AttentionArgs, query_seq_stride);
  static constexpr size_t kControlOffset =
      offsetof(AttentionArgs, softmax_scale);

  Assembler& a;
  const Geometry g;

  // ---- Kernel ----
  SReg kernarg;
  SReg shape;       // query_seq_stride .. kv_head_multiplier
  SReg control;     // softmax_scale .. columns_multiplier
  SReg wave;        // number in the work-group, 0..7
  SReg group;       // 0 for waves 0..3, 1 for waves 4..7
  SReg key_step;    // bytes from one key tile to the next
  SReg value_step;  // the same of V

  // ---- Items ----
  ItemTable table;
  SReg round;  // of the item that is prepared next
  // The prepared item, which the streams of loads go on to, and which the waves
  // start next: as in the table.
  SReg next_key, next_value, next_keys, next_tiles;
  SReg next_multiplier;
  // The item in hand.
  SReg output, lse;    // descriptors of the wave's rows
  SReg meetings_left;  // of the waves, in this item
  SReg wave_tiles;     // key tiles that this wave needs
  SReg full_keys;      // keys that all of the wave's rows see
  SReg plain_tiles;  // of wave_tiles, how many run the plain code; -1 once all
                     // further ones of the item need care
  SReg key_tile;     // number of the key tile in hand
  SReg fall_tile;    // INT8: tile behind which references may fall next
  SReg plain_until;  // INT8: the smaller of plain_tiles and that
  SReg probe_key;    // INT8: first key of the probe, which may be before 0
  SReg first_stage;  // of the item, in the rings

  // ---- Scales of the item; of all but value_descale, FP8 ----
  SReg unit_scale;    // binades of a score unit
  SReg inverse_unit;  // its inverse
  SReg code_scale;    // lean: 8 codes a binade, from a score, as denormals
  SReg lean_top;      // lean: AttentionArgs::lean_top as a denormal
  SReg minus_eight;   // lean: -8 codes as a denormal
  SReg least_max;     // exact: kLeastExponent binades in scores
  SReg value_descale;
  SReg negate;  // 0x80808080: Q's codes change their signs

  // ---- Loads ----
  TileCursor key, value;
  SReg narrow_desc;  // of the narrow part of what `key` loads next
  SReg key_slot;     // place in the ring of the wave's part of the next tile
  SReg value_slot;
  VReg key_load;  // per-lane byte offsets of the loads of a tile
  VReg narrow_load;
  VReg value_load;
  SReg multiplier_desc;  // of the tile that `key` loads next
  VReg multiplier_load;
  VReg query_load;  // the same of Q: [eight rows of sixteen], narrow part
  VReg query_lane;  // lane % 32: the query row of a lane
  VReg half;        // lane / 32

  // ---- LDS read addresses ----
  VReg key_read;  // [2 * step + 16-byte half], wide part
  VReg narrow_read;
  VReg value_read;  // [block]
  VReg multiplier_read;

  // ---- Operands ----
  VReg query;         // B operand of K Q^T, 8 registers a step
  VReg scores;        // S^T of a tile
  VReg codes;         // B operand of V^T P^T; in the place of the first scores,
                      // but apart from them where there is room: of INT8
  VReg output_sum;    // O^T accumulator, 16 registers a 32-column block
  VReg fragments;     // ring of A operands read from LDS
  VReg ones;          // A operand of the row sum
  VReg ones_places;   // INT8: which of four codes they meet
  VReg code_sum;      // its result: the sum of a tile's codes
  VReg score_scales;  // byte 0: 2^0, byte 1: the power of two of the scores
  VReg addend;        // exact: C operand of the scores, -reference; shift form
                      // as well, plus 126.5 codes
  VReg multipliers;   // multiplier form: of the lane's keys

  // ---- Softmax state of the lane's query row ----
  VReg tile_max;  // maximum over the tile in hand
  // FP8, down to exponent:
  VReg other_max;      // of the other half of the lanes; then, with late rows,
                       // tile_max before `late` was subtracted
  VReg row_max;        // reference maximum, in units of scores
  VReg late;           // the part of it that codes subtract: 0, or in careful
                       // rows all
  VReg next_late;      // exact: the same from the next tile on
  VReg reference;      // lean: row_max - late
  VReg exponent_bias;  // lean: 1/2 less the same in binades
  VReg threshold;      // score above which the reference may have to move
  VReg row_sum;        // of the decoded codes
  VReg factor;         // what moved rows have to be scaled by
  VReg code_bias;      // lean: code of the reference, as a denormal
  VReg tile_bias;      // lean: the same with the tile's exponent
  VReg exponent;       // of the tile's codes, then 2^(it - kHeadroom)
  VReg block_scale;    // the same as an e8m0 byte, below other bits
  VReg key_limit;      // last visible key, minus 4 * half

  // ---- INT8: softmax state besides (int8_softmax.h) ----
  VReg next_shift;      // of the row of the prepared item
  VReg shift;           // of the row
  VReg binade_shift;    // shift + 3: a binade is 2^this units
  VReg limit;           // largest number that needs no look at the reference
  VReg bias;            // multiplier form: what `addend` is to the shift form
  VReg base_reference;  // reference at exponent 0, in units
  VReg next_scale;      // block_scale from the next tile on
  VReg lowest_scale;    // that it falls to
};

// Ring of matrix operands in flight between LDS and the matrix pipe.
inline constexpr int kFragmentSlots = 4;
inline constexpr int kFragmentsAhead = 3;
inline constexpr int kFragmentRegisters = 8;

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_KERNEL_STATE_H_
