#ifndef ZYFA_GEN_FP8_TILE_LOADER_H_
#define ZYFA_GEN_FP8_TILE_LOADER_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Tiles go straight from memory to LDS, in 16-byte chunks, each wave its share
// of every tile; rows behind the end of what an item needs arrive as zeros.
// Chunks are swizzled on the memory side, so that operands are read without
// bank conflicts (cdna4-timing 4):
//   K, wide part    row r, chunk c of 8 at place c ^ (r / 2 % 8)
//   K, narrow part  row r, chunk c of 4 at place c ^ (r / 4 % 4)
//   V               row r, 32-byte stretch t of 4 at place
//                   t ^ (r / 2 % 2 + 2 * (r / 8 % 2))
//   multipliers     key k's behind those of keys k / 8 * 8 onwards, 256 bytes
//                   from eight to eight
// Two rings of four tiles hold K and V. The streams of loads run on from one
// item into the next one; main_loop.cc says which tiles they fetch when.

// Per-lane constants: memory offsets of the loads, in two parts, of which the
// first needs no arguments (`rows`: two registers between them); and LDS
// addresses that the operands are read from.
void EmitLoadPlaces(KernelState& s, VReg rows);
void EmitLoadRows(KernelState& s, VReg rows);
void EmitReadAddresses(KernelState& s);

// The streams before the first tile. Needs arguments in the end only.
void EmitLoaderStart(KernelState& s);

// The next tile of K; and the next ones of K and of V.
void EmitKeyTileLoad(KernelState& s);
void EmitTileLoads(KernelState& s);

// Vector memory instructions of a wave in EmitTileLoads.
int TileLoads(const Geometry& g);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_TILE_LOADER_H_
