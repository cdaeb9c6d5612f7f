#include "zyfa/emu/elf_image.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/Error.h"

namespace zyfa::emu {
namespace {

using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;
using Section = llvm::object::ELF64LE::Shdr;

constexpr uint64_t kMaxImageBytes = uint64_t{64} << 20;
constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("code object: ", what));
}
absl::Status Invalid(const char* what, llvm::Error error) {
  return Invalid(absl::StrCat(what, ": ", llvm::toString(std::move(error))));
}

absl::Status CheckHeader(const Elf& elf) {
  const auto& header = elf.getHeader();
  if (header.e_machine != llvm::ELF::EM_AMDGPU) {
    return Invalid(absl::StrFormat("machine %d is not AMDGPU (%d)",
                                   int{header.e_machine},
                                   int{llvm::ELF::EM_AMDGPU}));
  }
  if (header.e_type != llvm::ELF::ET_DYN) {
    return Invalid("not a linked shared object (ELF type DYN)");
  }
  if (header.e_ident[llvm::ELF::EI_OSABI] != llvm::ELF::ELFOSABI_AMDGPU_HSA) {
    return Invalid("not for the HSA ABI");
  }
  const uint32_t mach = header.e_flags & llvm::ELF::EF_AMDGPU_MACH;
  if (mach != llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950) {
    return Invalid(
        absl::StrFormat("for machine %#x, not gfx950 (%#x)", mach,
                        uint32_t{llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950}));
  }
  return absl::OkStatus();
}

absl::Status ReadSegments(const Elf& elf, absl::Span<const uint8_t> file,
                          ElfImage& image) {
  auto segments = elf.program_headers();
  if (!segments) return Invalid("program headers", segments.takeError());
  for (const auto& segment : *segments) {
    if (segment.p_type == llvm::ELF::PT_NOTE) {
      llvm::Error error = llvm::Error::success();
      for (const auto& note : elf.notes(segment, error)) {
        if (note.getName() == "AMDGPU" && note.getType() == kMetadataNote) {
          image.metadata = note.getDescAsStringRef(4).str();
        }
      }
      if (error) return Invalid("notes", std::move(error));
    }
    if (segment.p_type != llvm::ELF::PT_LOAD) continue;
    const uint64_t address = segment.p_vaddr, bytes = segment.p_memsz;
    if (address > kMaxImageBytes || bytes > kMaxImageBytes - address ||
        segment.p_filesz > bytes || segment.p_offset > file.size() ||
        segment.p_filesz > file.size() - segment.p_offset) {
      return Invalid(absl::StrFormat(
          "segment of %d bytes at %#x (file %d at %#x) does not fit", bytes,
          address, uint64_t{segment.p_filesz}, uint64_t{segment.p_offset}));
    }
    image.memory.resize(std::max<size_t>(image.memory.size(), address + bytes));
    std::copy_n(file.data() + segment.p_offset, segment.p_filesz,
                image.memory.data() + address);
  }
  return absl::OkStatus();
}

// `text`: the index of .text, whose address `image` has already.
absl::Status ReadSymbols(const Elf& elf, const Section& section, size_t text,
                         ElfImage& image) {
  auto symbols = elf.symbols(&section);
  if (!symbols) return Invalid("symbols", symbols.takeError());
  auto strings = elf.getStringTableForSymtab(section);
  if (!strings) return Invalid("symbol names", strings.takeError());
  for (const auto& symbol : *symbols) {
    if (symbol.st_shndx == llvm::ELF::SHN_UNDEF) continue;
    auto name = symbol.getName(*strings);
    if (!name) return Invalid("symbol name", name.takeError());
    if (name->empty()) continue;
    image.symbols[name->str()] = symbol.st_value;
    if (symbol.st_shndx == text && symbol.getType() != llvm::ELF::STT_SECTION &&
        symbol.st_value >= image.text_address &&
        symbol.st_value < image.text_address + image.text_bytes) {
      image.text_symbols.emplace(symbol.st_value - image.text_address,
                                 name->str());
    }
  }
  return absl::OkStatus();
}

absl::Status ReadRelocations(const Elf& elf, const Section& section,
                             ElfImage& image) {
  auto relocations = elf.relas(section);
  if (!relocations) return Invalid("relocations", relocations.takeError());
  for (const auto& relocation : *relocations) {
    const uint32_t type = relocation.getType(false);
    if (type != llvm::ELF::R_AMDGPU_RELATIVE64) {
      return Invalid(absl::StrCat("relocation of type ", type,
                                  ", only R_AMDGPU_RELATIVE64 is handled"));
    }
    const uint64_t at = relocation.r_offset;
    if (image.memory.size() < 8 || at > image.memory.size() - 8) {
      return Invalid(absl::StrFormat("relocation outside the image: %#x", at));
    }
    image.relative_relocations.emplace_back(
        at, static_cast<uint64_t>(relocation.r_addend));
  }
  return absl::OkStatus();
}

// Notes where .text lies; its index among the sections, 0 if there is none.
// `file_bytes`: no more text than file, for text is decoded as a whole.
absl::StatusOr<size_t> ReadText(const Elf& elf,
                                const Elf::Elf_Shdr_Range& sections,
                                uint64_t file_bytes, ElfImage& image) {
  size_t text = 0;
  for (size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    if (section.sh_type != llvm::ELF::SHT_PROGBITS) continue;
    auto name = elf.getSectionName(section);
    if (!name) return Invalid("section name", name.takeError());
    if (*name != ".text") continue;
    if (section.sh_addr > image.memory.size() ||
        section.sh_size > image.memory.size() - section.sh_addr ||
        section.sh_offset > file_bytes ||
        section.sh_size > file_bytes - section.sh_offset ||
        section.sh_addr % 4 != 0) {
      return Invalid(".text lies outside the segments or the file");
    }
    image.text_address = section.sh_addr;
    image.text_bytes = section.sh_size;
    text = i;
  }
  return text;
}

absl::Status ReadSections(const Elf& elf, uint64_t file_bytes,
                          ElfImage& image) {
  auto sections = elf.sections();
  if (!sections) return Invalid("sections", sections.takeError());
  const absl::StatusOr<size_t> text =
      ReadText(elf, *sections, file_bytes, image);
  if (!text.ok()) return text.status();
  for (const Section& section : *sections) {
    absl::Status status;
    if (section.sh_type == llvm::ELF::SHT_SYMTAB ||
        section.sh_type == llvm::ELF::SHT_DYNSYM) {
      status = ReadSymbols(elf, section, *text, image);
    } else if (section.sh_type == llvm::ELF::SHT_RELA &&
               (section.sh_flags & llvm::ELF::SHF_ALLOC) != 0) {
      status = ReadRelocations(elf, section, image);
    }
    if (!status.ok()) return status;
  }
  if (image.text_bytes == 0) return Invalid("no .text section");
  if (image.metadata.empty()) return Invalid("no AMDGPU metadata note");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ElfImage> ReadElf(absl::Span<const uint8_t> file) {
  // LLVM reads the tables in place and wants them aligned.
  std::vector<uint64_t> aligned((file.size() + 7) / 8);
  if (!file.empty()) std::memcpy(aligned.data(), file.data(), file.size());
  auto elf = Elf::create(llvm::StringRef(
      reinterpret_cast<const char*>(aligned.data()), file.size()));
  if (!elf) return Invalid("ELF header", elf.takeError());
  if (file[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 ||
      file[llvm::ELF::EI_DATA] != llvm::ELF::ELFDATA2LSB ||
      std::memcmp(file.data(), llvm::ELF::ElfMagic, 4) != 0) {
    return Invalid("not a 64-bit little-endian ELF file");
  }
  ElfImage image;
  for (absl::Status status :
       {CheckHeader(*elf), ReadSegments(*elf, file, image)}) {
    if (!status.ok()) return status;
  }
  if (absl::Status status = ReadSections(*elf, file.size(), image);
      !status.ok()) {
    return status;
  }
  return image;
}

}  // namespace zyfa::emu
