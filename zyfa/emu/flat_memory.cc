#include <cstdint>
#include <string_view>

#include "zyfa/emu/lane_atomic.h"
#include "zyfa/emu/lane_memory.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/vector_memory.h"

namespace zyfa::emu {
namespace {

enum Space { kGlobal, kFlat, kScratch };

// Operand kNone or beyond the last: "off", or a form without SGPR.
const Operand* ScalarBase(const Instruction& inst, size_t at) {
  if (at >= inst.operands.size()) return nullptr;
  const Operand& operand = inst.operands[at];
  return operand.kind == OperandKind::kNone ? nullptr : &operand;
}

// ISA 10: addresses of the active lanes, translated.
template <Space kSpace>
bool Prepare(const Instruction& inst, Wave& wave, AccessKind kind,
             size_t vaddr_at, size_t saddr_at, uint32_t bytes,
             LaneAccess& access) {
  access.lanes = wave.exec;
  access.apertures = kSpace != kGlobal;
  const Operand& vaddr = inst.operands[vaddr_at];
  const Operand* saddr = ScalarBase(inst, saddr_at);
  const auto offset =
      static_cast<uint64_t>(static_cast<int64_t>(inst.mods.offset));
  if constexpr (kSpace == kScratch) {
    const uint32_t base = static_cast<uint32_t>(offset) +
                          (saddr != nullptr ? Scalar32(*saddr, wave) : 0);
    const uint32_t* low = vaddr.kind == OperandKind::kNone
                              ? nullptr
                              : wave.vgpr[Wave::Row(vaddr)];
    for (int l = 0; l < kLanes; ++l) {
      access.address[l] =
          kPrivateAperture | (base + (low != nullptr ? low[l] : 0));
    }
  } else {
    const uint32_t* low = wave.vgpr[Wave::Row(vaddr)];
    if (saddr != nullptr) {
      const uint64_t base = Scalar64(*saddr, wave) + offset;
      for (int l = 0; l < kLanes; ++l) access.address[l] = base + low[l];
    } else {
      const uint32_t* high = low + kLanes;
      for (int l = 0; l < kLanes; ++l) {
        access.address[l] = (low[l] | uint64_t{high[l]} << 32) + offset;
      }
    }
  }
  return Resolve(inst, wave, kind, bytes, access);
}

// FLAT counts in both counters and comes back in no order with LDS.
template <Space kSpace>
void Issue(Wave& wave, int row, uint32_t dwords) {
  IssueVmLoad(wave, row, dwords);
  if constexpr (kSpace == kFlat) {
    WaitState& waits = WaitsOf(wave);
    const uint32_t sequence = waits.IssueFlat();
    for (uint32_t d = 0; d < dwords; ++d) {
      waits.vgpr_any[static_cast<uint32_t>(row) + d] = sequence;
    }
  }
}

template <Space kSpace, MemoryType kType>
void Load(const Instruction& inst, Wave& wave) {
  LaneAccess access;
  if (!Prepare<kSpace>(inst, wave, AccessKind::kRead, 1, 2, BytesOf(kType),
                       access))
    return;
  const int row = Wave::Row(inst.operands[0]);
  LoadLanes<kType>(wave, access, 0, row);
  Issue<kSpace>(wave, row, DwordsOf(kType));
}

template <Space kSpace, MemoryType kType>
void Store(const Instruction& inst, Wave& wave) {
  LaneAccess access;
  if (!Prepare<kSpace>(inst, wave, AccessKind::kWrite, 0, 2, BytesOf(kType),
                       access))
    return;
  StoreLanes<kType>(wave, access, Wave::Row(inst.operands[1]));
  Issue<kSpace>(wave, 0, 0);
}

template <MemoryType kType>
void LoadLds(const Instruction& inst, Wave& wave) {
  LaneAccess access;
  if (!Prepare<kGlobal>(inst, wave, AccessKind::kRead, 0, 1, BytesOf(kType),
                        access))
    return;
  LoadToLds<kType>(inst, wave, access, 0,
                   static_cast<uint32_t>(inst.mods.offset));
}

template <Space kSpace>
void Atomic(const Instruction& inst, Wave& wave) {
  std::string_view name = inst.mnemonic;
  name.remove_prefix(name.find("_atomic_") + 8);
  LaneAtomic atomic;
  ParseAtomic(name, atomic);
  const size_t shift = inst.mods.sc0 ? 1 : 0;  // destination first
  LaneAccess access;
  if (!Prepare<kSpace>(inst, wave, AccessKind::kAtomic, shift, shift + 2,
                       atomic.bytes, access)) {
    return;
  }
  const int data = Wave::Row(inst.operands[shift + 1]);
  const int result = inst.mods.sc0 ? Wave::Row(inst.operands[0]) : -1;
  if (!ApplyAtomicLanes(inst, wave, access, atomic, data, result)) return;
  Issue<kSpace>(wave, result < 0 ? 0 : result,
                result < 0 ? 0 : atomic.bytes / 4);
}

bool Consume(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

template <Space kSpace>
Handler Find(std::string_view name, const Instruction& inst) {
  MemoryType type;
  if (Consume(name, "load_lds_")) {
    if (kSpace != kGlobal || !ParseLoadType(name, type) ||
        type == MemoryType::kDwordX2 || inst.operands.size() != 2) {
      return nullptr;
    }
    return ForType(
        type, []<MemoryType kType>() -> Handler { return LoadLds<kType>; });
  }
  if (inst.operands.size() < 2) return nullptr;
  if (Consume(name, "load_")) {
    if (!ParseLoadType(name, type)) return nullptr;
    return ForType(type, []<MemoryType kType>() -> Handler {
      return Load<kSpace, kType>;
    });
  }
  if (Consume(name, "store_")) {
    if (!ParseStoreType(name, type)) return nullptr;
    return ForType(type, []<MemoryType kType>() -> Handler {
      return Store<kSpace, kType>;
    });
  }
  LaneAtomic atomic;
  if constexpr (kSpace != kScratch) {
    if (Consume(name, "atomic_") && ParseAtomic(name, atomic)) {
      return Atomic<kSpace>;
    }
  }
  return nullptr;
}

}  // namespace

Handler FindFlatHandler(Instruction& inst) {
  std::string_view name = inst.mnemonic;
  if (inst.mods.lds || inst.mods.gds) return nullptr;
  if (Consume(name, "global_")) return Find<kGlobal>(name, inst);
  if (Consume(name, "flat_")) return Find<kFlat>(name, inst);
  if (Consume(name, "scratch_")) return Find<kScratch>(name, inst);
  return nullptr;
}

}  // namespace zyfa::emu
