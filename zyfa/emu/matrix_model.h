#ifndef ZYFA_EMU_MATRIX_MODEL_H_
#define ZYFA_EMU_MATRIX_MODEL_H_

#include <cstdint>

namespace zyfa::emu {

// How matrix instructions with FP16, BF16, FP8, BF8, FP6, BF6 and FP4 operands
// add up: what the hardware does is not documented, so that a kernel's error
// can be seen under each of these (numerics 9). Products are exact and results
// float32 in all of them. Integer products are exact, float32 and float64 ones
// chains of fused multiply-adds whatever the model.
enum class MatrixModel : uint8_t {
  // C and all products added in float64, one rounding to nearest even.
  kExact,
  // What is known of CDNA3: groups of 8 values of k (FP16, BF16) or of 16,
  // even and odd ones apart (8 bits and less), products cut to 24 fraction bits
  // below the largest exponent of the group, C of a group the result of the
  // last.
  kCdna3,
  // The same with groups of 64.
  kGroups64,
  // Groups of 64 in which products, C and the result are cut to 17 fraction
  // bits.
  kTruncated17,
  // One float32 fused multiply-add after the other, in the order of k.
  kFmaChain,
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MATRIX_MODEL_H_
