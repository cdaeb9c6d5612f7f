#ifndef ZYFA_EMU_DECODER_H_
#define ZYFA_EMU_DECODER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Decodes gfx950 machine code with LLVM's MC library. Not thread-safe.
class Decoder {
 public:
  // Internal error if the LLVM at hand has no gfx950 disassembler.
  static absl::StatusOr<std::unique_ptr<Decoder>> Create();
  ~Decoder();

  // The instruction at byte `address` of `text`, address < text.size(), without
  // handler. What does not decode, or is cut off by the end of `text`, becomes
  // an instruction of up to 4 bytes that is not `understood`, with a text that
  // says so.
  Instruction Decode(absl::Span<const uint8_t> text, uint64_t address);
  // All of `text` in address order.
  std::vector<Instruction> DecodeAll(absl::Span<const uint8_t> text);

 private:
  struct Llvm;
  explicit Decoder(std::unique_ptr<Llvm> llvm);
  std::unique_ptr<Llvm> llvm_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_DECODER_H_
