#ifndef ZYFA_GEN_FP8_GEOMETRY_H_
#define ZYFA_GEN_FP8_GEOMETRY_H_

#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen::fp8 {

// Sizes that follow from a variant: tiles, operands and the LDS map.
//
// A wave computes S^T = K Q^T for 32 queries and a tile of 64 keys, so that one
// query sits in lanes l and l + 32, and O^T = V^T P^T from it, with
// v_mfma_scale_f32_32x32x64_f8f6f4 (16 passes). Tiles come and go in pairs, a
// unit of 128 keys: the waves of a group meet once a unit.
struct Geometry {
  explicit Geometry(const Variant& variant)
      : causal(variant.mask == Mask::kCausal),
        lean(variant.probability == Probability::kLean),
        row_bytes(variant.head_dim_qk),
        qk_steps(variant.head_dim_qk / 64),
        narrow_part(variant.head_dim_qk % 128 != 0) {
    narrow_lds = key_lds() + kTiles * kWidePartBytes;
    query_lds = narrow_lds + (narrow_part ? kTiles * kNarrowPartBytes : 0);
    query_bytes = kQueriesPerWave * row_bytes;
    output_lds = query_lds + kWavesPerGroup * query_bytes;
    lds_bytes = output_lds + kWavesPerGroup * kOutputPartBytes;
  }

  static constexpr int kTiles = 4;  // in LDS, of K and of V: two units
  static constexpr int kQueriesPerWave = 32;
  static constexpr int kKeyBlocks = kKeyTile / 32;  // 32x32 score blocks
  static constexpr int kHeadDimV = 128;
  static constexpr int kValueBlocks = kHeadDimV / 32;
  static constexpr int kValueTileBytes = kKeyTile * kHeadDimV;
  // K's rows of 192 bytes stand in LDS as parts of 128 and of 64 bytes, each of
  // which a swizzle can make free of bank conflicts.
  static constexpr int kWideRow = 128;
  static constexpr int kNarrowRow = 64;
  static constexpr int kWidePartBytes = kKeyTile * kWideRow;
  static constexpr int kNarrowPartBytes = kKeyTile * kNarrowRow;
  // Of a wave's output, as much as goes through LDS at once: a memory line of
  // each row.
  static constexpr int kOutputPartBytes = 32 * 128;

  static constexpr int key_lds() { return kTiles * kValueTileBytes; }

  bool causal;
  bool lean;
  int row_bytes;     // of Q and K
  int qk_steps;      // of K Q^T, 64 channels each
  bool narrow_part;  // rows have a part behind the first 128 bytes
  int narrow_lds;    // LDS address of K's narrow parts; V is at 0
  int query_lds;     // of the waves' own rows of Q
  int query_bytes;   // of a wave
  int output_lds;    // of the waves' own places for output on its way
  int lds_bytes;
};

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_GEOMETRY_H_
