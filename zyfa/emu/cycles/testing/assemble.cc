#include "zyfa/emu/cycles/testing/assemble.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "zyfa/emu/decoder.h"

extern "C" void LLVMInitializeAMDGPUTargetInfo();
extern "C" void LLVMInitializeAMDGPUTargetMC();
extern "C" void LLVMInitializeAMDGPUAsmParser();

namespace zyfa::emu {
namespace {

// Keeps the bytes of the instructions and nothing else.
class ByteStreamer : public llvm::MCStreamer {
 public:
  ByteStreamer(llvm::MCContext& context, const llvm::MCCodeEmitter& emitter)
      : MCStreamer(context), emitter_(emitter) {}
  void emitInstruction(const llvm::MCInst& inst,
                       const llvm::MCSubtargetInfo& subtarget) override {
    llvm::SmallVector<llvm::MCFixup, 2> fixups;
    emitter_.encodeInstruction(inst, bytes, fixups, subtarget);
  }
  bool emitSymbolAttribute(llvm::MCSymbol*, llvm::MCSymbolAttr) override {
    return false;
  }
  void emitCommonSymbol(llvm::MCSymbol*, uint64_t, llvm::Align) override {}

  llvm::SmallVector<char, 0> bytes;

 private:
  const llvm::MCCodeEmitter& emitter_;
};

[[noreturn]] void Die(const std::string& message) {
  llvm::errs() << message << "\n";
  std::abort();
}

std::vector<uint8_t> BytesOf(const std::string& text) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) Die(error);
  const llvm::MCTargetOptions options;
  const std::unique_ptr<llvm::MCRegisterInfo> registers(
      target->createMCRegInfo(triple));
  const std::unique_ptr<llvm::MCAsmInfo> asm_info(
      target->createMCAsmInfo(*registers, triple, options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(
      target->createMCInstrInfo());
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "gfx950", ""));
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text), {});
  llvm::MCContext context(triple, asm_info.get(), registers.get(),
                          subtarget.get(), &source);
  const std::unique_ptr<llvm::MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(
      target->createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());
  ByteStreamer streamer(context, *emitter);
  target->createNullTargetStreamer(streamer);
  const std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(source, context, streamer, *asm_info));
  const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(/*NoInitialTextSection=*/false)) Die("in:\n" + text);
  return std::vector<uint8_t>(streamer.bytes.begin(), streamer.bytes.end());
}

}  // namespace

std::vector<Instruction> Assemble(const std::vector<std::string>& lines) {
  const std::vector<uint8_t> bytes = BytesOf(absl::StrJoin(lines, "\n") + "\n");
  std::vector<Instruction> decoded =
      (*Decoder::Create())->DecodeAll(absl::MakeConstSpan(bytes));
  if (decoded.size() != lines.size()) Die("a line is no instruction");
  for (const Instruction& inst : decoded) {
    if (!inst.understood) Die("not understood: " + inst.text);
  }
  return decoded;
}

}  // namespace zyfa::emu
