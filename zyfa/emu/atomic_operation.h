#ifndef ZYFA_EMU_ATOMIC_OPERATION_H_
#define ZYFA_EMU_ATOMIC_OPERATION_H_

#include <cstdint>
#include <string_view>

namespace zyfa::emu {

// What an atomic does to a memory word: new value out of the old one and the
// instruction's data. 32-bit operations use and give the low halves.
struct AtomicOperation {
  uint32_t bytes = 4;
  uint64_t (*apply)(uint64_t old_value, uint64_t data) = nullptr;
};

// By the words that mnemonics of vector memory instructions use behind
// "..._atomic_" ("add", "smax_x2", "pk_add_bf16") or nullptr. Compare-and-swap
// is not among them: it has two data operands.
const AtomicOperation* FindMemoryAtomic(std::string_view name);
// By the words behind "ds_" without "_rtn" ("add_u32", "max_i64",
// "wrxchg_b32").
const AtomicOperation* FindLdsAtomic(std::string_view name);

// Applies to host memory, atomically towards other threads; `host` aligned to
// operation.bytes. Returns the old value.
uint64_t ApplyAtomic(const AtomicOperation& operation, uint8_t* host,
                     uint64_t data);
// Stores `value` where `compare` stands; returns the old value.
uint64_t CompareAndSwap(uint32_t bytes, uint8_t* host, uint64_t compare,
                        uint64_t value);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_ATOMIC_OPERATION_H_
