#include <cstring>

#include "zyfa/emu/lane_memory.h"
#include "zyfa/emu/lds.h"
#include "zyfa/emu/lds_address.h"

namespace zyfa::emu {
namespace {

constexpr int kBlock = 16;  // lanes that exchange with each other

// ISA 11.4: in each block of 16 lanes, every lane fetches kBytes from its own
// address; the block's elements of kBits are then dealt out so that a lane ends
// with one column of the tile whose rows lie in memory. A row of 16 elements
// takes kLanesPerRow lanes; lane d's element p is number d % kPerLane of lane
// kLanesPerRow * p + d / kPerLane.
template <int kBits, uint32_t kBytes, uint32_t kAlignment>
void ReadTransposed(const Instruction& inst, Wave& wave) {
  constexpr int kPerLane = static_cast<int>(kBytes) * 8 / kBits;
  constexpr int kLanesPerRow = kBlock / kPerLane;
  constexpr int kDwords = static_cast<int>(kBytes) / 4;
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  if (wave.exec != kAllLanes) {
    wave.group->Report(Severity::kError, "partial-exec", inst, wave, -1,
                       "a transposing read needs all lanes active");
    return;
  }
  const uint32_t* address = wave.vgpr[Wave::Row(inst.operands[1])];
  const auto offset = static_cast<uint32_t>(inst.mods.offset);
  if (!LdsInRange(inst, wave, address, offset, kBytes) ||
      !LdsAligned(inst, wave, address, offset, kAlignment)) {
    return;
  }
  const uint8_t* lds = wave.group->lds.get() + offset;
  const int row = Wave::Row(inst.operands[0]);
  uint32_t out[kDwords][kLanes];
  for (int block = 0; block < kLanes; block += kBlock) {
    // Elements widened, so that all widths share the loop below.
    uint32_t element[kBlock][kPerLane];
    for (int l = 0; l < kBlock; ++l) {
      uint8_t bytes[kBytes + 8] = {};
      std::memcpy(bytes, lds + address[block + l], kBytes);
      for (int e = 0; e < kPerLane; ++e) {
        uint64_t bits;
        std::memcpy(&bits, bytes + e * kBits / 8, 8);
        element[l][e] = static_cast<uint32_t>(bits >> (e * kBits % 8) & kMask);
      }
    }
    for (int d = 0; d < kBlock; ++d) {
      uint32_t packed[kDwords + 1] = {};
      for (int p = 0; p < kPerLane; ++p) {
        const uint64_t value =
            uint64_t{element[kLanesPerRow * p + d / kPerLane][d % kPerLane]}
            << (p * kBits % 32);
        packed[p * kBits / 32] |= static_cast<uint32_t>(value);
        packed[p * kBits / 32 + 1] |= static_cast<uint32_t>(value >> 32);
      }
      for (int w = 0; w < kDwords; ++w) out[w][block + d] = packed[w];
    }
  }
  std::memcpy(wave.vgpr[row], out, sizeof(out));
  wave.group->counters.lds_bytes_read += kBytes * kLanes;
  IssueLdsLoad(wave, row, kDwords);
}

}  // namespace

Handler FindLdsTransposeHandler(Instruction& inst) {
  if (inst.mods.gds) return nullptr;
  if (inst.mnemonic == "ds_read_b64_tr_b16") return ReadTransposed<16, 8, 8>;
  if (inst.mnemonic == "ds_read_b64_tr_b8") return ReadTransposed<8, 8, 8>;
  if (inst.mnemonic == "ds_read_b64_tr_b4") return ReadTransposed<4, 8, 8>;
  if (inst.mnemonic == "ds_read_b96_tr_b6") return ReadTransposed<6, 12, 16>;
  return nullptr;
}

}  // namespace zyfa::emu
