#ifndef ZYFA_GEN_FP8_MATRIX_STREAM_H_
#define ZYFA_GEN_FP8_MATRIX_STREAM_H_

#include <functional>
#include <vector>

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// One matrix instruction, or two of half the length, and the reads of its A
// operand from LDS.
struct MatrixOp {
  int reads = 0;  // instructions
  int parts = 1;  // the same, of products
  std::function<void(VReg fragment)> read;
  std::function<void(VReg fragment, int part)> multiply;
};

using MatrixOps = std::vector<MatrixOp>;

// S^T = K Q^T of the key tile in stage `stage` of the ring. Blocks of 32
// keys one after the other, so that the first one's scores are there early.
// INT8: those of the item's `first` tile are without a reference.
MatrixOps ScoreOps(KernelState& s, int stage, bool first = false);

// O^T += V^T P^T of the key tile in stage `stage`; without an output so far,
// O^T = V^T P^T.
MatrixOps OutputOps(KernelState& s, int stage, bool first = false);

// code_sum = the sum of a tile's codes, in all four registers. The 16x16x128
// product takes lanes l and l + 16 as one column; which of them counts in which
// row of the result is up to `ones`: lanes get the rows of their own query.
// INT8: by a sparse product, which takes half the time. It adds to what is
// there, and a row of its `ones` meets two of every four codes: the sum is that
// of the first two registers.
void EmitOnes(KernelState& s);
void EmitCodeSum(KernelState& s);

// row_sum += code_sum times the power of two of its tile, the one that
// EmitTileExponent was last called for.
void EmitRowSum(KernelState& s);

// Operands are read kFragmentsAhead instructions before they are multiplied;
// the first ones of a list apart, before it.
Stream CaptureReadsAhead(KernelState& s, const MatrixOps& ops);

// A step for each matrix instruction: waits for its operands, issues it, and
// reads ahead behind it.
std::vector<Stream> CaptureSteps(KernelState& s, const MatrixOps& ops);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_MATRIX_STREAM_H_
