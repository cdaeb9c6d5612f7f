#include "zyfa/emu/scalar_alu.h"

#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// Operand 0 is the destination of everything but comparisons.
uint32_t A32(const Instruction& i, const Wave& w) {
  return Scalar32(i.operands[1], w);
}
uint32_t B32(const Instruction& i, const Wave& w) {
  return Scalar32(i.operands[2], w);
}
uint64_t A64(const Instruction& i, const Wave& w) {
  return Scalar64(i.operands[1], w);
}
uint64_t B64(const Instruction& i, const Wave& w) {
  return Scalar64(i.operands[2], w);
}
void Put32(const Instruction& i, Wave& w, uint32_t value) {
  w.WriteScalar32(i.operands[0].index, value);
}
void Put64(const Instruction& i, Wave& w, uint64_t value) {
  w.WriteScalar64(i.operands[0].index, value);
}

// Shapes of instructions: sources in, destination out, SCC as said.
template <auto F>  // uint32(uint32, uint32); SCC kept
void Binary32(const Instruction& i, Wave& w) {
  Put32(i, w, F(A32(i, w), B32(i, w)));
}
template <auto F>  // SCC = result is not 0
void Binary32NonZero(const Instruction& i, Wave& w) {
  const uint32_t value = F(A32(i, w), B32(i, w));
  Put32(i, w, value);
  w.scc = value != 0;
}
template <auto F>
void Binary64(const Instruction& i, Wave& w) {
  Put64(i, w, F(A64(i, w), B64(i, w)));
}
template <auto F>
void Binary64NonZero(const Instruction& i, Wave& w) {
  const uint64_t value = F(A64(i, w), B64(i, w));
  Put64(i, w, value);
  w.scc = value != 0;
}
// uint64(uint64, uint32): shifts and bit fields; the second source is 32 bits.
template <auto F>
void Shift64NonZero(const Instruction& i, Wave& w) {
  const uint64_t value = F(A64(i, w), B32(i, w));
  Put64(i, w, value);
  w.scc = value != 0;
}
template <auto F>  // uint32(uint32, uint32, bool& scc)
void Binary32Scc(const Instruction& i, Wave& w) {
  bool scc = w.scc;
  const uint32_t value = F(A32(i, w), B32(i, w), scc);
  Put32(i, w, value);
  w.scc = scc;
}
template <auto F>
void Unary32(const Instruction& i, Wave& w) {
  Put32(i, w, F(A32(i, w)));
}
template <auto F>
void Unary32NonZero(const Instruction& i, Wave& w) {
  const uint32_t value = F(A32(i, w));
  Put32(i, w, value);
  w.scc = value != 0;
}
template <auto F>
void Unary64(const Instruction& i, Wave& w) {
  Put64(i, w, F(A64(i, w)));
}
template <auto F>
void Unary64NonZero(const Instruction& i, Wave& w) {
  const uint64_t value = F(A64(i, w));
  Put64(i, w, value);
  w.scc = value != 0;
}
template <auto F>  // 64-bit source, 32-bit result
void Count64(const Instruction& i, Wave& w) {
  Put32(i, w, F(A64(i, w)));
}
template <auto F>
void Count64NonZero(const Instruction& i, Wave& w) {
  const uint32_t value = F(A64(i, w));
  Put32(i, w, value);
  w.scc = value != 0;
}
template <auto F>  // bool(uint32, uint32) to SCC
void Compare32(const Instruction& i, Wave& w) {
  w.scc = F(Scalar32(i.operands[0], w), Scalar32(i.operands[1], w));
}
template <auto F>
void Compare64(const Instruction& i, Wave& w) {
  w.scc = F(Scalar64(i.operands[0], w), Scalar64(i.operands[1], w));
}
template <auto F>  // bool(uint64, uint32)
void BitCompare64(const Instruction& i, Wave& w) {
  w.scc = F(Scalar64(i.operands[0], w), Scalar32(i.operands[1], w));
}
// SOPK: the constant is 16 bits; unsigned comparisons extend it with zeros.
int32_t Simm16(const Instruction& i) {
  return static_cast<int16_t>(i.operands[1].integer);
}
template <auto F>  // bool(int32, int32)
void CompareK(const Instruction& i, Wave& w) {
  w.scc = F(static_cast<int32_t>(Scalar32(i.operands[0], w)), Simm16(i));
}
template <auto F>  // bool(uint32, uint32)
void CompareKUnsigned(const Instruction& i, Wave& w) {
  w.scc = F(Scalar32(i.operands[0], w),
            static_cast<uint32_t>(i.operands[1].integer) & 0xffff);
}
// EXEC = F(source, EXEC); the old EXEC goes to the destination.
template <auto F>
void SaveExec(const Instruction& i, Wave& w) {
  const uint64_t source = A64(i, w);
  const uint64_t saved = w.exec;
  w.exec = F(source, saved);
  w.scc = w.exec != 0;
  const uint64_t exec = w.exec;
  Put64(i, w, saved);
  w.exec = exec;
}
template <auto F>
void WriteExec(const Instruction& i, Wave& w) {
  const uint64_t exec = F(A64(i, w), w.exec);
  Put64(i, w, exec);
  w.exec = exec;
  w.scc = exec != 0;
}

int32_t S(uint32_t value) { return static_cast<int32_t>(value); }
uint32_t U(int32_t value) { return static_cast<uint32_t>(value); }

uint32_t AddU(uint32_t a, uint32_t b, bool& scc) {
  const uint64_t sum = uint64_t{a} + b;
  scc = sum >> 32 != 0;
  return static_cast<uint32_t>(sum);
}
uint32_t AddCarry(uint32_t a, uint32_t b, bool& scc) {
  const uint64_t sum = uint64_t{a} + b + (scc ? 1 : 0);
  scc = sum >> 32 != 0;
  return static_cast<uint32_t>(sum);
}
uint32_t SubU(uint32_t a, uint32_t b, bool& scc) {
  scc = b > a;
  return a - b;
}
uint32_t SubBorrow(uint32_t a, uint32_t b, bool& scc) {
  const uint64_t subtrahend = uint64_t{b} + (scc ? 1 : 0);
  scc = subtrahend > a;
  return static_cast<uint32_t>(a - subtrahend);
}
uint32_t AddI(uint32_t a, uint32_t b, bool& scc) {
  const uint32_t sum = a + b;
  scc = (~(a ^ b) & (a ^ sum)) >> 31 != 0;
  return sum;
}
uint32_t SubI(uint32_t a, uint32_t b, bool& scc) {
  const uint32_t difference = a - b;
  scc = ((a ^ b) & (a ^ difference)) >> 31 != 0;
  return difference;
}
template <int kShift>
uint32_t ShiftAdd(uint32_t a, uint32_t b, bool& scc) {
  const uint64_t sum = (uint64_t{a} << kShift) + b;
  scc = sum >> 32 != 0;
  return static_cast<uint32_t>(sum);
}

// Bit field of `width` at `offset`; a field that leaves the word is cut.
uint32_t FieldU32(uint32_t value, uint32_t control) {
  const uint32_t width = control >> 16 & 0x7f;
  value >>= control & 31;
  return width >= 32 ? value : value & ((1u << width) - 1);
}
uint64_t FieldU64(uint64_t value, uint32_t control) {
  const uint32_t width = control >> 16 & 0x7f;
  value >>= control & 63;
  return width >= 64 ? value : value & ((uint64_t{1} << width) - 1);
}
uint32_t FieldI32(uint32_t value, uint32_t control) {
  const uint32_t width = control >> 16 & 0x7f;
  const int32_t shifted = S(value) >> (control & 31);
  if (width == 0) return 0;
  if (width >= 32) return U(shifted);
  return U(static_cast<int32_t>(U(shifted) << (32 - width)) >> (32 - width));
}
uint64_t FieldI64(uint64_t value, uint32_t control) {
  const uint32_t width = control >> 16 & 0x7f;
  const int64_t shifted = static_cast<int64_t>(value) >> (control & 63);
  if (width == 0) return 0;
  if (width >= 64) return static_cast<uint64_t>(shifted);
  return static_cast<uint64_t>(
      static_cast<int64_t>(static_cast<uint64_t>(shifted) << (64 - width)) >>
      (64 - width));
}

uint64_t ReverseBits(uint64_t value, int bits) {
  uint64_t result = 0;
  for (int b = 0; b < bits; ++b) result |= (value >> b & 1) << (bits - 1 - b);
  return result;
}
// One bit per group of four source bits, or the whole group (`spread`).
uint64_t Quads(uint64_t value, bool spread) {
  uint64_t result = 0;
  for (int q = 0; q < 16; ++q) {
    if ((value >> (4 * q) & 15) == 0) continue;
    result |= spread ? uint64_t{15} << (4 * q) : uint64_t{1} << q;
  }
  return result;
}
uint32_t FirstOne(uint64_t value) {
  return value == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(value));
}

template <bool kWord>
void ConditionalMove(const Instruction& i, Wave& w) {
  if (!w.scc) return;
  if constexpr (kWord) {
    Put32(i, w, A32(i, w));
  } else {
    Put64(i, w, A64(i, w));
  }
}

// A register numbered by an operand and M0; false if there is none.
bool MoveByM0(const Operand& operand, Wave& w, uint32_t width, int& index) {
  constexpr uint32_t kSgprs = 102;
  const uint64_t number = uint64_t{operand.index} + w.sgpr[kM0];
  index = static_cast<int>(number);
  if (operand.kind == OperandKind::kScalar && number + width <= kSgprs) {
    return true;
  }
  w.error = absl::StrCat("M0 leads to SGPR ", number, ", beyond the last");
  return false;
}
template <bool kWord>
void MoveFromIndexed(const Instruction& i, Wave& w) {
  int index = 0;
  if (!MoveByM0(i.operands[1], w, kWord ? 1 : 2, index)) return;
  if constexpr (kWord) {
    Put32(i, w, w.ReadScalar32(index));
  } else {
    Put64(i, w, w.ReadScalar64(index));
  }
}
template <bool kWord>
void MoveToIndexed(const Instruction& i, Wave& w) {
  int index = 0;
  if (!MoveByM0(i.operands[0], w, kWord ? 1 : 2, index)) return;
  if constexpr (kWord) {
    w.WriteScalar32(index, A32(i, w));
  } else {
    w.WriteScalar64(index, A64(i, w));
  }
}

using Table = std::unordered_map<std::string, Handler>;

void AddArithmetic(Table& t) {
  t["s_add_u32"] = Binary32Scc<AddU>;
  t["s_addc_u32"] = Binary32Scc<AddCarry>;
  t["s_sub_u32"] = Binary32Scc<SubU>;
  t["s_subb_u32"] = Binary32Scc<SubBorrow>;
  t["s_add_i32"] = Binary32Scc<AddI>;
  t["s_sub_i32"] = Binary32Scc<SubI>;
  t["s_lshl1_add_u32"] = Binary32Scc<ShiftAdd<1>>;
  t["s_lshl2_add_u32"] = Binary32Scc<ShiftAdd<2>>;
  t["s_lshl3_add_u32"] = Binary32Scc<ShiftAdd<3>>;
  t["s_lshl4_add_u32"] = Binary32Scc<ShiftAdd<4>>;
  t["s_min_i32"] = Binary32Scc<[](uint32_t a, uint32_t b, bool& scc) {
    scc = S(a) < S(b);
    return scc ? a : b;
  }>;
  t["s_min_u32"] = Binary32Scc<[](uint32_t a, uint32_t b, bool& scc) {
    scc = a < b;
    return scc ? a : b;
  }>;
  t["s_max_i32"] = Binary32Scc<[](uint32_t a, uint32_t b, bool& scc) {
    scc = S(a) >= S(b);
    return scc ? a : b;
  }>;
  t["s_max_u32"] = Binary32Scc<[](uint32_t a, uint32_t b, bool& scc) {
    scc = a >= b;
    return scc ? a : b;
  }>;
  t["s_mul_i32"] = Binary32<[](uint32_t a, uint32_t b) { return a * b; }>;
  t["s_mul_hi_u32"] = Binary32<[](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(uint64_t{a} * b >> 32);
  }>;
  t["s_mul_hi_i32"] = Binary32<[](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(int64_t{S(a)} * S(b) >> 32);
  }>;
  t["s_absdiff_i32"] = Binary32NonZero<[](uint32_t a, uint32_t b) {
    const uint32_t difference = a - b;
    return S(difference) < 0 ? -difference : difference;
  }>;
  t["s_abs_i32"] = Unary32NonZero<[](uint32_t a) { return S(a) < 0 ? -a : a; }>;
  t["s_sext_i32_i8"] =
      Unary32<[](uint32_t a) { return U(static_cast<int8_t>(a)); }>;
  t["s_sext_i32_i16"] =
      Unary32<[](uint32_t a) { return U(static_cast<int16_t>(a)); }>;
  t["s_movk_i32"] = [](const Instruction& i, Wave& w) {
    Put32(i, w, U(Simm16(i)));
  };
  t["s_cmovk_i32"] = [](const Instruction& i, Wave& w) {
    if (w.scc) Put32(i, w, U(Simm16(i)));
  };
  t["s_addk_i32"] = [](const Instruction& i, Wave& w) {
    bool scc = false;
    const uint32_t sum = AddI(Scalar32(i.operands[0], w), U(Simm16(i)), scc);
    Put32(i, w, sum);
    w.scc = scc;
  };
  t["s_mulk_i32"] = [](const Instruction& i, Wave& w) {
    Put32(i, w, Scalar32(i.operands[0], w) * U(Simm16(i)));
  };
}

void AddLogic(Table& t) {
#define ZYFA_LOGIC(name, expression)                                      \
  t["s_" name "_b32"] =                                                   \
      Binary32NonZero<[](uint32_t a, uint32_t b) { return expression; }>; \
  t["s_" name "_b64"] =                                                   \
      Binary64NonZero<[](uint64_t a, uint64_t b) { return expression; }>; \
  t["s_" name "_saveexec_b64"] =                                          \
      SaveExec<[](uint64_t a, uint64_t b) { return expression; }>;
  ZYFA_LOGIC("and", a & b)
  ZYFA_LOGIC("or", a | b)
  ZYFA_LOGIC("xor", a ^ b)
  ZYFA_LOGIC("andn2", a & ~b)
  ZYFA_LOGIC("orn2", a | ~b)
  ZYFA_LOGIC("nand", ~(a & b))
  ZYFA_LOGIC("nor", ~(a | b))
  ZYFA_LOGIC("xnor", ~(a ^ b))
#undef ZYFA_LOGIC
  t["s_andn1_saveexec_b64"] =
      SaveExec<[](uint64_t a, uint64_t b) { return ~a & b; }>;
  t["s_orn1_saveexec_b64"] =
      SaveExec<[](uint64_t a, uint64_t b) { return ~a | b; }>;
  t["s_andn1_wrexec_b64"] =
      WriteExec<[](uint64_t a, uint64_t b) { return ~a & b; }>;
  t["s_andn2_wrexec_b64"] =
      WriteExec<[](uint64_t a, uint64_t b) { return a & ~b; }>;
  t["s_mov_b32"] = Unary32<[](uint32_t a) { return a; }>;
  t["s_movrels_b32"] = MoveFromIndexed<true>;
  t["s_movrels_b64"] = MoveFromIndexed<false>;
  t["s_movreld_b32"] = MoveToIndexed<true>;
  t["s_movreld_b64"] = MoveToIndexed<false>;
  t["s_mov_b64"] = Unary64<[](uint64_t a) { return a; }>;
  t["s_not_b32"] = Unary32NonZero<[](uint32_t a) { return ~a; }>;
  t["s_not_b64"] = Unary64NonZero<[](uint64_t a) { return ~a; }>;
  t["s_cmov_b32"] = ConditionalMove<true>;
  t["s_cmov_b64"] = ConditionalMove<false>;
  t["s_cselect_b32"] = [](const Instruction& i, Wave& w) {
    Put32(i, w, w.scc ? A32(i, w) : B32(i, w));
  };
  t["s_cselect_b64"] = [](const Instruction& i, Wave& w) {
    Put64(i, w, w.scc ? A64(i, w) : B64(i, w));
  };
}

void AddBits(Table& t) {
  t["s_lshl_b32"] =
      Binary32NonZero<[](uint32_t a, uint32_t b) { return a << (b & 31); }>;
  t["s_lshr_b32"] =
      Binary32NonZero<[](uint32_t a, uint32_t b) { return (a >> (b & 31)); }>;
  t["s_ashr_i32"] = Binary32NonZero<[](uint32_t a, uint32_t b) {
    return U(S(a) >> (b & 31));
  }>;
  t["s_lshl_b64"] =
      Shift64NonZero<[](uint64_t a, uint32_t b) { return a << (b & 63); }>;
  t["s_lshr_b64"] =
      Shift64NonZero<[](uint64_t a, uint32_t b) { return (a >> (b & 63)); }>;
  t["s_ashr_i64"] = Shift64NonZero<[](uint64_t a, uint32_t b) {
    return static_cast<uint64_t>(static_cast<int64_t>(a) >> (b & 63));
  }>;
  t["s_bfe_u32"] = Binary32NonZero<FieldU32>;
  t["s_bfe_i32"] = Binary32NonZero<FieldI32>;
  t["s_bfe_u64"] = Shift64NonZero<FieldU64>;
  t["s_bfe_i64"] = Shift64NonZero<FieldI64>;
  t["s_bfm_b32"] = Binary32<[](uint32_t a, uint32_t b) {
    return ((1u << (a & 31)) - 1) << (b & 31);
  }>;
  t["s_bfm_b64"] = [](const Instruction& i, Wave& w) {
    Put64(i, w, ((uint64_t{1} << (A32(i, w) & 63)) - 1) << (B32(i, w) & 63));
  };
  t["s_brev_b32"] = Unary32<[](uint32_t a) {
    return static_cast<uint32_t>(ReverseBits(a, 32));
  }>;
  t["s_brev_b64"] = Unary64<[](uint64_t a) { return ReverseBits(a, 64); }>;
  t["s_wqm_b32"] = Unary32NonZero<[](uint32_t a) {
    return static_cast<uint32_t>(Quads(a, true));
  }>;
  t["s_wqm_b64"] = Unary64NonZero<[](uint64_t a) { return Quads(a, true); }>;
  t["s_quadmask_b32"] = Unary32NonZero<[](uint32_t a) {
    return static_cast<uint32_t>(Quads(a, false));
  }>;
  t["s_quadmask_b64"] =
      Unary64NonZero<[](uint64_t a) { return Quads(a, false); }>;
  t["s_bcnt0_i32_b32"] =
      Unary32NonZero<[](uint32_t a) { return U(std::popcount(~a)); }>;
  t["s_bcnt1_i32_b32"] =
      Unary32NonZero<[](uint32_t a) { return U(std::popcount(a)); }>;
  t["s_bcnt0_i32_b64"] =
      Count64NonZero<[](uint64_t a) { return U(std::popcount(~a)); }>;
  t["s_bcnt1_i32_b64"] =
      Count64NonZero<[](uint64_t a) { return U(std::popcount(a)); }>;
  t["s_ff0_i32_b32"] =
      Unary32<[](uint32_t a) { return FirstOne(uint32_t(~a)); }>;
  t["s_ff1_i32_b32"] = Unary32<[](uint32_t a) { return FirstOne(a); }>;
  t["s_ff0_i32_b64"] = Count64<[](uint64_t a) { return FirstOne(~a); }>;
  t["s_ff1_i32_b64"] = Count64<[](uint64_t a) { return FirstOne(a); }>;
  t["s_flbit_i32_b32"] =
      Unary32<[](uint32_t a) { return a == 0 ? ~0u : U(std::countl_zero(a)); }>;
  t["s_flbit_i32_b64"] =
      Count64<[](uint64_t a) { return a == 0 ? ~0u : U(std::countl_zero(a)); }>;
  // Leading bits equal to the sign; -1 if all bits are.
  t["s_flbit_i32"] = Unary32<[](uint32_t a) {
    const uint32_t x = S(a) < 0 ? ~a : a;
    return x == 0 ? ~0u : U(std::countl_zero(x));
  }>;
  t["s_flbit_i32_i64"] = Count64<[](uint64_t a) {
    const uint64_t x = static_cast<int64_t>(a) < 0 ? ~a : a;
    return x == 0 ? ~0u : U(std::countl_zero(x));
  }>;
  t["s_bitset0_b32"] = [](const Instruction& i, Wave& w) {
    Put32(i, w, Scalar32(i.operands[0], w) & ~(1u << (A32(i, w) & 31)));
  };
  t["s_bitset1_b32"] = [](const Instruction& i, Wave& w) {
    Put32(i, w, Scalar32(i.operands[0], w) | 1u << (A32(i, w) & 31));
  };
  t["s_bitset0_b64"] = [](const Instruction& i, Wave& w) {
    Put64(i, w,
          Scalar64(i.operands[0], w) & ~(uint64_t{1} << (A32(i, w) & 63)));
  };
  t["s_bitset1_b64"] = [](const Instruction& i, Wave& w) {
    Put64(i, w, Scalar64(i.operands[0], w) | uint64_t{1} << (A32(i, w) & 63));
  };
  t["s_bitreplicate_b64_b32"] = [](const Instruction& i, Wave& w) {
    const uint64_t source = A32(i, w);
    uint64_t result = 0;
    for (int b = 0; b < 32; ++b) result |= (source >> b & 1) * 3 << (2 * b);
    Put64(i, w, result);
  };
  t["s_pack_ll_b32_b16"] =
      Binary32<[](uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; }>;
  t["s_pack_lh_b32_b16"] = Binary32<[](uint32_t a, uint32_t b) {
    return (a & 0xffff) | (b & 0xffff0000);
  }>;
  t["s_pack_hh_b32_b16"] = Binary32<[](uint32_t a, uint32_t b) {
    return (a >> 16 | (b & 0xffff0000));
  }>;
}

void AddComparisons(Table& t) {
#define ZYFA_COMPARE(name, op)                                          \
  t["s_cmp_" name "_i32"] =                                             \
      Compare32<[](uint32_t a, uint32_t b) { return (S(a) op S(b)); }>; \
  t["s_cmp_" name "_u32"] =                                             \
      Compare32<[](uint32_t a, uint32_t b) { return (a op b); }>;       \
  t["s_cmpk_" name "_i32"] =                                            \
      CompareK<[](int32_t a, int32_t b) { return (a op b); }>;          \
  t["s_cmpk_" name "_u32"] =                                            \
      CompareKUnsigned<[](uint32_t a, uint32_t b) { return (a op b); }>;
  ZYFA_COMPARE("eq", ==)
  ZYFA_COMPARE("lg", !=)
  ZYFA_COMPARE("gt", >)
  ZYFA_COMPARE("ge", >=)
  ZYFA_COMPARE("lt", <)
  ZYFA_COMPARE("le", <=)
#undef ZYFA_COMPARE
  t["s_cmp_eq_u64"] = Compare64<[](uint64_t a, uint64_t b) { return a == b; }>;
  t["s_cmp_lg_u64"] = Compare64<[](uint64_t a, uint64_t b) { return a != b; }>;
  t["s_bitcmp0_b32"] = Compare32<[](uint32_t a, uint32_t b) {
    return (a >> (b & 31) & 1) == 0;
  }>;
  t["s_bitcmp1_b32"] = Compare32<[](uint32_t a, uint32_t b) {
    return (a >> (b & 31) & 1) != 0;
  }>;
  t["s_bitcmp0_b64"] = BitCompare64<[](uint64_t a, uint32_t b) {
    return (a >> (b & 63) & 1) == 0;
  }>;
  t["s_bitcmp1_b64"] = BitCompare64<[](uint64_t a, uint32_t b) {
    return (a >> (b & 63) & 1) != 0;
  }>;
}

const Table& Handlers() {
  static const Table* const table = [] {
    auto* t = new Table;
    AddArithmetic(*t);
    AddLogic(*t);
    AddBits(*t);
    AddComparisons(*t);
    return t;
  }();
  return *table;
}

bool EndsWith(const std::string& text, const char* suffix) {
  const std::string tail(suffix);
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// ISA 3.6: in a 64-bit operand an inline float is a double, a 32-bit literal is
// extended with zeros, or with its sign where the operation is signed.
void PrepareConstants(Instruction& inst) {
  const bool wide = EndsWith(inst.mnemonic, "64");
  for (Operand& operand : inst.operands) {
    if (operand.kind == OperandKind::kFloat) {
      operand.kind = OperandKind::kInteger;
      operand.integer =
          wide ? static_cast<int64_t>(std::bit_cast<uint64_t>(operand.real))
               : std::bit_cast<uint32_t>(static_cast<float>(operand.real));
    } else if (operand.kind == OperandKind::kInteger &&
               EndsWith(inst.mnemonic, "_i64")) {
      if (operand.integer > 0x7fffffff) {
        operand.integer = static_cast<int32_t>(operand.integer);
      }
    }
  }
}

}  // namespace

Handler FindScalarAluHandler(Instruction& inst) {
  const auto it = Handlers().find(inst.mnemonic);
  if (it == Handlers().end()) return nullptr;
  // The apertures are 64-bit values; their halves alone have no defined use.
  for (const Operand& operand : inst.operands) {
    if (operand.kind == OperandKind::kScalar && operand.index >= 235 &&
        operand.index <= 238 && inst.mnemonic != "s_mov_b64") {
      return nullptr;
    }
  }
  PrepareConstants(inst);
  return it->second;
}

}  // namespace zyfa::emu
