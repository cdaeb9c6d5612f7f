#include "zyfa/emu/strict/memory_step.h"

#include <string_view>

namespace zyfa::emu {
namespace {

bool HasPrefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsVectorAt(const Instruction& inst, int position) {
  if (position >= static_cast<int>(inst.operands.size())) return false;
  const OperandKind kind = inst.operands[static_cast<size_t>(position)].kind;
  return kind == OperandKind::kVgpr || kind == OperandKind::kAgpr;
}

MemoryStep LdsStep(const Instruction& inst) {
  const std::string_view name = inst.mnemonic;
  MemoryStep step;
  step.own_space = true;
  if (name == "ds_swizzle_b32") {
    step.result = 0;
    step.data = 1;
  } else if (HasPrefix(name, "ds_read")) {
    step.result = 0;
    step.address = 1;
  } else if (HasPrefix(name, "ds_write")) {
    step.address = 0;
    step.data = 1;
    if (IsVectorAt(inst, 2)) step.data2 = 2;
  } else if (name == "ds_bpermute_b32" || name == "ds_permute_b32") {
    step.result = 0;
    step.address = 1;
    step.data = 2;
  } else if (!inst.operands.empty()) {
    step.atomic = true;
    const int first = Contains(name, "_rtn") ? 1 : 0;
    if (first == 1) step.result = 0;
    step.address = first;
    step.data = first + 1;
    if (IsVectorAt(inst, first + 2)) step.data2 = first + 2;
  }
  return step;
}

uint32_t StoredBitsOf(std::string_view name) {
  if (Contains(name, "store_byte_d16_hi")) return 0x00ff0000;
  if (Contains(name, "store_short_d16_hi")) return 0xffff0000;
  if (Contains(name, "store_byte")) return 0xff;
  if (Contains(name, "store_short")) return 0xffff;
  return ~0u;
}

}  // namespace

MemoryStep MemoryStepOf(const Instruction& inst) {
  if (inst.instruction_class == InstructionClass::kLds) return LdsStep(inst);
  const std::string_view name = inst.mnemonic;
  MemoryStep step;
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    if (inst.operands[i].kind == OperandKind::kScalar) {
      step.uniform.push_back(static_cast<int>(i));
    }
  }
  const bool buffer = HasPrefix(name, "buffer_");
  step.own_space = HasPrefix(name, "flat_") || HasPrefix(name, "scratch_");
  step.atomic = Contains(name, "_atomic_");
  step.to_lds = inst.mods.lds || Contains(name, "_load_lds_");
  step.stored_bits = StoredBitsOf(name);
  int address;
  if (step.to_lds) {
    address = 0;
  } else if (buffer) {
    address = 1;
    if (Contains(name, "_store_") || step.atomic) step.data = 0;
    if (Contains(name, "_load_") || (step.atomic && inst.mods.sc0)) {
      step.result = 0;
    }
  } else {
    const bool result =
        Contains(name, "_load_") || (step.atomic && inst.mods.sc0);
    if (result) step.result = 0;
    address = result ? 1 : 0;
    if (Contains(name, "_store_") || step.atomic) step.data = address + 1;
  }
  if (IsVectorAt(inst, address)) step.address = address;
  return step;
}

}  // namespace zyfa::emu
