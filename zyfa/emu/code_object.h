#ifndef ZYFA_EMU_CODE_OBJECT_H_
#define ZYFA_EMU_CODE_OBJECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// One argument as the metadata lists it.
struct KernelArgument {
  std::string name;
  std::string
      value_kind;  // "global_buffer", "by_value", "hidden_block_count_x"...
  uint32_t offset = 0;
  uint32_t size = 0;
};

// Descriptor (64 bytes, symbol NAME.kd) and metadata of one kernel.
struct KernelInfo {
  std::string name;    // .name of the metadata
  uint64_t entry = 0;  // byte offset inside .text
  uint32_t kernarg_bytes = 0;
  uint32_t lds_bytes = 0;      // static
  uint32_t private_bytes = 0;  // scratch, per lane
  uint32_t vgprs = 0;          // allocated, AGPRs included
  uint32_t accum_offset = 0;   // first AGPR
  uint32_t sgprs = 0;
  uint32_t max_workgroup_size = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0, properties = 0;
  uint32_t preload = 0;  // kernarg dwords in SGPRs: [6:0] count, [15:7] first
  std::vector<KernelArgument> arguments;
};

// A gfx950 code object: checked, with its code decoded once.
class CodeObject {
 public:
  // InvalidArgument says what is wrong with the ELF, the metadata or the
  // descriptor, or that the object is for another GPU.
  static absl::StatusOr<std::unique_ptr<CodeObject>> Load(
      absl::Span<const uint8_t> elf);

  const std::vector<KernelInfo>& kernels() const { return kernels_; }
  // nullptr if there is none of that name.
  const KernelInfo* FindKernel(const std::string& name) const;
  // All of .text in address order; a word that does not decode is an
  // Instruction without handler whose text says so.
  const std::vector<Instruction>& instructions() const { return instructions_; }
  // Index into instructions() of the one at a byte offset of .text, or -1.
  int64_t IndexAt(uint64_t offset) const;
  // Symbols in .text, kernels' own included, by offset and then by name.
  struct Symbol {
    uint64_t offset = 0;  // byte of .text
    std::string name;
  };
  const std::vector<Symbol>& symbols() const { return symbols_; }
  // What a loader puts into memory, from ELF address 0 to the last segment's
  // end, and .text's place in it.
  const std::vector<uint8_t>& image() const { return image_; }
  uint64_t text_offset() const { return text_offset_; }
  // 64-bit words of the image to which the loader adds the image's address.
  struct Relocation {
    uint64_t offset = 0;
    uint64_t addend = 0;
  };
  const std::vector<Relocation>& relocations() const { return relocations_; }
  // Bytes of .text, for s_getpc and constants that code keeps beside itself.
  const std::vector<uint8_t>& text() const { return text_; }

 private:
  CodeObject() = default;

  std::vector<KernelInfo> kernels_;
  std::vector<Instruction> instructions_;
  std::vector<int32_t> index_of_word_;
  std::vector<Symbol> symbols_;
  std::vector<uint8_t> text_;
  std::vector<uint8_t> image_;
  uint64_t text_offset_ = 0;
  std::vector<Relocation> relocations_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CODE_OBJECT_H_
