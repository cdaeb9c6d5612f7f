#include "zyfa/emu/scalar_memory.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include "absl/strings/str_format.h"
#include "zyfa/emu/buffer_descriptor.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

void MarkLoaded(Wave& w, uint32_t first, uint32_t dwords) {
  WaitState& waits = WaitsOf(w);
  const uint32_t sequence = waits.IssueUnordered();
  for (uint32_t d = 0; d < dwords; ++d) {
    waits.sgpr_any[(first + d) & 127] = sequence;
  }
}

// Operand 2 (SGPR or constant) plus the offset modifier.
int64_t Offset(const Instruction& i, const Wave& w) {
  const Operand& operand = i.operands[2];
  const int64_t first = operand.kind == OperandKind::kScalar
                            ? int64_t{w.ReadScalar32(operand.index)}
                            : operand.integer;
  return first + i.mods.offset;
}

// Loads `dwords` from `address`; those from `available` on read as 0.
void Load(const Instruction& i, Wave& w, uint64_t address, uint32_t dwords,
          uint32_t available) {
  uint32_t data[16] = {};
  if (available > 0) {
    const uint8_t* host = w.group->memory->Translate(address, 4 * available);
    if (host == nullptr) {
      w.group->Report(Severity::kError, "out-of-range", i, w, -1,
                      absl::StrFormat("scalar load of %d bytes at %#x",
                                      4 * available, address));
      return;
    }
    std::memcpy(data, host, 4 * available);
    for (Observer* observer : w.group->observers) {
      observer->AccessMemory(
          i, w,
          {AccessKind::kRead, 4 * available, 1, &address, 0, nullptr, false});
    }
  }
  const uint32_t first = i.operands[0].index;
  for (uint32_t d = 0; d < dwords; ++d) {
    w.WriteScalar32(static_cast<int>(first + d), data[d]);
  }
  MarkLoaded(w, first, dwords);
  w.group->counters.global_bytes_read += 4 * available;
}

template <uint32_t kDwords>
void LoadGlobal(const Instruction& i, Wave& w) {
  const uint64_t base = Scalar64(i.operands[1], w);
  const uint64_t address = base + static_cast<uint64_t>(Offset(i, w));
  Load(i, w, address & ~uint64_t{3}, kDwords, kDwords);
}

// ISA 8.2: a scalar buffer load is clamped by the descriptor, dword by dword.
template <uint32_t kDwords>
void LoadBuffer(const Instruction& i, Wave& w) {
  const BufferDescriptor buffer = ReadDescriptor(w, i.operands[1].index);
  const uint64_t size = buffer.stride == 0
                            ? buffer.num_records
                            : uint64_t{buffer.stride} * buffer.num_records;
  const uint64_t offset = static_cast<uint32_t>(Offset(i, w)) & ~3u;
  uint32_t available = 0;
  while (available < kDwords && offset + 4 * (available + 1) <= size) {
    ++available;
  }
  w.group->counters.clipped_dwords += kDwords - available;
  Load(i, w, buffer.base + offset, kDwords, available);
}

void Clock(const Instruction& i, Wave& w) {
  w.WriteScalar64(i.operands[0].index, w.group->issued[w.index]);
  MarkLoaded(w, i.operands[0].index, 2);
}

void NoOperation(const Instruction&, Wave&) {}

using Table = std::unordered_map<std::string, Handler>;

const Table& Handlers() {
  static const Table* const table = new Table{
      {"s_load_dword", LoadGlobal<1>},
      {"s_load_dwordx2", LoadGlobal<2>},
      {"s_load_dwordx4", LoadGlobal<4>},
      {"s_load_dwordx8", LoadGlobal<8>},
      {"s_load_dwordx16", LoadGlobal<16>},
      {"s_buffer_load_dword", LoadBuffer<1>},
      {"s_buffer_load_dwordx2", LoadBuffer<2>},
      {"s_buffer_load_dwordx4", LoadBuffer<4>},
      {"s_buffer_load_dwordx8", LoadBuffer<8>},
      {"s_buffer_load_dwordx16", LoadBuffer<16>},
      {"s_memtime", Clock},
      {"s_memrealtime", Clock},
      {"s_dcache_inv", NoOperation},
      {"s_dcache_inv_vol", NoOperation},
      {"s_dcache_wb", NoOperation},
      {"s_dcache_wb_vol", NoOperation},
  };
  return *table;
}

}  // namespace

Handler FindScalarMemoryHandler(Instruction& inst) {
  const auto it = Handlers().find(inst.mnemonic);
  return it == Handlers().end() ? nullptr : it->second;
}

}  // namespace zyfa::emu
