#ifndef ZYFA_EMU_CYCLES_INSTRUCTION_TIME_H_
#define ZYFA_EMU_CYCLES_INSTRUCTION_TIME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Where an instruction issues: one of each kind a SIMD and turn, from different
// waves; internal ones beside all others (cdna4-timing 3).
enum class IssueKind : uint8_t {
  kVector,  // VALU and MFMA share it
  kScalar,  // SALU, SMEM
  kLds,
  kMemory,
  kBranch,
  kInternal,
};
inline constexpr int kIssueKinds = 6;

// How long the vector pipe is busy with it.
enum class VectorRate : uint8_t {
  kOrdinary,
  kTranscendental,
  kPackedFp32,
  kPermlaneSwap,
  kConvertFp8,
  kConvertInt,
  kWideMultiply,
  kMove64,
};

// Which hold a matrix instruction puts on it (cdna4-timing 1.3). Conversions to
// 8 bits without scale: one of the two, as the constants say (2.2).
enum class HoldClass : uint8_t { kOrdinary, kPacked, kConvertFp8 };

// A run of vector registers; `use` tells what a pending matrix result means.
enum class TimedUse : uint8_t { kRead, kMatrixAB, kMatrixC, kWrite };
struct TimedRange {
  TimedUse use = TimedUse::kRead;
  uint16_t first = 0, end = 0;  // rows of Wave::vgpr
};

// What kind of waiting or control it is.
enum class ControlKind : uint8_t {
  kNone,
  kWaitcnt,
  kNop,
  kSleep,
  kBarrier,
  kSetprio,
  kBranch,
  kEnd,
};

// The static facts that the cycle model wants of one instruction; no constant
// of the model is in here.
struct InstructionTime {
  std::string text;      // disassembly
  uint64_t address = 0;  // byte of .text
  uint32_t size = 0;     // bytes
  IssueKind issue = IssueKind::kInternal;
  VectorRate rate = VectorRate::kOrdinary;
  HoldClass hold = HoldClass::kOrdinary;
  ControlKind control = ControlKind::kNone;
  bool three_source = false;  // of vector registers
  // Matrix instructions.
  bool matrix = false, sparse = false, sparse32 = false, scaled = false;
  bool slow_pipe = false;  // fp32 or fp64: holds every VALU to its end
  uint8_t passes = 0;      // of 4 clocks
  uint8_t operand_bytes = 0, a_bytes = 0;  // a lane, of the wider of A and B
  uint32_t opcode = 0;
  // Memory.
  bool store = false, scalar_load = false, flat = false, to_lds = false;
  bool lds_returns = false;  // writes registers
  uint8_t dwords = 0;        // a lane, vector memory
  // s_waitcnt: counters to reach; s_nop, s_sleep: wait states.
  uint16_t vmcnt = 0xffff, lgkmcnt = 0xffff, states = 0;
  uint8_t priority = 0;
  std::vector<TimedRange> ranges;
};

InstructionTime InstructionTimeOf(const Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_INSTRUCTION_TIME_H_
