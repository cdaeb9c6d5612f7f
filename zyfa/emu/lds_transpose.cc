#include <cstring>
#include <type_traits>

#include "zyfa/emu/lane_memory.h"
#include "zyfa/emu/lds.h"
#include "zyfa/emu/lds_address.h"

namespace zyfa::emu {
namespace {

constexpr int kBlock = 16;  // lanes that exchange with each other

// Lane d's dword w, at out[w * kLanes + d], from column d of a tile of kRows
// rows with 16 elements of kBits.
template <int kBits, int kRows, size_t kRowBytes>
void Columns(const uint8_t (&tile)[kRows][kRowBytes], uint32_t* out) {
  if constexpr (kBits == 8 || kBits == 16) {
    using Element = std::conditional_t<kBits == 8, uint8_t, uint16_t>;
    constexpr int kPerDword = 32 / kBits;
    for (int w = 0; w < kRows / kPerDword; ++w) {
      Element rows[kPerDword][kBlock];
      for (int p = 0; p < kPerDword; ++p) {
        std::memcpy(rows[p], tile[w * kPerDword + p], sizeof(rows[p]));
      }
      for (int d = 0; d < kBlock; ++d) {
        uint32_t packed = 0;
        for (int p = 0; p < kPerDword; ++p) {
          packed |= uint32_t{rows[p][d]} << (p * kBits);
        }
        out[w * kLanes + d] = packed;
      }
    }
  } else {
    constexpr uint32_t kMask = (1u << kBits) - 1;
    for (int d = 0; d < kBlock; ++d) {
      uint64_t packed[2] = {};
      for (int p = 0; p < kRows; ++p) {
        uint64_t bits;
        std::memcpy(&bits, tile[p] + d * kBits / 8, 8);
        const uint64_t element = bits >> (d * kBits % 8) & kMask;
        const int at = p * kBits;
        packed[at / 64] |= element << (at % 64);
        if (at % 64 + kBits > 64) packed[1] |= element >> (64 - at % 64);
      }
      for (int w = 0; w < kRows * kBits / 32; ++w) {
        out[w * kLanes + d] =
            static_cast<uint32_t>(packed[w / 2] >> (32 * (w % 2)));
      }
    }
  }
}

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
  if (wave.exec != kAllLanes) {
    wave.group->Report(Severity::kError, "partial-exec", inst, wave, -1,
                       "a transposing read needs all lanes active");
    return;
  }
  const uint32_t* address = wave.vgpr[Wave::Row(inst.operands[1])];
  const auto offset = static_cast<uint32_t>(inst.mods.offset);
  if (!LdsInRange(inst, wave, AccessKind::kRead, address, offset, kBytes) ||
      !LdsAligned(inst, wave, address, offset, kAlignment)) {
    return;
  }
  const uint8_t* lds = wave.group->lds.get();
  const int row = Wave::Row(inst.operands[0]);
  uint32_t out[kDwords][kLanes];
  for (int block = 0; block < kLanes; block += kBlock) {
    // Row p of the tile is what lanes kLanesPerRow * p onwards fetch, end to
    // end.
    uint8_t tile[kPerLane][kLanesPerRow * kBytes + 8] = {};
    for (int l = 0; l < kBlock; ++l) {
      std::memcpy(tile[l / kLanesPerRow] +
                      static_cast<uint32_t>(l % kLanesPerRow) * kBytes,
                  lds + (address[block + l] + offset), kBytes);
    }
    Columns<kBits, kPerLane>(tile, &out[0][block]);
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
