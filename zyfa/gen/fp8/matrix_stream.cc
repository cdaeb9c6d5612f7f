#include "zyfa/gen/fp8/matrix_stream.h"

#include <algorithm>

namespace zyfa::gen::fp8 {
namespace {

constexpr uint32_t kOnesFp4 = 0x22222222;   // eight times 1.0
constexpr uint32_t kOnesE4m3 = 0x38383838;  // four times
// Places of two values among four, eight times: the first two, the others.
constexpr uint32_t kFirstPlaces = 0x44444444;
constexpr uint32_t kLastPlaces = 0xeeeeeeee;

// S^T[32 keys of a block][32 queries] += K[keys][64 channels] Q^T.
MatrixOp ScoreOp(KernelState& s, int stage, int step, int block, bool first) {
  const bool narrow = step * 64 >= Geometry::kWideRow;
  const VReg address =
      narrow ? s.narrow_read.sub(0, 2) : s.key_read.sub(2 * step, 2);
  const int offset = narrow ? stage * Geometry::kNarrowPartBytes +
                                  block * 32 * Geometry::kNarrowRow
                            : stage * Geometry::kWidePartBytes +
                                  block * 32 * Geometry::kWideRow;
  const VReg sum = s.scores.sub(16 * block, 16);
  return {2, s.g.int8 ? 2 : 1,
          [&s, address, offset](VReg fragment) {
            s.a.ds_read_b128(fragment.sub(0, 4), address[0], offset);
            s.a.ds_read_b128(fragment.sub(4, 4), address[1], offset);
          },
          [&s, step, sum, first](VReg fragment, int part) {
            const VReg query = s.query.sub(8 * step, 8);
            if (s.g.int8) {
              // Which channels a product takes does not matter.
              const bool bare = first || s.g.multiply;
              s.a.v_mfma_i32_32x32x32_i8(sum, fragment.sub(4 * part, 4),
                                         query.sub(4 * part, 4),
                                         step + part > 0 ? MfmaAddend(sum)
                                         : bare ? MfmaAddend(0)
                                                : MfmaAddend(s.addend));
              return;
            }
            const auto multiply = [&](MfmaAddend c) {
              s.a.v_mfma_scale_f32_32x32x64_f8f6f4(
                     sum, fragment, query, c, s.score_scales, s.score_scales)
                  .scale_bytes(0, 1);
            };
            if (step > 0) {
              multiply(sum);
            } else if (s.g.lean) {
              multiply(0);
            } else {
              multiply(s.addend);
            }
          }};
}

// O^T[32 columns of a block][32 queries] += V^T[columns][64 keys] P^T. The
// accumulator layout of S^T makes byte e of lane half h the key
// 32 (e/16) + 8 (e%16/4) + 4 h + e%4; four transposing reads fetch V's rows in
// just that order (cdna4-isa 1.4).
MatrixOp OutputOp(KernelState& s, int stage, int block, bool first) {
  const VReg address = s.value_read[block];
  const VReg sum = s.output_sum.sub(16 * block, 16);
  const VReg scale = s.block_scale;
  return {4, 1,
          [&s, address, stage](VReg fragment) {
            for (int q = 0; q < 4; ++q) {
              s.a.ds_read_b64_tr_b8(fragment.sub(2 * q, 2), address,
                                    stage * Geometry::kValueTileBytes +
                                        16 * q * Geometry::kHeadDimV);
            }
          },
          [&s, sum, scale, first](VReg fragment, int) {
            const MfmaAddend before = first ? MfmaAddend(0) : MfmaAddend(sum);
            s.a.v_mfma_scale_f32_32x32x64_f8f6f4(sum, fragment, s.codes, before,
                                                 s.score_scales, scale)
                .scale_bytes(0, 0);
          }};
}

VReg Fragment(const KernelState& s, size_t i) {
  const int slot = static_cast<int>(i) % kFragmentSlots;
  return s.fragments.sub(kFragmentRegisters * slot, kFragmentRegisters);
}

}  // namespace

MatrixOps ScoreOps(KernelState& s, int stage, bool first) {
  MatrixOps ops;
  for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
    for (int step = 0; step < s.g.qk_steps; ++step) {
      ops.push_back(ScoreOp(s, stage, step, block, first));
    }
  }
  return ops;
}

MatrixOps OutputOps(KernelState& s, int stage, bool first) {
  MatrixOps ops;
  for (int block = 0; block < Geometry::kValueBlocks; ++block) {
    ops.push_back(OutputOp(s, stage, block, first));
  }
  return ops;
}

namespace {

// Sparse FP8 A: row i = lane % 16, byte c of lane group b = lane / 16 is one of
// k = 32 b + 4 (c / 2) .. + 3. FP8 B as below: bytes 0..7 meet the lanes of
// queries 0..15, bytes 8..15 those of queries 16..31. Rows 4 b and 4 b + 1 are
// for lane group b: one for each half of every four codes.
void EmitSparseOnes(KernelState& s) {
  Assembler& a = s.a;
  ScopedVReg odd = a.vgprs().Scoped("odd_row_group");
  ScopedVReg used = a.vgprs().Scoped("ones_of_used_rows");
  a.v_and_b32(used, 2, s.query_lane);
  a.v_cmp_eq_u32(vcc, 0, used);
  a.v_mov_b32(used, Bits(kOnesE4m3));
  a.v_cndmask_b32(used, 0, used, vcc);
  a.v_bfe_u32(odd, s.query_lane, 2, 1);
  a.v_sub_u32(odd, 0, odd);
  a.Comment("rows of queries 16..31");
  a.v_and_b32(s.ones[2], used, odd);
  a.v_mov_b32(s.ones[3], s.ones[2]);
  a.Comment("rows of queries 0..15");
  a.v_xor_b32(s.ones[0], used, s.ones[2]);
  a.v_mov_b32(s.ones[1], s.ones[0]);
  a.Comment("which of four codes: in the second row of a pair the last two");
  a.v_and_b32(odd, 1, s.query_lane);
  a.v_cmp_eq_u32(vcc, 0, odd);
  a.v_mov_b32(odd, Bits(kFirstPlaces));
  a.v_mov_b32(used, Bits(kLastPlaces));
  a.v_cndmask_b32(s.ones_places, used, odd, vcc);
}

}  // namespace

void EmitOnes(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Lane constants: A operand of the row sum");
  if (s.g.int8) return EmitSparseOnes(s);
  // FP4 A: row i = lane % 16, nibble n of lane group b = lane / 16 is
  // k = 32 b + n. FP8 B: lane group b has k = 16 b + (0..15) and 64 more. So
  // nibbles 0..15 meet the lanes of queries 0..15, nibbles 16..31 those of
  // queries 16..31. Row i of the result is for the former if i / 4 is even:
  // lanes of group b get rows 4 b .. 4 b + 3, that is their own query's sum.
  ScopedVReg odd = a.vgprs().Scoped("odd_row_group");
  a.v_bfe_u32(odd, s.query_lane, 2, 1);
  a.v_sub_u32(odd, 0, odd);
  a.Comment("rows of queries 16..31");
  a.v_and_b32(s.ones[2], Bits(kOnesFp4), odd);
  a.v_mov_b32(s.ones[3], s.ones[2]);
  a.Comment("rows of queries 0..15");
  a.v_xor_b32(s.ones[0], Bits(kOnesFp4), s.ones[2]);
  a.v_mov_b32(s.ones[1], s.ones[0]);
}

void EmitCodeSum(KernelState& s) {
  if (s.g.int8) {
    s.a.v_smfmac_f32_16x16x128_fp8_fp8(s.code_sum, s.ones, s.codes,
                                       s.ones_places);
    return;
  }
  s.a.v_mfma_f32_16x16x128_f8f6f4(s.code_sum, s.ones, s.codes, 0)
      .formats(MatrixFormat::kFp4E2m1, MatrixFormat::kFp8E4m3);
}

void EmitRowSum(KernelState& s) {
  Assembler& a = s.a;
  a.Comment("row sum, with the tile's exponent");
  if (!s.g.int8) {
    a.v_fma_f32(s.row_sum, s.code_sum[0], s.exponent, s.row_sum);
    return;
  }
  ScopedVReg scale = a.vgprs().Scoped("tile_scale");
  a.v_lshlrev_b32(scale, 23, s.block_scale);
  a.v_add_f32(s.code_sum[0], s.code_sum[0], s.code_sum[1]);
  a.v_fma_f32(s.row_sum, s.code_sum[0], scale, s.row_sum);
}

Stream CaptureReadsAhead(KernelState& s, const MatrixOps& ops) {
  return s.a.Capture([&] {
    for (size_t i = 0; i < kFragmentsAhead; ++i) ops[i].read(Fragment(s, i));
  });
}

std::vector<Stream> CaptureSteps(KernelState& s, const MatrixOps& ops) {
  std::vector<Stream> steps;
  for (size_t i = 0; i < ops.size(); ++i) {
    for (int part = 0; part < ops[i].parts; ++part) {
      steps.push_back(s.a.Capture([&] {
        if (part == 0) {
          int behind = 0;  // reads that may still be on their way
          for (size_t k = i + 1; k < std::min(i + kFragmentsAhead, ops.size());
               ++k) {
            behind += ops[k].reads;
          }
          s.a.WaitLgkmcnt(behind);
        }
        ops[i].multiply(Fragment(s, i), part);
        const size_t ahead = i + kFragmentsAhead;
        if (part == 0 && ahead < ops.size()) {
          ops[ahead].read(Fragment(s, ahead));
        }
      }));
    }
  }
  return steps;
}

}  // namespace zyfa::gen::fp8
