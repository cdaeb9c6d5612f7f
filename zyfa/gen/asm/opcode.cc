#include "zyfa/gen/asm/opcode.h"

#include <cctype>

namespace zyfa::gen {
namespace {

OperandClass ClassOf(char letter) {
  switch (letter) {
    case 'v':
      return OperandClass::kVgpr;
    case 'a':
      return OperandClass::kAgpr;
    case 'x':
      return OperandClass::kData;
    case 'S':
      return OperandClass::kScalarReg;
    case 'm':
      return OperandClass::kMask;
    case 'z':
      return OperandClass::kSaluSource;
    case 'f':
      return OperandClass::kF32;
    case 'h':
      return OperandClass::kF16;
    case 'i':
      return OperandClass::kInt;
    case 'b':
      return OperandClass::kBits;
    case 'p':
      return OperandClass::kPackedF32;
    case 'c':
      return OperandClass::kAddend;
    case 'A':
      return OperandClass::kBufferAddress;
    case 'O':
      return OperandClass::kBufferOffset;
    case 'g':
      return OperandClass::kGlobalAddress;
    case 'G':
      return OperandClass::kGlobalBase;
    case 'K':
      return OperandClass::kSmemOffset;
    case 'L':
      return OperandClass::kLabel;
    case 'k':
      return OperandClass::kSigned16;
    default:
      return OperandClass::kUnsigned;
  }
}

// The notation of opcodes.inc.
std::vector<OperandSpec> ParseOperands(const char* text) {
  std::vector<OperandSpec> specs;
  for (const char* p = text; *p != '\0';) {
    if (*p == ' ') {
      ++p;
      continue;
    }
    OperandSpec spec;
    if (*p == '=') spec.access = OperandAccess::kWrite;
    if (*p == '+') spec.access = OperandAccess::kReadWrite;
    if (*p == '~') spec.access = OperandAccess::kPartialWrite;
    if (spec.access != OperandAccess::kRead) ++p;
    spec.klass = ClassOf(*p++);
    if (std::isdigit(static_cast<unsigned char>(*p))) {
      spec.count = 0;
      while (std::isdigit(static_cast<unsigned char>(*p))) {
        spec.count = 10 * spec.count + (*p++ - '0');
      }
    } else if (spec.klass == OperandClass::kMask ||
               spec.klass == OperandClass::kGlobalBase) {
      spec.count = 2;
    }
    specs.push_back(spec);
  }
  return specs;
}

struct Row {
  Opcode opcode;
  const char* name;
  const char* mnemonic;
  Format format;
  const char* operands;
  uint32_t flags;
  int passes;
};

constexpr Row kRows[] = {
#define ZYFA_OPCODE(name, mnemonic, format, operands, flags, passes) \
  {Opcode::name, #name, mnemonic, Format::format, operands, flags, passes},
#include "zyfa/gen/asm/opcodes.inc"
};

std::vector<OpcodeInfo> BuildTable() {
  std::vector<OpcodeInfo> table;
  for (const Row& row : kRows) {
    table.push_back({row.opcode, row.name, row.mnemonic, row.format, row.flags,
                     row.passes, ParseOperands(row.operands)});
  }
  return table;
}

}  // namespace

const std::vector<OpcodeInfo>& AllOpcodes() {
  static const auto& table = *new std::vector<OpcodeInfo>(BuildTable());
  return table;
}

const OpcodeInfo& InfoOf(Opcode opcode) {
  return AllOpcodes()[static_cast<size_t>(opcode)];
}

}  // namespace zyfa::gen
