#include "zyfa/gen/asm/hazard_rules.h"

#include <algorithm>
#include <bit>

namespace zyfa::gen {
namespace {

constexpr UnitRange kExecUnits{kScalarUnit + 126, 2};
constexpr UnitRange kM0Units{kScalarUnit + 124, 1};
constexpr UnitRange kModeUnits{kModeUnit, 1};

bool IsVectorRange(const UnitRange& r) { return r.first >= kVgprUnit; }
bool IsScalarRange(const UnitRange& r) { return r.first < kSccUnit; }

UnitRanges VectorOnly(const UnitRanges& ranges) {
  UnitRanges result;
  std::copy_if(ranges.begin(), ranges.end(), std::back_inserter(result),
               IsVectorRange);
  return result;
}

UnitRanges Join(UnitRanges a, const UnitRanges& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool IsValu(const Instruction& i) {
  return i.IsOperation() && i.info().IsValu();
}
bool IsMemory(const Instruction& i) {
  return i.IsOperation() && (i.info().IsVmem() || i.info().IsDs());
}
bool Has(const Instruction& i, OpcodeFlag flag) {
  return i.IsOperation() && i.info().Has(flag);
}
bool IsCmpx(const Instruction& i) {
  return IsValu(i) && i.info().Has(kWritesExec);
}

// Registers of explicit operands that `want` accepts.
template <typename Want>
UnitRanges OperandUnits(const Instruction& i, const Want& want) {
  UnitRanges result;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Operand& o = i.operands[k];
    if (o.IsRegister() && want(k, i.info().operands[k], o)) {
      result.push_back(UnitsOf(o));
    }
  }
  return result;
}

// ---- What begins a wait ----

UnitRanges MatrixResult(const Instruction& i) {
  return i.IsMatrix() ? i.writes : UnitRanges();
}

UnitRanges MatrixAddendRead(const Instruction& i) {
  if (!i.IsMatrix()) return {};
  return OperandUnits(i, [](size_t, const OperandSpec& spec, const Operand&) {
    return spec.klass == OperandClass::kAddend ||
           spec.access == OperandAccess::kReadWrite;
  });
}

UnitRanges DotResult(const Instruction& i) {
  return Has(i, kDot) ? VectorOnly(i.writes) : UnitRanges();
}

UnitRanges TransResult(const Instruction& i) {
  return Has(i, kTrans) ? VectorOnly(i.writes) : UnitRanges();
}

// A result that op_sel puts elsewhere than into the low bits.
UnitRanges PlacedResult(const Instruction& i) {
  if (!Has(i, kDstHigh) && !Has(i, kDstByte)) return {};
  return (i.mods.op_sel >> 2) != 0 ? VectorOnly(i.writes) : UnitRanges();
}

// A partial result of the conversions with a scale.
UnitRanges ScaledPartialResult(const Instruction& i) {
  if (!IsValu(i) || i.keeps.empty()) return {};
  return i.info().mnemonic.rfind("v_cvt_scalef32", 0) == 0
             ? VectorOnly(i.writes)
             : UnitRanges();
}

UnitRanges VectorResult(const Instruction& i) {
  return IsValu(i) ? VectorOnly(i.writes) : UnitRanges();
}

UnitRanges VectorResultNotDot(const Instruction& i) {
  return Has(i, kDot) ? UnitRanges() : VectorResult(i);
}

// SGPRs and VCC that a vector instruction writes, EXEC apart.
UnitRanges VectorScalarResult(const Instruction& i) {
  UnitRanges result;
  if (!IsValu(i)) return result;
  for (const UnitRange& r : i.writes) {
    if (IsScalarRange(r) && r.first < kM0Units.first) result.push_back(r);
  }
  return result;
}

UnitRanges VectorExecResult(const Instruction& i) {
  return IsCmpx(i) ? UnitRanges{kExecUnits} : UnitRanges();
}

UnitRanges ScalarM0Result(const Instruction& i) {
  if (!i.IsOperation() || !i.info().IsSalu()) return {};
  return Overlaps(i.writes, kM0Units) ? UnitRanges{kM0Units} : UnitRanges();
}

UnitRanges ModeWrite(const Instruction& i) {
  return i.IsOperation() && i.opcode == Opcode::s_setreg_imm32_b32
             ? UnitRanges{kModeUnits}
             : UnitRanges();
}

// Stores of three and four dwords read their data late, except buffer stores
// with an SGPR offset.
UnitRanges WideStoreData(const Instruction& i) {
  if (!i.IsOperation() || !i.info().IsVmemStore()) return {};
  if (i.info().format == Format::kBufferStore && i.operands[3].IsRegister()) {
    return {};
  }
  return OperandUnits(i, [](size_t, const OperandSpec& spec, const Operand& o) {
    return spec.klass == OperandClass::kData && o.count > 2;
  });
}

// ---- What ends it ----

UnitRanges ValuReads(const Instruction& i) {
  return IsValu(i) ? Join(VectorOnly(i.reads), VectorOnly(i.keeps))
                   : UnitRanges();
}

UnitRanges ValuWrites(const Instruction& i) { return VectorResult(i); }

UnitRanges ValuTouches(const Instruction& i) {
  return Join(ValuReads(i), ValuWrites(i));
}

UnitRanges ValuKeeps(const Instruction& i) {
  return IsValu(i) ? VectorOnly(i.keeps) : UnitRanges();
}

UnitRanges NotTransReads(const Instruction& i) {
  return Has(i, kTrans) ? UnitRanges() : ValuReads(i);
}

UnitRanges MemoryReads(const Instruction& i) {
  return IsMemory(i) ? VectorOnly(i.reads) : UnitRanges();
}

UnitRanges LoadWrites(const Instruction& i) {
  return IsMemory(i) ? VectorOnly(i.writes) : UnitRanges();
}

UnitRanges ValuOrLoadWrites(const Instruction& i) {
  return Join(ValuWrites(i), LoadWrites(i));
}

UnitRanges VectorTouches(const Instruction& i) {
  UnitRanges result = Join(ValuTouches(i), MemoryReads(i));
  result = Join(result, LoadWrites(i));
  return i.IsMatrix() ? Join(Join(result, i.reads), i.writes) : result;
}

// A and B, the index of sparse and the scales of scaled forms.
UnitRanges MatrixSources(const Instruction& i) {
  if (!i.IsMatrix()) return {};
  return OperandUnits(i, [](size_t, const OperandSpec& spec, const Operand&) {
    return spec.access == OperandAccess::kRead &&
           spec.klass != OperandClass::kAddend;
  });
}

UnitRanges DotFactors(const Instruction& i) {
  if (!Has(i, kDot)) return {};
  return OperandUnits(i, [](size_t k, const OperandSpec&, const Operand& o) {
    return (k == 1 || k == 2) && o.file == RegisterFile::kVgpr;
  });
}

UnitRanges MatrixAddend(const Instruction& i) { return MatrixAddendRead(i); }

UnitRanges MatrixReads(const Instruction& i) {
  return i.IsMatrix() ? i.reads : UnitRanges();
}

UnitRanges PermlaneReads(const Instruction& i) {
  return Has(i, kPermlane) ? VectorOnly(i.reads) : UnitRanges();
}

// All operands but the result: the old result is not moved between lanes, but
// LLVM waits for it too where lanes keep it.
UnitRanges DppReads(const Instruction& i) {
  const bool dpp = i.IsOperation() && i.info().format == Format::kDpp;
  return dpp ? ValuReads(i) : UnitRanges();
}

UnitRanges ReadlaneReads(const Instruction& i) {
  const bool lane = Has(i, kGlobalLane) && i.opcode != Opcode::v_writelane_b32;
  return lane ? VectorOnly(i.reads) : UnitRanges();
}

bool IsLaneSelect(const Instruction& i, size_t k) {
  return (i.opcode == Opcode::v_readlane_b32 ||
          i.opcode == Opcode::v_writelane_b32) &&
         k == 2;
}

// Scalars that a vector instruction reads as data, not as mask or lane number.
UnitRanges ValuScalarReads(const Instruction& i) {
  if (!IsValu(i)) return {};
  return OperandUnits(
      i, [&](size_t k, const OperandSpec& spec, const Operand& o) {
        return spec.Reads() && o.file == RegisterFile::kScalar &&
               spec.klass != OperandClass::kMask && !IsLaneSelect(i, k);
      });
}

UnitRanges LaneSelect(const Instruction& i) {
  if (!Has(i, kGlobalLane)) return {};
  return OperandUnits(i, [&](size_t k, const OperandSpec&, const Operand& o) {
    return o.file == RegisterFile::kScalar && IsLaneSelect(i, k);
  });
}

UnitRanges VmemScalarReads(const Instruction& i) {
  if (!i.IsOperation() || !i.info().IsVmem()) return {};
  return OperandUnits(i, [](size_t, const OperandSpec&, const Operand& o) {
    return o.file == RegisterFile::kScalar;
  });
}

UnitRanges LdsDma(const Instruction& i) {
  return i.IsOperation() && i.info().IsLdsDma() ? UnitRanges{kM0Units}
                                                : UnitRanges();
}

UnitRanges ModeAccess(const Instruction& i) {
  const bool access = i.IsOperation() && i.info().format == Format::kSetreg;
  return access ? UnitRanges{kModeUnits} : UnitRanges();
}

UnitRanges ExecIf(bool condition) {
  return condition ? UnitRanges{kExecUnits} : UnitRanges();
}
UnitRanges AnyMatrix(const Instruction& i) { return ExecIf(i.IsMatrix()); }
UnitRanges AnyPermlane(const Instruction& i) {
  return ExecIf(Has(i, kPermlane));
}
UnitRanges AnyDpp(const Instruction& i) {
  return ExecIf(i.IsOperation() && i.info().format == Format::kDpp);
}
UnitRanges AnyLaneAccess(const Instruction& i) {
  return ExecIf(Has(i, kGlobalLane));
}

}  // namespace

// Sources: CDNA4 ISA tables 11 and 38 as collected in column D of cdna4-isa.md
// 5 with LLVM's GCNHazardRecognizer (column L) where it asks for more. Where
// the ISA says 0 and LLVM a conservative 2 (VCC as mask or carry) the ISA
// holds.
const std::vector<HazardRule>& HazardRules() {
  using enum HazardRelation;
  static const auto& rules = *new std::vector<HazardRule>{
      // Matrix results (5.1).
      {"MFMA result -> VALU",
       MatrixResult,
       ValuTouches,
       kOverlap,
       {5, 8, 12, 20}},
      {"MFMA result -> memory data or address",
       MatrixResult,
       MemoryReads,
       kOverlap,
       {5, 8, 12, 20}},
      {"MFMA result -> overwritten by load",
       MatrixResult,
       LoadWrites,
       kOverlap,
       {5, 8, 12, 20}},
      {"MFMA result -> MFMA source",
       MatrixResult,
       MatrixSources,
       kOverlap,
       {5, 8, 12, 20}},
      {"MFMA result -> same MFMA addend",
       MatrixResult,
       MatrixAddend,
       kSame,
       {2, 0, 0, 0}},
      {"MFMA result -> overlapping MFMA addend",
       MatrixResult,
       MatrixAddend,
       kOverlapNotSame,
       {4, 6, 10, 18}},
      {"MFMA addend -> overwritten",
       MatrixAddendRead,
       ValuOrLoadWrites,
       kOverlap,
       {1, 3, 7, 15}},
      {"VALU result -> MFMA", VectorResultNotDot, MatrixReads, kOverlap, {2}},
      {"v_cmpx -> MFMA", VectorExecResult, AnyMatrix, kOverlap, {4}},
      {"dot product -> other instruction",
       DotResult,
       VectorTouches,
       kOtherOpcode,
       {3}},
      {"dot product -> factor of dot product",
       DotResult,
       DotFactors,
       kSameOpcode,
       {3}},
      // Vector results (5.2).
      {"transcendental -> VALU", TransResult, NotTransReads, kOverlap, {1}},
      {"placed result -> VALU", PlacedResult, ValuReads, kOverlap, {1}},
      {"partial scaled conversion -> next part",
       ScaledPartialResult,
       ValuKeeps,
       kOverlap,
       {1}},
      {"VALU result -> permlane", VectorResult, PermlaneReads, kOverlap, {2}},
      {"v_cmpx -> permlane", VectorExecResult, AnyPermlane, kOverlap, {4}},
      {"VALU result -> DPP", VectorResult, DppReads, kOverlap, {2}},
      {"v_cmpx -> DPP", VectorExecResult, AnyDpp, kOverlap, {5}},
      {"VALU result -> read lane", VectorResult, ReadlaneReads, kOverlap, {1}},
      {"v_cmpx -> lane access", VectorExecResult, AnyLaneAccess, kOverlap, {4}},
      {"v_cmpx -> EXEC as data",
       VectorExecResult,
       ValuScalarReads,
       kOverlap,
       {2}},
      {"VALU scalar result -> VALU",
       VectorScalarResult,
       ValuScalarReads,
       kOverlap,
       {2}},
      {"VALU scalar result -> lane select",
       VectorScalarResult,
       LaneSelect,
       kOverlap,
       {4}},
      {"VALU scalar result -> VMEM",
       VectorScalarResult,
       VmemScalarReads,
       kOverlap,
       {5}},
      // The rest (5.2).
      {"M0 -> direct-to-LDS load", ScalarM0Result, LdsDma, kOverlap, {1}},
      {"s_setreg -> same register", ModeWrite, ModeAccess, kOverlap, {2}},
      {"wide store data -> overwritten by VALU",
       WideStoreData,
       ValuWrites,
       kOverlap,
       {2}},
      {"wide store data -> overwritten by load",
       WideStoreData,
       LoadWrites,
       kOverlap,
       {1}},
  };
  return rules;
}

int HazardStates(const HazardRule& rule, const Instruction& producer) {
  if (!producer.IsMatrix()) return rule.states[0];
  // 2, 4, 8, 16 passes -> 0, 1, 2, 3
  const int log2 =
      std::bit_width(static_cast<unsigned>(MatrixPasses(producer))) - 1;
  return rule.states[std::clamp(log2 - 1, 0, 3)];
}

}  // namespace zyfa::gen
