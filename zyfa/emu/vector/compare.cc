// v_cmp_* and v_cmpx_*.

#include <string>

#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

enum class Condition {
  kFalse,
  kLess,
  kEqual,
  kLessEqual,
  kGreater,
  kNotEqual,
  kGreaterEqual,
  kTrue,
  // Floats only; kUnequal is "less or greater", false for NaN.
  kUnequal,
  kOrdered,
  kUnordered,
  kNotGreaterEqual,
  kNotUnequal,
  kNotGreater,
  kNotLessEqual,
  kNotLess,
};

template <Condition kCondition, class V>
inline bool Holds(V a, V b) {
  switch (kCondition) {
    case Condition::kFalse:
      return false;
    case Condition::kLess:
      return a < b;
    case Condition::kEqual:
      return a == b;
    case Condition::kLessEqual:
      return a <= b;
    case Condition::kGreater:
      return a > b;
    case Condition::kNotEqual:
      return a != b;
    case Condition::kGreaterEqual:
      return a >= b;
    case Condition::kTrue:
      return true;
    case Condition::kUnequal:
      return a < b || a > b;
    case Condition::kOrdered:
      return a == a && b == b;
    case Condition::kUnordered:
      return a != a || b != b;
    case Condition::kNotGreaterEqual:
      return !(a >= b);
    case Condition::kNotUnequal:
      return !(a < b || a > b);
    case Condition::kNotGreater:
      return !(a > b);
    case Condition::kNotLessEqual:
      return !(a <= b);
    case Condition::kNotLess:
      return !(a < b);
  }
  return false;
}

// One bit a lane out of a flag word a lane.
inline uint64_t Gather(const uint32_t* flags) {
  uint64_t mask = 0;
  for (int l = 0; l < kLanes; ++l) mask |= uint64_t{flags[l] & 1} << l;
  return mask;
}

// inst.aux[1]: whether the mask goes to EXEC as well (v_cmpx).
inline void WriteMask(const Instruction& inst, Wave& wave, uint64_t mask) {
  wave.WriteScalar64(inst.operands[0].index, mask);
  if (inst.aux[1]) wave.exec = mask;
}

// Lanes out of EXEC give 0.
template <class T, Condition kCondition>
void RunCompare(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<T> a(inst, wave, 1, 0, active), b(inst, wave, 2, 1, active);
  alignas(64) uint32_t flags[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    flags[l] =
        Holds<kCondition>(T::FromWord(a.words[l]), T::FromWord(b.words[l]));
  }
  WriteMask(inst, wave, Gather(flags) & active);
}

bool PrepareCompare(Instruction& inst, valu::SourceFormat a,
                    valu::SourceFormat b) {
  inst.aux[0] = 0;
  inst.aux[1] = inst.mnemonic.rfind("v_cmpx_", 0) == 0;
  const Modifiers& mods = inst.mods;
  return inst.operands.size() == 3 &&
         inst.operands[0].kind == OperandKind::kScalar && !mods.op_sel &&
         !mods.omod && mods.dpp == DppControl::kNone &&
         valu::PrepareSource(inst, 1, 0, a) &&
         valu::PrepareSource(inst, 2, 1, b);
}

// clamp would only signal exceptions: accepted for floats, without effect.
template <class T, Condition kCondition>
Handler MakeCompare(Instruction& inst) {
  if (!PrepareCompare(inst, FormatOf<T>(), FormatOf<T>()) ||
      (inst.mods.clamp && !T::kIsFloat)) {
    return nullptr;
  }
  return &RunCompare<T, kCondition>;
}

// Classes of b: bit 0 signalling NaN, 1 quiet NaN, 2 -Inf, 3 negative normal,
// 4 negative denormal, 5 -0, 6 +0, 7 positive denormal, 8 positive normal, 9
// +Inf.
template <class T>
inline uint32_t ClassBit(typename T::Word word) {
  using Word = typename T::Word;
  constexpr auto sign = static_cast<Word>(uint64_t{1} << (T::kBits - 1));
  constexpr auto infinity = static_cast<Word>(InfinityWord(T::kBits));
  const Word magnitude = word & static_cast<Word>(sign - 1);
  if (magnitude > infinity) return IsSignallingWord<T>(word) ? 1 : 2;
  const bool negative = word & sign;
  if (magnitude == infinity) return negative ? 1 << 2 : 1 << 9;
  if (magnitude == 0) return negative ? 1 << 5 : 1 << 6;
  if (magnitude & infinity) return negative ? 1 << 3 : 1 << 8;
  return negative ? 1 << 4 : 1 << 7;
}

// The value as it stands: no flush before it is classified.
template <class T>
struct Unflushed : T {
  static constexpr bool kFlushes = false;
};

template <class T>
void RunClass(const Instruction& inst, Wave& wave) {
  uint64_t active = wave.exec;
  const Fetched<Unflushed<T>> a(inst, wave, 1, 0, active);
  const Fetched<U32> b(inst, wave, 2, 1, active);
  uint64_t mask = 0;
  for (int l = 0; l < kLanes; ++l) {
    const auto word = T::kBits == 16
                          ? static_cast<typename T::Word>(a.words[l] & 0xffff)
                          : a.words[l];
    mask |= uint64_t{(ClassBit<T>(word) & b.words[l]) != 0} << l;
  }
  WriteMask(inst, wave, mask & active);
}

template <class T>
Handler MakeClass(Instruction& inst) {
  return PrepareCompare(inst, FormatOf<Unflushed<T>>(), FormatOf<U32>())
             ? &RunClass<T>
             : nullptr;
}

template <class T, Condition kCondition>
void AddPair(valu::HandlerTable& table, const std::string& condition,
             const std::string& type) {
  table["v_cmp_" + condition + "_" + type] = &MakeCompare<T, kCondition>;
  table["v_cmpx_" + condition + "_" + type] = &MakeCompare<T, kCondition>;
}

template <class T>
void AddOrder(valu::HandlerTable& table, const std::string& type) {
  AddPair<T, Condition::kFalse>(table, "f", type);
  AddPair<T, Condition::kLess>(table, "lt", type);
  AddPair<T, Condition::kEqual>(table, "eq", type);
  AddPair<T, Condition::kLessEqual>(table, "le", type);
  AddPair<T, Condition::kGreater>(table, "gt", type);
  AddPair<T, Condition::kGreaterEqual>(table, "ge", type);
}

template <class T>
void AddIntegerCompares(valu::HandlerTable& table, const std::string& type) {
  AddOrder<T>(table, type);
  AddPair<T, Condition::kNotEqual>(table, "ne", type);
  AddPair<T, Condition::kTrue>(table, "t", type);
}

template <class T>
void AddFloatCompares(valu::HandlerTable& table, const std::string& type) {
  AddOrder<T>(table, type);
  AddPair<T, Condition::kUnequal>(table, "lg", type);
  AddPair<T, Condition::kOrdered>(table, "o", type);
  AddPair<T, Condition::kUnordered>(table, "u", type);
  AddPair<T, Condition::kNotGreaterEqual>(table, "nge", type);
  AddPair<T, Condition::kNotUnequal>(table, "nlg", type);
  AddPair<T, Condition::kNotGreater>(table, "ngt", type);
  AddPair<T, Condition::kNotLessEqual>(table, "nle", type);
  AddPair<T, Condition::kNotEqual>(table, "neq", type);
  AddPair<T, Condition::kNotLess>(table, "nlt", type);
  AddPair<T, Condition::kTrue>(table, "tru", type);
  table["v_cmp_class_" + type] = &MakeClass<T>;
  table["v_cmpx_class_" + type] = &MakeClass<T>;
}

}  // namespace

void AddCompares(valu::HandlerTable& table) {
  AddFloatCompares<F16>(table, "f16");
  AddFloatCompares<F32>(table, "f32");
  AddFloatCompares<F64>(table, "f64");
  AddIntegerCompares<I16>(table, "i16");
  AddIntegerCompares<U16>(table, "u16");
  AddIntegerCompares<I32>(table, "i32");
  AddIntegerCompares<U32>(table, "u32");
  AddIntegerCompares<I64>(table, "i64");
  AddIntegerCompares<U64>(table, "u64");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
