#ifndef ZYFA_QUANTIZE_EXTENT_H_
#define ZYFA_QUANTIZE_EXTENT_H_

#include <cstdint>

namespace zyfa {

// Sizes of a dense tensor [batch][seqlen][heads][head_dim] of the host;
// head_dim is 128 or 192.
struct QuantizeExtent {
  int64_t batch = 1;
  int64_t seqlen = 0;
  int64_t heads = 1;
  int64_t head_dim = 128;
  int64_t elements() const { return batch * seqlen * heads * head_dim; }
};

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_EXTENT_H_
