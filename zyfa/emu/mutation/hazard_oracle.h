#ifndef ZYFA_EMU_MUTATION_HAZARD_ORACLE_H_
#define ZYFA_EMU_MUTATION_HAZARD_ORACLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Two instructions of a trace that stand too close to each other.
struct OracleViolation {
  size_t first = 0, second = 0;  // indices into the trace
  int wanted = 0, found = 0;     // wait states
  std::string row;  // of ISA 5.1 or 5.2, by the name of strict mode's rule
};

// Where a wave that executed `trace`, in this order, may have failed on
// hardware by the tables of ISA 5.1 and 5.2. At most one violation for each
// address of a second instruction and row, in the order of the trace.
//
// A second opinion on strict mode that shares nothing with it: what an
// instruction is and which registers it names comes from Instruction::text
// alone. Only what the tables clearly forbid is a violation:
// * where documentation and LLVM differ, the documentation's wait states;
// * no credit for instructions that take longer than one state;
// * a destination kept in part (op_sel, DPP, SDWA, v_writelane) is not read,
//   but for a result that op_sel or SDWA has just placed there;
// * a scalar register that another instruction overwrote in between no longer
//   holds the VALU's result.
// Not covered: TRAPSTS, VSKIP, VCC by name and by number, and registers reached
// through s_set_gpr_idx.
std::vector<OracleViolation> FindViolations(
    const std::vector<const Instruction*>& trace);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MUTATION_HAZARD_ORACLE_H_
