#ifndef ZYFA_EMU_SCALAR_OPERAND_H_
#define ZYFA_EMU_SCALAR_OPERAND_H_

#include <cstdint>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// Value of a scalar operand: register or constant.
inline uint32_t Scalar32(const Operand& operand, const Wave& wave) {
  return operand.kind == OperandKind::kScalar
             ? wave.ReadScalar32(operand.index)
             : static_cast<uint32_t>(operand.integer);
}
inline uint64_t Scalar64(const Operand& operand, const Wave& wave) {
  return operand.kind == OperandKind::kScalar
             ? wave.ReadScalar64(operand.index)
             : static_cast<uint64_t>(operand.integer);
}

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_SCALAR_OPERAND_H_
