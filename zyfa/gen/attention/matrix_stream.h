#ifndef ZYFA_GEN_ATTENTION_MATRIX_STREAM_H_
#define ZYFA_GEN_ATTENTION_MATRIX_STREAM_H_

#include <functional>
#include <vector>

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// One matrix instruction and the reads of its A operand from LDS.
struct MatrixOp {
  int reads = 0;  // instructions
  std::function<void(VReg fragment)> read;
  std::function<void(VReg fragment)> multiply;
};

// S^T = K Q^T of a key tile: 32x32 blocks of keys, 16 channels a step. `parity`
// of the tile's number says where its keys and its scores are.
std::vector<MatrixOp> ScoreOps(KernelState& s, int parity);

// O^T += V^T P^T of a key tile: four instructions per 16 keys. Reads from the
// pair of value stages that value_read points into.
std::vector<MatrixOp> OutputOps(KernelState& s, int parity);

// Operands are read kFragmentsAhead instructions before they are multiplied,
// over the seams between lists too: a list's first operands are read with the
// last instructions of the list before it. Every list starts at slot 0 of the
// ring, so its length is a multiple of kFragmentSlots.

// The first operands of a list that no other list reads ahead.
Stream CaptureReadsAhead(KernelState& s, const std::vector<MatrixOp>& ops);

// Step i issues instruction i of `ops` and behind it, where the vector pipe may
// not issue yet (cdna4-timing 1.3), the read ahead, which goes on into `next`,
// the list that follows. Even steps wait for the operands of two instructions,
// as each wait costs an issue slot. The reads that `ops` begins with must be
// the last LDS operations before.
std::vector<Stream> CaptureSteps(KernelState& s,
                                 const std::vector<MatrixOp>& ops,
                                 const std::vector<MatrixOp>& next);

// Steps begin .. end-1 in one stream.
Stream Join(const std::vector<Stream>& steps, int begin, int end);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_MATRIX_STREAM_H_
