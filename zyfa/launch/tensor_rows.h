#ifndef ZYFA_LAUNCH_TENSOR_ROWS_H_
#define ZYFA_LAUNCH_TENSOR_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/launch/tensor.h"

namespace zyfa {

// Bytes [begin, end) that a tensor reaches from its first to its last element.
struct ByteRange {
  std::string name;
  std::string address_argument;  // as messages name its start
  uint64_t begin = 0;
  uint64_t end = 0;
};

inline constexpr int64_t kNoLimit = INT64_MAX;

// A dimension outside the contiguous rows.
struct Dimension {
  std::string argument;  // as the message names its stride
  int64_t size = 0;
  int64_t* stride = nullptr;
  int64_t limit = kNoLimit;  // the stride must stay below it
};

// A tensor reduced to contiguous rows that repeat over dimensions.
struct Rows {
  std::string name;
  std::string address_argument;  // as messages name it; empty: NAME.address
  uint64_t address = 0;
  int64_t row_bytes = 0;
  int64_t alignment = 16;  // of address and strides
  bool written = false;    // rows must not overlap each other
  std::vector<Dimension> dimensions;
};

// The rows of a tensor; of what has a number for each token, of that many
// bytes. A stride that steps nowhere, what it says
// must not matter, is set to 0, that of rows to their size: kernels multiply it
// with rows beyond the end, which then lie behind the only one.
Rows RowsOf(const std::string& name, TensorView& view, bool written);
Rows RowsOf(const std::string& name, TokenView& view, int64_t element_bytes,
            bool written);

// The bytes that the tensor reaches, if address, strides and, of what is
// written, the distance of rows follow the rules of AttentionParams.
absl::StatusOr<ByteRange> CheckRows(const Rows& rows);

// Refuses bytes of `written` that are also `other`'s.
absl::Status CheckNoOverlap(const ByteRange& written, const ByteRange& other);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_TENSOR_ROWS_H_
