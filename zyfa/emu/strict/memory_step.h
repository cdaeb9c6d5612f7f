#ifndef ZYFA_EMU_STRICT_MEMORY_STEP_H_
#define ZYFA_EMU_STRICT_MEMORY_STEP_H_

#include <cstdint>
#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Which operands of a memory instruction are what, by position; -1: none.
struct MemoryStep {
  int address = -1;          // vector registers
  int data = -1;             // stored, or operand of an atomic
  int data2 = -1;            // second data of ds_write2 and compare and swap
  int result = -1;           // loaded, or the old value of an atomic
  std::vector<int> uniform;  // scalar bases, offsets, descriptors
  bool atomic = false;
  bool to_lds = false;         // a load straight into LDS; M0 is an address
  bool own_space = false;      // LDS, scratch, flat: kept per bit
  uint32_t stored_bits = ~0u;  // of the first data register
};

// Of an instruction of class kLds or kVmem; operands by ISA 9 to 11 in LLVM's
// order.
MemoryStep MemoryStepOf(const Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_MEMORY_STEP_H_
