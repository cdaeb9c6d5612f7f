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

const valu::HandlerTable& Table() {
  static const valu::HandlerTable& table = *MakeTable();
  return table;
}

}  // namespace

Handler FindVectorHandler(Instruction& inst) {
  const valu::HandlerTable::Entry* entry = Table().Find(inst.mnemonic);
  return entry == nullptr ? nullptr : entry->maker(inst);
}

const Semantics* FindVectorSemantics(const std::string& mnemonic) {
  const valu::HandlerTable::Entry* entry = Table().Find(mnemonic);
  return entry == nullptr ? nullptr : &entry->semantics;
}

std::vector<std::string> VectorMnemonics() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Table().entries()) names.push_back(name);
  return names;
}

}  // namespace zyfa::emu
