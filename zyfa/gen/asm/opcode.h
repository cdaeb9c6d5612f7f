#ifndef ZYFA_GEN_ASM_OPCODE_H_
#define ZYFA_GEN_ASM_OPCODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "zyfa/gen/asm/registers.h"

namespace zyfa::gen {

// Encoding families as far as operand rules and hazards differ between them.
enum class Format : uint8_t {
  kSop1,
  kSop2,
  kSopk,
  kSopc,
  kSopp,
  kBranch,
  kSetreg,
  kWaitcnt,
  kSmem,
  kVop1,
  kVop2,
  kVopc,
  kVop3,
  kVop3p,
  kDpp,
  kSdwa,
  kMfma,
  kMfmaScale,
  kSmfmac,
  kDsRead,
  kDsWrite,
  kDsPermute,
  kBufferLoad,
  kBufferLoadLds,
  kBufferStore,
  kGlobalLoad,
  kGlobalLoadLds,
  kGlobalStore,
  kCacheControl,
};

// Properties of an opcode that its operands do not show.
enum OpcodeFlag : uint32_t {
  kWritesScc = 1u << 0,
  kReadsScc = 1u << 1,
  kWritesExec = 1u << 2,
  kReadsExecScalar = 1u << 3,  // EXEC as data
  kTrans = 1u << 4,            // transcendental unit
  kDot = 1u << 5,
  kCommonF32 = 1u << 6,     // clamp and omod allowed
  kClampInt = 1u << 7,      // clamp allowed, no omod
  kDstHigh = 1u << 8,       // op_sel's last entry picks the high result half
  kDstByte = 1u << 9,       // op_sel[2:3] pick the result byte
  kSrcHigh = 1u << 10,      // op_sel[0] picks the high source half
  kSrcByte = 1u << 11,      // op_sel[0:1] pick the source byte
  kIgnoresExec = 1u << 12,  // acts on all lanes, or reads no EXEC
  kF8F6F4 = 1u << 13,       // operand sizes follow cbsz and blgp
  kGlobalLane = 1u << 14,   // v_readlane, v_writelane, v_readfirstlane
  kPermlane = 1u << 15,
  kBarrier = 1u << 16,
  kTerminator = 1u << 17,  // s_endpgm
  kReadsVccBranch = 1u << 18,
  kReadsExecBranch = 1u << 19,
  kUnconditional = 1u << 20,
  kAnyAlignment = 1u << 21,  // the result tuple need not start even
  kOpSel3p = 1u << 22,       // op_sel_hi used (packed arithmetic)
  kIntegerMatrix = 1u << 23,
};

enum class OperandAccess : uint8_t {
  kRead,
  kWrite,
  kReadWrite,
  kPartialWrite,  // bits or lanes that are not written keep their value
};

enum class OperandClass : uint8_t {
  kVgpr,
  kAgpr,
  kData,        // VGPR or AGPR
  kScalarReg,   // SGPR or special scalar
  kMask,        // lane mask: SGPR pair or VCC
  kSaluSource,  // SGPR or constant
  kF32,         // VALU sources: VGPR, SGPR or constant
  kF16,
  kInt,
  kBits,
  kPackedF32,
  kAddend,         // VGPR or AGPR or inline constant
  kBufferAddress,  // VGPR or off
  kBufferOffset,   // SGPR or inline constant
  kGlobalAddress,  // VGPR or VGPR pair
  kGlobalBase,     // SGPR pair or off
  kSmemOffset,     // SGPR or 21-bit signed constant
  kLabel,
  kUnsigned,  // printed constant of `count` bits
  kSigned16,
};

struct OperandSpec {
  OperandAccess access = OperandAccess::kRead;
  OperandClass klass = OperandClass::kVgpr;
  int count = 1;  // registers; bits for kUnsigned

  bool IsValuSource() const {
    return klass >= OperandClass::kF32 && klass <= OperandClass::kPackedF32;
  }
  bool Reads() const {
    return access == OperandAccess::kRead ||
           access == OperandAccess::kReadWrite;
  }
  bool Writes() const { return access != OperandAccess::kRead; }
};

enum class Opcode : uint16_t {
#define ZYFA_OPCODE(name, mnemonic, format, operands, flags, passes) name,
#include "zyfa/gen/asm/opcodes.inc"
};

struct OpcodeInfo {
  Opcode opcode;
  std::string name;      // the C++ method's name
  std::string mnemonic;  // as the assembler knows it
  Format format;
  uint32_t flags;
  // Passes of a matrix instruction (cdna4-isa 1.1); for f8f6f4 those of the
  // 4- and 6-bit formats.
  int passes;
  std::vector<OperandSpec> operands;

  bool Has(OpcodeFlag f) const { return (flags & f) != 0; }
  bool IsMatrix() const {
    return format == Format::kMfma || format == Format::kMfmaScale ||
           format == Format::kSmfmac;
  }
  bool IsValu() const {
    return format >= Format::kVop1 && format <= Format::kSdwa;
  }
  bool IsSalu() const { return format <= Format::kSetreg; }
  bool IsDs() const {
    return format >= Format::kDsRead && format <= Format::kDsPermute;
  }
  bool IsVmem() const {
    return format >= Format::kBufferLoad && format <= Format::kCacheControl;
  }
  bool IsLdsDma() const {
    return format == Format::kBufferLoadLds || format == Format::kGlobalLoadLds;
  }
  bool IsVmemStore() const {
    return format == Format::kBufferStore || format == Format::kGlobalStore;
  }
};

const OpcodeInfo& InfoOf(Opcode opcode);
const std::vector<OpcodeInfo>& AllOpcodes();

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_OPCODE_H_
