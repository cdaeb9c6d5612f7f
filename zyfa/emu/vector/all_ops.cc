#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/target.h"

namespace zyfa::emu::ZYFA_VECTOR_TARGET {

void AddAllOps(valu::HandlerTable& table) {
  AddFloatOps(table);
  AddIntegerOps(table);
  AddCompares(table);
  AddConversions(table);
  AddTranscendentals(table);
  AddCrossLane(table);
  AddPacked(table);
  AddScaledConversions(table);
  AddMatrixDense(table);
  AddMatrixScaled(table);
  AddMatrixSparse(table);
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET
