#ifndef ZYFA_EMU_VECTOR_HANDLER_TABLE_H_
#define ZYFA_EMU_VECTOR_HANDLER_TABLE_H_

#include <string>
#include <unordered_map>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu::valu {

// Checks an instruction's operands and modifiers, prepares it and names its
// handler; nullptr if it cannot be executed.
using Maker = Handler (*)(Instruction& inst);

// Mnemonic to maker.
using HandlerTable = std::unordered_map<std::string, Maker>;

}  // namespace zyfa::emu::valu

// One registration function a subject, in both sets of code (see target.h).
#define ZYFA_VECTOR_REGISTRATIONS                       \
  void AddAllOps(valu::HandlerTable& table);            \
  void AddFloatOps(valu::HandlerTable& table);          \
  void AddIntegerOps(valu::HandlerTable& table);        \
  void AddCompares(valu::HandlerTable& table);          \
  void AddConversions(valu::HandlerTable& table);       \
  void AddTranscendentals(valu::HandlerTable& table);   \
  void AddCrossLane(valu::HandlerTable& table);         \
  void AddPacked(valu::HandlerTable& table);            \
  void AddScaledConversions(valu::HandlerTable& table); \
  void AddMatrixDense(valu::HandlerTable& table);       \
  void AddMatrixScaled(valu::HandlerTable& table);      \
  void AddMatrixSparse(valu::HandlerTable& table);

namespace zyfa::emu::valu_baseline {
ZYFA_VECTOR_REGISTRATIONS
}
namespace zyfa::emu::valu_avx2 {
ZYFA_VECTOR_REGISTRATIONS
}

#undef ZYFA_VECTOR_REGISTRATIONS

#endif  // ZYFA_EMU_VECTOR_HANDLER_TABLE_H_
