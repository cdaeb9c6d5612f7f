#ifndef ZYFA_EMU_VECTOR_OPERAND_FETCH_H_
#define ZYFA_EMU_VECTOR_OPERAND_FETCH_H_

#include <cstdint>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu::valu {

// How an operand's bits are meant. It decides the bits of inline constants,
// what negate and absolute do, and whether MODE flushes denormals.
enum class Kind : uint8_t { kBits, kSigned, kFloat };

struct SourceFormat {
  uint8_t bits;  // 16, 32 or 64
  Kind kind;
  bool flushes;  // denormal inputs follow MODE
};

// Bits of inst.aux[0], set by PrepareSource and PrepareResult. A clear bit
// means that the plain path may be taken.
enum PreparedFlags : uint32_t {
  kSource0Special =
      1,               // << i for source i: negate, absolute, op_sel, DPP, SDWA
  kResultSpecial = 8,  // op_sel or SDWA on the destination
  kResultScaled = 16,  // omod or clamp of a float
};

// Checks operand `position` as source number `source` (0, 1, 2) and turns a
// float constant into the bits of `format`. False: not a possible operand.
bool PrepareSource(Instruction& inst, int position, int source,
                   SourceFormat format);

// DPP and SDWA move data between lanes and bytes before the operation sees it:
// these give the words of one source with everything applied, either in place
// or in `buffer` (64 words). DPP takes lanes out of `active` that must not be
// written. 16-bit values stand in the low half.
const uint32_t* FetchWords32(const Instruction& inst, const Wave& wave,
                             const Operand& operand, int source,
                             SourceFormat format, uint64_t& active,
                             uint32_t* buffer);
const uint64_t* FetchWords64(const Instruction& inst, const Wave& wave,
                             const Operand& operand, int source,
                             SourceFormat format, uint64_t& active,
                             uint64_t* buffer);

// Row that a vector operand with nothing special about it occupies, or nullptr.
inline const uint32_t* PlainRow(const Wave& wave, const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
                 operand.kind == OperandKind::kAgpr
             ? wave.vgpr[Wave::Row(operand)]
             : nullptr;
}

// Lane that DPP reads for `lane`, or -1 if there is none.
int DppSourceLane(DppControl control, int value, int lane);

// Writes the lanes in `active`.
void StoreWords32(Wave& wave, const Operand& operand, uint64_t active,
                  const uint32_t* words);
void StoreWords64(Wave& wave, const Operand& operand, uint64_t active,
                  const uint64_t* words);
// Results of 16 bits and SDWA results of any width up to 32. `high`: into the
// upper half, the lower one kept; else into the lower half, the upper one kept
// or zeroed.
void StoreHalves(Wave& wave, const Operand& operand, uint64_t active,
                 const uint32_t* words, bool high, bool keep_upper);
void StoreSdwa(Wave& wave, const Operand& operand, uint64_t active,
               const uint32_t* words, const Modifiers& mods);

// Output modifier, clamp and denormal flush of float results in place.
void FinishFloat16(const Instruction& inst, const Mode& mode, uint32_t* words);
void FinishFloat32(const Instruction& inst, const Mode& mode, uint32_t* words);
void FinishFloat64(const Instruction& inst, const Mode& mode, uint64_t* words);

}  // namespace zyfa::emu::valu

#endif  // ZYFA_EMU_VECTOR_OPERAND_FETCH_H_
