#ifndef ZYFA_EMU_VECTOR_LANE_TYPES_H_
#define ZYFA_EMU_VECTOR_LANE_TYPES_H_

#include <bit>
#include <cstdint>

#include "zyfa/emu/vector/float_format.h"
#include "zyfa/emu/vector/operand_fetch.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

// How an operand's bits are meant. It decides the bits of inline constants,
// what negate and absolute do, and whether MODE flushes denormals.
using valu::Kind;

// The operand types. Word is what one lane holds while operands are fetched:
// uint32_t (16-bit types in its low half) or uint64_t. Value is what operations
// compute with; FromWord and ToWord are exact except for F16, whose operations
// compute in double and are rounded by the caller.
template <class V, class W, int kBitsOfType, Kind kKindOfType>
struct LaneType {
  using Value = V;
  using Word = W;
  static constexpr int kBits = kBitsOfType;
  static constexpr Kind kKind = kKindOfType;
  static constexpr bool kIsFloat = kKindOfType == Kind::kFloat;
  static constexpr bool kFlushes = kIsFloat;  // MODE's denormal bits apply
};

struct U32 : LaneType<uint32_t, uint32_t, 32, Kind::kBits> {
  static Value FromWord(Word w) { return w; }
  static Word ToWord(Value v) { return v; }
};
struct I32 : LaneType<int32_t, uint32_t, 32, Kind::kSigned> {
  static Value FromWord(Word w) { return static_cast<int32_t>(w); }
  static Word ToWord(Value v) { return static_cast<uint32_t>(v); }
};
struct F32 : LaneType<float, uint32_t, 32, Kind::kFloat> {
  static constexpr FloatFormat kFormat = kF32;
  static Value FromWord(Word w) { return std::bit_cast<float>(w); }
  static Word ToWord(Value v) { return std::bit_cast<uint32_t>(v); }
};
// 32 bits that negate and absolute treat as a float, but that are only moved.
struct R32 : LaneType<uint32_t, uint32_t, 32, Kind::kFloat> {
  static constexpr bool kFlushes = false;
  static Value FromWord(Word w) { return w; }
  static Word ToWord(Value v) { return v; }
};
struct U16 : LaneType<uint32_t, uint32_t, 16, Kind::kBits> {
  static Value FromWord(Word w) { return w & 0xffff; }
  static Word ToWord(Value v) { return v & 0xffff; }
};
// The half-wide counterpart of R32.
struct Raw16 : LaneType<uint32_t, uint32_t, 16, Kind::kFloat> {
  static constexpr bool kFlushes = false;
  static Value FromWord(Word w) { return w & 0xffff; }
  static Word ToWord(Value v) { return v & 0xffff; }
};
struct I16 : LaneType<int32_t, uint32_t, 16, Kind::kSigned> {
  static Value FromWord(Word w) { return static_cast<int16_t>(w); }
  static Word ToWord(Value v) { return static_cast<uint32_t>(v) & 0xffff; }
};
struct F16 : LaneType<double, uint32_t, 16, Kind::kFloat> {
  static constexpr FloatFormat kFormat = kF16;
  static Value FromWord(Word w) { return HalfToFloat(w & 0xffff); }
};
struct U64 : LaneType<uint64_t, uint64_t, 64, Kind::kBits> {
  static Value FromWord(Word w) { return w; }
  static Word ToWord(Value v) { return v; }
};
struct I64 : LaneType<int64_t, uint64_t, 64, Kind::kSigned> {
  static Value FromWord(Word w) { return static_cast<int64_t>(w); }
  static Word ToWord(Value v) { return static_cast<uint64_t>(v); }
};
struct F64 : LaneType<double, uint64_t, 64, Kind::kFloat> {
  static Value FromWord(Word w) { return std::bit_cast<double>(w); }
  static Word ToWord(Value v) { return std::bit_cast<uint64_t>(v); }
};

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();

#endif  // ZYFA_EMU_VECTOR_LANE_TYPES_H_
