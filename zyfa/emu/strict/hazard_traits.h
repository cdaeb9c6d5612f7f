#ifndef ZYFA_EMU_STRICT_HAZARD_TRAITS_H_
#define ZYFA_EMU_STRICT_HAZARD_TRAITS_H_

#include <cstdint>
#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// How an instruction uses a run of registers, as far as wait states care.
enum class HazardUse : uint8_t {
  kRead,      // ordinary source, tied accumulators included
  kKept,      // destination of which the instruction leaves a part as it is
  kMatrixAB,  // matrix source A or B, sparse index
  kMatrixC,   // matrix addend
  kMatrixScale,
  kWrite,
  kConstant,    // scalar source of a vector instruction
  kMask,        // carry-in, or the select mask of v_cndmask_b32
  kLaneSelect,  // of v_readlane_b32 and v_writelane_b32
  kAddress,     // scalar source of a vector memory instruction
  kScalarRead,  // by a scalar instruction
};

struct HazardRange {
  HazardUse use = HazardUse::kRead;
  bool vector = false;
  uint16_t first = 0;  // vector: row of Wave::vgpr; else ScalarRegister
  uint16_t count = 0;
};

// The hardware that makes a result, by how long it takes to appear.
enum class HazardWriter : uint8_t {
  kOther,  // nothing to wait for, or interlocked
  kValu,   // vector arithmetic
  kTranscendental,
  kPartial,  // vector arithmetic that places its result by op_sel or SDWA
  kDot,
  kMatrix,  // v_mfma_*, v_smfmac_*
};

// What matrix pipe runs it.
enum class MatrixPipe : uint8_t { kXdl, kSgemm, kDgemm4, kDgemm16 };

// What the wait-state rules want to know of one instruction.
struct HazardTraits {
  std::vector<HazardRange> ranges;  // reads first
  HazardWriter writer = HazardWriter::kOther;
  MatrixPipe pipe = MatrixPipe::kXdl;
  uint8_t passes = 0;        // of the matrix pipe, 4 clocks each
  uint16_t wait_states = 1;  // that it stands for: s_nop n counts n + 1
  uint8_t issue_slots = 1;   // that it takes: a scaled matrix instruction two
  bool barrier = false;
  bool vector_alu = false;  // matrix instructions excepted
  bool memory = false;      // VMEM, FLAT, LDS
  bool vector_memory = false;
  bool dpp = false;
  bool permlane = false;
  bool read_lane = false;  // v_readlane_b32, v_readfirstlane_b32
  bool write_lane = false;
  bool div_fmas = false;
  bool scaled_conversion = false;  // v_cvt_scalef32_*
  bool conversion = false;         // v_cvt_pk_*: see 5.1, column A
  bool writes_exec = false;        // v_cmpx_*
  bool reads_vccz = false, reads_execz = false;  // as data
  bool scalar_writes_m0 = false;
  bool needs_m0 = false;    // load into LDS, add-TID, s_sendmsg, s_movrel
  bool wide_store = false;  // data of more than 8 bytes a lane
  int set_register = -1, get_register = -1;  // hwreg numbers
  bool pk_fma_fault = false;  // peers.md 1: op_sel forms that lose a lane
  // Identity of the opcode: same mnemonic, same number.
  uint32_t opcode = 0;
};

// 4-clock passes of the matrix pipe (ISA 1.1): 2, 4, 8 or 16.
int MatrixPasses(const Instruction& inst, MatrixPipe& pipe);

HazardTraits TraitsOf(const Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_HAZARD_TRAITS_H_
