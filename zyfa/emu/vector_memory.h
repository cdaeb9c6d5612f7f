#ifndef ZYFA_EMU_VECTOR_MEMORY_H_
#define ZYFA_EMU_VECTOR_MEMORY_H_

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// buffer_*: loads, stores, atomics, loads into LDS, cache control. nullptr if
// the instruction is none that is emulated.
Handler FindBufferHandler(Instruction& inst);
// global_*, flat_* and scratch_*, likewise.
Handler FindFlatHandler(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_VECTOR_MEMORY_H_
