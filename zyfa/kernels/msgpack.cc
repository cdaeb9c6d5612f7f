#include "zyfa/kernels/msgpack.h"

#include "absl/strings/str_cat.h"

namespace zyfa {
namespace {

absl::Status Bad(absl::string_view wanted, uint64_t got) {
  return absl::InvalidArgumentError(absl::StrCat(
      "MessagePack: ", wanted, " wanted, type byte is ", absl::Hex(got)));
}

}  // namespace

absl::StatusOr<absl::string_view> MsgpackReader::Take(uint64_t bytes) {
  if (bytes > bytes_.size()) {
    return absl::InvalidArgumentError("MessagePack: truncated");
  }
  const absl::string_view taken(reinterpret_cast<const char*>(bytes_.data()),
                                bytes);
  bytes_.remove_prefix(bytes);
  return taken;
}

absl::StatusOr<uint64_t> MsgpackReader::BigEndian(int bytes) {
  const auto taken = Take(bytes);
  if (!taken.ok()) return taken.status();
  uint64_t value = 0;
  for (char c : *taken) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

absl::StatusOr<uint32_t> MsgpackReader::ReadMap() {
  const auto type = BigEndian(1);
  if (!type.ok()) return type.status();
  if ((*type & 0xf0) == 0x80) return *type & 15;
  if (*type != 0xde && *type != 0xdf) return Bad("map", *type);
  const auto count = BigEndian(*type == 0xde ? 2 : 4);
  if (!count.ok()) return count.status();
  return static_cast<uint32_t>(*count);
}

absl::StatusOr<uint32_t> MsgpackReader::ReadArray() {
  const auto type = BigEndian(1);
  if (!type.ok()) return type.status();
  if ((*type & 0xf0) == 0x90) return *type & 15;
  if (*type != 0xdc && *type != 0xdd) return Bad("array", *type);
  const auto count = BigEndian(*type == 0xdc ? 2 : 4);
  if (!count.ok()) return count.status();
  return static_cast<uint32_t>(*count);
}

absl::StatusOr<absl::string_view> MsgpackReader::ReadString() {
  const auto type = BigEndian(1);
  if (!type.ok()) return type.status();
  if ((*type & 0xe0) == 0xa0) return Take(*type & 31);
  if (*type < 0xd9 || *type > 0xdb) return Bad("string", *type);
  const auto length = BigEndian(1 << (*type - 0xd9));
  if (!length.ok()) return length.status();
  return Take(*length);
}

absl::StatusOr<uint64_t> MsgpackReader::ReadUnsigned() {
  const auto type = BigEndian(1);
  if (!type.ok()) return type.status();
  if (*type < 0x80) return *type;
  if (*type < 0xcc || *type > 0xcf) return Bad("unsigned number", *type);
  return BigEndian(1 << (*type - 0xcc));
}

absl::Status MsgpackReader::Skip() {
  // Values still to step over; containers add theirs. Every value is at least a
  // byte, so hostile counts end with the data.
  for (uint64_t left = 1; left > 0; --left) {
    const auto type_byte = BigEndian(1);
    if (!type_byte.ok()) return type_byte.status();
    const uint64_t type = *type_byte;
    uint64_t bytes = 0;     // payload to drop
    int length_bytes = 0;   // width of a length field before the payload
    uint64_t children = 0;  // values per counted element
    if (type < 0x80 || type >= 0xe0) {
      continue;  // small number
    } else if (type < 0x90) {
      left += 2 * (type & 15);
      continue;
    } else if (type < 0xa0) {
      left += type & 15;
      continue;
    } else if (type < 0xc0) {
      bytes = type & 31;  // short string
    } else if (type == 0xc0 || type == 0xc2 || type == 0xc3) {
      continue;  // nil, false, true
    } else if (type >= 0xc4 && type <= 0xc6) {
      length_bytes = 1 << (type - 0xc4);  // bytes
    } else if (type >= 0xca && type <= 0xcb) {
      bytes = type == 0xca ? 4 : 8;  // floats
    } else if (type >= 0xcc && type <= 0xd3) {
      bytes = uint64_t{1} << (type - (type >= 0xd0 ? 0xd0 : 0xcc));
    } else if (type >= 0xd9 && type <= 0xdb) {
      length_bytes = 1 << (type - 0xd9);  // string
    } else if (type >= 0xdc && type <= 0xdf) {
      length_bytes = type & 1 ? 4 : 2;
      children = type >= 0xde ? 2 : 1;
    } else {
      return Bad("a value that metadata can have", type);
    }
    if (length_bytes > 0) {
      const auto length = BigEndian(length_bytes);
      if (!length.ok()) return length.status();
      if (children > 0) {
        left += children * *length;
        continue;
      }
      bytes = *length;
    }
    const auto dropped = Take(bytes);
    if (!dropped.ok()) return dropped.status();
  }
  return absl::OkStatus();
}

}  // namespace zyfa
