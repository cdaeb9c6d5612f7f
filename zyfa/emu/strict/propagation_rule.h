#ifndef ZYFA_EMU_STRICT_PROPAGATION_RULE_H_
#define ZYFA_EMU_STRICT_PROPAGATION_RULE_H_

#include <cstdint>
#include <string_view>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Which bits of a result are undefined once one of them has been seen to depend
// on an undefined bit. Wider than what was seen, as a few trials do not show
// every bit that may change.
enum class Spread : uint8_t {
  kBits,          // these bits alone: moves, logic, shifts, lane moves
  kUpward,        // and those above: sums and products of integers
  kUpwardHalves,  // the same within a half
  kBytes,         // the byte, half, register or pair of registers
  kHalves,
  kWords,
  kPairs,
  kSixBits,  // one of the six-bit numbers packed into the result
};

struct PropagationRule {
  Spread spread = Spread::kWords;
  // Bits only change places, or meet bits at the same place.
  bool moves_bits = false;
  // Undefined bits of a source spoil all of the number that they are part of.
  Spread source = Spread::kWords;
  // The same for sums that products of other numbers are added to: operand 3,
  // or the result. kBits: the instruction has none.
  Spread accumulator = Spread::kBits;
  // Operands that say where bits go (shift amounts, byte selectors) or whose
  // part in the result depends on the others, -1 none, and which of their bits
  // do. They keep their values in trials; undefined, they spoil all results.
  static constexpr int kControls = 3;
  int control[kControls] = {-1, -1, -1};
  uint32_t control_bits = 0;
  // Lanes act for themselves, and only those in EXEC.
  bool lane_wise = false;
};

PropagationRule PropagationRuleOf(const Instruction& inst);

// What SCC is after a scalar instruction.
enum class SccRule : uint8_t {
  kKept,
  kNonZero,     // result is not 0
  kSources,     // a carry or comparison: of all source bits
  kBit,         // one selected bit of the source
  kExecNotZero  // EXEC is not 0
};
SccRule SccRuleOf(std::string_view mnemonic);
bool ReadsScc(const Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_PROPAGATION_RULE_H_
