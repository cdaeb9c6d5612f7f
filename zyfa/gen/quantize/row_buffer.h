#ifndef ZYFA_GEN_QUANTIZE_ROW_BUFFER_H_
#define ZYFA_GEN_QUANTIZE_ROW_BUFFER_H_

#include <cstddef>
#include <string>

#include "zyfa/gen/asm/assembler.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa::gen {

// Rows of one tensor, of which a lane reads or writes some. Rows that are not
// there are not touched.
struct RowBuffer {
  std::string name;
  // Fields of QuantizeArgs.
  size_t base = 0;
  size_t batch_stride = 0;
  size_t head_stride = 0;
  size_t seq_stride = 0;  // 0: rows are dense
  int row_bytes = 4;

  SReg desc = {};
  VReg offsets = {};  // of the lane's row in each part
};

// Rows of `head_dim` codes of a byte.
inline RowBuffer Codes(int head_dim) {
  return {.name = "output",
          .base = offsetof(QuantizeArgs, output),
          .batch_stride = offsetof(QuantizeArgs, output_batch_stride),
          .head_stride = offsetof(QuantizeArgs, output_head_stride),
          .seq_stride = offsetof(QuantizeArgs, output_seq_stride),
          .row_bytes = head_dim};
}

inline RowBuffer LseCorrection() {
  return {.name = "lse",
          .base = offsetof(QuantizeArgs, lse_correction),
          .batch_stride = offsetof(QuantizeArgs, lse_batch_stride),
          .head_stride = offsetof(QuantizeArgs, lse_head_stride)};
}

inline RowBuffer TokenDescale() {
  return {.name = "descale",
          .base = offsetof(QuantizeArgs, descale),
          .batch_stride = offsetof(QuantizeArgs, scale_batch_stride),
          .head_stride = offsetof(QuantizeArgs, scale_head_stride)};
}

// A number a token, of 1 or 4 bytes.
inline RowBuffer Tokens(int bytes) {
  return {.name = "tokens",
          .base = offsetof(QuantizeArgs, tokens),
          .batch_stride = offsetof(QuantizeArgs, tokens_batch_stride),
          .head_stride = offsetof(QuantizeArgs, tokens_head_stride),
          .row_bytes = bytes};
}

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_ROW_BUFFER_H_
