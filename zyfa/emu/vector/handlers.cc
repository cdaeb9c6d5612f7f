#include "zyfa/emu/vector/handlers.h"

#include "zyfa/emu/vector/handler_table.h"

namespace zyfa::emu {
namespace {

bool HasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

valu::HandlerTable* MakeTable() {
  auto* table = new valu::HandlerTable;
  if (HasAvx2()) {
    valu_avx2::AddAllOps(*table);
  } else {
    valu_baseline::AddAllOps(*table);
  }
  return table;
}

}  // namespace

Handler FindVectorHandler(Instruction& inst) {
  static const valu::HandlerTable& table = *MakeTable();
  const auto entry = table.find(inst.mnemonic);
  return entry == table.end() ? nullptr : entry->second(inst);
}

}  // namespace zyfa::emu
