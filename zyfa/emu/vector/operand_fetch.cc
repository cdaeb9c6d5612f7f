#include "zyfa/emu/vector/operand_fetch.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "zyfa/emu/vector/float_format.h"

namespace zyfa::emu::valu {
namespace {

using namespace valu_baseline;  // the number formats

constexpr uint64_t kAllLanes = ~uint64_t{0};

int SourceOpSel(const Instruction& inst, int source) {
  return inst.mods.op_sel >> source & 1;
}

bool IsRegister(const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
         operand.kind == OperandKind::kAgpr;
}

// Literals fill the upper half of a float64 operand.
uint64_t Constant64(const Instruction& inst, const Operand& operand,
                    Kind kind) {
  const int64_t value = operand.integer;
  const bool inlined = value >= -16 && value <= 64;
  if (inlined || inst.e64 || value < 0 || value > 0xffffffffll) {
    return static_cast<uint64_t>(value);
  }
  if (kind == Kind::kFloat) return static_cast<uint64_t>(value) << 32;
  if (kind == Kind::kSigned) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
  }
  return static_cast<uint64_t>(value);
}

uint32_t Select(uint32_t word, SdwaSelect select, bool sign_extend) {
  int shift = 0, bits = 32;
  switch (select) {
    case SdwaSelect::kDword:
      return word;
    case SdwaSelect::kByte0:
      bits = 8;
      break;
    case SdwaSelect::kByte1:
      shift = 8, bits = 8;
      break;
    case SdwaSelect::kByte2:
      shift = 16, bits = 8;
      break;
    case SdwaSelect::kByte3:
      shift = 24, bits = 8;
      break;
    case SdwaSelect::kWord0:
      bits = 16;
      break;
    case SdwaSelect::kWord1:
      shift = 16, bits = 16;
      break;
  }
  const uint32_t up = word << (32 - bits - shift);
  return sign_extend
             ? static_cast<uint32_t>(static_cast<int32_t>(up) >> (32 - bits))
             : up >> (32 - bits);
}

template <class Word>
void ApplyFloatModifiers(Word* words, const Operand& operand, int bits,
                         Word exponent_mask, bool flush) {
  const Word sign = Word{1} << (bits - 1);
  const Word keep = operand.absolute ? static_cast<Word>(~sign) : ~Word{0};
  const Word flip = operand.negate ? sign : 0;
  if (flush) {
    for (int l = 0; l < kLanes; ++l) {
      const Word zeroed = words[l] & exponent_mask ? words[l] : words[l] & sign;
      words[l] = (zeroed & keep) ^ flip;
    }
  } else {
    for (int l = 0; l < kLanes; ++l) words[l] = (words[l] & keep) ^ flip;
  }
}

// Lanes of `active` that a DPP instruction writes; fills `from` with the source
// lane of each, or -1 where a zero is read.
uint64_t DppLanes(const Instruction& inst, const Wave& wave, uint64_t active,
                  int8_t* from) {
  const Modifiers& mods = inst.mods;
  uint64_t written = 0;
  for (int l = 0; l < kLanes; ++l) {
    int source = DppSourceLane(mods.dpp, mods.dpp_value, l);
    if (source >= 0 && !(wave.exec >> source & 1)) source = -1;
    from[l] = static_cast<int8_t>(source);
    const bool enabled =
        (mods.row_mask >> (l / 16) & 1) && (mods.bank_mask >> (l % 16 / 4) & 1);
    if (enabled && (source >= 0 || mods.bound_ctrl))
      written |= uint64_t{1} << l;
  }
  return active & written;
}

bool FlushesInput(const Mode& mode, SourceFormat format) {
  if (!format.flushes) return false;
  return format.bits == 32 ? !mode.denorm_in_f32() : !mode.denorm_in_f16_f64();
}

}  // namespace

int DppSourceLane(DppControl control, int value, int lane) {
  const int row = lane & ~15, column = lane & 15;
  switch (control) {
    case DppControl::kNone:
      return lane;
    case DppControl::kQuadPerm:
      return (lane & ~3) | (value >> (2 * (lane & 3)) & 3);
    case DppControl::kRowShl:
      return column + value < 16 ? lane + value : -1;
    case DppControl::kRowShr:
      return column >= value ? lane - value : -1;
    case DppControl::kRowRor:
      return row | ((column - value) & 15);
    case DppControl::kRowMirror:
      return row | (15 - column);
    case DppControl::kRowHalfMirror:
      return (lane & ~7) | (7 - (lane & 7));
    case DppControl::kRowBcast15:
      return row - 1;  // -1 for the first row
    case DppControl::kRowBcast31:
      return lane < 32 ? -1 : 31;
    case DppControl::kRowNewBcast:
      return row | value;
    case DppControl::kWaveShl:
      return lane == 63 ? -1 : lane + 1;
    case DppControl::kWaveRol:
      return (lane + 1) & 63;
    case DppControl::kWaveShr:
      return lane - 1;
    case DppControl::kWaveRor:
      return (lane - 1) & 63;
  }
  return -1;
}

bool PrepareSource(Instruction& inst, int position, int source,
                   SourceFormat format) {
  if (position >= static_cast<int>(inst.operands.size())) return false;
  Operand& operand = inst.operands[position];
  switch (operand.kind) {
    case OperandKind::kNone:
      return false;
    case OperandKind::kFloat:
      operand.kind = OperandKind::kInteger;
      if (format.bits == 64) {
        operand.integer =
            static_cast<int64_t>(std::bit_cast<uint64_t>(operand.real));
      } else if (format.bits == 16) {
        operand.integer =
            Encode(operand.real, kF16, kNearestEven, Overflow::kIeee);
      } else {
        operand.integer =
            Encode(operand.real, kF32, kNearestEven, Overflow::kIeee);
      }
      break;
    default:
      break;
  }
  if ((operand.negate || operand.absolute) && format.kind != Kind::kFloat) {
    return false;
  }
  const Modifiers& mods = inst.mods;
  const bool dpp = mods.dpp != DppControl::kNone;
  if (format.bits == 64) {
    if (mods.sdwa) return false;
    if (dpp && mods.dpp != DppControl::kRowNewBcast) return false;
  }
  if (dpp && source == 0 && !IsRegister(operand)) return false;
  const bool half = format.bits == 16 && SourceOpSel(inst, source);
  if (operand.negate || operand.absolute || half || (dpp && source == 0) ||
      (mods.sdwa && source < 2)) {
    inst.aux[0] |= kSource0Special << source;
  }
  return true;
}

const uint32_t* FetchWords32(const Instruction& inst, const Wave& wave,
                             const Operand& operand, int source,
                             SourceFormat format, uint64_t& active,
                             uint32_t* buffer) {
  const uint32_t* row = PlainRow(wave, operand);
  const bool flush = FlushesInput(wave.mode, format);
  const bool special = inst.aux[0] & (kSource0Special << source);
  if (row != nullptr && !special && !flush) return row;
  if (row == nullptr) {
    const uint32_t value = operand.kind == OperandKind::kScalar
                               ? wave.ReadScalar32(operand.index)
                               : static_cast<uint32_t>(operand.integer);
    for (int l = 0; l < kLanes; ++l) buffer[l] = value;
  } else if (inst.mods.dpp != DppControl::kNone && source == 0) {
    int8_t from[kLanes];
    active = DppLanes(inst, wave, active, from);
    for (int l = 0; l < kLanes; ++l) buffer[l] = from[l] < 0 ? 0 : row[from[l]];
  } else {
    std::memcpy(buffer, row, kLanes * sizeof(uint32_t));
  }
  if (special) {
    if (inst.mods.sdwa && source < 2) {
      const SdwaSelect select = inst.mods.src_sel[source];
      for (int l = 0; l < kLanes; ++l) {
        buffer[l] = Select(buffer[l], select, operand.sign_extend);
      }
    } else if (format.bits == 16 && SourceOpSel(inst, source)) {
      for (int l = 0; l < kLanes; ++l) buffer[l] >>= 16;
    }
  }
  if (format.kind == Kind::kFloat &&
      (flush || operand.negate || operand.absolute)) {
    ApplyFloatModifiers<uint32_t>(buffer, operand, format.bits,
                                  format.bits == 16 ? 0x7c00 : 0x7f800000,
                                  flush);
  }
  return buffer;
}

const uint64_t* FetchWords64(const Instruction& inst, const Wave& wave,
                             const Operand& operand, int source,
                             SourceFormat format, uint64_t& active,
                             uint64_t* buffer) {
  const uint32_t* row = PlainRow(wave, operand);
  if (row == nullptr) {
    const uint64_t value = operand.kind == OperandKind::kScalar
                               ? wave.ReadScalar64(operand.index)
                               : Constant64(inst, operand, format.kind);
    for (int l = 0; l < kLanes; ++l) buffer[l] = value;
  } else {
    const uint32_t* upper = row + kLanes;
    if (inst.mods.dpp != DppControl::kNone && source == 0) {
      int8_t from[kLanes];
      active = DppLanes(inst, wave, active, from);
      for (int l = 0; l < kLanes; ++l) {
        buffer[l] =
            from[l] < 0 ? 0 : row[from[l]] | uint64_t{upper[from[l]]} << 32;
      }
    } else {
      for (int l = 0; l < kLanes; ++l) {
        buffer[l] = row[l] | uint64_t{upper[l]} << 32;
      }
    }
  }
  const bool flush = FlushesInput(wave.mode, format);
  if (format.kind == Kind::kFloat &&
      (flush || operand.negate || operand.absolute)) {
    ApplyFloatModifiers<uint64_t>(buffer, operand, 64, 0x7ff0000000000000,
                                  flush);
  }
  return buffer;
}

void StoreWords32(Wave& wave, const Operand& operand, uint64_t active,
                  const uint32_t* words) {
  uint32_t* row = wave.vgpr[Wave::Row(operand)];
  if (active == kAllLanes) {
    std::memcpy(row, words, kLanes * sizeof(uint32_t));
    return;
  }
  for (int l = 0; l < kLanes; ++l) {
    row[l] = active >> l & 1 ? words[l] : row[l];
  }
}

void StoreWords64(Wave& wave, const Operand& operand, uint64_t active,
                  const uint64_t* words) {
  uint32_t* row = wave.vgpr[Wave::Row(operand)];
  uint32_t* upper = row + kLanes;
  for (int l = 0; l < kLanes; ++l) {
    const bool write = active >> l & 1;
    row[l] = write ? static_cast<uint32_t>(words[l]) : row[l];
    upper[l] = write ? static_cast<uint32_t>(words[l] >> 32) : upper[l];
  }
}

void StoreHalves(Wave& wave, const Operand& operand, uint64_t active,
                 const uint32_t* words, bool high, bool keep_upper) {
  uint32_t* row = wave.vgpr[Wave::Row(operand)];
  const uint32_t keep = high ? 0x0000ffff : keep_upper ? 0xffff0000 : 0;
  const int shift = high ? 16 : 0;
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t value = (row[l] & keep) | (words[l] & 0xffff) << shift;
    row[l] = active >> l & 1 ? value : row[l];
  }
}

void StoreSdwa(Wave& wave, const Operand& operand, uint64_t active,
               const uint32_t* words, const Modifiers& mods) {
  uint32_t* row = wave.vgpr[Wave::Row(operand)];
  int shift = 0, bits = 32;
  switch (mods.dst_sel) {
    case SdwaSelect::kDword:
      break;
    case SdwaSelect::kByte0:
      bits = 8;
      break;
    case SdwaSelect::kByte1:
      shift = 8, bits = 8;
      break;
    case SdwaSelect::kByte2:
      shift = 16, bits = 8;
      break;
    case SdwaSelect::kByte3:
      shift = 24, bits = 8;
      break;
    case SdwaSelect::kWord0:
      bits = 16;
      break;
    case SdwaSelect::kWord1:
      shift = 16, bits = 16;
      break;
  }
  const uint32_t ones = bits == 32 ? ~0u : (1u << bits) - 1;
  for (int l = 0; l < kLanes; ++l) {
    if (!(active >> l & 1)) continue;
    const uint32_t field = (words[l] & ones) << shift;
    uint32_t rest = 0;  // kPad
    if (mods.dst_unused == SdwaUnused::kPreserve) {
      rest = row[l] & ~(ones << shift);
    } else if (mods.dst_unused == SdwaUnused::kSext && bits < 32 &&
               (words[l] >> (bits - 1) & 1)) {
      // Bits above the field repeat its sign, bits below are zero.
      rest = ~((ones << shift) | ((1u << shift) - 1));
    }
    row[l] = field | rest;
  }
}

namespace {

// The output modifier works on flushed results only, and not in IEEE mode.
double OutputFactor(const Instruction& inst, const Mode& mode, bool denormals) {
  if (mode.ieee() || denormals) return 1;
  switch (inst.mods.omod) {
    case 1:
      return 2;
    case 2:
      return 4;
    case 3:
      return 0.5;
    default:
      return 1;
  }
}

template <class Float>
Float Finish(Float x, const Mode& mode, double factor, bool clamp,
             bool denormals) {
  if (factor != 1) {
    x *= static_cast<Float>(factor);
    if (x == 0) x = 0;  // -0 becomes +0
  }
  if (clamp) {
    if (x != x) {
      if (mode.dx10_clamp()) x = 0;
    } else {
      x = x > 0 ? x : 0;
      x = x < 1 ? x : 1;
    }
  }
  if (!denormals && x != 0 && x > -std::numeric_limits<Float>::min() &&
      x < std::numeric_limits<Float>::min()) {
    x = std::signbit(x) ? -Float{0} : Float{0};
  }
  return x;
}

}  // namespace

void FinishFloat32(const Instruction& inst, const Mode& mode, uint32_t* words) {
  const bool denormals = mode.denorm_out_f32();
  if (!(inst.aux[0] & kResultScaled)) {
    if (denormals) return;
    for (int l = 0; l < kLanes; ++l) {
      words[l] = words[l] & 0x7f800000 ? words[l] : words[l] & 0x80000000;
    }
    return;
  }
  const double factor = OutputFactor(inst, mode, denormals);
  for (int l = 0; l < kLanes; ++l) {
    words[l] =
        std::bit_cast<uint32_t>(Finish(std::bit_cast<float>(words[l]), mode,
                                       factor, inst.mods.clamp, denormals));
  }
}

void FinishFloat64(const Instruction& inst, const Mode& mode, uint64_t* words) {
  const bool denormals = mode.denorm_out_f16_f64();
  if (denormals && !(inst.aux[0] & kResultScaled)) return;
  const double factor = OutputFactor(inst, mode, denormals);
  for (int l = 0; l < kLanes; ++l) {
    words[l] =
        std::bit_cast<uint64_t>(Finish(std::bit_cast<double>(words[l]), mode,
                                       factor, inst.mods.clamp, denormals));
  }
}

void FinishFloat16(const Instruction& inst, const Mode& mode, uint32_t* words) {
  const bool denormals = mode.denorm_out_f16_f64();
  if (denormals && !(inst.aux[0] & kResultScaled)) return;
  const double factor = OutputFactor(inst, mode, denormals);
  for (int l = 0; l < kLanes; ++l) {
    if (!denormals && !(words[l] & 0x7c00)) words[l] &= 0x8000;
    if (!(inst.aux[0] & kResultScaled)) continue;
    const bool nan = (words[l] & 0x7fff) > 0x7c00;
    if (nan && !(inst.mods.clamp && mode.dx10_clamp())) continue;
    const double x = Finish<double>(HalfToFloat(words[l]), mode, factor,
                                    inst.mods.clamp, true);
    words[l] = Encode(x, kF16, kNearestEven,
                      mode.fp16_ovfl() ? Overflow::kSaturate : Overflow::kIeee);
    if (!denormals && !(words[l] & 0x7c00)) words[l] &= 0x8000;
  }
}

}  // namespace zyfa::emu::valu
