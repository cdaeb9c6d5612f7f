#ifndef ZYFA_GEN_ATTENTION_KERNEL_STATE_H_
#define ZYFA_GEN_ATTENTION_KERNEL_STATE_H_

#include <cstddef>
#include <vector>

#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/attention/geometry.h"

namespace zyfa::gen {

// The registers that live through the kernel, by name. Temporaries are taken
// from the pools where they are needed.
struct KernelState {
  KernelState(Assembler& assembler, const Geometry& sizes);

  Assembler& a;
  const Geometry g;

  // Scalar registers of the field at `offset` of AttentionArgs. The five tensor
  // pointers are moved to this work-group's batch and head at entry.
  SReg Arg(size_t offset) const { return args[static_cast<int>(offset / 4)]; }
  SReg Arg64(size_t offset) const {
    return args.sub(static_cast<int>(offset / 4), 2);
  }

  SReg args;
  SReg wave;      // number in the work-group, 0..7
  SReg wave_lds;  // 1024 * wave: this wave's part of each 8 KiB of a tile
  // The same, in the pair of stages into which the next even value tile goes.
  SReg value_wave_lds;
  SReg key_step;  // bytes from one key tile to the next
  SReg value_step;
  SReg causal_offset;  // seqlen_kv - seqlen_q

  // Query tile.
  SReg tile;         // number of the query tile in hand
  SReg other_tile;   // the causal partner still to do, or -1
  SReg row0;         // first query row of the wave
  SReg valid_rows;   // rows of the wave that exist, 0..32
  SReg group_tiles;  // key tiles that any wave of the group needs
  SReg wave_tiles;   // key tiles that this wave needs
  SReg plain_tiles;  // of these, how many run the unmasked loop body
  SReg key_tile;     // number of the key tile in hand
  SReg careful;      // not 0 once a scaled maximum has left the safe range
  SReg moved;        // not 0: the output still has to be scaled by `factor`

  // Memory.
  SReg key_desc;  // buffer descriptor of the next key tile to load
  SReg value_desc;
  SReg key_left;  // keys from there to the end of what the group needs
  SReg value_left;
  SReg row_desc;  // Q, O or LSE rows of the wave
  VReg key_load;  // per-lane byte offsets of the key loads of a tile
  VReg value_load;
  VReg query_lane;  // lane % 32: the query row of a lane
  VReg half;        // lane / 32

  // LDS read addresses, one per value of the swizzled part. Those of V point
  // into one pair of stages and move to the other every second tile.
  VReg key_read;
  VReg value_read;

  // Operands.
  VReg query;      // B operand of K Q^T, 4 registers a k step
  VReg scores[2];  // S^T of a tile, then P^T; even and odd key tiles
  VReg output;     // O^T accumulator, 16 registers a 32-column block
  VReg fragments;  // ring of A operands read from LDS

  // Softmax state of the lane's query row.
  VReg tile_max;    // maximum over the tile in hand
  VReg row_max;     // reference maximum, in units of raw scores
  VReg scaled_max;  // row_max * scale_log2e, 0 before the first key
  VReg threshold;   // raw score above which the reference moves
  VReg row_sum;     // of the lane's share of the keys
  VReg tile_sum;    // the same of the tile in hand
  VReg factor;      // what the output has to be scaled by, if `moved`
  VReg key_limit;   // last visible key, minus 4 * half
};

// Ring of matrix operands in flight between LDS and the matrix pipe.
inline constexpr int kFragmentSlots = 8;
inline constexpr int kFragmentsAhead = 6;

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_KERNEL_STATE_H_
