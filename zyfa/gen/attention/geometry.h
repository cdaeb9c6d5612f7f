#ifndef ZYFA_GEN_ATTENTION_GEOMETRY_H_
#define ZYFA_GEN_ATTENTION_GEOMETRY_H_

#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {

// Sizes that follow from a variant: tiles, fragments and the LDS map.
//
// A wave computes S^T = K Q^T for 32 queries and a tile of 64 keys, so that one
// query sits in lanes l and l + 32, and O^T = V^T P^T from it. All products are
// v_mfma_f32_32x32x16_bf16 (8 passes).
struct Geometry {
  explicit Geometry(const Variant& variant)
      : causal(variant.mask == Mask::kCausal),
        head_dim_qk(variant.head_dim_qk),
        head_dim_v(variant.head_dim_v),
        key_row_bytes(2 * head_dim_qk),
        value_row_bytes(2 * head_dim_v),
        qk_steps(head_dim_qk / 16),
        value_blocks(head_dim_v / 32),
        key_tile_bytes(kKeyTile * key_row_bytes),
        value_tile_bytes(kKeyTile * value_row_bytes),
        key_loads(key_tile_bytes / (1024 * kWavesPerGroup)),
        value_loads(value_tile_bytes / (1024 * kWavesPerGroup)),
        key_reads(head_dim_qk % 128 == 0 ? 8 : 4),
        key_lds(kValueStages * value_tile_bytes),
        own_lds(key_lds + kKeyStages * key_tile_bytes),
        query_through_lds(head_dim_qk == 128),
        own_bytes(kQueriesPerWave *
                  (query_through_lds ? key_row_bytes : kOutputPartBytes)),
        lds_bytes(own_lds + kWavesPerGroup * own_bytes) {}

  // Tiles kept in LDS. A tile of V is still read one trip after the next one
  // has landed, one of K is not. V has a power of two of stages, and starts at
  // 0, so that one exclusive or moves an address by two stages and back.
  static constexpr int kKeyStages = 2;
  static constexpr int kValueStages = 4;
  static constexpr int kQueriesPerWave = 32;
  // Of an output row, as much as goes through LDS at once: a memory line.
  static constexpr int kOutputPartBytes = 128;
  static constexpr int kKeyBlocks = kKeyTile / 32;  // 32x32 score blocks
  static constexpr int kKeySteps = kKeyTile / 16;   // k steps of P V

  bool causal;
  int head_dim_qk;
  int head_dim_v;
  int key_row_bytes;
  int value_row_bytes;
  int qk_steps;      // k steps of K Q^T, 16 channels each
  int value_blocks;  // 32-column blocks of the output
  int key_tile_bytes;
  int value_tile_bytes;
  int key_loads;  // 1 KiB loads straight into LDS, per wave and tile
  int value_loads;
  // Addresses for reading K: the k steps of one 256-byte (head dim 128) or
  // 128-byte (192) stretch of a row, inside which the swizzle permutes.
  int key_reads;
  int key_lds;  // LDS address of the first key tile; V starts at 0
  int own_lds;  // of what each wave has for itself: Q, then its output
  // Whether Q goes through LDS: its rows of 256 bytes then come in whole memory
  // lines, of which the B operand's layout takes 32 bytes at a time. Rows of
  // 384 bytes do not fit beside K and V.
  bool query_through_lds;
  int own_bytes;  // of a wave
  int lds_bytes;
};

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_GEOMETRY_H_
