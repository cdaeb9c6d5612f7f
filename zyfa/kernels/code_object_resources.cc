#include "zyfa/kernels/code_object_resources.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/kernels/msgpack.h"

namespace zyfa {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;  // EM_AMDGPU
constexpr uint32_t kFlagsGfx950 = 0x4f;   // EF_AMDGPU_MACH_AMDGCN_GFX950
constexpr uint32_t kSectionSymbols = 2;   // SHT_SYMTAB
constexpr uint32_t kSectionNote = 7;      // SHT_NOTE
constexpr uint32_t kNoteMetadata = 32;    // NT_AMDGPU_METADATA
constexpr uint64_t kHeaderBytes = 64;
constexpr uint64_t kSectionHeaderBytes = 64;
constexpr uint64_t kSymbolBytes = 24;
constexpr uint64_t kDescriptorBytes = 64;

absl::Status Bad(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("code object: ", why));
}

// Little-endian number at `at`, which the caller has checked to lie inside.
template <typename T>
T Load(absl::Span<const uint8_t> bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

absl::StatusOr<absl::Span<const uint8_t>> Slice(absl::Span<const uint8_t> all,
                                                uint64_t at, uint64_t bytes) {
  if (at > all.size() || bytes > all.size() - at) {
    return Bad(absl::StrCat("truncated: ", bytes, " bytes at ", at, " of ",
                            all.size()));
  }
  return all.subspan(at, bytes);
}

struct Section {
  uint32_t type = 0;
  uint64_t address = 0;
  uint32_t link = 0;
  uint64_t bytes_in_file = 0;
  absl::Span<const uint8_t> content;  // empty for sections without any
};

absl::StatusOr<std::vector<Section>> ReadSections(
    absl::Span<const uint8_t> elf) {
  if (elf.size() < kHeaderBytes || std::memcmp(elf.data(), "\177ELF\2\1", 6)) {
    return Bad("not a 64-bit little-endian ELF file");
  }
  if (Load<uint16_t>(elf, 18) != kMachineAmdgpu) return Bad("not for AMD GPUs");
  if ((Load<uint32_t>(elf, 48) & 0xff) != kFlagsGfx950) {
    return Bad(absl::StrCat("not for gfx950: e_flags is ",
                            absl::Hex(Load<uint32_t>(elf, 48))));
  }
  const uint64_t count = Load<uint16_t>(elf, 60);
  if (Load<uint16_t>(elf, 58) != kSectionHeaderBytes) {
    return Bad("section headers of unknown size");
  }
  const auto headers =
      Slice(elf, Load<uint64_t>(elf, 40), count * kSectionHeaderBytes);
  if (!headers.ok()) return headers.status();
  std::vector<Section> sections;
  for (uint64_t i = 0; i < count; ++i) {
    const auto header =
        headers->subspan(i * kSectionHeaderBytes, kSectionHeaderBytes);
    Section section;
    section.type = Load<uint32_t>(header, 4);
    section.address = Load<uint64_t>(header, 16);
    section.link = Load<uint32_t>(header, 40);
    constexpr uint32_t kNothing = 0, kNoBits = 8;
    if (section.type != kNothing && section.type != kNoBits) {
      const auto content =
          Slice(elf, Load<uint64_t>(header, 24), Load<uint64_t>(header, 32));
      if (!content.ok()) return content.status();
      section.content = *content;
    }
    sections.push_back(section);
  }
  return sections;
}

// The zero-terminated string at `at`, or "" if it leaves the table.
absl::string_view StringAt(absl::Span<const uint8_t> table, uint64_t at) {
  if (at >= table.size()) return "";
  const void* end = std::memchr(table.data() + at, 0, table.size() - at);
  if (end == nullptr) return "";
  return reinterpret_cast<const char*>(table.data() + at);
}

absl::StatusOr<absl::Span<const uint8_t>> FindDescriptor(
    const std::vector<Section>& sections, absl::string_view kernel) {
  const std::string wanted = absl::StrCat(kernel, ".kd");
  for (const Section& section : sections) {
    if (section.type != kSectionSymbols || section.link >= sections.size()) {
      continue;
    }
    const auto names = sections[section.link].content;
    for (uint64_t at = 0; at + kSymbolBytes <= section.content.size();
         at += kSymbolBytes) {
      const auto symbol = section.content.subspan(at, kSymbolBytes);
      if (StringAt(names, Load<uint32_t>(symbol, 0)) != wanted) continue;
      const uint16_t index = Load<uint16_t>(symbol, 6);
      const uint64_t address = Load<uint64_t>(symbol, 8);
      if (index >= sections.size() || address < sections[index].address) {
        return Bad(absl::StrCat("symbol ", wanted, " lies in no section"));
      }
      return Slice(sections[index].content, address - sections[index].address,
                   kDescriptorBytes);
    }
  }
  return absl::NotFoundError(
      absl::StrCat("code object: no kernel descriptor ", wanted));
}

// The metadata note's MessagePack document.
absl::StatusOr<absl::Span<const uint8_t>> FindMetadata(
    const std::vector<Section>& sections) {
  const auto aligned = [](uint64_t n) { return (n + 3) / 4 * 4; };
  for (const Section& section : sections) {
    if (section.type != kSectionNote) continue;
    uint64_t at = 0;
    while (at + 12 <= section.content.size()) {
      const uint64_t name_bytes = Load<uint32_t>(section.content, at);
      const uint64_t bytes = Load<uint32_t>(section.content, at + 4);
      const uint32_t type = Load<uint32_t>(section.content, at + 8);
      const auto name = Slice(section.content, at + 12, name_bytes);
      if (!name.ok()) return name.status();
      const uint64_t begin = at + 12 + aligned(name_bytes);
      const auto document = Slice(section.content, begin, bytes);
      if (!document.ok()) return document.status();
      if (type == kNoteMetadata && StringAt(*name, 0) == "AMDGPU") {
        return *document;
      }
      at = begin + aligned(bytes);
    }
  }
  return Bad("no metadata note");
}

// The numbers among the properties of one kernel in the metadata.
using Properties = std::map<std::string, uint64_t>;

// Reads one kernel's map; `name` receives its .name.
absl::Status ReadKernelMap(MsgpackReader& reader, std::string& name,
                           Properties& properties) {
  static constexpr absl::string_view kNumbers[] = {
      ".kernarg_segment_size", ".group_segment_fixed_size",
      ".private_segment_fixed_size", ".max_flat_workgroup_size"};
  const auto count = reader.ReadMap();
  if (!count.ok()) return count.status();
  for (uint32_t i = 0; i < *count; ++i) {
    const auto key = reader.ReadString();
    if (!key.ok()) return key.status();
    if (*key == ".name") {
      const auto value = reader.ReadString();
      if (!value.ok()) return value.status();
      name = std::string(*value);
    } else if (std::find(std::begin(kNumbers), std::end(kNumbers), *key) !=
               std::end(kNumbers)) {
      const auto value = reader.ReadUnsigned();
      if (!value.ok()) return value.status();
      properties[std::string(*key)] = *value;
    } else {
      const absl::Status status = reader.Skip();
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Properties> FindProperties(absl::Span<const uint8_t> document,
                                          absl::string_view kernel) {
  MsgpackReader reader(document);
  const auto count = reader.ReadMap();
  if (!count.ok()) return count.status();
  for (uint32_t i = 0; i < *count; ++i) {
    const auto key = reader.ReadString();
    if (!key.ok()) return key.status();
    if (*key != "amdhsa.kernels") {
      const absl::Status status = reader.Skip();
      if (!status.ok()) return status;
      continue;
    }
    const auto kernels = reader.ReadArray();
    if (!kernels.ok()) return kernels.status();
    for (uint32_t k = 0; k < *kernels; ++k) {
      std::string name;
      Properties properties;
      const absl::Status status = ReadKernelMap(reader, name, properties);
      if (!status.ok()) return status;
      if (name == kernel) return properties;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("code object: the metadata names no kernel ", kernel));
}

absl::Status MustAgree(absl::string_view what, uint64_t descriptor,
                       uint64_t metadata) {
  if (descriptor == metadata) return absl::OkStatus();
  return Bad(absl::StrCat(what, " is ", descriptor, " in the descriptor and ",
                          metadata, " in the metadata"));
}

}  // namespace

absl::StatusOr<KernelResources> ReadKernelResources(
    absl::Span<const uint8_t> elf, absl::string_view symbol) {
  const auto sections = ReadSections(elf);
  if (!sections.ok()) return sections.status();
  const auto descriptor = FindDescriptor(*sections, symbol);
  if (!descriptor.ok()) return descriptor.status();
  const auto document = FindMetadata(*sections);
  if (!document.ok()) return document.status();
  auto properties = FindProperties(*document, symbol);
  if (!properties.ok()) return properties.status();

  KernelResources resources;
  resources.lds_bytes = Load<uint32_t>(*descriptor, 0);
  resources.private_bytes = Load<uint32_t>(*descriptor, 4);
  resources.kernarg_bytes = Load<uint32_t>(*descriptor, 8);
  const uint32_t rsrc3 = Load<uint32_t>(*descriptor, 44);
  const uint32_t rsrc1 = Load<uint32_t>(*descriptor, 48);
  // GRANULATED_WORKITEM_VGPR_COUNT counts eights of both kinds together,
  // ACCUM_OFFSET fours before the first AGPR.
  const uint32_t registers = ((rsrc1 & 63) + 1) * 8;
  resources.vgprs = std::min(registers, ((rsrc3 & 63) + 1) * 4);
  resources.agprs = registers - resources.vgprs;
  // GRANULATED_WAVEFRONT_SGPR_COUNT is twice the number of sixteens but one.
  resources.sgprs = ((rsrc1 >> 6 & 15) / 2 + 1) * 16;
  resources.workgroup_size = static_cast<uint32_t>(
      std::min<uint64_t>((*properties)[".max_flat_workgroup_size"], ~0u));

  absl::Status status = MustAgree("LDS size", resources.lds_bytes,
                                  (*properties)[".group_segment_fixed_size"]);
  status.Update(MustAgree("scratch size", resources.private_bytes,
                          (*properties)[".private_segment_fixed_size"]));
  status.Update(MustAgree("size of the arguments", resources.kernarg_bytes,
                          (*properties)[".kernarg_segment_size"]));
  if (!status.ok()) return status;
  return resources;
}

}  // namespace zyfa
