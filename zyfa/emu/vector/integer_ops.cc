// Moves, integer arithmetic, shifts, bit fields and bytes.

#include <algorithm>
#include <bit>

#include "zyfa/emu/vector/integer_arithmetic.h"
#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

using namespace integer_ops;

// Low 24 bits of a source.
inline int32_t Signed24(uint32_t x) {
  return static_cast<int32_t>(x << 8) >> 8;
}
inline uint32_t Unsigned24(uint32_t x) { return x & 0xffffff; }

// Operations that are one expression. The macro keeps the list of them
// readable.
#define ZYFA_OP1(Name, D, A, Expression)                  \
  struct Name : LaneOp<D, A> {                            \
    static D::Value Do(A::Value a) { return Expression; } \
  };
#define ZYFA_OP2(Name, D, A, B, Expression)                           \
  struct Name : LaneOp<D, A, B> {                                     \
    static D::Value Do(A::Value a, B::Value b) { return Expression; } \
  };
#define ZYFA_OP3(Name, D, A, B, C, Expression)               \
  struct Name : LaneOp<D, A, B, C> {                         \
    static D::Value Do(A::Value a, B::Value b, C::Value c) { \
      return Expression;                                     \
    }                                                        \
  };

ZYFA_OP1(Mov32, U32, U32, a)
ZYFA_OP1(Mov64, U64, U64, a)
ZYFA_OP1(Not, U32, U32, ~a)
ZYFA_OP2(And, U32, U32, U32, a& b)
ZYFA_OP2(Or, U32, U32, U32, a | b)
ZYFA_OP2(Xor, U32, U32, U32, a ^ b)
ZYFA_OP2(Xnor, U32, U32, U32, ~(a ^ b))
ZYFA_OP2(Lshlrev32, U32, U32, U32, b << (a & 31))
ZYFA_OP2(Lshrrev32, U32, U32, U32, b >> (a & 31))
ZYFA_OP2(Ashrrev32, I32, U32, I32, b >> (a & 31))
ZYFA_OP2(Lshlrev64, U64, U32, U64, b << (a & 63))
ZYFA_OP2(Lshrrev64, U64, U32, U64, b >> (a & 63))
ZYFA_OP2(Ashrrev64, I64, U32, I64, b >> (a & 63))
ZYFA_OP3(LshlAdd, U32, U32, U32, U32, (a << (b & 31)) + c)
ZYFA_OP3(AddLshl, U32, U32, U32, U32, (a + b) << (c & 31))
ZYFA_OP3(Add3, U32, U32, U32, U32, a + b + c)
ZYFA_OP3(LshlOr, U32, U32, U32, U32, (a << (b & 31)) | c)
ZYFA_OP3(AndOr, U32, U32, U32, U32, (a & b) | c)
ZYFA_OP3(Or3, U32, U32, U32, U32, a | b | c)
ZYFA_OP3(Xad, U32, U32, U32, U32, (a ^ b) + c)
ZYFA_OP3(LshlAdd64, U64, U64, U32, U64, (a << (b & 7)) + c)

ZYFA_OP2(MulLo32, U32, U32, U32, a* b)
ZYFA_OP2(MulHiU32, U32, U32, U32, static_cast<uint32_t>(uint64_t{a} * b >> 32))
ZYFA_OP2(MulHiI32, I32, I32, I32, static_cast<int32_t>(int64_t{a} * b >> 32))
ZYFA_OP2(MulI24, U32, U32, U32,
         static_cast<uint32_t>(int64_t{Signed24(a)} * Signed24(b)))
ZYFA_OP2(MulHiI24, U32, U32, U32,
         static_cast<uint32_t>(int64_t{Signed24(a)} * Signed24(b) >> 32))
ZYFA_OP2(MulU24, U32, U32, U32, Unsigned24(a) * Unsigned24(b))
ZYFA_OP2(MulHiU24, U32, U32, U32,
         static_cast<uint32_t>(uint64_t{Unsigned24(a)} * Unsigned24(b) >> 32))

// Multiply-adds whose clamp saturates the 32-bit sum.
struct MadU24 : LaneOp<U32, U32, U32, U32> {
  static uint64_t Wide(uint32_t a, uint32_t b, uint32_t c) {
    return uint64_t{Unsigned24(a)} * Unsigned24(b) + c;
  }
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    return Unsigned24(a) * Unsigned24(b) + c;
  }
  static uint32_t DoClamped(uint32_t a, uint32_t b, uint32_t c) {
    return static_cast<uint32_t>(std::min<uint64_t>(Wide(a, b, c), 0xffffffff));
  }
};
struct MadI24 : LaneOp<I32, U32, U32, I32> {
  static int64_t Wide(uint32_t a, uint32_t b, int32_t c) {
    return int64_t{Signed24(a)} * Signed24(b) + c;
  }
  static int32_t Do(uint32_t a, uint32_t b, int32_t c) {
    return static_cast<int32_t>(Wide(a, b, c));
  }
  static int32_t DoClamped(uint32_t a, uint32_t b, int32_t c) {
    return Saturate<I32>(Wide(a, b, c));
  }
};
struct MadU32U16 : LaneOp<U32, U16, U16, U32> {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
  static uint32_t DoClamped(uint32_t a, uint32_t b, uint32_t c) {
    return Saturate<U32>(int64_t{a} * b + c);
  }
};
struct MadI32I16 : LaneOp<I32, I16, I16, I32> {
  static int32_t Do(int32_t a, int32_t b, int32_t c) {
    return static_cast<int32_t>(int64_t{a} * b + c);
  }
  static int32_t DoClamped(int32_t a, int32_t b, int32_t c) {
    return Saturate<I32>(int64_t{a} * b + c);
  }
};

// Bit fields.
ZYFA_OP3(BfeU, U32, U32, U32, U32, (a >> (b & 31)) & ((1u << (c & 31)) - 1))
struct BfeI : LaneOp<I32, I32, U32, U32> {
  static int32_t Do(int32_t a, uint32_t b, uint32_t c) {
    const uint32_t width = c & 31;
    const uint32_t field =
        static_cast<uint32_t>(a >> (b & 31)) & ((1u << width) - 1);
    const uint32_t sign = width == 0 ? 0 : 1u << (width - 1);
    return static_cast<int32_t>((field ^ sign) - sign);
  }
};
ZYFA_OP3(Bfi, U32, U32, U32, U32, (a & b) | (~a & c))
ZYFA_OP2(Bfm, U32, U32, U32, ((1u << (a & 31)) - 1) << (b & 31))
struct Bfrev : LaneOp<U32, U32> {
  static uint32_t Do(uint32_t a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
    return a >> 16 | a << 16;
  }
};
ZYFA_OP1(FfbhU, I32, U32, a == 0 ? -1 : std::countl_zero(a))
ZYFA_OP1(Ffbl, I32, U32, a == 0 ? -1 : std::countr_zero(a))
struct FfbhI : LaneOp<I32, I32> {
  static int32_t Do(int32_t a) {
    const uint32_t differs = static_cast<uint32_t>(a ^ (a >> 31));
    return differs == 0 ? -1 : std::countl_zero(differs);
  }
};
ZYFA_OP2(Bcnt, U32, U32, U32, static_cast<uint32_t>(std::popcount(a)) + b)
ZYFA_OP3(Alignbit, U32, U32, U32, U32,
         static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (c & 31)))
ZYFA_OP3(Alignbyte, U32, U32, U32, U32,
         static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (8 * (c & 3))))

struct Perm : LaneOp<U32, U32, U32, U32> {
  static uint32_t Byte(uint64_t pool, uint32_t select) {
    if (select >= 13) return 0xff;
    if (select == 12) return 0;
    if (select >= 8) {  // sign of byte 1, 3, 5 or 7
      return pool >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    }
    return pool >> (8 * select) & 0xff;
  }
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t pool = uint64_t{a} << 32 | b;
    return Byte(pool, c & 0xff) | Byte(pool, c >> 8 & 0xff) << 8 |
           Byte(pool, c >> 16 & 0xff) << 16 | Byte(pool, c >> 24) << 24;
  }
};

// Sums of absolute byte differences.
inline uint32_t Difference(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}
inline uint32_t SadBytes(uint32_t a, uint32_t b, uint32_t sum, bool masked) {
  for (int i = 0; i < 32; i += 8) {
    const uint32_t x = a >> i & 0xff, y = b >> i & 0xff;
    if (!masked || y != 0) sum += Difference(x, y);
  }
  return sum;
}
ZYFA_OP3(SadU8, U32, U32, U32, U32, SadBytes(a, b, c, false))
ZYFA_OP3(MsadU8, U32, U32, U32, U32, SadBytes(a, b, c, true))
ZYFA_OP3(SadHiU8, U32, U32, U32, U32, (SadBytes(a, b, 0, false) << 16) + c)
ZYFA_OP3(SadU16, U32, U32, U32, U32,
         Difference(a & 0xffff, b & 0xffff) + Difference(a >> 16, b >> 16) + c)
ZYFA_OP3(SadU32, U32, U32, U32, U32, Difference(a, b) + c)
template <bool kMasked>
struct QuadSad : LaneOp<U64, U64, U32, U64> {
  static uint64_t Do(uint64_t a, uint32_t b, uint64_t c) {
    uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const auto sum = static_cast<uint32_t>(c >> (16 * i) & 0xffff);
      const uint64_t sad =
          SadBytes(static_cast<uint32_t>(a >> (8 * i)), b, sum, kMasked);
      result |= (sad & 0xffff) << (16 * i);
    }
    return result;
  }
};
struct LerpU8 : LaneOp<U32, U32, U32, U32> {
  static uint32_t Do(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t result = 0;
    for (int i = 0; i < 32; i += 8) {
      const uint32_t sum = (a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1);
      result |= (sum >> 1) << i;
    }
    return result;
  }
};

// Saturating packs.
inline uint32_t Saturate8(int32_t x, int32_t least, int32_t most) {
  return static_cast<uint32_t>(std::clamp(x, least, most)) & 0xff;
}
ZYFA_OP1(SatPkU8, U16, U32,
         Saturate8(static_cast<int16_t>(a), 0, 255) |
             Saturate8(static_cast<int16_t>(a >> 16), 0, 255) << 8)
template <int kLeastByte, int kMostByte>
struct AshrPk : LaneOp<U16, I32, I32, U32> {
  static constexpr bool kKeepsUpper = true;
  static uint32_t Do(int32_t a, int32_t b, uint32_t c) {
    return Saturate8(a >> (c & 31), kLeastByte, kMostByte) |
           Saturate8(b >> (c & 31), kLeastByte, kMostByte) << 8;
  }
};
ZYFA_OP2(PkU16U32, U32, U32, U32,
         std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16)
ZYFA_OP2(PkI16I32, U32, I32, I32,
         (static_cast<uint32_t>(std::clamp(a, -0x8000, 0x7fff)) & 0xffff) |
             static_cast<uint32_t>(std::clamp(b, -0x8000, 0x7fff)) << 16)
ZYFA_OP1(Prng, U32, U32, a << 1 ^ (a >> 31 ? 197u : 0u))

#undef ZYFA_OP1
#undef ZYFA_OP2
#undef ZYFA_OP3

// Truth tables: bit 4a + 2b + c of the table, bit by bit.
template <class T>
void RunBitop3(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<T> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active),
      c(inst, wave, 3, 2, active);
  alignas(64) uint32_t result[kLanes] = {};
  for (int term = 0; term < 8; ++term) {
    if (!(inst.mods.bitop3 >> term & 1)) continue;
    const uint32_t flip_a = term & 4 ? 0 : ~0u, flip_b = term & 2 ? 0 : ~0u,
                   flip_c = term & 1 ? 0 : ~0u;
    for (int l = 0; l < kLanes; ++l) {
      result[l] |=
          (a.words[l] ^ flip_a) & (b.words[l] ^ flip_b) & (c.words[l] ^ flip_c);
    }
  }
  FinishAndStore<T>(inst, wave, active, true, 3, result);
}

template <class T>
struct ThreeSources : LaneOp<T, T, T, T> {
  static typename T::Value Do(typename T::Value a, typename T::Value,
                              typename T::Value) {
    return a;
  }
};
template <class T>
Handler MakeBitop3(Instruction& inst) {
  return MakeLanewise<ThreeSources<T>>(inst) ? &RunBitop3<T> : nullptr;
}

// Lane masks in a pair of scalar registers.
bool IsMask(const Operand& operand) {
  return operand.kind == OperandKind::kScalar;
}
uint64_t ReadMask(const Wave& wave, const Operand& operand) {
  return operand.kind == OperandKind::kScalar
             ? wave.ReadScalar64(operand.index)
             : static_cast<uint64_t>(operand.integer);
}

// d = mask bit ? b : a.
void RunCndmask(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<R32> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active);
  const uint64_t mask = ReadMask(wave, inst.operands[3]);
  alignas(64) uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    result[l] = mask >> l & 1 ? b.words[l] : a.words[l];
  }
  FinishAndStore<U32>(inst, wave, active, false, 0, result);
}
Handler MakeCndmask(Instruction& inst) {
  inst.aux[0] = 0;
  if (inst.operands.size() != 4 || !IsVector(inst.operands[0]) ||
      !valu::PrepareSource(inst, 1, 0, FormatOf<R32>()) ||
      !valu::PrepareSource(inst, 2, 1, FormatOf<R32>()) ||
      inst.operands[3].kind == OperandKind::kNone ||
      IsVector(inst.operands[3]) || inst.mods.omod || inst.mods.clamp ||
      inst.mods.op_sel) {
    return nullptr;
  }
  return &RunCndmask;
}

// Sums with carry or borrow out, and in. Operands d, mask out, a, b[, mask in].
enum class Sum { kAdd, kSub, kSubRev };
template <Sum kSum, bool kCarryIn>
void RunCarry(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<U32> a(inst, wave, 2, 0, active), b(inst, wave, 3, 1, active);
  const uint64_t in = kCarryIn ? ReadMask(wave, inst.operands[4]) : 0;
  alignas(64) uint32_t result[kLanes];
  uint64_t out = 0;
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t x = kSum == Sum::kSubRev ? b.words[l] : a.words[l];
    const uint64_t y = kSum == Sum::kSubRev ? a.words[l] : b.words[l];
    const uint64_t carry = in >> l & 1;
    // A borrow shows as a carry into bit 32, too.
    const uint64_t sum = kSum == Sum::kAdd ? x + y + carry : x - y - carry;
    const bool over = sum >> 32 & 1;
    result[l] = static_cast<uint32_t>(sum);
    if (over && inst.mods.clamp) result[l] = kSum == Sum::kAdd ? ~0u : 0;
    out |= uint64_t{over} << l;
  }
  FinishAndStore<U32>(inst, wave, active, false, 0, result);
  wave.WriteScalar64(inst.operands[1].index, out & active);
}
template <Sum kSum, bool kCarryIn>
Handler MakeCarry(Instruction& inst) {
  inst.aux[0] = 0;
  if (inst.operands.size() != (kCarryIn ? 5u : 4u) ||
      !IsVector(inst.operands[0]) || !IsMask(inst.operands[1]) ||
      !valu::PrepareSource(inst, 2, 0, FormatOf<U32>()) ||
      !valu::PrepareSource(inst, 3, 1, FormatOf<U32>()) ||
      (kCarryIn && !IsMask(inst.operands[4]) &&
       inst.operands[4].kind != OperandKind::kInteger) ||
      inst.mods.omod || inst.mods.op_sel) {
    return nullptr;
  }
  return &RunCarry<kSum, kCarryIn>;
}

// 64-bit multiply-add with carry out: d[2], mask out, a, b, c[2].
template <bool kSigned>
void RunMad64(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<U32> a(inst, wave, 2, 0, active), b(inst, wave, 3, 1, active);
  const Fetched<U64> c(inst, wave, 4, 2, active);
  alignas(64) uint64_t result[kLanes];
  uint64_t out = 0;
  for (int l = 0; l < kLanes; ++l) {
    if constexpr (kSigned) {
      const __int128 sum = static_cast<__int128>(static_cast<int32_t>(a[l])) *
                               static_cast<int32_t>(b[l]) +
                           static_cast<int64_t>(c[l]);
      result[l] = static_cast<uint64_t>(sum);
      out |= static_cast<uint64_t>(sum >> 64 & 1) << l;
    } else {
      const unsigned __int128 sum =
          static_cast<unsigned __int128>(a[l]) * b[l] + c[l];
      result[l] = static_cast<uint64_t>(sum);
      out |= static_cast<uint64_t>(sum >> 64 & 1) << l;
    }
  }
  FinishAndStore<U64>(inst, wave, active, false, 0, result);
  wave.WriteScalar64(inst.operands[1].index, out & active);
}
template <bool kSigned>
Handler MakeMad64(Instruction& inst) {
  inst.aux[0] = 0;
  constexpr Kind kind = kSigned ? Kind::kSigned : Kind::kBits;
  if (inst.operands.size() != 5 || !IsVector(inst.operands[0]) ||
      !IsMask(inst.operands[1]) ||
      !valu::PrepareSource(inst, 2, 0, {32, kind, false}) ||
      !valu::PrepareSource(inst, 3, 1, {32, kind, false}) ||
      !valu::PrepareSource(inst, 4, 2, {64, kind, false}) || inst.mods.clamp) {
    return nullptr;
  }
  return &RunMad64<kSigned>;
}

// Four masked sums over sliding windows of a, 32 bits each.
void RunMqsadU32(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<U64> a(inst, wave, 1, 0, active);
  const Fetched<U32> b(inst, wave, 2, 1, active);
  alignas(64) uint32_t result[4][kLanes];
  for (int i = 0; i < 4; ++i) {
    Operand part = inst.operands[3];
    if (IsVector(part)) part.index = static_cast<uint16_t>(part.index + i);
    alignas(64) uint32_t buffer[kLanes];
    const uint32_t* c = valu::FetchWords32(inst, wave, part, 2, FormatOf<U32>(),
                                           active, buffer);
    for (int l = 0; l < kLanes; ++l) {
      result[i][l] =
          SadBytes(static_cast<uint32_t>(a[l] >> (8 * i)), b[l], c[l], true);
    }
  }
  for (int i = 0; i < 4; ++i) {
    Operand part = inst.operands[0];
    part.index = static_cast<uint16_t>(part.index + i);
    valu::StoreWords32(wave, part, active, result[i]);
  }
}
Handler MakeMqsadU32(Instruction& inst) {
  inst.aux[0] = 0;
  if (inst.operands.size() != 4 || !IsVector(inst.operands[0]) ||
      !valu::PrepareSource(inst, 1, 0, FormatOf<U64>()) ||
      !valu::PrepareSource(inst, 2, 1, FormatOf<U32>()) ||
      !valu::PrepareSource(inst, 3, 2, FormatOf<U32>()) || inst.mods.clamp) {
    return nullptr;
  }
  return &RunMqsadU32;
}

// Number of mask bits below the lane in one half of the mask, plus b.
template <bool kUpper>
void RunMbcnt(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<U32> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active);
  alignas(64) uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t below = (uint64_t{1} << l) - 1;
    const auto half = static_cast<uint32_t>(kUpper ? below >> 32 : below);
    result[l] = static_cast<uint32_t>(std::popcount(a[l] & half)) + b[l];
  }
  FinishAndStore<U32>(inst, wave, active, false, 0, result);
}
template <bool kUpper>
Handler MakeMbcnt(Instruction& inst) {
  return MakeLanewise<Bcnt>(inst) ? &RunMbcnt<kUpper> : nullptr;
}

}  // namespace

void AddIntegerOps(valu::HandlerTable& table) {
  table["v_mov_b32"] = &MakeLanewise<Mov32>;
  table["v_mov_b64"] = &MakeLanewise<Mov64>;
  table["v_accvgpr_read_b32"] = &MakeLanewise<Mov32>;
  table["v_accvgpr_write_b32"] = &MakeLanewise<Mov32>;
  table["v_accvgpr_mov_b32"] = &MakeLanewise<Mov32>;
  table["v_not_b32"] = &MakeLanewise<Not>;
  table["v_and_b32"] = &MakeLanewise<And>;
  table["v_or_b32"] = &MakeLanewise<Or>;
  table["v_xor_b32"] = &MakeLanewise<Xor>;
  table["v_xnor_b32"] = &MakeLanewise<Xnor>;
  table["v_lshlrev_b32"] = &MakeLanewise<Lshlrev32>;
  table["v_lshrrev_b32"] = &MakeLanewise<Lshrrev32>;
  table["v_ashrrev_i32"] = &MakeLanewise<Ashrrev32>;
  table["v_lshlrev_b16"] = &MakeLanewise<Lshlrev16>;
  table["v_lshrrev_b16"] = &MakeLanewise<Lshrrev16>;
  table["v_ashrrev_i16"] = &MakeLanewise<Ashrrev16>;
  table["v_lshlrev_b64"] = &MakeLanewise<Lshlrev64>;
  table["v_lshrrev_b64"] = &MakeLanewise<Lshrrev64>;
  table["v_ashrrev_i64"] = &MakeLanewise<Ashrrev64>;
  table["v_lshl_add_u32"] = &MakeLanewise<LshlAdd>;
  table["v_add_lshl_u32"] = &MakeLanewise<AddLshl>;
  table["v_add3_u32"] = &MakeLanewise<Add3>;
  table["v_lshl_or_b32"] = &MakeLanewise<LshlOr>;
  table["v_and_or_b32"] = &MakeLanewise<AndOr>;
  table["v_or3_b32"] = &MakeLanewise<Or3>;
  table["v_xad_u32"] = &MakeLanewise<Xad>;
  table["v_lshl_add_u64"] = &MakeLanewise<LshlAdd64>;
  table["v_bitop3_b32"] = &MakeBitop3<U32>;
  table["v_bitop3_b16"] = &MakeBitop3<U16>;

  table["v_add_u32"] = &MakeLanewise<Add<U32>>;
  table["v_sub_u32"] = &MakeLanewise<Sub<U32>>;
  table["v_subrev_u32"] = &MakeLanewise<SubRev<U32>>;
  table["v_add_i32"] = &MakeLanewise<Add<I32>>;
  table["v_sub_i32"] = &MakeLanewise<Sub<I32>>;
  table["v_add_u16"] = &MakeLanewise<Add<U16>>;
  table["v_sub_u16"] = &MakeLanewise<Sub<U16>>;
  table["v_subrev_u16"] = &MakeLanewise<SubRev<U16>>;
  table["v_add_i16"] = &MakeLanewise<Add<I16>>;
  table["v_sub_i16"] = &MakeLanewise<Sub<I16>>;
  table["v_mad_u16"] = &MakeLanewise<MadKeepingUpper<U16>>;
  table["v_mad_i16"] = &MakeLanewise<MadKeepingUpper<I16>>;
  table["v_mad_legacy_u16"] = &MakeLanewise<Mad<U16>>;
  table["v_mad_legacy_i16"] = &MakeLanewise<Mad<I16>>;
  table["v_add_co_u32"] = &MakeCarry<Sum::kAdd, false>;
  table["v_sub_co_u32"] = &MakeCarry<Sum::kSub, false>;
  table["v_subrev_co_u32"] = &MakeCarry<Sum::kSubRev, false>;
  table["v_addc_co_u32"] = &MakeCarry<Sum::kAdd, true>;
  table["v_subb_co_u32"] = &MakeCarry<Sum::kSub, true>;
  table["v_subbrev_co_u32"] = &MakeCarry<Sum::kSubRev, true>;

  table["v_mul_lo_u32"] = &MakeLanewise<MulLo32>;
  table["v_mul_hi_u32"] = &MakeLanewise<MulHiU32>;
  table["v_mul_hi_i32"] = &MakeLanewise<MulHiI32>;
  table["v_mul_lo_u16"] = &MakeLanewise<MulLo16>;
  table["v_mul_i32_i24"] = &MakeLanewise<MulI24>;
  table["v_mul_hi_i32_i24"] = &MakeLanewise<MulHiI24>;
  table["v_mul_u32_u24"] = &MakeLanewise<MulU24>;
  table["v_mul_hi_u32_u24"] = &MakeLanewise<MulHiU24>;
  table["v_mad_u32_u24"] = &MakeLanewise<MadU24>;
  table["v_mad_i32_i24"] = &MakeLanewise<MadI24>;
  table["v_mad_u32_u16"] = &MakeLanewise<MadU32U16>;
  table["v_mad_i32_i16"] = &MakeLanewise<MadI32I16>;
  table["v_mad_u64_u32"] = &MakeMad64<false>;
  table["v_mad_i64_i32"] = &MakeMad64<true>;

  table["v_max_u32"] = &MakeLanewise<Max<U32>>;
  table["v_min_u32"] = &MakeLanewise<Min<U32>>;
  table["v_max_i32"] = &MakeLanewise<Max<I32>>;
  table["v_min_i32"] = &MakeLanewise<Min<I32>>;
  table["v_max_u16"] = &MakeLanewise<Max<U16>>;
  table["v_min_u16"] = &MakeLanewise<Min<U16>>;
  table["v_max_i16"] = &MakeLanewise<Max<I16>>;
  table["v_min_i16"] = &MakeLanewise<Min<I16>>;
  table["v_max3_u32"] = &MakeLanewise<Max3<U32>>;
  table["v_min3_u32"] = &MakeLanewise<Min3<U32>>;
  table["v_med3_u32"] = &MakeLanewise<Med3<U32>>;
  table["v_max3_i32"] = &MakeLanewise<Max3<I32>>;
  table["v_min3_i32"] = &MakeLanewise<Min3<I32>>;
  table["v_med3_i32"] = &MakeLanewise<Med3<I32>>;
  table["v_max3_u16"] = &MakeLanewise<Max3<U16>>;
  table["v_min3_u16"] = &MakeLanewise<Min3<U16>>;
  table["v_med3_u16"] = &MakeLanewise<Med3<U16>>;
  table["v_max3_i16"] = &MakeLanewise<Max3<I16>>;
  table["v_min3_i16"] = &MakeLanewise<Min3<I16>>;
  table["v_med3_i16"] = &MakeLanewise<Med3<I16>>;

  table["v_bfe_u32"] = &MakeLanewise<BfeU>;
  table["v_bfe_i32"] = &MakeLanewise<BfeI>;
  table["v_bfi_b32"] = &MakeLanewise<Bfi>;
  table["v_bfm_b32"] = &MakeLanewise<Bfm>;
  table["v_bfrev_b32"] = &MakeLanewise<Bfrev>;
  table["v_ffbh_u32"] = &MakeLanewise<FfbhU>;
  table["v_ffbh_i32"] = &MakeLanewise<FfbhI>;
  table["v_ffbl_b32"] = &MakeLanewise<Ffbl>;
  table["v_bcnt_u32_b32"] = &MakeLanewise<Bcnt>;
  table["v_mbcnt_lo_u32_b32"] = &MakeMbcnt<false>;
  table["v_mbcnt_hi_u32_b32"] = &MakeMbcnt<true>;
  table["v_alignbit_b32"] = &MakeLanewise<Alignbit>;
  table["v_alignbyte_b32"] = &MakeLanewise<Alignbyte>;
  table["v_perm_b32"] = &MakeLanewise<Perm>;
  table["v_cndmask_b32"] = &MakeCndmask;

  table["v_sad_u8"] = &MakeLanewise<SadU8>;
  table["v_msad_u8"] = &MakeLanewise<MsadU8>;
  table["v_sad_hi_u8"] = &MakeLanewise<SadHiU8>;
  table["v_sad_u16"] = &MakeLanewise<SadU16>;
  table["v_sad_u32"] = &MakeLanewise<SadU32>;
  table["v_qsad_pk_u16_u8"] = &MakeLanewise<QuadSad<false>>;
  table["v_mqsad_pk_u16_u8"] = &MakeLanewise<QuadSad<true>>;
  table["v_mqsad_u32_u8"] = &MakeMqsadU32;
  table["v_lerp_u8"] = &MakeLanewise<LerpU8>;

  table["v_sat_pk_u8_i16"] = &MakeLanewise<SatPkU8>;
  table["v_ashr_pk_i8_i32"] = &MakeLanewise<AshrPk<-128, 127>>;
  table["v_ashr_pk_u8_i32"] = &MakeLanewise<AshrPk<0, 255>>;
  table["v_cvt_pk_u16_u32"] = &MakeLanewise<PkU16U32>;
  table["v_cvt_pk_i16_i32"] = &MakeLanewise<PkI16I32>;
  table["v_prng_b32"] = &MakeLanewise<Prng>;
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
