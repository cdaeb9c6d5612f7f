#ifndef ZYFA_VARIANT_INT8_RULE_H_
#define ZYFA_VARIANT_INT8_RULE_H_

#include <cstdint>

namespace zyfa {

// How the reference of a row moves in INT8 kernels (docs/int8-rule.md). It is
// what all codes of a tile are relative to: a base, which is a score, and whole
// binades e above it. The kernels have the values below; their numeric model
// takes others as well. Tiles are counted from 0 for each row.
//
// The base is the largest score of the row's first tile and of its probe, which
// is a look at the keys at the row's own place; for a large weight to be coded
// as well as the others, the base must have its place in a binade.
struct Int8Rule {
  // The probe of row i looks at so many keys up to the end of the block of
  // kInt8ProbeBlock that begins at key i rounded down to a multiple of that,
  // with a causal mask plus seqlen_kv - seqlen_q, as far as the row sees them.
  // 0: no probe.
  int probe_keys = 48;
  // e from tile 1 on, above the probe's maximum, and down to where it may fall
  // below that.
  int start = 5;
  int floor = 4;
  // How far a rise of e goes beyond what its tile needs, and how far above the
  // largest score since the last fall the next one stops.
  int overshoot = 1;
  int slack = 8;
  // A maximum above the base becomes the base if it would weigh more than this
  // share of the row's sum so far, and is so many binades above it at least;
  // then e is start_of_move.
  float move_share = 0.25f;
  int least_distance = 3;
  int start_of_move = 1;
  // A fall behind every tile from 1 on whose number plus 1 is a multiple of
  // this; 0: none.
  int64_t period = 8;
  // Bit t, t from 1: another one behind tile t.
  uint32_t early_falls = 1u << 1;

  constexpr bool FallsBehind(int64_t tile) const {
    return tile > 0 && ((tile < 32 && (early_falls >> tile & 1) != 0) ||
                        (period != 0 && (tile + 1) % period == 0));
  }
};

inline constexpr int64_t kInt8ProbeBlock = 32;
// Least exponent of the reference, relative to a row's base.
inline constexpr int kInt8LeastExponent = -100;
// A maximum more binades than this above the base becomes the base, whatever it
// weighs: where scores climb and climb, each little enough, e and the sums
// would leave the range of float32.
inline constexpr int kInt8LargestDistance = 60;
// Fraction bits of a code; rows with more are NaN.
inline constexpr int kInt8LargestShift = 20;

}  // namespace zyfa

#endif  // ZYFA_VARIANT_INT8_RULE_H_
