#ifndef ZYFA_EMU_LANE_MEMORY_H_
#define ZYFA_EMU_LANE_MEMORY_H_

#include <cstdint>
#include <cstring>
#include <string_view>

#include "zyfa/emu/group.h"
#include "zyfa/emu/instruction.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// What a memory instruction moves per lane, buffer, flat and LDS forms alike.
enum class MemoryType : uint8_t {
  kUbyte,
  kSbyte,
  kUshort,
  kSshort,    // extended to 32 bits
  kSbyteLow,  // extended to 16 bits (d16)
  kUbyteHi,
  kSbyteHi,
  kShortHi,  // into the upper half (d16_hi)
  kDword,
  kDwordX2,
  kDwordX3,
  kDwordX4,
};

constexpr uint32_t BytesOf(MemoryType type) {
  switch (type) {
    case MemoryType::kUbyte:
    case MemoryType::kSbyte:
    case MemoryType::kSbyteLow:
    case MemoryType::kUbyteHi:
    case MemoryType::kSbyteHi:
      return 1;
    case MemoryType::kUshort:
    case MemoryType::kSshort:
    case MemoryType::kShortHi:
      return 2;
    case MemoryType::kDword:
      return 4;
    case MemoryType::kDwordX2:
      return 8;
    case MemoryType::kDwordX3:
      return 12;
    case MemoryType::kDwordX4:
      return 16;
  }
  return 0;
}
constexpr uint32_t DwordsOf(MemoryType type) { return (BytesOf(type) + 3) / 4; }

// The register that a load of less than a dword leaves. With ECC on the vector
// registers, as on gfx950, a d16 load clears the other half.
template <MemoryType kType>
uint32_t ExtendLoaded(const uint8_t* from) {
  static_assert(BytesOf(kType) < 4);
  if constexpr (BytesOf(kType) == 1) {
    const uint32_t value = *from;
    const auto extended = static_cast<uint32_t>(static_cast<int8_t>(value));
    if constexpr (kType == MemoryType::kUbyte) return value;
    if constexpr (kType == MemoryType::kSbyte) return extended;
    if constexpr (kType == MemoryType::kSbyteLow) return extended & 0xffff;
    if constexpr (kType == MemoryType::kUbyteHi) return value << 16;
    return extended << 16;
  } else {
    uint16_t value;
    std::memcpy(&value, from, 2);
    if constexpr (kType == MemoryType::kUshort) return value;
    if constexpr (kType == MemoryType::kShortHi) return uint32_t{value} << 16;
    return static_cast<uint32_t>(static_cast<int16_t>(value));
  }
}

// The bytes that a store takes out of a register, lowest first.
template <MemoryType kType>
uint32_t StoredBits(uint32_t value) {
  constexpr bool kHigh =
      kType == MemoryType::kUbyteHi || kType == MemoryType::kShortHi;
  return kHigh ? value >> 16 : value;
}

// The type behind the last words of a mnemonic, "ubyte" to "dwordx4" of a load
// ("load_" cut off) or a store ("byte", "short_d16_hi"). False if it is none.
bool ParseLoadType(std::string_view name, MemoryType& type);
bool ParseStoreType(std::string_view name, MemoryType& type);

// f.template operator()<kType>() for a type known at run time.
template <class F>
Handler ForType(MemoryType type, F f) {
  switch (type) {
#define ZYFA_CASE(name)  \
  case MemoryType::name: \
    return f.template operator()<MemoryType::name>();
    ZYFA_CASE(kUbyte)
    ZYFA_CASE(kSbyte)
    ZYFA_CASE(kUshort)
    ZYFA_CASE(kSshort)
    ZYFA_CASE(kSbyteLow)
    ZYFA_CASE(kUbyteHi)
    ZYFA_CASE(kSbyteHi)
    ZYFA_CASE(kShortHi)
    ZYFA_CASE(kDword)
    ZYFA_CASE(kDwordX2)
    ZYFA_CASE(kDwordX3)
    ZYFA_CASE(kDwordX4)
#undef ZYFA_CASE
  }
  return nullptr;
}

// Where the lanes of one instruction access memory.
struct LaneAccess {
  uint64_t lanes = 0;        // that access at all
  bool apertures = false;    // LDS and scratch may be met (flat, scratch)
  uint64_t address[kLanes];  // device or flat addresses
  uint8_t* host[kLanes];     // filled by Resolve
  // Lanes whose last dwords the buffer range check cut off, and how many dwords
  // are left to them.
  uint64_t clipped = 0;
  uint8_t dwords[kLanes];
};

inline constexpr uint64_t kAllLanes = ~uint64_t{0};

// Finds the host memory behind access.address for `bytes` per lane (clipped
// lanes: their dwords) and tells the observers. False after reporting an
// out-of-range access.
bool Resolve(const Instruction& inst, Wave& wave, AccessKind kind,
             uint32_t bytes, LaneAccess& access);

// Rows row .. of the wave's registers from memory and back; `access` resolved.
// Cut-off dwords load 0 and are not stored; `zeroed` lanes load 0.
template <MemoryType kType>
void LoadLanes(Wave& wave, const LaneAccess& access, uint64_t zeroed, int row);
template <MemoryType kType>
void StoreLanes(const Wave& wave, const LaneAccess& access, int row);

// A load into LDS (ISA 3.2): lanes of access.lanes bring data, those of
// `zeroed` zeros. `lds_offset` is the part of the instruction's offset that
// also moves the LDS address. Counts one vmcnt. False after reporting a
// finding.
template <MemoryType kType>
bool LoadToLds(const Instruction& inst, Wave& wave, const LaneAccess& access,
               uint64_t zeroed, uint32_t lds_offset);

// A vmcnt load into `dwords` registers from `row` on has been issued.
inline void IssueVmLoad(Wave& wave, int row, uint32_t dwords) {
  WaitState& waits = WaitsOf(wave);
  const uint32_t sequence = waits.IssueVm();
  if (waits.first_dma != waits.end_dma) LandRetired(*wave.group, waits);
  for (uint32_t d = 0; d < dwords; ++d) {
    waits.vgpr_vm[static_cast<uint32_t>(row) + d] = sequence;
  }
}
inline void IssueVmStore(Wave& wave) { IssueVmLoad(wave, 0, 0); }

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_LANE_MEMORY_H_
