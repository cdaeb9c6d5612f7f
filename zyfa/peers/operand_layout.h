#ifndef ZYFA_PEERS_OPERAND_LAYOUT_H_
#define ZYFA_PEERS_OPERAND_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "zyfa/peers/quantize.h"

namespace zyfa::peers {

// Bytes as a kernel reads them, and the strides that its arguments name, all in
// bytes. Behind the data lies what AITER's buffers keep free for reads ahead.
struct PackedOperand {
  std::vector<uint8_t> data;
  std::vector<uint8_t> scales;  // floats, or E8M0 bytes in the kernel's order
  int64_t seq_stride = 0;
  int64_t head_stride = 0;
  int64_t batch_stride = 0;
  int64_t scale_head_stride = 0;
  int64_t scale_batch_stride = 0;
};

// Rows [batch][seq][head] behind each other; formats of 6 and 4 bits packed
// little-endian. In FP6 the two halves of 32 elements alternate (element 2i is
// i, 2i+1 is 16+i), as v_cvt_scalef32_2xpk16_fp6_f32 leaves them. Block scales:
// the same rows of dim / 32 bytes, with room behind them for reads ahead.
PackedOperand PackRows(const QuantizedTensor& tensor);

// K of fmha_v4_fwd. 16 and 8 bits: PackRows. FP4 and FP6: tiles of 128 keys for
// each batch and head, dim 128, keys beyond the end zero. From
// mha_v4_quant.cu of AITER:
//   FP4, 8192 bytes: byte b of 32 elements g of key t at 2048 g + 16 t + b.
//   FP6, 17408 bytes: of the 24 bytes of 32 elements g of key t the first 16 at
//     2048 (t/32) + 512 g + 16 (t%32), the others at
//     8192 + 1024 (t/32) + 256 g + 8 (t%32); scale bytes at 16384 in the order
//     (t%32)/16, (t%16), t/32, g, and at 16896 the same moved down by one
//     place.
PackedOperand PackKey(const QuantizedTensor& tensor);

// V of fmha_v4_fwd, likewise. FP4 (test_mha_v4.py of AITER): 8192 bytes a tile,
// rows of 16 bytes (32 columns) at 16 p + 1024 (t/64) + 2048 (column/32), where
// p is the place of key t among its 64 that the kernel's P has. FP6
// (mxfp6_fmha_pack.py): 12288 bytes a tile, for each column 24 bytes for 32
// keys in the order of P. Block scales: 512 bytes a tile, at
// 256 (t/64) + 128 (t/32%2) + 4 (column%32) + column/32.
PackedOperand PackValue(const QuantizedTensor& tensor);

// Place among 64 keys that key t (0..63) has in the FP4 V tile.
int Fp4ValuePlace(int t);

// Key (0..31) of element f (0..31) in a column of the FP6 V tile.
int Fp6ValueKey(int f);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_OPERAND_LAYOUT_H_
