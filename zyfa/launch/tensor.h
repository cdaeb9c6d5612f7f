#ifndef ZYFA_LAUNCH_TENSOR_H_
#define ZYFA_LAUNCH_TENSOR_H_

#include <cstdint>
#include <variant>

#include "zyfa/variant/variant.h"

namespace zyfa {

// A tensor [batch, seqlen, heads, head_dim] in device memory that somebody else
// owns. Strides are in bytes and independent of each other, so the layouts BSHD
// and BHSD, packed QKV and broadcast dimensions (stride 0) are all views; the
// last dimension is contiguous. The stride of a dimension of size 0 or 1 is
// never used.
struct TensorView {
  DataType data_type = DataType::kBf16;
  uint64_t address = 0;  // of element [0, 0, 0, 0]
  int64_t batch = 0;
  int64_t seqlen = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t batch_stride = 0;
  int64_t seq_stride = 0;
  int64_t head_stride = 0;
};

// A number for each token of a head, [batch, heads, seqlen]. The last dimension
// is contiguous; strides in bytes as above.
struct TokenView {
  uint64_t address = 0;
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t seqlen = 0;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
};

// The log-sum-exp of each row, float32, natural log.
using LseView = TokenView;

// Scales in device memory: float32 [batch, heads], strides in bytes. A size of
// 1 stands for all batch entries or heads; its stride is never used.
struct ScaleView {
  uint64_t address = 0;
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
};

// A scale of the host for all of a tensor, or scales of the device.
using Scale = std::variant<float, ScaleView>;

// Bytes of one element.
constexpr int64_t BytesPerElement(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return 2;
    case DataType::kFp8:
    case DataType::kInt8:
      return 1;
  }
  return 0;
}

// A view of a dense tensor in the order batch, seqlen, heads, head_dim. The
// caller keeps the product of the sizes below 2^63 bytes.
constexpr TensorView DenseTensor(uint64_t address, int64_t batch,
                                 int64_t seqlen, int64_t heads,
                                 int64_t head_dim,
                                 DataType type = DataType::kBf16) {
  const int64_t row = head_dim * BytesPerElement(type);
  return {type,
          address,
          batch,
          seqlen,
          heads,
          head_dim,
          seqlen * heads * row,
          heads * row,
          row};
}

// A view of a dense tensor [batch, heads, seqlen] of numbers of that many
// bytes.
constexpr TokenView DenseTokens(uint64_t address, int64_t batch, int64_t heads,
                                int64_t seqlen, int64_t bytes) {
  const int64_t row = seqlen * bytes;
  return {address, batch, heads, seqlen, heads * row, row};
}

// The same of float32.
constexpr LseView DenseLse(uint64_t address, int64_t batch, int64_t heads,
                           int64_t seqlen) {
  return DenseTokens(address, batch, heads, seqlen, 4);
}

// A view of dense float32 scales [batch, heads].
constexpr ScaleView DenseScales(uint64_t address, int64_t batch,
                                int64_t heads) {
  return {address, batch, heads, heads * 4, 4};
}

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_TENSOR_H_
