#ifndef ZYFA_GEN_ASM_INSTRUCTION_H_
#define ZYFA_GEN_ASM_INSTRUCTION_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "zyfa/gen/asm/opcode.h"
#include "zyfa/gen/asm/operands.h"

namespace zyfa::gen {

// Registers as one flat numbering, so that sets and overlaps need no file.
inline constexpr int kScalarUnit = 0;  // + hardware scalar number, 128 of them
inline constexpr int kSccUnit = 128;
inline constexpr int kModeUnit = 129;
inline constexpr int kVgprUnit = 256;
inline constexpr int kAgprUnit = 512;
inline constexpr int kUnitCount = 768;

struct UnitRange {
  int first = 0;
  int count = 0;

  bool Overlaps(const UnitRange& o) const {
    return first < o.first + o.count && o.first < first + count;
  }
  friend bool operator==(const UnitRange&, const UnitRange&) = default;
};

using UnitRanges = std::vector<UnitRange>;

UnitRange UnitsOf(const Operand& reg);
bool Overlaps(const UnitRanges& a, const UnitRanges& b);
bool Overlaps(const UnitRanges& a, const UnitRange& b);
// "v[4:7]", "scc".
std::string UnitText(const UnitRange& r);

// Everything written behind the operands.
struct Modifiers {
  bool e64 = false;
  bool clamp = false;
  int omod = 0;          // 0 none, 1 mul:2, 2 mul:4, 3 div:2
  int op_sel_count = 0;  // entries written, 0: none
  uint8_t op_sel = 0;    // bit i is entry i
  int op_sel_hi_count = 0;
  uint8_t op_sel_hi = 0;
  uint8_t neg_lo = 0, neg_hi = 0;  // of packed arithmetic, from -x
  int cbsz = 0, abid = 0, blgp = 0;
  int bitop3 = -1;
  int offset = 0;  // bytes
  bool sc0 = false, sc1 = false, nt = false;
  std::string dpp;         // printed form
  bool dpp_keeps = false;  // some lanes of the destination may stay unwritten
  SdwaSelect sdwa = SdwaSelect::kNone;
  // s_setreg / s_getreg field.
  HwReg hwreg = HwReg::kMode;
  int hwreg_offset = 0, hwreg_width = 0;
  WaitCounts wait;
};

// One line of a kernel: an instruction, or what stands between instructions.
struct Instruction {
  enum class Kind : uint8_t { kOperation, kLabel, kSection, kPhase };
  Instruction();
  Instruction(Opcode operation, std::initializer_list<Operand> arguments);
  Instruction(const Instruction&);
  Instruction(Instruction&&) noexcept;
  Instruction& operator=(const Instruction&);
  Instruction& operator=(Instruction&&) noexcept;
  ~Instruction();

  Kind kind = Kind::kOperation;
  Opcode opcode = Opcode::s_nop;
  std::vector<Operand> operands;  // in the order they are printed
  Modifiers mods;
  std::string comment;    // printed behind the instruction
  std::string text;       // kSection: the title; kPhase: the symbol
  std::string section;    // in which it was emitted
  int label = -1;         // kLabel
  int number = -1;        // in order of emission, over the whole kernel
  bool inserted = false;  // by the wait or hazard pass
  std::string problem;    // misuse found while the modifiers were written

  // Filled by ComputeRegisterSets. `keeps` are destinations of which bits or
  // lanes stay as they were; they are in `writes` too.
  UnitRanges reads, writes, keeps;

  bool IsOperation() const { return kind == Kind::kOperation; }
  const OpcodeInfo& info() const { return InfoOf(opcode); }
  bool IsMatrix() const { return IsOperation() && info().IsMatrix(); }
};

void ComputeRegisterSets(Instruction& inst);

// Whether the instruction will be encoded in 64 bits as VOP3 although a 32-bit
// encoding of the mnemonic exists: because of operands, modifiers or e64.
bool NeedsVop3(const Instruction& inst);

// Passes of a matrix instruction; for f8f6f4 shapes by its formats.
int MatrixPasses(const Instruction& inst);

// VGPRs of an f8f6f4 operand in format `cbsz` or `blgp`.
int MatrixFormatRegisters(int format);

// The instruction as the assembler reads it, without comment.
// `label_names[id]` names the labels.
std::string FormatInstruction(const Instruction& inst,
                              const std::vector<std::string>& label_names);

// "instruction 12 `v_add_u32 v0, s1, v0` in section "Load"", for messages.
std::string DescribeInstruction(const Instruction& inst,
                                const std::vector<std::string>& label_names);

// Instructions in program order, captured by Assembler::Capture and put into
// the kernel by Assembler::Append.
class Stream {
 public:
  Stream() = default;
  explicit Stream(std::vector<Instruction> instructions)
      : instructions_(std::move(instructions)) {}

  const std::vector<Instruction>& instructions() const { return instructions_; }
  std::vector<Instruction>& instructions() { return instructions_; }
  // Operations, without labels, sections and phases.
  int size() const;
  int CountMatrix() const;
  bool empty() const { return instructions_.empty(); }
  // Entries begin .. begin+n-1; clipped to what there is.
  Stream Slice(int begin, int n) const;
  void Add(const Stream& other);

 private:
  std::vector<Instruction> instructions_;
};

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_INSTRUCTION_H_
