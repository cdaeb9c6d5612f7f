#ifndef ZYFA_EMU_MSGPACK_H_
#define ZYFA_EMU_MSGPACK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace zyfa::emu {

// One value of a MessagePack text (https://msgpack.org). Kinds that code object
// metadata never holds (floats, binary, extensions) become kOther.
struct MsgpackValue {
  enum class Kind {
    kNil,
    kBool,
    kUnsigned,
    kNegative,
    kString,
    kArray,
    kMap,
    kOther
  };
  Kind kind = Kind::kNil;
  uint64_t number = 0;  // kBool, kUnsigned; kNegative: its two's complement
  std::string text;
  std::vector<MsgpackValue> array;
  struct Entry;
  std::vector<Entry> map;

  // The value under a string key of a map, or nullptr.
  const MsgpackValue* Find(std::string_view key) const;
};

// No std::pair: that must not be instantiated while its parts are incomplete.
struct MsgpackValue::Entry {
  MsgpackValue key;
  MsgpackValue value;
};

// InvalidArgument if `bytes` is not exactly one value, or nests deeper than 32.
absl::StatusOr<MsgpackValue> ReadMsgpack(std::string_view bytes);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MSGPACK_H_
