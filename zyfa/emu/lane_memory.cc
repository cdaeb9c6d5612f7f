#include "zyfa/emu/lane_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_format.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace zyfa::emu {
namespace {

uint32_t LaneBytes(const LaneAccess& access, int lane, uint32_t bytes) {
  return (access.clipped >> lane & 1) != 0 ? 4u * access.dwords[lane] : bytes;
}

// LDS or scratch seen through the flat address space, or device memory.
uint8_t* ResolveLane(Wave& wave, const LaneAccess& access, int lane,
                     uint32_t bytes) {
  Group& group = *wave.group;
  const uint64_t address = access.address[lane];
  if (address < kSharedAperture || !access.apertures) {
    return group.memory->Translate(address, bytes);
  }
  const bool shared = address >> 32 == kSharedAperture >> 32;
  const bool scratch = address >> 32 == kPrivateAperture >> 32;
  const uint64_t offset = address & 0xffffffff;
  if (shared && offset + bytes <= group.lds_bytes) {
    return group.lds.get() + offset;
  }
  if (scratch && offset + bytes <= group.private_bytes) {
    return group.scratch[static_cast<size_t>(wave.index)].get() +
           static_cast<uint64_t>(lane) * group.private_bytes + offset;
  }
  return nullptr;
}

// Four rows of registers from 16 bytes a lane.
void LoadAllX4(Wave& wave, uint8_t* const* host, int row) {
  uint32_t (*rows)[kLanes] = wave.vgpr + row;
#if defined(__SSE2__)
  for (int l = 0; l < kLanes; l += 4) {
    __m128 a = _mm_loadu_ps(reinterpret_cast<const float*>(host[l]));
    __m128 b = _mm_loadu_ps(reinterpret_cast<const float*>(host[l + 1]));
    __m128 c = _mm_loadu_ps(reinterpret_cast<const float*>(host[l + 2]));
    __m128 d = _mm_loadu_ps(reinterpret_cast<const float*>(host[l + 3]));
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_store_ps(reinterpret_cast<float*>(&rows[0][l]), a);
    _mm_store_ps(reinterpret_cast<float*>(&rows[1][l]), b);
    _mm_store_ps(reinterpret_cast<float*>(&rows[2][l]), c);
    _mm_store_ps(reinterpret_cast<float*>(&rows[3][l]), d);
  }
#else
  for (int l = 0; l < kLanes; ++l) {
    for (int d = 0; d < 4; ++d) std::memcpy(&rows[d][l], host[l] + 4 * d, 4);
  }
#endif
}

template <MemoryType kType>
void LoadLane(Wave& wave, int row, int lane, const uint8_t* from,
              uint32_t bytes) {
  if constexpr (BytesOf(kType) < 4) {
    wave.vgpr[row][lane] = ExtendLoaded<kType>(from);
  } else {
    uint32_t data[DwordsOf(kType)] = {};
    std::memcpy(data, from, bytes);
    for (uint32_t d = 0; d < DwordsOf(kType); ++d) {
      wave.vgpr[row + static_cast<int>(d)][lane] = data[d];
    }
  }
}

}  // namespace

bool ParseLoadType(std::string_view name, MemoryType& type) {
  static constexpr std::pair<std::string_view, MemoryType> kTypes[] = {
      {"ubyte", MemoryType::kUbyte},
      {"sbyte", MemoryType::kSbyte},
      {"ushort", MemoryType::kUshort},
      {"sshort", MemoryType::kSshort},
      {"ubyte_d16", MemoryType::kUbyte},
      {"sbyte_d16", MemoryType::kSbyteLow},
      {"short_d16", MemoryType::kUshort},
      {"ubyte_d16_hi", MemoryType::kUbyteHi},
      {"sbyte_d16_hi", MemoryType::kSbyteHi},
      {"short_d16_hi", MemoryType::kShortHi},
      {"dword", MemoryType::kDword},
      {"dwordx2", MemoryType::kDwordX2},
      {"dwordx3", MemoryType::kDwordX3},
      {"dwordx4", MemoryType::kDwordX4}};
  for (const auto& [text, value] : kTypes) {
    if (name == text) {
      type = value;
      return true;
    }
  }
  return false;
}

bool ParseStoreType(std::string_view name, MemoryType& type) {
  static constexpr std::pair<std::string_view, MemoryType> kTypes[] = {
      {"byte", MemoryType::kUbyte},
      {"short", MemoryType::kUshort},
      {"byte_d16_hi", MemoryType::kUbyteHi},
      {"short_d16_hi", MemoryType::kShortHi}};
  for (const auto& [text, value] : kTypes) {
    if (name == text) {
      type = value;
      return true;
    }
  }
  return ParseLoadType(name, type) && BytesOf(type) >= 4;
}

namespace {

// Finds the host memory; see Resolve.
bool Translate(const Instruction& inst, Wave& wave, uint32_t bytes,
               LaneAccess& access) {
  if (access.lanes == 0) return true;
  // Nearly always all lanes access one allocation.
  if (access.clipped == 0) {
    uint64_t low = ~uint64_t{0}, high = 0;
    if (access.lanes == kAllLanes) {
      for (int l = 0; l < kLanes; ++l) {
        low = std::min(low, access.address[l]);
        high = std::max(high, access.address[l]);
      }
    } else {
      for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
        const int l = std::countr_zero(rest);
        low = std::min(low, access.address[l]);
        high = std::max(high, access.address[l]);
      }
    }
    if (high < kSharedAperture) {
      uint8_t* const base =
          wave.group->memory->Translate(low, high - low + bytes);
      if (base != nullptr && access.lanes == kAllLanes) {
        for (int l = 0; l < kLanes; ++l) {
          access.host[l] = base + (access.address[l] - low);
        }
        return true;
      }
      if (base != nullptr) {
        for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
          const int l = std::countr_zero(rest);
          access.host[l] = base + (access.address[l] - low);
        }
        return true;
      }
    }
  }
  for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const uint32_t size = LaneBytes(access, l, bytes);
    access.host[l] = ResolveLane(wave, access, l, size);
    if (access.host[l] == nullptr) {
      wave.group->Report(Severity::kError, "out-of-range", inst, wave, l,
                         absl::StrFormat("access of %d bytes at %#x", size,
                                         access.address[l]));
      return false;
    }
  }
  return true;
}

// Lanes that see LDS through the flat address space are an LDS access.
void TellObservers(const Instruction& inst, Wave& wave, AccessKind kind,
                   uint32_t bytes, const LaneAccess& access) {
  LdsAccess lds{kind, bytes, 0, nullptr, 0};
  MemoryAccess memory;
  memory.kind = kind;
  memory.bytes = bytes;
  memory.address = access.address;
  memory.clipped = access.clipped;
  memory.dwords = access.dwords;
  memory.scoped = inst.mods.sc0 || inst.mods.sc1;
  uint32_t lds_address[kLanes] = {};
  for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    const uint64_t space = access.apertures ? access.address[l] >> 32 : 0;
    if (space == kSharedAperture >> 32) {
      lds.lanes |= uint64_t{1} << l;
      lds_address[l] = static_cast<uint32_t>(access.address[l]);
    } else if (space != kPrivateAperture >> 32) {
      memory.lanes |= uint64_t{1} << l;
    }
  }
  lds.address = lds_address;
  for (Observer* observer : wave.group->observers) {
    if (lds.lanes != 0) observer->AccessLds(inst, wave, lds);
    if (memory.lanes != 0) observer->AccessMemory(inst, wave, memory);
  }
}

}  // namespace

bool Resolve(const Instruction& inst, Wave& wave, AccessKind kind,
             uint32_t bytes, LaneAccess& access) {
  if (!Translate(inst, wave, bytes, access)) return false;
  if (!wave.group->observers.empty()) {
    TellObservers(inst, wave, kind, bytes, access);
  }
  return true;
}

template <MemoryType kType>
void LoadLanes(Wave& wave, const LaneAccess& access, uint64_t zeroed, int row) {
  constexpr uint32_t kBytes = BytesOf(kType);
  wave.group->counters.global_bytes_read +=
      kBytes * static_cast<uint32_t>(std::popcount(access.lanes));
  if (access.lanes == kAllLanes && access.clipped == 0) {
    if constexpr (kType == MemoryType::kDwordX4) {
      LoadAllX4(wave, access.host, row);
    } else {
      for (int l = 0; l < kLanes; ++l) {
        LoadLane<kType>(wave, row, l, access.host[l], kBytes);
      }
    }
    return;
  }
  for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    LoadLane<kType>(wave, row, l, access.host[l], LaneBytes(access, l, kBytes));
  }
  for (uint64_t rest = zeroed; rest != 0; rest &= rest - 1) {
    for (uint32_t d = 0; d < DwordsOf(kType); ++d) {
      wave.vgpr[row + static_cast<int>(d)][std::countr_zero(rest)] = 0;
    }
  }
}

template <MemoryType kType>
void StoreLanes(const Wave& wave, const LaneAccess& access, int row) {
  constexpr uint32_t kBytes = BytesOf(kType);
  wave.group->counters.global_bytes_written +=
      kBytes * static_cast<uint32_t>(std::popcount(access.lanes));
  for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    uint32_t data[DwordsOf(kType)];
    for (uint32_t d = 0; d < DwordsOf(kType); ++d) {
      data[d] = wave.vgpr[row + static_cast<int>(d)][l];
    }
    if constexpr (kBytes < 4) data[0] = StoredBits<kType>(data[0]);
    std::memcpy(access.host[l], data, LaneBytes(access, l, kBytes));
  }
}

template <MemoryType kType>
bool LoadToLds(const Instruction& inst, Wave& wave, const LaneAccess& access,
               uint64_t zeroed, uint32_t lds_offset) {
  constexpr uint32_t kBytes = BytesOf(kType);
  constexpr uint32_t kDwords = DwordsOf(kType);
  constexpr uint32_t kStride = kDwords == 1 ? 4 : 16;
  Group& group = *wave.group;
  WaitState& waits = WaitsOf(wave);
  const uint32_t sequence = waits.IssueVm();
  LandRetired(group, waits);

  const uint32_t base = (wave.sgpr[kM0] & 0x3ffff) + lds_offset;
  const uint64_t lanes = access.lanes | zeroed;
  if (lanes == 0) return true;
  const int last = 63 - std::countl_zero(lanes);
  if (base + static_cast<uint32_t>(last) * kStride + 4 * kDwords >
      group.lds_bytes) {
    group.Report(
        Severity::kError, "lds-out-of-range", inst, wave, last,
        absl::StrFormat("load into LDS from byte %d on, %d bytes a lane; the "
                        "work-group has %d bytes",
                        base, kStride, group.lds_bytes));
    return false;
  }
  if (base % 4 != 0) {
    group.Report(Severity::kError, "misaligned", inst, wave, -1,
                 absl::StrFormat("LDS address %d of a load into LDS is no "
                                 "multiple of 4",
                                 base));
    return false;
  }
  if (!group.observers.empty()) {
    uint32_t address[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) address[l] = base + l * kStride;
    for (Observer* observer : group.observers) {
      observer->AccessLds(
          inst, wave, {AccessKind::kDmaWrite, 4 * kDwords, lanes, address, 0});
    }
  }
  group.counters.global_bytes_read +=
      kBytes * static_cast<uint32_t>(std::popcount(access.lanes));
  group.counters.lds_bytes_written +=
      4 * kDwords * static_cast<uint32_t>(std::popcount(lanes));

  PendingDma& dma = waits.dma[waits.end_dma % WaitState::kDmaSlots];
  dma.sequence = sequence;
  dma.lds_address = base;
  dma.lane_stride = kStride;
  dma.dwords = kDwords;
  dma.lanes = lanes;
  if (access.lanes == kAllLanes && access.clipped == 0 && kBytes >= 4) {
    for (int l = 0; l < kLanes; ++l) {
      std::memcpy(dma.data[l], access.host[l], kBytes);
    }
  } else {
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      std::memset(dma.data[l], 0, sizeof(dma.data[l]));
      if ((access.lanes >> l & 1) == 0) continue;
      if constexpr (kBytes < 4) {
        dma.data[l][0] = ExtendLoaded<kType>(access.host[l]);
      } else {
        std::memcpy(dma.data[l], access.host[l], LaneBytes(access, l, kBytes));
      }
    }
  }
  if (group.dma_lands_at_wait) {
    ++waits.end_dma;
  } else {
    LandDma(group, dma);
  }
  return true;
}

#define ZYFA_INSTANTIATE(type)                                                \
  template void LoadLanes<type>(Wave&, const LaneAccess&, uint64_t, int);     \
  template void StoreLanes<type>(const Wave&, const LaneAccess&, int);        \
  template bool LoadToLds<type>(const Instruction&, Wave&, const LaneAccess&, \
                                uint64_t, uint32_t);
ZYFA_INSTANTIATE(MemoryType::kUbyte)
ZYFA_INSTANTIATE(MemoryType::kSbyte)
ZYFA_INSTANTIATE(MemoryType::kUshort)
ZYFA_INSTANTIATE(MemoryType::kSshort)
ZYFA_INSTANTIATE(MemoryType::kSbyteLow)
ZYFA_INSTANTIATE(MemoryType::kUbyteHi)
ZYFA_INSTANTIATE(MemoryType::kSbyteHi)
ZYFA_INSTANTIATE(MemoryType::kShortHi)
ZYFA_INSTANTIATE(MemoryType::kDword)
ZYFA_INSTANTIATE(MemoryType::kDwordX2)
ZYFA_INSTANTIATE(MemoryType::kDwordX3)
ZYFA_INSTANTIATE(MemoryType::kDwordX4)
#undef ZYFA_INSTANTIATE

}  // namespace zyfa::emu
