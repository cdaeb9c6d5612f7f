#include "zyfa/emu/handlers.h"

#include "zyfa/emu/lds.h"
#include "zyfa/emu/register_index.h"
#include "zyfa/emu/scalar_alu.h"
#include "zyfa/emu/scalar_control.h"
#include "zyfa/emu/scalar_memory.h"
#include "zyfa/emu/vector/handlers.h"
#include "zyfa/emu/vector_memory.h"

namespace zyfa::emu {

Handler FindHandler(Instruction& inst) {
  if (!inst.understood) return nullptr;
  if (inst.mnemonic.compare(0, 2, "v_") == 0) return FindVectorHandler(inst);
  for (auto* find :
       {FindScalarAluHandler, FindScalarControlHandler, FindScalarMemoryHandler,
        FindRegisterIndexHandler, FindLdsAccessHandler, FindLdsTransposeHandler,
        FindLdsAtomicHandler, FindLdsPermuteHandler, FindBufferHandler,
        FindFlatHandler}) {
    if (Handler handler = find(inst)) return handler;
  }
  return nullptr;
}

}  // namespace zyfa::emu
