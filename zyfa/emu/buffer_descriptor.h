#ifndef ZYFA_EMU_BUFFER_DESCRIPTOR_H_
#define ZYFA_EMU_BUFFER_DESCRIPTOR_H_

#include <cstdint>

#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// The fields of a 128-bit buffer resource that untyped accesses use
// (ISA 9.1.8).
struct BufferDescriptor {
  uint64_t base = 0;         // bits 47:0
  uint32_t stride = 0;       // 61:48
  uint32_t num_records = 0;  // 95:64: bytes, or structures if stride is used
  bool swizzle = false;      // 63
  bool add_tid = false;      // 119
  bool unbound = false;      // data format 114:111 is 0
  uint32_t type = 0;         // 127:126, 0 = buffer
};

// From four scalar registers.
inline BufferDescriptor ReadDescriptor(const Wave& wave, int sgpr) {
  const uint32_t word1 = wave.ReadScalar32(sgpr + 1);
  const uint32_t word3 = wave.ReadScalar32(sgpr + 3);
  BufferDescriptor d;
  d.base = wave.ReadScalar32(sgpr) | uint64_t{word1 & 0xffff} << 32;
  d.stride = word1 >> 16 & 0x3fff;
  d.swizzle = (word1 >> 31 & 1) != 0;
  d.num_records = wave.ReadScalar32(sgpr + 2);
  d.unbound = (word3 >> 15 & 15) == 0;
  d.add_tid = (word3 >> 23 & 1) != 0;
  d.type = word3 >> 30;
  return d;
}

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_BUFFER_DESCRIPTOR_H_
