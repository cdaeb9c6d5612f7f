#ifndef ZYFA_GEN_FP8_MATRIX_STREAM_H_
#define ZYFA_GEN_FP8_MATRIX_STREAM_H_

#include <functional>
#include <vector>

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// One matrix instruction and the reads of its A operand from LDS.
struct MatrixOp {
  int reads = 0;  // instructions
  std::function<void(VReg fragment)> read;
  std::function<void(VReg fragment)> multiply;
};

// Matrix instructions with consecutive places in the ring of operands, the
// first one's given.
struct MatrixOps {
  std::vector<MatrixOp> ops;
  int slot = 0;
};

// S^T = K Q^T of the key tile in stage `stage` (0..3) of the ring. Blocks of 32
// keys one after the other, so that the first one's scores are there early.
// The second argument says where scores go: parity of the tile's number.
MatrixOps ScoreOps(KernelState& s, int stage);

// O^T += V^T P^T of the key tile in stage `stage`.
MatrixOps OutputOps(KernelState& s, int stage);

// code_sum = the sums of a tile's codes, in all four registers of each lane of
// a row. The 16x16x128 product takes lanes l and l + 16 as one column; which of
// them counts in which row of the result is up to `ones`.
void EmitOnes(KernelState& s);
void EmitCodeSum(KernelState& s, int stage);

// Operands are read kFragmentsAhead instructions before they are multiplied,
// over the seam to the next list too: a list's first operands are read with the
// last instructions of the list before it.

// The first operands of a list that no other list reads ahead.
Stream CaptureReadsAhead(KernelState& s, const MatrixOps& ops);

// Step i waits for the operands of instruction i, issues it, and reads ahead
// behind it, where the vector pipe may not issue yet (cdna4-timing 1.3). With
// `fresh`, step i waits for all reads: it is the last one before others may
// overwrite what was read.
std::vector<Stream> CaptureSteps(KernelState& s, const MatrixOps& ops,
                                 const MatrixOps& next, int fresh = -1);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_MATRIX_STREAM_H_
