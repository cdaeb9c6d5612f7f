#ifndef ZYFA_KERNELS_MSGPACK_H_
#define ZYFA_KERNELS_MSGPACK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace zyfa {

// Forward-only reader of MessagePack, the format of a code object's metadata:
// just what is needed to walk maps and arrays and take strings and unsigned
// numbers out of them. Truncated or unexpected data gives InvalidArgument.
class MsgpackReader {
 public:
  explicit MsgpackReader(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  // Number of key-value pairs (elements) that follow.
  absl::StatusOr<uint32_t> ReadMap();
  absl::StatusOr<uint32_t> ReadArray();
  absl::StatusOr<absl::string_view> ReadString();
  absl::StatusOr<uint64_t> ReadUnsigned();
  // Steps over one value of any type with all that it contains.
  absl::Status Skip();

 private:
  absl::StatusOr<uint64_t> BigEndian(int bytes);
  absl::StatusOr<absl::string_view> Take(uint64_t bytes);

  absl::Span<const uint8_t> bytes_;
};

}  // namespace zyfa

#endif  // ZYFA_KERNELS_MSGPACK_H_
