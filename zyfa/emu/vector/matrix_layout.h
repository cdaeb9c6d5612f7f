#ifndef ZYFA_EMU_VECTOR_MATRIX_LAYOUT_H_
#define ZYFA_EMU_VECTOR_MATRIX_LAYOUT_H_

#include "zyfa/emu/vector/target.h"
#include "zyfa/emu/wave.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

// Where the elements of matrix operands live (ISA 7.1.4, 7.1.5).
//
// A is rows x K and B is K x rows (its columns counted as rows here: both
// follow the same rule). Several independent products, blocks, may share one
// instruction. Lane l holds elements e = 0, 1, ... of row l % rows.
template <int kRows, int kDepth, int kBlocks>
struct OperandLayout {
  static constexpr int kGroups = kLanes / kRows;  // of lanes
  static constexpr int kElements = kRows * kDepth * kBlocks / kLanes;  // a lane
  static_assert(kBlocks == 1 || kBlocks == kGroups || kElements == 1);

  static constexpr int Block(int group) {
    return kBlocks == 1 ? 0 : group % kBlocks;
  }
  // k of element e in lane group `group`.
  static constexpr int Depth(int group, int e) {
    return kElements * (group / kBlocks) + e;
  }
};

// The 8-bit operands of the f8f6f4 products and the dense operand of the large
// sparse ones: two runs of half the elements, half the depth apart.
template <int kRows, int kDepth>
struct ChunkedLayout {
  static constexpr int kGroups = kLanes / kRows;
  static constexpr int kElements = kRows * kDepth / kLanes;
  static constexpr int Block(int) { return 0; }
  static constexpr int Depth(int group, int e) {
    constexpr int run = kElements / 2;
    return kDepth / 2 * (e / run) + run * group + e % run;
  }
};

// Result (and C) element (i, j) of a block: register and lane. The same for all
// input types but float64.
template <int kRows>
struct ResultLayout {
  static_assert(kRows == 32 || kRows == 16 || kRows == 4);
  static constexpr int kRegisters = kRows == 32 ? 16 : 4;  // a block

  // Of element (i, 0); the following columns are in the following lanes.
  static constexpr int Register(int block, int i) {
    if (kRows == 32) return 16 * block + 4 * (i / 8) + i % 4;
    return kRows == 16 ? 4 * block + i % 4 : i;
  }
  static constexpr int Lane(int block, int i) {
    if (kRows == 32) return 32 * (i / 4 % 2);
    return kRows == 16 ? 16 * (i / 4) : 4 * block;
  }
};

// Float64: the number counts register pairs.
template <int kRows>
struct ResultLayoutF64 {
  static_assert(kRows == 16 || kRows == 4);
  static constexpr int Register(int, int i) { return kRows == 16 ? i / 4 : 0; }
  static constexpr int Lane(int block, int i) {
    return kRows == 16 ? 16 * (i % 4) : 16 * i + 4 * block;
  }
};

// cbsz and abid: block abid of every 2^cbsz blocks of A serves all of them.
constexpr int BroadcastBlock(int block, int cbsz, int abid) {
  const int size = 1 << cbsz;
  return block / size * size + abid % size;
}

// blgp: lane of B that is used in the place of `lane`.
constexpr int PermutedLane(int lane, int blgp) {
  if (blgp == 0) return lane;
  if (blgp == 3) return (lane + 16) % 64;
  return blgp < 3 ? lane % 32 + 32 * (blgp - 1) : lane % 16 + 16 * (blgp - 4);
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_MATRIX_LAYOUT_H_
