#ifndef ZYFA_GEN_FP8_STORE_H_
#define ZYFA_GEN_FP8_STORE_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Divides the wave's output by its row sums and stores it, as bf16 or e4m3, and
// the LSE. Rows without a key get output 0 and LSE -infinity. In two halves, so
// that a wave need not keep others waiting for the whole.
class OutputStore {
 public:
  explicit OutputStore(KernelState& state);

  // Rows' factors and addresses.
  void EmitFactors();
  // Columns 64 half .. 64 half + 63, and the LSE with the second half.
  void EmitHalf(int half);

  // Vector memory instructions of a half.
  static constexpr int kStoresOfHalf[2] = {Geometry::kValueBlocks,
                                           Geometry::kValueBlocks + 1};

 private:
  // SCC = is the output e4m3?
  void EmitTestFp8();
  void EmitBf16Rows(int half);
  void EmitFp8Rows(int half);
  void EmitLse();

  KernelState& s;
  Assembler& a;
  // No operand is on its way: in their place.
  VReg place_;    // of the lane in the first column
  VReg inverse_;  // of the row sum, times V's descale and, of an e4m3
                  // output, its scale
};

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_STORE_H_
