#ifndef ZYFA_GEN_ATTENTION_TILE_LOADER_H_
#define ZYFA_GEN_ATTENTION_TILE_LOADER_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// K and V travel from memory straight into LDS, 1 KiB an instruction in lane
// order. The LDS image of a row is therefore swizzled on the memory side: the
// 16-byte chunk at place c of row r holds
//
//   K, 256-byte rows: channel chunk c ^ (r % 16)
//   K, 384-byte rows: channel chunk c ^ (r / 2 % 8)   (in groups of 8 chunks)
//   V, 256-byte rows: column chunk  c ^ 4 * (r % 4)
//
// so that the lanes that ds_read_b128 serves together (cdna4-timing 4) meet 16
// different groups of four banks, and those of ds_read_b64_tr_b16 four
// different 64-byte stretches.

// Per-lane memory offsets of a tile's loads.
void EmitLoadOffsets(KernelState& s);
// Per-lane LDS addresses of K and V operand fragments.
void EmitReadAddresses(KernelState& s);

// Points the descriptors at the first tile of the query tile in hand, which
// reads group_tiles tiles.
void EmitLoaderStart(KernelState& s);
// Starts the loads of the next key (value) tile into LDS and moves on.
// `parity`: of the tile's number. Rows behind the last needed key are out of
// range and arrive as zeros.
void EmitKeyTileLoad(KernelState& s, int parity);
void EmitValueTileLoad(KernelState& s, int parity);

// Puts the value stages of the loads and of the reads to the beginning of a
// query tile: the reads one move before tile 0.
void EmitValueReadStart(KernelState& s);
// Moves the read address of one 32-column block to the other pair of value
// stages: before the first read of each even tile.
void EmitValueReadMove(KernelState& s, int block);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_TILE_LOADER_H_
