#include "zyfa/gen/attention/matrix_stream.h"

#include <algorithm>
#include <functional>

namespace zyfa::gen {
namespace {

// One matrix instruction and the reads of its A operand from LDS.
struct MatrixOp {
  std::function<void(VReg fragment)> read;
  std::function<void(VReg fragment)> multiply;
};

// S^T[32 keys of a block][32 queries] += K[keys][16 channels] Q^T: block and k
// step of instruction i.
MatrixOp ScoreOp(KernelState& s, int stage, int i) {
  const int step = i / Geometry::kKeyBlocks;
  const int block = i % Geometry::kKeyBlocks;
  const VReg address = s.key_read[step % s.g.key_reads];
  const int offset = stage * s.g.key_tile_bytes +
                     block * 32 * s.g.key_row_bytes +
                     step / s.g.key_reads * s.g.key_reads * 32;
  const VReg sum = s.scores[stage].sub(16 * block, 16);
  return {[&s, address, offset](VReg fragment) {
            s.a.ds_read_b128(fragment, address, offset);
          },
          [&s, step, sum](VReg fragment) {
            const VReg query = s.query.sub(4 * step, 4);
            if (step == 0) {
              s.a.v_mfma_f32_32x32x16_bf16(sum, fragment, query, 0);
            } else {
              s.a.v_mfma_f32_32x32x16_bf16(sum, fragment, query, sum);
            }
          }};
}

// O^T[32 columns of a block][32 queries] += V^T[columns][16 keys] P^T. The
// accumulator layout of S^T makes element e of lane half h the key
// 16 step + 8 (e/4) + 4 h + e%4; two transposing reads fetch V's rows in just
// that order.
MatrixOp OutputOp(KernelState& s, int stage, int i) {
  const int step = i / s.g.value_blocks;
  const int block = i % s.g.value_blocks;
  const VReg address = s.value_read[block];
  const int offset =
      stage * s.g.value_tile_bytes + 16 * step * s.g.value_row_bytes;
  const VReg sum = s.output.sub(16 * block, 16);
  // The softmax packs the probabilities of 16 keys into the first four of the
  // eight registers that held their scores.
  const VReg probability = s.scores[stage].sub(8 * step, 4);
  return {[&s, address, offset](VReg fragment) {
            s.a.ds_read_b64_tr_b16(fragment.sub(0, 2), address, offset);
            s.a.ds_read_b64_tr_b16(fragment.sub(2, 2), address,
                                   offset + 8 * s.g.value_row_bytes);
          },
          [&s, sum, probability](VReg fragment) {
            s.a.v_mfma_f32_32x32x16_bf16(sum, fragment, probability, sum);
          }};
}

}  // namespace

MatrixSteps CaptureMatrixSteps(KernelState& s, int scores_stage,
                               int output_stage) {
  std::vector<MatrixOp> ops;
  if (scores_stage >= 0) {
    for (int i = 0; i < s.g.qk_steps * Geometry::kKeyBlocks; ++i) {
      ops.push_back(ScoreOp(s, scores_stage, i));
    }
  }
  const int score_ops = static_cast<int>(ops.size());
  if (output_stage >= 0) {
    for (int i = 0; i < Geometry::kKeySteps * s.g.value_blocks; ++i) {
      ops.push_back(OutputOp(s, output_stage, i));
    }
  }
  const int count = static_cast<int>(ops.size());
  const auto fragment = [&s](int i) {
    return s.fragments.sub(4 * (i % kFragmentSlots), 4);
  };

  MatrixSteps steps;
  steps.reads_ahead = s.a.Capture([&] {
    for (int i = 0; i < std::min(kFragmentsAhead, count); ++i) {
      ops[i].read(fragment(i));
    }
  });
  for (int i = 0; i < count; ++i) {
    Stream step = s.a.Capture([&] {
      const int ahead = i + kFragmentsAhead;
      if (ahead < count) ops[ahead].read(fragment(ahead));
      ops[i].multiply(fragment(i));
    });
    (i < score_ops ? steps.scores : steps.output).push_back(std::move(step));
  }
  return steps;
}

Stream Join(const std::vector<Stream>& steps, int begin, int end) {
  Stream joined;
  for (int i = begin; i < end; ++i) joined.Add(steps[i]);
  return joined;
}

}  // namespace zyfa::gen
