#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "zyfa/emu/lane_memory.h"
#include "zyfa/emu/lds.h"
#include "zyfa/emu/lds_address.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace zyfa::emu {
namespace {

void CountRead(Wave& wave, uint32_t bytes) {
  wave.group->counters.lds_bytes_read +=
      bytes * static_cast<uint32_t>(std::popcount(wave.exec));
}
void CountWritten(Wave& wave, uint32_t bytes) {
  wave.group->counters.lds_bytes_written +=
      bytes * static_cast<uint32_t>(std::popcount(wave.exec));
}

template <uint32_t kDwords>
void ReadLane(const uint8_t* from, uint32_t (*rows)[kLanes], int lane) {
  uint32_t data[kDwords];
  std::memcpy(data, from, sizeof(data));
  for (uint32_t d = 0; d < kDwords; ++d) rows[d][lane] = data[d];
}

// kDwords of each active lane into as many registers.
template <uint32_t kDwords>
void ReadDwords(Wave& wave, const uint32_t* address, uint32_t offset, int row) {
  const uint8_t* lds = wave.group->lds.get();
  uint32_t (*rows)[kLanes] = wave.vgpr + row;
  // The destination may hold the address.
  uint32_t at[kLanes];
  for (int l = 0; l < kLanes; ++l) at[l] = address[l] + offset;
  if (wave.exec == kAllLanes) {
#if defined(__SSE2__)
    if constexpr (kDwords == 4) {
      for (int l = 0; l < kLanes; l += 4) {
        __m128 a = _mm_loadu_ps(reinterpret_cast<const float*>(lds + at[l]));
        __m128 b =
            _mm_loadu_ps(reinterpret_cast<const float*>(lds + at[l + 1]));
        __m128 c =
            _mm_loadu_ps(reinterpret_cast<const float*>(lds + at[l + 2]));
        __m128 d =
            _mm_loadu_ps(reinterpret_cast<const float*>(lds + at[l + 3]));
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_store_ps(reinterpret_cast<float*>(&rows[0][l]), a);
        _mm_store_ps(reinterpret_cast<float*>(&rows[1][l]), b);
        _mm_store_ps(reinterpret_cast<float*>(&rows[2][l]), c);
        _mm_store_ps(reinterpret_cast<float*>(&rows[3][l]), d);
      }
      return;
    }
#endif
    for (int l = 0; l < kLanes; ++l) ReadLane<kDwords>(lds + at[l], rows, l);
    return;
  }
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    ReadLane<kDwords>(lds + at[l], rows, l);
  }
}

template <uint32_t kDwords>
void WriteDwords(Wave& wave, const uint32_t* address, uint32_t offset,
                 int row) {
  uint8_t* lds = wave.group->lds.get();
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    uint32_t data[kDwords];
    for (uint32_t d = 0; d < kDwords; ++d) {
      data[d] = wave.vgpr[row + static_cast<int>(d)][l];
    }
    std::memcpy(lds + (address[l] + offset), data, sizeof(data));
  }
}

const uint32_t* Address(const Instruction& inst, Wave& wave, size_t operand) {
  return wave.vgpr[Wave::Row(inst.operands[operand])];
}

template <MemoryType kType>
void Read(const Instruction& inst, Wave& wave) {
  constexpr uint32_t kBytes = BytesOf(kType);
  const uint32_t* address = Address(inst, wave, 1);
  const auto offset = static_cast<uint32_t>(inst.mods.offset);
  if (!LdsInRange(inst, wave, AccessKind::kRead, address, offset, kBytes))
    return;
  const int row = Wave::Row(inst.operands[0]);
  if constexpr (kBytes >= 4) {
    ReadDwords<kBytes / 4>(wave, address, offset, row);
  } else {
    for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      wave.vgpr[row][l] =
          ExtendLoaded<kType>(wave.group->lds.get() + (address[l] + offset));
    }
  }
  CountRead(wave, kBytes);
  IssueLdsLoad(wave, row, DwordsOf(kType));
}

template <MemoryType kType>
void Write(const Instruction& inst, Wave& wave) {
  constexpr uint32_t kBytes = BytesOf(kType);
  const uint32_t* address = Address(inst, wave, 0);
  const auto offset = static_cast<uint32_t>(inst.mods.offset);
  if (!LdsInRange(inst, wave, AccessKind::kWrite, address, offset, kBytes))
    return;
  const int row = Wave::Row(inst.operands[1]);
  if constexpr (kBytes >= 4) {
    WriteDwords<kBytes / 4>(wave, address, offset, row);
  } else {
    for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const uint32_t bits = StoredBits<kType>(wave.vgpr[row][l]);
      std::memcpy(wave.group->lds.get() + (address[l] + offset), &bits, kBytes);
    }
  }
  CountWritten(wave, kBytes);
  IssueLdsLoad(wave, 0, 0);
}

// read2, write2: offsets count in elements of kDwords, times 64 for st64.
template <uint32_t kDwords, uint32_t kUnit>
void Read2(const Instruction& inst, Wave& wave) {
  uint32_t address[kLanes];  // the first read may overwrite the register
  std::memcpy(address, Address(inst, wave, 1), sizeof(address));
  const uint32_t first = inst.mods.offset0 * 4 * kDwords * kUnit;
  const uint32_t second = inst.mods.offset1 * 4 * kDwords * kUnit;
  if (!LdsInRange(inst, wave, AccessKind::kRead, address, first, 4 * kDwords) ||
      !LdsInRange(inst, wave, AccessKind::kRead, address, second,
                  4 * kDwords)) {
    return;
  }
  const int row = Wave::Row(inst.operands[0]);
  ReadDwords<kDwords>(wave, address, first, row);
  ReadDwords<kDwords>(wave, address, second, row + static_cast<int>(kDwords));
  CountRead(wave, 8 * kDwords);
  IssueLdsLoad(wave, row, 2 * kDwords);
}

template <uint32_t kDwords, uint32_t kUnit>
void Write2(const Instruction& inst, Wave& wave) {
  const uint32_t* address = Address(inst, wave, 0);
  const uint32_t first = inst.mods.offset0 * 4 * kDwords * kUnit;
  const uint32_t second = inst.mods.offset1 * 4 * kDwords * kUnit;
  if (!LdsInRange(inst, wave, AccessKind::kWrite, address, first,
                  4 * kDwords) ||
      !LdsInRange(inst, wave, AccessKind::kWrite, address, second,
                  4 * kDwords)) {
    return;
  }
  WriteDwords<kDwords>(wave, address, first, Wave::Row(inst.operands[1]));
  WriteDwords<kDwords>(wave, address, second, Wave::Row(inst.operands[2]));
  CountWritten(wave, 8 * kDwords);
  IssueLdsLoad(wave, 0, 0);
}

void NoOperation(const Instruction&, Wave&) {}

constexpr std::pair<std::string_view, MemoryType> kReads[] = {
    {"u8", MemoryType::kUbyte},        {"i8", MemoryType::kSbyte},
    {"u16", MemoryType::kUshort},      {"i16", MemoryType::kSshort},
    {"u8_d16", MemoryType::kUbyte},    {"u8_d16_hi", MemoryType::kUbyteHi},
    {"i8_d16", MemoryType::kSbyteLow}, {"i8_d16_hi", MemoryType::kSbyteHi},
    {"u16_d16", MemoryType::kUshort},  {"u16_d16_hi", MemoryType::kShortHi},
    {"b32", MemoryType::kDword},       {"b64", MemoryType::kDwordX2},
    {"b96", MemoryType::kDwordX3},     {"b128", MemoryType::kDwordX4}};
constexpr std::pair<std::string_view, MemoryType> kWrites[] = {
    {"b8", MemoryType::kUbyte},          {"b16", MemoryType::kUshort},
    {"b8_d16_hi", MemoryType::kUbyteHi}, {"b16_d16_hi", MemoryType::kShortHi},
    {"b32", MemoryType::kDword},         {"b64", MemoryType::kDwordX2},
    {"b96", MemoryType::kDwordX3},       {"b128", MemoryType::kDwordX4}};
constexpr std::pair<std::string_view, Handler> kDoubles[] = {
    {"ds_read2_b32", Read2<1, 1>},
    {"ds_read2_b64", Read2<2, 1>},
    {"ds_read2st64_b32", Read2<1, 64>},
    {"ds_read2st64_b64", Read2<2, 64>},
    {"ds_write2_b32", Write2<1, 1>},
    {"ds_write2_b64", Write2<2, 1>},
    {"ds_write2st64_b32", Write2<1, 64>},
    {"ds_write2st64_b64", Write2<2, 64>},
    {"ds_nop", NoOperation}};

}  // namespace

Handler FindLdsAccessHandler(Instruction& inst) {
  if (inst.mods.gds) return nullptr;
  std::string_view name = inst.mnemonic;
  for (const auto& [mnemonic, handler] : kDoubles) {
    if (name == mnemonic) return handler;
  }
  if (name.substr(0, 8) == "ds_read_") {
    name.remove_prefix(8);
    for (const auto& [type_name, type] : kReads) {
      if (name == type_name) {
        return ForType(
            type, []<MemoryType kType>() -> Handler { return Read<kType>; });
      }
    }
  } else if (name.substr(0, 9) == "ds_write_") {
    name.remove_prefix(9);
    for (const auto& [type_name, type] : kWrites) {
      if (name == type_name) {
        return ForType(
            type, []<MemoryType kType>() -> Handler { return Write<kType>; });
      }
    }
  }
  return nullptr;
}

}  // namespace zyfa::emu
