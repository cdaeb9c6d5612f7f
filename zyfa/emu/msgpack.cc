#include "zyfa/emu/msgpack.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace zyfa::emu {
namespace {

using Kind = MsgpackValue::Kind;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  size_t rest() const { return bytes_.size() - at_; }

  bool Read(MsgpackValue& value, int depth) {
    constexpr int kMaxDepth = 32;
    uint64_t tag;
    if (depth > kMaxDepth || !Number(1, tag)) return false;
    if (tag < 0x80) return Unsigned(value, tag);
    if (tag < 0x90) return Map(value, tag & 15, depth);
    if (tag < 0xa0) return Array(value, tag & 15, depth);
    if (tag < 0xc0) return String(value, tag & 31);
    if (tag >= 0xe0) return Negative(value, tag | ~uint64_t{0xff});
    uint64_t size = 0;
    switch (tag) {
      case 0xc0:
        return true;  // nil
      case 0xc2:
      case 0xc3:
        value.kind = Kind::kBool;
        value.number = tag & 1;
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:  // binary
        return Number(1 << (tag - 0xc4), size) && Skip(value, size);
      case 0xc7:
      case 0xc8:
      case 0xc9:  // extension: size, type, bytes
        return Number(1 << (tag - 0xc7), size) && Skip(value, size + 1);
      case 0xca:
      case 0xcb:
        return Skip(value, tag == 0xca ? 4 : 8);  // float
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return Number(1 << (tag - 0xcc), size) && Unsigned(value, size);
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: {
        const int bytes = 1 << (tag - 0xd0);
        if (!Number(bytes, size)) return false;
        const int shift = 64 - 8 * bytes;
        const int64_t number = static_cast<int64_t>(size << shift) >> shift;
        return number < 0 ? Negative(value, static_cast<uint64_t>(number))
                          : Unsigned(value, static_cast<uint64_t>(number));
      }
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return Skip(value, (uint64_t{1} << (tag - 0xd4)) + 1);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return Number(1 << (tag - 0xd9), size) && String(value, size);
      case 0xdc:
      case 0xdd:
        return Number(tag == 0xdc ? 2 : 4, size) && Array(value, size, depth);
      case 0xde:
      case 0xdf:
        return Number(tag == 0xde ? 2 : 4, size) && Map(value, size, depth);
      default:
        return false;
    }
  }

 private:
  // Big-endian, `bytes` long.
  bool Number(int bytes, uint64_t& value) {
    if (rest() < static_cast<size_t>(bytes)) return false;
    value = 0;
    for (int i = 0; i < bytes; ++i) {
      value = value << 8 | static_cast<uint8_t>(bytes_[at_++]);
    }
    return true;
  }
  bool Unsigned(MsgpackValue& value, uint64_t number) {
    value.kind = Kind::kUnsigned;
    value.number = number;
    return true;
  }
  bool Negative(MsgpackValue& value, uint64_t number) {
    value.kind = Kind::kNegative;
    value.number = number;
    return true;
  }
  bool Skip(MsgpackValue& value, uint64_t size) {
    value.kind = Kind::kOther;
    if (rest() < size) return false;
    at_ += size;
    return true;
  }
  bool String(MsgpackValue& value, uint64_t size) {
    value.kind = Kind::kString;
    if (rest() < size) return false;
    value.text = std::string(bytes_.substr(at_, size));
    at_ += size;
    return true;
  }
  // Every element takes a byte at least, so that larger sizes are wrong; memory
  // is taken as elements are read, for nested sizes may each ask for the rest.
  bool Array(MsgpackValue& value, uint64_t size, int depth) {
    value.kind = Kind::kArray;
    if (rest() < size) return false;
    for (uint64_t i = 0; i < size; ++i) {
      if (!Read(value.array.emplace_back(), depth + 1)) return false;
    }
    return true;
  }
  bool Map(MsgpackValue& value, uint64_t size, int depth) {
    value.kind = Kind::kMap;
    if (rest() / 2 < size) return false;
    for (uint64_t i = 0; i < size; ++i) {
      auto& [key, element] = value.map.emplace_back();
      if (!Read(key, depth + 1) || !Read(element, depth + 1)) return false;
    }
    return true;
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace

const MsgpackValue* MsgpackValue::Find(std::string_view key) const {
  for (const auto& [name, value] : map) {
    if (name.kind == Kind::kString && name.text == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<MsgpackValue> ReadMsgpack(std::string_view bytes) {
  Reader reader(bytes);
  MsgpackValue value;
  if (!reader.Read(value, 0)) {
    return absl::InvalidArgumentError("malformed msgpack");
  }
  if (reader.rest() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.rest(), " bytes follow the msgpack value"));
  }
  return value;
}

}  // namespace zyfa::emu
