#ifndef ZYFA_GEN_FP8_GEOMETRY_H_
#define ZYFA_GEN_FP8_GEOMETRY_H_

#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/int8_rule.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen::fp8 {

// Sizes that follow from a variant: tiles, operands and the LDS map.
//
// A wave computes S^T = K Q^T for 32 queries and a tile of 64 keys, so that one
// query sits in lanes l and l + 32, and O^T = V^T P^T from it, with
// v_mfma_scale_f32_32x32x64_f8f6f4 (16 passes); S^T of INT8 rows with
// v_mfma_i32_32x32x32_i8 (8 passes).
struct Geometry {
  explicit Geometry(const Variant& variant)
      : causal(variant.mask == Mask::kCausal),
        lean(variant.probability == Probability::kLean),
        exact(variant.probability == Probability::kExact),
        int8(variant.data_type == DataType::kInt8),
        multiply(variant.probability == Probability::kMultiply),
        row_bytes(variant.head_dim_qk),
        qk_steps(variant.head_dim_qk / 64),
        narrow_part(variant.head_dim_qk % 128 != 0) {
    key_lds = kStages * kValueTileBytes;
    narrow_lds = key_lds + kStages * kWidePartBytes;
    own_lds = narrow_lds + (narrow_part ? kStages * kNarrowPartBytes : 0);
    own_bytes = kQueriesPerWave * row_bytes;
    own_stride = int8 ? Int8Rule().probe_keys * kWideRow : own_bytes;
    multiplier_lds = own_lds + kWavesPerGroup * own_stride;
    probe_multiplier_lds =
        multiplier_lds + (multiply ? kStages * kMultiplierBytes : 0);
    lds_bytes = probe_multiplier_lds + (multiply ? kMultiplierBytes : 0);
  }

  static constexpr int kStages = 4;  // tiles in LDS, of K and of V
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
  // Eight keys' multipliers as a wave loads them, then 224 bytes of nothing.
  static constexpr int kMultiplierBytes = 256 * kWavesPerGroup;
  bool causal;
  bool lean;         // what makes P's codes: of FP8 scores
  bool exact;        // the same
  bool int8;         // of integer scores
  bool multiply;     // of those, times keys' multipliers
  int row_bytes;     // of Q and K
  int qk_steps;      // of K Q^T, 64 channels each
  bool narrow_part;  // rows have a part behind the first 128 bytes
  int key_lds;       // LDS address of K's wide parts; V is at 0
  int narrow_lds;    // of K's narrow parts
  // Of what each wave has for itself: Q of the next item and, later, the wide
  // parts of the probe's keys.
  int own_lds;
  int own_bytes;   // of a wave's Q
  int own_stride;  // from wave to wave
  int multiplier_lds;
  int probe_multiplier_lds;  // of the probe's keys, of each wave
  int lds_bytes;
};

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_GEOMETRY_H_
