#include "zyfa/emu/strict/alu_propagation.h"

#include <algorithm>
#include <bit>

#include "zyfa/emu/group.h"
#include "zyfa/emu/vector/operand_fetch.h"

namespace zyfa::emu {
namespace {

constexpr int kMaxRanges = 16;

bool IsExec(const RegisterRange& range) {
  return !range.vector && range.first >= kExecLo;
}

bool IsVector(const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
         operand.kind == OperandKind::kAgpr;
}

bool Undefined(const RegisterRange& range, uint64_t relevant_lanes,
               const WaveShadow& shadow) {
  const int end = range.first + range.count;
  if (range.vector) {
    uint64_t any = 0;
    for (int r = range.first; r < end; ++r) any |= shadow.lanes[r];
    return (any & relevant_lanes) != 0;
  }
  uint32_t any = 0;
  for (int r = range.first; r < end; ++r) any |= shadow.sgpr[r & 127];
  return any != 0;
}

// From the lowest set bit on upward.
uint32_t Upward(uint32_t bits) { return bits | (0u - bits); }

uint32_t Widen(uint32_t bits, Spread spread) {
  switch (spread) {
    case Spread::kBits:
    case Spread::kSixBits:
      return bits;
    case Spread::kUpward:
      return Upward(bits);
    case Spread::kUpwardHalves:
      return (Upward(bits & 0xffff) & 0xffff) | Upward(bits & 0xffff0000);
    case Spread::kBytes: {
      uint32_t wide = 0;
      for (uint32_t byte = 0xff; byte != 0; byte <<= 8) {
        if ((bits & byte) != 0) wide |= byte;
      }
      return wide;
    }
    case Spread::kHalves:
      return ((bits & 0xffff) != 0 ? 0xffffu : 0u) |
             ((bits >> 16) != 0 ? 0xffff0000u : 0u);
    case Spread::kWords:
    case Spread::kPairs:
      return bits != 0 ? ~0u : 0;
  }
  return bits;
}

// Both registers of a 64-bit result.
void WidenPair(uint32_t& low, uint32_t& high, Spread spread) {
  if (spread == Spread::kPairs) {
    low = high = (low | high) != 0 ? ~0u : 0;
  } else {
    high = low != 0 ? ~0u : Upward(high);
    low = Upward(low);
  }
}

// Packed six-bit numbers: number e is bits 6 e to 6 e + 5 of the rows together.
void WidenSixBits(uint32_t (*rows)[kLanes], int count) {
  for (int first = 0; first + 6 <= 32 * count; first += 6) {
    const int row = first / 32, shift = first % 32;
    const uint32_t low = 0x3fu << shift;
    const uint32_t high = shift > 26 ? 0x3fu >> (32 - shift) : 0;
    for (int l = 0; l < kLanes; ++l) {
      const bool any = (rows[row][l] & low) != 0 ||
                       (high != 0 && (rows[row + 1][l] & high) != 0);
      if (!any) continue;
      rows[row][l] |= low;
      if (high != 0) rows[row + 1][l] |= high;
    }
  }
}

bool WidensPairs(const RegisterRange& range, Spread spread) {
  return range.count % 2 == 0 &&
         (spread == Spread::kPairs ||
          (spread == Spread::kUpward && range.count == 2));
}

// Whether the range is the operand at a position.
bool IsAt(const AluStep& step, const RegisterRange& range, int position) {
  if (position < 0 || position >= static_cast<int>(step.inst->operands.size()))
    return false;
  const Operand& operand = step.inst->operands[static_cast<size_t>(position)];
  return range.vector ? IsVector(operand) && Wave::Row(operand) == range.first
                      : operand.kind == OperandKind::kScalar &&
                            operand.index == range.first;
}

// Whether the range is an operand whose value says which bits are written.
bool Selects(const AluStep& step, const RegisterRange& range) {
  for (int position : step.rule.control) {
    if (IsAt(step, range, position)) return true;
  }
  return false;
}

// Whether the instruction writes a register of a range.
bool Writes(const AluStep& step, const RegisterRange& like, int number) {
  for (const RegisterRange& range : step.ranges) {
    if (range.write && range.vector == like.vector && range.first <= number &&
        number < range.first + range.count) {
      return true;
    }
  }
  return false;
}

// Whether a selector of a scalar instruction is undefined.
bool UndefinedControl(const AluStep& step, const WaveShadow& shadow) {
  uint32_t undefined = 0;
  for (int position : step.rule.control) {
    if (position < 0 ||
        position >= static_cast<int>(step.inst->operands.size())) {
      continue;
    }
    const Operand& operand = step.inst->operands[static_cast<size_t>(position)];
    if (operand.kind == OperandKind::kScalar && operand.index < 128) {
      undefined |= shadow.sgpr[operand.index];
    }
  }
  return (undefined & step.rule.control_bits) != 0;
}

// A number like those of vector registers but equal to none of them.
uint32_t ScalarNumber(int n) {
  return 0x37373737 - 0x02020202 * static_cast<uint32_t>(n % 4);
}

// Whether the range is a block scale: a power of two whose exponent counts.
bool Scales(const AluStep& step, const RegisterRange& range) {
  return step.inst->mnemonic.compare(0, 13, "v_mfma_scale_") == 0 &&
         (IsAt(step, range, 4) || IsAt(step, range, 5));
}

// How far undefined bits of register `number` of a range reach before the
// instruction computes with them.
Spread SourceSpread(const AluStep& step, const RegisterRange& range,
                    int number) {
  const PropagationRule& rule = step.rule;
  if (rule.moves_bits || Selects(step, range)) return Spread::kBits;
  const bool written = Writes(step, range, number);
  if (rule.accumulator != Spread::kBits && (written || IsAt(step, range, 3))) {
    return rule.accumulator;
  }
  // What is kept of a register that is written keeps its own bits; lanes of a
  // mask are lanes.
  if (written || (!range.vector && range.first == kVccLo)) return Spread::kBits;
  return rule.source;
}

}  // namespace

AluPropagation::AluPropagation() : trial_(std::make_unique<Wave>()) {
  std::fill_n(ones_, kLanes, 0x7f7f7f7f);
  // Sixteen halves whose bytes are 0x39, 0x3b, 0x3d or 0x3f: odd, as an even
  // factor hides low bits of the other. Sixteen rows in turn never agree in any
  // lane.
  for (int row = 0; row < kNumberRows; ++row) {
    for (int l = 0; l < kLanes; ++l) {
      uint32_t word = 0;
      for (int half = 0; half < 2; ++half) {
        const auto digits = static_cast<uint32_t>(row + 5 * l + 3 * half) & 15;
        const uint32_t bytes =
            0x3939 + (digits >> 2) * 0x200 + (digits & 3) * 2;
        word |= bytes << (16 * half);
      }
      numbers_[row][l] = word;
    }
  }
}

uint32_t UndefinedScalar(const WaveShadow& shadow, const Wave& wave,
                         int number) {
  if (number == kSrcScc) return shadow.scc ? 1 : 0;
  if (number == kSrcVccz) return UndefinedVccz(shadow, wave) ? 1 : 0;
  return number < 128 ? shadow.sgpr[number] : 0;
}

bool UndefinedVccz(const WaveShadow& shadow, const Wave& wave) {
  const uint32_t low = shadow.sgpr[kVccLo], high = shadow.sgpr[kVccLo + 1];
  if ((low | high) == 0) return false;
  return (wave.sgpr[kVccLo] & ~low) == 0 &&
         (wave.sgpr[kVccLo + 1] & ~high) == 0;
}

AluStep PrepareAlu(const Instruction& inst) {
  AluStep step;
  step.inst = &inst;
  step.rule = PropagationRuleOf(inst);
  step.scalar = inst.instruction_class == InstructionClass::kSalu;
  step.compare = inst.mnemonic.compare(0, 5, "v_cmp") == 0;
  if (step.scalar) step.scc = SccRuleOf(inst.mnemonic);
  step.reads_scc = ReadsScc(inst);
  for (const RegisterRange& range : inst.registers) {
    if (!IsExec(range)) step.ranges.push_back(range);
  }
  for (const Operand& operand : inst.operands) {
    if (operand.kind != OperandKind::kScalar || operand.index != kSrcVccz) {
      continue;
    }
    RegisterRange vcc;
    vcc.first = kVccLo;
    vcc.count = 2;
    step.ranges.insert(step.ranges.begin(), vcc);
  }
  if (step.ranges.size() > kMaxRanges) step.ranges.resize(kMaxRanges);
  return step;
}

bool AluPropagation::Concerns(const AluStep& step, const Wave& wave,
                              const WaveShadow& shadow) {
  const uint64_t relevant = step.rule.lane_wise ? wave.exec : ~uint64_t{0};
  for (const RegisterRange& range : step.ranges) {
    if (Undefined(range, relevant, shadow)) return true;
  }
  return shadow.scc && (step.reads_scc || step.scc != SccRule::kKept);
}

uint32_t AluPropagation::Pattern(const Plan& plan, int trial, int source) {
  if (trial == 0) return 0;
  if (trial == 1) return ~0u;
  trial -= 2;
  if (plan.moves_bits) {
    if (trial < plan.sources) return trial == source ? ~0u : 0;
    return trial - plan.sources == source ? 0 : ~0u;
  }
  // Zero, NaN or -1, and numbers of either sign, large and small, in every
  // format.
  static constexpr int kFills = 8;
  static constexpr uint32_t kFill[kFills] = {0x3f3f3f3f, 0xbfbfbfbf, 0x7b7b7b7b,
                                             0xfbfbfbfb, 0x80808080, 0x55555555,
                                             0xaaaaaaaa, 0x00010001};
  if (trial < kFills) return kFill[trial];
  return kFill[(trial * (2 * source + 1) + 3 * source) % kFills];
}

// All bits of a source take the same value, so two trials show all that moves
// bits; logic of two or three undefined sources needs their combinations, too.
AluPropagation::Plan AluPropagation::MakePlan(const AluStep& step,
                                              const Wave& wave,
                                              const WaveShadow& shadow,
                                              int* source_of_range) {
  const uint64_t relevant = step.rule.lane_wise ? wave.exec : ~uint64_t{0};
  Plan plan;
  plan.moves_bits = step.rule.moves_bits;
  bool reads = false;
  for (size_t i = 0; i < step.ranges.size(); ++i) {
    source_of_range[i] = 0;
    const RegisterRange& range = step.ranges[i];
    if (range.write || !Undefined(range, relevant, shadow)) continue;
    source_of_range[i] = plan.sources++;
    reads = true;
  }
  if (shadow.scc && step.reads_scc) {
    ++plan.sources;
    reads = true;
  }
  if (plan.moves_bits) {
    if (plan.sources >= 2) plan.trials += plan.sources;
    if (plan.sources == 3) plan.trials += plan.sources;
  } else if (reads) {
    plan.trials += plan.sources >= 2 ? 16 : 8;
  }
  return plan;
}

void AluPropagation::Try(const AluStep& step, const Wave& wave,
                         const WaveShadow& shadow, const Plan& plan, int trial,
                         const int* source_of_range) {
  Wave& t = *trial_;
  const PropagationRule& rule = step.rule;
  std::memcpy(t.sgpr, wave.sgpr, sizeof(t.sgpr));
  int rows_before = 0;
  for (const RegisterRange& range : step.ranges) rows_before += range.count;
  // The first range that names a register says which source it is.
  for (size_t i = step.ranges.size(); i-- > 0;) {
    const RegisterRange& range = step.ranges[i];
    const uint32_t pattern = Pattern(plan, trial, source_of_range[i]);
    const bool number = !rule.moves_bits && !Selects(step, range);
    rows_before -= range.count;
    for (int r = range.first; r < range.first + range.count; ++r) {
      const int n = (rows_before + r - range.first) % kNumberRows;
      if (!range.vector) {
        const uint32_t value = number ? ScalarNumber(n) : wave.sgpr[r & 127];
        const Spread source = SourceSpread(step, range, r);
        uint32_t undefined = Widen(shadow.sgpr[r & 127], source);
        if (source == Spread::kPairs && range.count == 2) {
          const int other = range.first + ((r - range.first) ^ 1);
          undefined |= Widen(shadow.sgpr[other & 127], source);
        }
        t.sgpr[r & 127] = (value & ~undefined) | (pattern & undefined);
        continue;
      }
      const uint32_t* const values = !number               ? wave.vgpr[r]
                                     : Scales(step, range) ? ones_
                                                           : numbers_[n];
      const Spread source = SourceSpread(step, range, r);
      // The other half of a 64-bit number.
      const bool pairs = source == Spread::kPairs && range.count % 2 == 0;
      const int other = range.first + ((r - range.first) ^ 1);
      if (shadow.lanes[r] == 0 && (!pairs || shadow.lanes[other] == 0)) {
        std::memcpy(t.vgpr[r], values, sizeof(t.vgpr[r]));
        continue;
      }
      for (int l = 0; l < kLanes; ++l) {
        uint32_t undefined = Widen(shadow.vgpr[r][l], source);
        if (pairs) undefined |= Widen(shadow.vgpr[other][l], source);
        t.vgpr[r][l] = (values[l] & ~undefined) | (pattern & undefined);
      }
    }
  }
  t.exec = wave.exec;
  t.pc = wave.pc;
  t.mode = wave.mode;
  t.group = wave.group;
  t.index = wave.index;
  t.scc = shadow.scc && step.reads_scc
              ? (Pattern(plan, trial, plan.sources - 1) & 1) != 0
              : wave.scc;
  step.inst->handler(*step.inst, t);

  int row = 0;
  for (const RegisterRange& range : step.ranges) {
    if (!range.write || !range.vector) continue;
    for (int r = range.first; r < range.first + range.count; ++r, ++row) {
      if (row == kMaxRows) break;
      if (trial == 0) {
        std::memcpy(first_[row], t.vgpr[r], sizeof(first_[row]));
        std::memset(differs_[row], 0, sizeof(differs_[row]));
      } else {
        for (int l = 0; l < kLanes; ++l) {
          differs_[row][l] |= t.vgpr[r][l] ^ first_[row][l];
        }
      }
    }
  }
  if (trial == 0) {
    std::memcpy(first_sgpr_, t.sgpr, sizeof(first_sgpr_));
    std::memset(differs_sgpr_, 0, sizeof(differs_sgpr_));
    first_exec_ = t.exec;
    differs_exec_ = 0;
    first_scc_ = t.scc;
    differs_scc_ = false;
  } else {
    for (int r = 0; r < 128; ++r)
      differs_sgpr_[r] |= t.sgpr[r] ^ first_sgpr_[r];
    differs_exec_ |= t.exec ^ first_exec_;
    differs_scc_ |= t.scc != first_scc_;
  }
}

// Lanes that have an undefined bit in a source.
void AluPropagation::Compare(const AluStep& step, const Wave& wave,
                             WaveShadow& shadow, uint64_t& mask) const {
  const Instruction& inst = *step.inst;
  const std::string& name = inst.mnemonic;
  const bool half = name.compare(name.size() - 2, 2, "16") == 0;
  const bool wide = name.compare(name.size() - 2, 2, "64") == 0;
  const bool classify = name.find("_class_") != std::string::npos;
  mask = 0;
  // The masks go through the same selection of bytes as the values.
  Wave& t = *trial_;
  t.exec = wave.exec;
  t.mode = wave.mode;
  for (int i = 0; i < 2; ++i) {
    const Operand& operand = inst.operands[static_cast<size_t>(1 + i)];
    const bool wide_source = wide && !(classify && i == 1);
    const int words = wide_source ? 2 : 1;
    if (operand.kind == OperandKind::kScalar) {
      uint32_t any = 0;
      for (int w = 0; w < words; ++w) {
        any |= UndefinedScalar(shadow, wave, operand.index + w);
      }
      if (half && !inst.mods.sdwa && !(classify && i == 1)) any &= 0xffff;
      if (any != 0) mask = ~uint64_t{0};
    } else if (IsVector(operand)) {
      const int row = Wave::Row(operand);
      for (int w = 0; w < words; ++w) {
        std::memcpy(t.vgpr[row + w], shadow.vgpr[row + w],
                    sizeof(t.vgpr[row + w]));
      }
      uint64_t active = wave.exec;
      if (wide_source) {
        mask |= shadow.lanes[row] | shadow.lanes[row + 1];
        continue;
      }
      alignas(64) uint32_t buffer[kLanes];
      const uint32_t* bits = valu::FetchWords32(
          inst, t, operand, i, {32, valu::Kind::kBits, false}, active, buffer);
      const uint32_t used =
          half && !inst.mods.sdwa && !(classify && i == 1) ? 0xffff : ~0u;
      for (int l = 0; l < kLanes; ++l) {
        mask |= uint64_t{(bits[l] & used) != 0} << l;
      }
    }
  }
  mask &= wave.exec;
}

void AluPropagation::SpreadVectors(const AluStep& step, const Wave& wave,
                                   WaveShadow& shadow, uint64_t& spoilt_lanes) {
  const PropagationRule& rule = step.rule;
  const Instruction& inst = *step.inst;
  uint64_t control = 0;  // lanes whose selectors are undefined
  for (int position : rule.control) {
    if (position < 0 || position >= static_cast<int>(inst.operands.size())) {
      continue;
    }
    const Operand& operand = inst.operands[static_cast<size_t>(position)];
    if (IsVector(operand)) {
      const uint32_t* bits = shadow.vgpr[Wave::Row(operand)];
      for (int l = 0; l < kLanes; ++l) {
        control |= uint64_t{(bits[l] & rule.control_bits) != 0} << l;
      }
    } else if (operand.kind == OperandKind::kScalar &&
               (UndefinedScalar(shadow, wave, operand.index) &
                rule.control_bits) != 0) {
      control = ~uint64_t{0};
    }
  }
  if (inst.instruction_class == InstructionClass::kMfma) {
    // Lanes of the sources are not those of the result.
    if (control != 0) control = ~uint64_t{0};
  } else {
    control &= wave.exec;
  }
  const uint64_t kept = rule.lane_wise && !rule.moves_bits ? ~wave.exec : 0;
  int row = 0;
  for (const RegisterRange& range : step.ranges) {
    if (!range.write || !range.vector) continue;
    const bool pairs = WidensPairs(range, rule.spread);
    if (rule.spread == Spread::kSixBits) {
      WidenSixBits(differs_ + row, std::min<int>(range.count, kMaxRows - row));
    }
    for (int i = 0; i < range.count && row < kMaxRows; ++i, ++row) {
      uint32_t* bits = differs_[row];
      if (pairs && i % 2 == 0) {
        for (int l = 0; l < kLanes; ++l) {
          WidenPair(bits[l], differs_[row + 1][l], rule.spread);
        }
      } else if (!pairs) {
        for (int l = 0; l < kLanes; ++l) {
          bits[l] = Widen(bits[l], rule.spread);
        }
      }
      for (int l = 0; l < kLanes && control != 0; ++l) {
        if ((control >> l & 1) != 0) bits[l] = ~0u;
      }
    }
  }
  row = 0;
  for (const RegisterRange& range : step.ranges) {
    if (!range.write || !range.vector) continue;
    for (int i = 0; i < range.count && row < kMaxRows; ++i, ++row) {
      const int r = range.first + i;
      for (int l = 0; l < kLanes && kept != 0; ++l) {
        if ((kept >> l & 1) != 0) differs_[row][l] = shadow.vgpr[r][l];
      }
      shadow.SetRow(r, differs_[row]);
      spoilt_lanes |= shadow.lanes[r];
    }
  }
  spoilt_lanes &= wave.exec;
}

void AluPropagation::SpreadScalars(const AluStep& step, uint64_t spoilt_lanes,
                                   WaveShadow& shadow) {
  const bool lane_mask =
      std::any_of(step.ranges.begin(), step.ranges.end(),
                  [](const RegisterRange& r) { return r.vector && r.write; });
  const bool control = step.scalar && UndefinedControl(step, shadow);
  for (const RegisterRange& range : step.ranges) {
    if (!range.write || range.vector) continue;
    uint32_t bits[2] = {};
    const int count = std::min<int>(range.count, 2);
    for (int i = 0; i < count; ++i) {
      bits[i] = differs_sgpr_[(range.first + i) & 127];
    }
    if (lane_mask) {
      // A carry may depend on what its sum depends on.
      bits[0] |= static_cast<uint32_t>(spoilt_lanes);
      bits[1] |= static_cast<uint32_t>(spoilt_lanes >> 32);
    } else if (control) {
      bits[0] = bits[1] = ~0u;
    } else if (step.scalar && WidensPairs(range, step.rule.spread)) {
      WidenPair(bits[0], bits[1], step.rule.spread);
    } else if (step.scalar) {
      for (uint32_t& word : bits) word = Widen(word, step.rule.spread);
    }
    for (int i = 0; i < count; ++i) {
      shadow.sgpr[(range.first + i) & 127] = bits[i];
    }
  }
}

bool AluPropagation::UndefinedScc(const AluStep& step, bool sources,
                                  bool control, bool result,
                                  const WaveShadow& shadow) const {
  switch (step.scc) {
    case SccRule::kKept:
      return shadow.scc;
    case SccRule::kExecNotZero:
      return false;
    case SccRule::kBit:
      return differs_scc_ || control;
    case SccRule::kSources:
      return sources;
    case SccRule::kNonZero:
      break;
  }
  if (!result) return false;
  for (const RegisterRange& range : step.ranges) {
    if (!range.write || range.vector) continue;
    for (int i = 0; i < range.count; ++i) {
      const int r = (range.first + i) & 127;
      if ((first_sgpr_[r] & ~shadow.sgpr[r]) != 0) return false;
    }
  }
  // A result that goes to EXEC is reported there.
  return true;
}

uint64_t AluPropagation::Run(const AluStep& step, const Wave& wave,
                             WaveShadow& shadow) {
  if (step.compare) {
    uint64_t mask = 0;
    Compare(step, wave, shadow, mask);
    const int sgpr = step.inst->operands[0].index;
    if (sgpr < kExecLo) {
      shadow.sgpr[sgpr] = static_cast<uint32_t>(mask);
      shadow.sgpr[sgpr + 1] = static_cast<uint32_t>(mask >> 32);
    }
    const bool writes_exec =
        sgpr >= kExecLo || step.inst->mnemonic.compare(0, 6, "v_cmpx") == 0;
    return writes_exec ? mask : 0;
  }
  bool sources = shadow.scc && step.reads_scc;
  for (const RegisterRange& range : step.ranges) {
    sources |= !range.write && Undefined(range, ~uint64_t{0}, shadow);
  }
  const bool control = step.scalar && UndefinedControl(step, shadow);
  int source_of_range[kMaxRanges];
  const Plan plan = MakePlan(step, wave, shadow, source_of_range);
  for (int trial = 0; trial < plan.trials; ++trial) {
    Try(step, wave, shadow, plan, trial, source_of_range);
  }
  uint64_t spoilt_lanes = 0;
  SpreadVectors(step, wave, shadow, spoilt_lanes);
  SpreadScalars(step, spoilt_lanes, shadow);
  if (step.scalar) {
    bool result = false;
    for (const RegisterRange& range : step.ranges) {
      result |= range.write && Undefined(range, ~uint64_t{0}, shadow);
    }
    shadow.scc = UndefinedScc(step, sources, control, result, shadow);
  }
  return differs_exec_;
}

}  // namespace zyfa::emu
