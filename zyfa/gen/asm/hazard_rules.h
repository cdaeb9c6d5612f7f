#ifndef ZYFA_GEN_ASM_HAZARD_RULES_H_
#define ZYFA_GEN_ASM_HAZARD_RULES_H_

#include <vector>

#include "zyfa/gen/asm/instruction.h"

namespace zyfa::gen {

// How a consumer's registers must lie to the producer's for a rule to apply.
enum class HazardRelation {
  kOverlap,
  kSame,  // the very same tuple
  kOverlapNotSame,
  kOtherOpcode,  // overlap, and the instructions differ in opcode
  kSameOpcode,   // overlap, and they do not
};

// One wait that the hardware does not make by itself: so many instructions must
// lie between an instruction that produces a register and one that consumes it.
// An s_nop n counts n + 1.
struct HazardRule {
  const char* name;  // printed behind the inserted s_nop
  // Registers of an instruction for which the rule begins, empty if none.
  UnitRanges (*produced)(const Instruction&);
  // Registers of an instruction which must be far from their producer.
  UnitRanges (*consumed)(const Instruction&);
  HazardRelation relation;
  // Wait states, for matrix producers of 2, 4, 8 and 16 passes; the first entry
  // counts for all other producers.
  int states[4];
};

const std::vector<HazardRule>& HazardRules();

// Wait states that `rule` wants behind `producer`.
int HazardStates(const HazardRule& rule, const Instruction& producer);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_HAZARD_RULES_H_
