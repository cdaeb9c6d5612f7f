#include "zyfa/gen/attention/matrix_stream.h"

#include <algorithm>

namespace zyfa::gen {
namespace {

// S^T[32 keys of a block][32 queries] += K[keys][16 channels] Q^T.
MatrixOp ScoreOp(KernelState& s, int parity, int step, int block) {
  const VReg address = s.key_read[step % s.g.key_reads];
  const int offset = parity * s.g.key_tile_bytes +
                     block * 32 * s.g.key_row_bytes +
                     step / s.g.key_reads * s.g.key_reads * 32;
  const VReg sum = s.scores[parity].sub(16 * block, 16);
  return {1,
          [&s, address, offset](VReg fragment) {
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
MatrixOp OutputOp(KernelState& s, int parity, int step, int block) {
  const VReg address = s.value_read[block];
  const int offset =
      parity * s.g.value_tile_bytes + 16 * step * s.g.value_row_bytes;
  const VReg sum = s.output.sub(16 * block, 16);
  // The softmax packs the probabilities of 16 keys into the first four of the
  // eight registers that held their scores.
  const VReg probability = s.scores[parity].sub(8 * step, 4);
  return {2,
          [&s, address, offset](VReg fragment) {
            s.a.ds_read_b64_tr_b16(fragment.sub(0, 2), address, offset);
            s.a.ds_read_b64_tr_b16(fragment.sub(2, 2), address,
                                   offset + 8 * s.g.value_row_bytes);
          },
          [&s, sum, probability](VReg fragment) {
            s.a.v_mfma_f32_32x32x16_bf16(sum, fragment, probability, sum);
          }};
}

VReg Fragment(const KernelState& s, size_t i) {
  return s.fragments.sub(4 * static_cast<int>(i % kFragmentSlots), 4);
}

}  // namespace

std::vector<MatrixOp> ScoreOps(KernelState& s, int parity) {
  std::vector<MatrixOp> ops;
  for (int step = 0; step < s.g.qk_steps; ++step) {
    for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
      ops.push_back(ScoreOp(s, parity, step, block));
    }
  }
  return ops;
}

std::vector<MatrixOp> OutputOps(KernelState& s, int parity) {
  std::vector<MatrixOp> ops;
  for (int step = 0; step < Geometry::kKeySteps; ++step) {
    for (int block = 0; block < s.g.value_blocks; ++block) {
      ops.push_back(OutputOp(s, parity, step, block));
    }
  }
  return ops;
}

Stream CaptureReadsAhead(KernelState& s, const std::vector<MatrixOp>& ops) {
  return s.a.Capture([&] {
    for (size_t i = 0; i < std::min<size_t>(kFragmentsAhead, ops.size()); ++i) {
      ops[i].read(Fragment(s, i));
    }
  });
}

std::vector<Stream> CaptureSteps(KernelState& s,
                                 const std::vector<MatrixOp>& ops,
                                 const std::vector<MatrixOp>& next) {
  const auto op = [&](size_t i) -> const MatrixOp* {
    if (i < ops.size()) return &ops[i];
    return i - ops.size() < std::min<size_t>(kFragmentsAhead, next.size())
               ? &next[i - ops.size()]
               : nullptr;
  };
  std::vector<Stream> steps;
  for (size_t i = 0; i < ops.size(); ++i) {
    steps.push_back(s.a.Capture([&] {
      if (i % 2 == 0) {
        int behind = 0;  // reads that may still be on their way
        for (size_t k = i + 2; k < i + kFragmentsAhead; ++k) {
          if (op(k) != nullptr) behind += op(k)->reads;
        }
        s.a.WaitLgkmcnt(behind);
      }
      ops[i].multiply(Fragment(s, i));
      const size_t ahead = i + kFragmentsAhead;
      if (op(ahead) != nullptr) op(ahead)->read(Fragment(s, ahead));
    }));
  }
  return steps;
}

Stream Join(const std::vector<Stream>& steps, int begin, int end) {
  Stream joined;
  for (int i = begin; i < end; ++i) joined.Add(steps[i]);
  return joined;
}

}  // namespace zyfa::gen
