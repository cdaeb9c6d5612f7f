#include <algorithm>
#include <bit>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/buffer_descriptor.h"
#include "zyfa/emu/lane_atomic.h"
#include "zyfa/emu/lane_memory.h"
#include "zyfa/emu/scalar_operand.h"
#include "zyfa/emu/vector_memory.h"

namespace zyfa::emu {
namespace {

// Addresses of one buffer instruction (ISA 9.1.5) before translation.
struct BufferAccess {
  LaneAccess access;
  uint64_t zeroed = 0;  // active lanes that are out of range
};

// Reports, once a place, that the published rules of the raw range check differ
// for this access: soffset counts (GCN3 ISA 8.1.5; taken here, as it never
// leaves the buffer) or does not (CDNA4 ISA 9.1.5, LLVM's buffer intrinsics).
void WarnAboutSoffset(const Instruction& inst, Wave& wave, uint32_t soffset,
                      uint64_t last, uint32_t num_records) {
  if (!wave.group->Wants("ambiguous-range", inst)) return;
  wave.group->Report(
      Severity::kWarning, "ambiguous-range", inst, wave, -1,
      absl::StrFormat("an access that ends at offset %d is in range of %d "
                      "bytes, but not with soffset %d added: whether hardware "
                      "adds it is not settled; taken as out of range",
                      last, num_records, soffset));
}

// Addresses need not be aligned: ROCm runs with unaligned access allowed
// (SH_MEM_CONFIG.ALIGNMENT_MODE; LLVM AMDGPU Usage, unaligned-access-mode), and
// then the two low bits count (unlike in the strict mode of ISA 9.1.7).
// Operands from `first` on are vaddr, descriptor and soffset. `split`: dwords
// of one lane are judged one by one. False if the wave cannot go on.
bool Prepare(const Instruction& inst, Wave& wave, AccessKind kind, size_t first,
             uint32_t bytes, bool split, BufferAccess& buffer) {
  const Operand& vaddr = inst.operands[first];
  const BufferDescriptor d =
      ReadDescriptor(wave, inst.operands[first + 1].index);
  const uint32_t soffset = Scalar32(inst.operands[first + 2], wave);
  if (d.type != 0 || d.add_tid || (d.swizzle && d.stride != 0)) {
    wave.error = absl::StrCat(
        "buffer descriptor of type ", d.type, d.swizzle ? ", swizzled" : "",
        d.add_tid ? ", with thread id" : "", " is not emulated");
    return false;
  }
  LaneAccess& access = buffer.access;
  access.lanes = wave.exec;
  if (d.unbound) {
    if (wave.group->Wants("unbound-buffer", inst)) {
      wave.group->Report(Severity::kWarning, "unbound-buffer", inst, wave, -1,
                         "data format 0 in the descriptor: reads give 0");
    }
    buffer.zeroed = wave.exec;
    access.lanes = 0;
    return true;
  }
  const bool structured = inst.mods.idxen && d.stride != 0;
  const int row = Wave::Row(vaddr);
  const uint32_t* index = inst.mods.idxen ? wave.vgpr[row] : nullptr;
  const uint32_t* voffset =
      inst.mods.offen ? wave.vgpr[row + (inst.mods.idxen ? 1 : 0)] : nullptr;
  const uint32_t inst_offset = static_cast<uint32_t>(inst.mods.offset);

  uint32_t offset[kLanes];
  uint32_t last = 0;
  for (int l = 0; l < kLanes; ++l) {
    offset[l] = inst_offset + (voffset != nullptr ? voffset[l] : 0);
  }
  for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    last = std::max(last, offset[l]);
  }
  const uint64_t start = d.base + soffset;
  for (int l = 0; l < kLanes; ++l) {
    access.address[l] = start + offset[l] +
                        (index != nullptr ? uint64_t{index[l]} * d.stride : 0);
  }
  if (structured) {
    for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      if (index[l] >= d.num_records) buffer.zeroed |= uint64_t{1} << l;
    }
  } else if (uint64_t{last} + bytes + soffset > d.num_records) {
    // soffset counts; what it cannot do is wrap around.
    const uint32_t limit =
        soffset < d.num_records ? d.num_records - soffset : 0;
    for (uint64_t rest = wave.exec; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      if (uint64_t{offset[l]} + bytes <= limit) continue;
      if (uint64_t{offset[l]} + bytes <= d.num_records) {
        WarnAboutSoffset(inst, wave, soffset, uint64_t{offset[l]} + bytes,
                         d.num_records);
      }
      const uint32_t left = offset[l] < limit ? (limit - offset[l]) / 4 : 0;
      if (split && bytes > 4 && left > 0) {
        access.clipped |= uint64_t{1} << l;
        access.dwords[l] = static_cast<uint8_t>(left);
        wave.group->counters.clipped_dwords += bytes / 4 - left;
      } else {
        buffer.zeroed |= uint64_t{1} << l;
      }
    }
  }
  access.lanes &= ~buffer.zeroed;
  wave.group->counters.clipped_dwords +=
      (bytes + 3) / 4 * static_cast<uint32_t>(std::popcount(buffer.zeroed));
  return Resolve(inst, wave, kind, bytes, access);
}

template <MemoryType kType>
void Load(const Instruction& inst, Wave& wave) {
  BufferAccess buffer;
  if (!Prepare(inst, wave, AccessKind::kRead, 1, BytesOf(kType), true, buffer))
    return;
  const int row = Wave::Row(inst.operands[0]);
  LoadLanes<kType>(wave, buffer.access, buffer.zeroed, row);
  IssueVmLoad(wave, row, DwordsOf(kType));
}

template <MemoryType kType>
void Store(const Instruction& inst, Wave& wave) {
  BufferAccess buffer;
  if (!Prepare(inst, wave, AccessKind::kWrite, 1, BytesOf(kType), true, buffer))
    return;
  StoreLanes<kType>(wave, buffer.access, Wave::Row(inst.operands[0]));
  IssueVmStore(wave);
}

template <MemoryType kType>
void LoadLds(const Instruction& inst, Wave& wave) {
  BufferAccess buffer;
  if (!Prepare(inst, wave, AccessKind::kRead, 0, BytesOf(kType), true, buffer))
    return;
  LoadToLds<kType>(inst, wave, buffer.access, buffer.zeroed,
                   static_cast<uint32_t>(inst.mods.offset));
}

void Atomic(const Instruction& inst, Wave& wave) {
  LaneAtomic atomic;
  std::string_view name = inst.mnemonic;
  name.remove_prefix(std::string_view("buffer_atomic_").size());
  ParseAtomic(name, atomic);
  BufferAccess buffer;
  if (!Prepare(inst, wave, AccessKind::kAtomic, 1, atomic.bytes, false, buffer))
    return;
  const int row = Wave::Row(inst.operands[0]);
  const int result = inst.mods.sc0 ? row : -1;
  if (!ApplyAtomicLanes(inst, wave, buffer.access, atomic, row, result)) {
    return;
  }
  if (result < 0) {
    IssueVmStore(wave);
    return;
  }
  for (uint64_t rest = buffer.zeroed; rest != 0; rest &= rest - 1) {
    for (uint32_t d = 0; d < atomic.bytes / 4; ++d) {
      wave.vgpr[row + static_cast<int>(d)][std::countr_zero(rest)] = 0;
    }
  }
  IssueVmLoad(wave, row, atomic.bytes / 4);
}

void CacheControl(const Instruction&, Wave& wave) { IssueVmStore(wave); }

bool Consume(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// vaddr, four SGPRs and a scalar.
bool OperandsFit(const Instruction& inst, size_t first) {
  if (inst.operands.size() != first + 3) return false;
  const Operand& vaddr = inst.operands[first];
  const uint16_t registers = static_cast<uint16_t>((inst.mods.idxen ? 1 : 0) +
                                                   (inst.mods.offen ? 1 : 0));
  if (registers == 0
          ? vaddr.kind != OperandKind::kNone
          : vaddr.kind != OperandKind::kVgpr || vaddr.count != registers) {
    return false;
  }
  const Operand& soffset = inst.operands[first + 2];
  return inst.operands[first + 1].kind == OperandKind::kScalar &&
         inst.operands[first + 1].count == 4 &&
         (soffset.kind == OperandKind::kScalar ||
          soffset.kind == OperandKind::kInteger);
}

}  // namespace

Handler FindBufferHandler(Instruction& inst) {
  std::string_view name = inst.mnemonic;
  if (!Consume(name, "buffer_")) return nullptr;
  if (name == "wbl2" || name == "inv" || name == "wbinvl1" ||
      name == "wbinvl1_vol") {
    return CacheControl;
  }
  if (inst.mods.gds || !OperandsFit(inst, inst.mods.lds ? 0 : 1)) {
    return nullptr;
  }
  MemoryType type;
  if (Consume(name, "load_") && ParseLoadType(name, type)) {
    if (!inst.mods.lds) {
      return ForType(type,
                     []<MemoryType kType>() -> Handler { return Load<kType>; });
    }
    if (type == MemoryType::kDwordX2) return nullptr;
    return ForType(
        type, []<MemoryType kType>() -> Handler { return LoadLds<kType>; });
  }
  if (inst.mods.lds) return nullptr;
  if (Consume(name, "store_") && ParseStoreType(name, type)) {
    return ForType(type,
                   []<MemoryType kType>() -> Handler { return Store<kType>; });
  }
  LaneAtomic atomic;
  if (Consume(name, "atomic_") && ParseAtomic(name, atomic)) return Atomic;
  return nullptr;
}

}  // namespace zyfa::emu
