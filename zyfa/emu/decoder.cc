#include "zyfa/emu/decoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/ADT/ArrayRef.h"
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
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "zyfa/emu/disassembly_text.h"
#include "zyfa/emu/wave.h"

extern "C" void LLVMInitializeAMDGPUTargetInfo();
extern "C" void LLVMInitializeAMDGPUTargetMC();
extern "C" void LLVMInitializeAMDGPUDisassembler();

namespace zyfa::emu {
namespace {

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
}

// Number behind `prefix` at the start of an LLVM register name, or -1:
// "VGPR52_VGPR53" with "VGPR" gives 52.
int NumberAfter(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return -1;
  name.remove_prefix(prefix.size());
  int number = -1;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

// The 32-bit registers of one of LLVM's registers; count 0 for what the
// emulator does not track (MODE, SCC, constants).
RegisterRange RangeOfRegister(std::string_view name) {
  RegisterRange range;
  struct Family {
    std::string_view prefix;
    int base;
    bool vector;
  };
  static constexpr Family kFamilies[] = {{"VGPR", 0, true},
                                         {"AGPR", kVgprs, true},
                                         {"SGPR", 0, false},
                                         {"TTMP", 108, false}};
  for (const Family& family : kFamilies) {
    const int number = NumberAfter(name, family.prefix);
    if (number < 0) continue;
    range.vector = family.vector;
    range.first = static_cast<uint16_t>(family.base + number);
    for (size_t at = 0; at != std::string_view::npos;
         at = name.find(family.prefix, at + 1)) {
      ++range.count;
    }
    return range;
  }
  struct Named {
    std::string_view prefix;  // longest first
    uint16_t first, count;
  };
  static constexpr Named kNamed[] = {{"VCC_LO", kVccLo, 1},
                                     {"VCC_HI", kVccLo + 1, 1},
                                     {"VCC", kVccLo, 2},
                                     {"EXEC_LO", kExecLo, 1},
                                     {"EXEC_HI", kExecLo + 1, 1},
                                     {"EXEC", kExecLo, 2},
                                     {"M0", kM0, 1},
                                     {"FLAT_SCR_LO", 102, 1},
                                     {"FLAT_SCR_HI", 103, 1},
                                     {"FLAT_SCR", 102, 2},
                                     {"XNACK_MASK_LO", 104, 1},
                                     {"XNACK_MASK_HI", 105, 1},
                                     {"XNACK_MASK", 104, 2}};
  for (const Named& named : kNamed) {
    if (name.substr(0, named.prefix.size()) == named.prefix) {
      range.first = named.first;
      range.count = named.count;
      return range;
    }
  }
  return range;
}

// The longest instruction is four words. Zeros follow the text's end, for LLVM
// 22 does not survive a literal that is missing.
using Words = std::array<uint32_t, 4>;
Words WordsAt(absl::Span<const uint8_t> text, uint64_t address) {
  Words words = {};
  std::memcpy(words.data(), text.data() + address,
              std::min<size_t>(sizeof(words), text.size() - address));
  return words;
}

// SDWA selections that do not exist, which LLVM's printer takes for impossible
// (ISA 12.13 "SDWA", "SDWAB"). `rest`: the word behind.
bool IsBadSdwa(uint32_t word, uint32_t rest) {
  constexpr uint32_t kSdwa = 0xf9;
  const bool vop1 = word >> 25 == 0x3f, vopc = word >> 25 == 0x3e;
  if (word >> 31 != 0 || (word & 0x1ff) != kSdwa) return false;
  if (!vopc && ((rest >> 8 & 7) == 7 || (rest >> 11 & 3) == 3)) return true;
  return (rest >> 16 & 7) == 7 || (!vop1 && (rest >> 24 & 7) == 7);
}

// Products of the f8f6f4 kind whose A or B does not start a tuple of eight
// vector registers: LLVM 22 narrows what it has not decoded. `rest`: the word
// behind.
bool IsBadF8f6f4(uint32_t word, uint32_t rest) {
  if (word >> 16 != 0xd3ad && word >> 16 != 0xd3ae) return false;
  for (const uint32_t source : {rest & 0x1ff, rest >> 9 & 0x1ff}) {
    if (source < 256 || source > 256 + kVgprs - 8) return true;
  }
  return false;
}

// VOP2 opcodes that have a constant behind them, with a literal as source 0 as
// well: there is room for one only, and LLVM 22 looks for both.
bool IsBadLiteral(uint32_t word) {
  constexpr uint32_t kLiteral = 0xff, kMadmkF16 = 0x24, kMadakF16 = 0x25;
  const uint32_t opcode = word >> 25;
  return (opcode == kMadmkF16 || opcode == kMadakF16) &&
         (word & 0x1ff) == kLiteral;
}

// What LLVM's disassembler does not survive.
bool IsPoison(const Words& words) {
  constexpr uint32_t kScalePrefix = 0xd3ac;
  return IsBadSdwa(words[0], words[1]) || IsBadLiteral(words[0]) ||
         IsBadF8f6f4(words[0], words[1]) ||
         (words[0] >> 16 == kScalePrefix && IsBadF8f6f4(words[2], words[3]));
}

}  // namespace

struct Decoder::Llvm {
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asm_info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::vector<RegisterRange> ranges;  // by LLVM's register number

  void AddRegister(unsigned reg, bool write, Instruction& inst) const {
    if (reg >= ranges.size() || ranges[reg].count == 0) return;
    RegisterRange range = ranges[reg];
    range.write = write;
    inst.registers.push_back(range);
  }

  void AddRegisters(const llvm::MCInst& mc, Instruction& inst) const {
    const llvm::MCInstrDesc& desc = instructions->get(mc.getOpcode());
    for (unsigned i = 0; i < mc.getNumOperands(); ++i) {
      const llvm::MCOperand& operand = mc.getOperand(i);
      if (operand.isReg()) {
        AddRegister(operand.getReg().id(), i < desc.getNumDefs(), inst);
      }
    }
    for (llvm::MCPhysReg reg : desc.implicit_defs()) {
      AddRegister(reg, true, inst);
    }
    for (llvm::MCPhysReg reg : desc.implicit_uses()) {
      AddRegister(reg, false, inst);
    }
    // Reads first: what is wrong with both is told of the read.
    std::vector<RegisterRange> ordered;
    ordered.reserve(inst.registers.size());
    for (const bool write : {false, true}) {
      std::copy_if(
          inst.registers.begin(), inst.registers.end(),
          std::back_inserter(ordered),
          [write](const RegisterRange& r) { return r.write == write; });
    }
    inst.registers = std::move(ordered);
  }
};

Decoder::Decoder(std::unique_ptr<Llvm> llvm) : llvm_(std::move(llvm)) {}
Decoder::~Decoder() = default;

absl::StatusOr<std::unique_ptr<Decoder>> Decoder::Create() {
  InitializeLlvm();
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) {
    return absl::InternalError(
        absl::StrCat("LLVM has no AMDGPU target: ", error));
  }
  auto llvm = std::make_unique<Llvm>();
  llvm->registers.reset(target->createMCRegInfo(triple));
  llvm->asm_info.reset(
      target->createMCAsmInfo(*llvm->registers, triple, llvm->options));
  llvm->instructions.reset(target->createMCInstrInfo());
  llvm->subtarget.reset(target->createMCSubtargetInfo(triple, "gfx950", ""));
  if (llvm->subtarget == nullptr ||
      !llvm->subtarget->isCPUStringValid("gfx950")) {
    return absl::InternalError("LLVM does not know gfx950");
  }
  llvm->context = std::make_unique<llvm::MCContext>(
      triple, llvm->asm_info.get(), llvm->registers.get(),
      llvm->subtarget.get());
  llvm->disassembler.reset(
      target->createMCDisassembler(*llvm->subtarget, *llvm->context));
  llvm->printer.reset(target->createMCInstPrinter(
      triple, 0, *llvm->asm_info, *llvm->instructions, *llvm->registers));
  if (llvm->disassembler == nullptr || llvm->printer == nullptr) {
    return absl::InternalError("LLVM has no AMDGPU disassembler");
  }
  for (unsigned reg = 0; reg < llvm->registers->getNumRegs(); ++reg) {
    llvm->ranges.push_back(RangeOfRegister(llvm->registers->getName(reg)));
  }
  return std::unique_ptr<Decoder>(new Decoder(std::move(llvm)));
}

Instruction Decoder::Decode(absl::Span<const uint8_t> text, uint64_t address) {
  Instruction inst;
  inst.address = address;
  const Words words = WordsAt(text, address);
  const uint32_t word = words[0];
  const uint64_t rest = text.size() - address;
  llvm::MCInst mc;
  uint64_t size = 0;
  const bool decoded =
      !IsPoison(words) &&
      llvm_->disassembler->getInstruction(
          mc, size,
          llvm::ArrayRef<uint8_t>(
              reinterpret_cast<const uint8_t*>(words.data()), sizeof(words)),
          address, llvm::nulls()) == llvm::MCDisassembler::Success &&
      size >= 4 && size % 4 == 0 && size <= rest;
  if (!decoded) {
    inst.size = static_cast<uint32_t>(std::min<uint64_t>(4, rest));
    inst.text = absl::StrFormat("undecodable word %#010x", word);
    return inst;
  }
  inst.size = static_cast<uint32_t>(size);
  llvm::raw_string_ostream stream(inst.text);
  llvm_->printer->printInst(&mc, address, "", *llvm_->subtarget, stream);
  stream.flush();
  std::replace(inst.text.begin(), inst.text.end(), '\t', ' ');
  const size_t start = inst.text.find_first_not_of(' ');
  inst.text.erase(0, start == std::string::npos ? inst.text.size() : start);
  while (!inst.text.empty() && inst.text.back() == ' ') inst.text.pop_back();

  inst.understood = ParseDisassembly(word, inst);
  llvm_->AddRegisters(mc, inst);

  const llvm::MCInstrDesc& desc = llvm_->instructions->get(mc.getOpcode());
  const bool direct =
      (desc.isBranch() && !desc.isIndirectBranch()) || desc.isCall();
  if (direct && mc.getNumOperands() > 0 &&
      mc.getOperand(mc.getNumOperands() - 1).isImm()) {
    // SOPP and SOPK: signed dwords behind the instruction.
    const int64_t target = static_cast<int64_t>(address) + 4 +
                           4 * static_cast<int16_t>(word & 0xffff);
    inst.branch_target = target;
    const size_t last = inst.text.find_last_of(' ');
    inst.text = absl::StrCat(inst.text.substr(0, last + 1),
                             absl::StrFormat("%#x", target));
  }
  return inst;
}

std::vector<Instruction> Decoder::DecodeAll(absl::Span<const uint8_t> text) {
  std::vector<Instruction> instructions;
  for (uint64_t at = 0; at < text.size(); at += instructions.back().size) {
    instructions.push_back(Decode(text, at));
  }
  return instructions;
}

}  // namespace zyfa::emu
