#ifndef ZYFA_EMU_INSTRUCTION_H_
#define ZYFA_EMU_INSTRUCTION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace zyfa::emu {

struct Instruction;
struct Wave;

// Executes one instruction for all lanes of a wave. The program counter has
// already been moved behind the instruction.
using Handler = void (*)(const Instruction& inst, Wave& wave);

// Scalar operands are named by their hardware number (ISA 3.6 "SGPR" table):
// 0..101 SGPRs, 102..105 flat scratch and XNACK mask, 106/107 VCC, 108..123
// trap temporaries, 124 M0, 126/127 EXEC. From 235 on read-only values.
enum ScalarRegister : uint16_t {
  kVccLo = 106,
  kM0 = 124,
  kExecLo = 126,
  kSrcSharedBase = 235,   // address of LDS in the flat address space, 64 bits
  kSrcPrivateBase = 237,  // of scratch
  kSrcVccz = 251,         // 1 if VCC is 0
  kSrcExecz = 252,
  kSrcScc = 253,
};

// Where LDS and scratch lie in the flat address space: above every address of
// device memory, 4 GiB each.
inline constexpr uint64_t kSharedAperture = uint64_t{1} << 48;
inline constexpr uint64_t kPrivateAperture = uint64_t{1} << 49;

enum class OperandKind : uint8_t {
  kNone,     // absent, or "off"
  kVgpr,     // architectural VGPR `index`
  kAgpr,     // accumulation VGPR `index`
  kScalar,   // ScalarRegister or SGPR `index`
  kInteger,  // `integer`: inline integer or 32-bit literal
  kFloat,  // `real`: inline float such as 1.0, meaning depends on operand type
};

struct Operand {
  OperandKind kind = OperandKind::kNone;
  uint16_t index = 0;  // first register
  uint16_t count = 0;  // registers named, 1 for v3, 4 for v[0:3]
  int64_t integer =
      0;  // sign-extended; literals as their 32 bits, zero-extended
  // As printed; 0.15915494 (32 bit) and 0.15915494309189532 (64) are 1/(2 pi).
  double real = 0;
  bool negate = false;       // -x
  bool absolute = false;     // |x|
  bool sign_extend = false;  // sext(x), SDWA only
};

enum class DppControl : uint8_t {
  kNone,
  kQuadPerm,
  kRowShl,
  kRowShr,
  kRowRor,
  kRowMirror,
  kRowHalfMirror,
  kRowBcast15,
  kRowBcast31,
  kRowNewBcast,
  kWaveShl,
  kWaveRol,
  kWaveShr,
  kWaveRor,
};

enum class SdwaSelect : uint8_t {
  kDword,
  kByte0,
  kByte1,
  kByte2,
  kByte3,
  kWord0,
  kWord1,
};
enum class SdwaUnused : uint8_t { kPad, kSext, kPreserve };

// Everything that the assembler writes behind the operands.
struct Modifiers {
  // Bit i is entry i of the list; the has_ flags say whether it was written.
  uint8_t op_sel = 0, op_sel_hi = 0, neg_lo = 0, neg_hi = 0;
  bool has_op_sel = false, has_op_sel_hi = false;
  bool clamp = false;
  int8_t omod = 0;  // 0 none, 1 mul:2, 2 mul:4, 3 div:2
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  uint8_t bitop3 = 0;
  // Memory.
  int32_t offset = 0;
  uint8_t offset0 = 0, offset1 = 0;
  bool offen = false, idxen = false, lds = false, gds = false;
  bool sc0 = false, sc1 = false, nt = false;
  // DPP. quad_perm: two bits a lane, lane 0 lowest.
  DppControl dpp = DppControl::kNone;
  uint8_t dpp_value = 0;  // shift amount, quad_perm pattern or broadcast lane
  uint8_t row_mask = 0xf, bank_mask = 0xf;
  bool bound_ctrl = false;
  // SDWA.
  bool sdwa = false;
  SdwaSelect dst_sel = SdwaSelect::kDword;
  SdwaSelect src_sel[2] = {SdwaSelect::kDword, SdwaSelect::kDword};
  SdwaUnused dst_unused = SdwaUnused::kPad;
};

// One run of registers that an instruction reads or writes, implicit ones
// included, as the instruction set's own tables (LLVM's MCInstrDesc) name them.
struct RegisterRange {
  bool vector = false;  // else scalar, `first` as in ScalarRegister
  bool write = false;
  uint16_t first = 0;  // vector: row of Wave::vgpr, AGPRs from 256
  uint16_t count = 0;
};

// What the counts of a run go by.
enum class InstructionClass : uint8_t {
  kSalu,
  kValu,
  kTrans,
  kMfma,
  kLds,
  kVmem,
  kSmem,
  kBranch,
  kOther,
};
inline constexpr int kInstructionClasses = 9;

// One decoded instruction. Operands stand in assembler order with destinations
// first and implicit VCC written out, exactly as LLVM prints them.
struct Instruction {
  uint64_t address = 0;  // byte offset inside .text of the code object
  uint32_t size = 0;     // bytes: 4, 8, 12 or 16
  std::string mnemonic;  // without _e32, _e64, _dpp, _sdwa
  std::string text;      // the whole disassembly, for messages
  bool e64 = false;      // VOP3 encoding
  std::vector<Operand> operands;
  Modifiers mods;
  int64_t branch_target = -1;  // address, for s_branch and s_cbranch_*
  InstructionClass instruction_class = InstructionClass::kOther;
  std::vector<RegisterRange> registers;
  // The decoder knows every word of the text; false keeps handler null.
  bool understood = false;
  // nullptr: not implemented; reaching it stops the run with `text`.
  Handler handler = nullptr;
  // Free for the handler's own pre-decoded data.
  uint32_t aux[4] = {0, 0, 0, 0};
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_INSTRUCTION_H_
