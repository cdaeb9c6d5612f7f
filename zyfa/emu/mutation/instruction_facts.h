#ifndef ZYFA_EMU_MUTATION_INSTRUCTION_FACTS_H_
#define ZYFA_EMU_MUTATION_INSTRUCTION_FACTS_H_

#include <bitset>
#include <string>

namespace zyfa::emu {

using VectorSet = std::bitset<512>;  // v0 is 0, a0 is 256
using ScalarSet = std::bitset<256>;  // by hardware number, see ScalarRegister

// What the rows of ISA 5.1 and 5.2 ask of one instruction.
struct InstructionFacts {
  std::string name;  // mnemonic without its encoding
  int states = 1;    // wait states that its issue counts for

  // Exactly one of these, or none: a matrix product is no VALU here.
  bool valu = false;
  bool matrix = false;
  bool memory = false;  // VMEM, flat, scratch or LDS
  bool salu = false;    // scalar, but not a scalar load

  VectorSet reads, writes;

  // Matrix products (ISA 1.1).
  int passes = 0;
  bool f32_input = false;
  bool f64 = false;
  VectorSet sources;  // A, B, scales, index of a sparse one
  VectorSet addend;   // C

  // VALU.
  bool trans = false;
  bool dot = false;
  VectorSet dot_sources;  // A and B
  bool dpp = false;
  bool permlane = false;
  bool reads_lane = false;   // v_readlane, v_readfirstlane
  bool writes_lane = false;  // v_writelane
  bool writes_exec = false;  // v_cmpx
  bool placed = false;       // op_sel or SDWA moves the result up
  VectorSet kept;            // written in part by op_sel, SDWA or an FP8 byte
  // Where in its destination a v_cvt_scalef32_* writes: the bits of op_sel, -1
  // if it writes whole registers or is none.
  int scale_part = -1;
  ScalarSet constants;    // scalar sources, neither carry, mask nor lane select
  ScalarSet lane_select;  // of v_readlane, v_writelane
  ScalarSet vcc_mask;     // VCC, if it is a v_div_fmas
  ScalarSet vccz_of;      // VCC, if src_vccz is read
  ScalarSet execz_of;     // EXEC, if src_execz is read

  // Memory.
  ScalarSet scalar_address;  // descriptor, soffset, saddr
  VectorSet store_data;      // of a store that still reads it after its issue
  // Scalar.
  bool uses_m0 = false;           // LDS DMA, add-TID, s_sendmsg, s_movrel
  std::string setreg, any_hwreg;  // register of s_setreg; of s_getreg too
  ScalarSet scalar_writes;
};

// Reads them off a line as LLVM's instruction printer writes it for gfx950,
// an "(edited to 0x3)" behind it overriding the immediate.
InstructionFacts FactsOf(const std::string& text);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MUTATION_INSTRUCTION_FACTS_H_
