#ifndef ZYFA_GEN_ATTENTION_MATRIX_STREAM_H_
#define ZYFA_GEN_ATTENTION_MATRIX_STREAM_H_

#include <vector>

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// The matrix work of one trip of the main loop in order, cut into steps: step 0
// reads the first operand fragments from LDS, step i > 0 reads a later fragment
// and issues the i-th matrix instruction.
struct MatrixSteps {
  Stream reads_ahead;
  std::vector<Stream> scores;  // S^T of the next tile, K Q^T
  std::vector<Stream> output;  // O^T += V^T P^T, four instructions per 16 keys
};

// scores_stage: LDS stage and score registers of K Q^T, or -1 for none.
// output_stage: the same for V^T P^T, or -1.
MatrixSteps CaptureMatrixSteps(KernelState& s, int scores_stage,
                               int output_stage);

// Steps begin .. end-1 in one stream.
Stream Join(const std::vector<Stream>& steps, int begin, int end);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_MATRIX_STREAM_H_
