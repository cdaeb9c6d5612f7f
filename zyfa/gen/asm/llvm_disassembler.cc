#include "zyfa/gen/asm/llvm_disassembler.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "zyfa/gen/asm/instruction.h"

extern "C" void LLVMInitializeAMDGPUTargetInfo();
extern "C" void LLVMInitializeAMDGPUTargetMC();
extern "C" void LLVMInitializeAMDGPUDisassembler();

namespace zyfa::gen {
namespace {

// Parts of LLVM's register names, "VGPR4_VGPR5" or "VCC_LO_gfx9" and so on.
void AddUnits(const std::string& name, std::set<int>& units) {
  auto add = [&](int first, int count) {
    for (int i = 0; i < count; ++i) units.insert(first + i);
  };
  auto starts = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  if (starts("VCC_LO")) return add(kScalarUnit + 106, 1);
  if (starts("VCC_HI")) return add(kScalarUnit + 107, 1);
  if (starts("VCC")) return add(kScalarUnit + 106, 2);
  if (starts("EXEC_LO")) return add(kScalarUnit + 126, 1);
  if (starts("EXEC_HI")) return add(kScalarUnit + 127, 1);
  if (starts("EXEC")) return add(kScalarUnit + 126, 2);
  if (starts("M0")) return add(kScalarUnit + 124, 1);
  if (starts("SCC")) return add(kSccUnit, 1);
  int base = 0;
  if (starts("SGPR")) {
    base = kScalarUnit;
  } else if (starts("VGPR")) {
    base = kVgprUnit;
  } else if (starts("AGPR")) {
    base = kAgprUnit;
  } else {
    return;
  }
  int count = 1;
  for (char c : name) count += c == '_';
  add(base + std::atoi(name.c_str() + 4), count);
}

}  // namespace

absl::StatusOr<std::vector<LlvmInstruction>> DisassembleFile(
    const std::string& path) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::InternalError(error);
  const llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(
      target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> asm_info(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "gfx950", ""));
  llvm::MCContext context(triple, asm_info.get(), registers.get(),
                          subtarget.get());
  std::unique_ptr<llvm::MCDisassembler> disassembler(
      target->createMCDisassembler(*subtarget, context));
  std::unique_ptr<llvm::MCInstPrinter> printer(
      target->createMCInstPrinter(triple, asm_info->getAssemblerDialect(),
                                  *asm_info, *instructions, *registers));

  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", llvm::toString(file.takeError())));
  }
  llvm::StringRef code;
  for (const llvm::object::SectionRef& section :
       file->getBinary()->sections()) {
    auto name = section.getName();
    if (!name || *name != ".text") continue;
    auto contents = section.getContents();
    if (contents) code = *contents;
  }

  std::vector<LlvmInstruction> result;
  const auto bytes = llvm::ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t*>(code.data()), code.size());
  for (uint64_t at = 0; at < bytes.size();) {
    llvm::MCInst mc;
    uint64_t size = 0;
    if (disassembler->getInstruction(mc, size, bytes.slice(at), at,
                                     llvm::nulls()) !=
        llvm::MCDisassembler::Success) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": no instruction at ", at));
    }
    LlvmInstruction inst;
    llvm::raw_string_ostream out(inst.text);
    printer->printInst(&mc, at, "", *subtarget, out);
    inst.opcode_name = instructions->getName(mc.getOpcode()).str();
    inst.bytes = static_cast<int>(size);
    const llvm::MCInstrDesc& desc = instructions->get(mc.getOpcode());
    for (unsigned i = 0; i < mc.getNumOperands(); ++i) {
      const llvm::MCOperand& operand = mc.getOperand(i);
      if (!operand.isReg()) continue;
      AddUnits(registers->getName(operand.getReg()),
               i < desc.getNumDefs() ? inst.writes : inst.reads);
    }
    for (llvm::MCPhysReg reg : desc.implicit_defs()) {
      AddUnits(registers->getName(reg), inst.writes);
    }
    for (llvm::MCPhysReg reg : desc.implicit_uses()) {
      AddUnits(registers->getName(reg), inst.reads);
    }
    result.push_back(std::move(inst));
    at += size;
  }
  return result;
}

}  // namespace zyfa::gen
