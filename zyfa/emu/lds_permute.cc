#include <bit>
#include <cstring>

#include "zyfa/emu/lds.h"
#include "zyfa/emu/lds_address.h"

namespace zyfa::emu {
namespace {

// Every active lane pulls from the lane that its byte address names; an
// inactive source gives 0.
void BackwardPermute(const Instruction& inst, Wave& wave) {
  const uint32_t* address = wave.vgpr[Wave::Row(inst.operands[1])];
  const uint32_t* data = wave.vgpr[Wave::Row(inst.operands[2])];
  const int row = Wave::Row(inst.operands[0]);
  uint32_t out[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t source =
        (address[l] + static_cast<uint32_t>(inst.mods.offset)) / 4 % kLanes;
    out[l] = (wave.exec >> source & 1) != 0 ? data[source] : 0;
  }
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    wave.vgpr[row][l] = out[l];
  }
  IssueLdsLoad(wave, row, 1);
}

// Every active lane pushes; the highest lane wins, lanes nobody names get 0.
void ForwardPermute(const Instruction& inst, Wave& wave) {
  const uint32_t* address = wave.vgpr[Wave::Row(inst.operands[1])];
  const uint32_t* data = wave.vgpr[Wave::Row(inst.operands[2])];
  const int row = Wave::Row(inst.operands[0]);
  uint32_t out[kLanes] = {};
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    out[(address[l] + static_cast<uint32_t>(inst.mods.offset)) / 4 % kLanes] =
        data[l];
  }
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    wave.vgpr[row][l] = out[l];
  }
  IssueLdsLoad(wave, row, 1);
}

// Pattern bit 15: a permutation of four lanes; else and, or, xor masks of five
// bits over each half of the wave.
constexpr uint32_t kQuadMode = 0x8000;

void Swizzle(const Instruction& inst, Wave& wave) {
  const auto pattern = static_cast<uint32_t>(inst.mods.offset);
  const uint32_t* data = wave.vgpr[Wave::Row(inst.operands[1])];
  const int row = Wave::Row(inst.operands[0]);
  uint32_t out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t source;
    if ((pattern & kQuadMode) != 0) {
      source = (l & ~3u) | (pattern >> (2 * (l & 3)) & 3);
    } else {
      source = (l & 31 & pattern) | (pattern >> 5 & 31);
      source = (l & 32) | (source ^ (pattern >> 10 & 31));
    }
    out[l] = (wave.exec >> source & 1) != 0 ? data[source] : 0;
  }
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    wave.vgpr[row][l] = out[l];
  }
  IssueLdsLoad(wave, row, 1);
}

}  // namespace

Handler FindLdsPermuteHandler(Instruction& inst) {
  if (inst.mnemonic == "ds_bpermute_b32") return BackwardPermute;
  if (inst.mnemonic == "ds_permute_b32") return ForwardPermute;
  if (inst.mnemonic == "ds_swizzle_b32") {
    // Above the quad patterns lie rotation and FFT modes, not emulated.
    const int32_t pattern = inst.mods.offset;
    return pattern < 0x8100 ? Swizzle : nullptr;
  }
  return nullptr;
}

}  // namespace zyfa::emu
