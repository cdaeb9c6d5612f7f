#ifndef ZYFA_EMU_ELF_IMAGE_H_
#define ZYFA_EMU_ELF_IMAGE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace zyfa::emu {

// A gfx950 shared object as a loader sees it.
struct ElfImage {
  std::vector<uint8_t> memory;  // from address 0; segments at their addresses
  uint64_t text_address = 0, text_bytes = 0;  // of .text, inside memory
  std::map<std::string, uint64_t> symbols;    // defined ones
  // Those of .text that name code, by byte of .text and then by name; a section
  // is none.
  std::set<std::pair<uint64_t, std::string>> text_symbols;
  std::string metadata;  // note AMDGPU 32, msgpack
  std::vector<std::pair<uint64_t, uint64_t>>
      relative_relocations;  // at, addend
};

// InvalidArgument says what is wrong with the file, or that it is for another
// machine.
absl::StatusOr<ElfImage> ReadElf(absl::Span<const uint8_t> file);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_ELF_IMAGE_H_
