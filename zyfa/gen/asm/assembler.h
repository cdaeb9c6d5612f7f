#ifndef ZYFA_GEN_ASM_ASSEMBLER_H_
#define ZYFA_GEN_ASM_ASSEMBLER_H_

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/gen/asm/allocator.h"
#include "zyfa/gen/asm/instruction.h"
#include "zyfa/gen/asm/interleave.h"
#include "zyfa/gen/asm/kernel_spec.h"
#include "zyfa/gen/asm/operands.h"

namespace zyfa::gen {

class Assembler;

// An instruction while its modifiers are written behind it. It joins the kernel
// when the full expression ends: a.v_exp_f32(d, s).clamp();
class PendingInstruction {
 public:
  PendingInstruction(Assembler* assembler, Opcode opcode,
                     std::initializer_list<Operand> operands);
  PendingInstruction(Assembler* assembler, Opcode opcode,
                     std::initializer_list<Operand> operands,
                     const Modifiers& mods);
  PendingInstruction(const PendingInstruction&) = delete;
  PendingInstruction& operator=(const PendingInstruction&) = delete;
  ~PendingInstruction();

 protected:
  Assembler* assembler_;
  Instruction inst_;
};

// VALU instructions with one to three sources.
class VectorInstruction : public PendingInstruction {
 public:
  using PendingInstruction::PendingInstruction;
  // Forces the 64-bit encoding.
  VectorInstruction& e64();
  // Clamps an F32 result to [0, 1], saturates an integer one.
  VectorInstruction& clamp();
  // Output multiplier of F32 results; needs flushed F32 denormals.
  VectorInstruction& mul2();
  VectorInstruction& mul4();
  VectorInstruction& div2();
  // v_cvt_pk_fp8_f32 and its like: writes the high half, keeps the low one.
  VectorInstruction& dst_high();
  // v_cvt_sr_fp8_f32, v_cvt_scalef32_pk_fp4_f32: writes byte n, keeps the rest.
  VectorInstruction& dst_byte(int n);
  // v_cvt_scalef32_pk_f32_fp8 and its like: reads the high half.
  VectorInstruction& src_high();
  // v_cvt_scalef32_f32_fp8, v_cvt_scalef32_pk_f32_fp4: reads byte n.
  VectorInstruction& src_byte(int n);
};

// Packed arithmetic. One entry a source: op_sel chooses the dword of each
// source pair that the low result uses (default 0), op_sel_hi that of the high
// result (default 1). op_sel_hi({1, 0}) broadcasts the low dword of the second
// source. -x negates both halves. Both halves of a v_pk_fma_f32 from the high
// dword of a source are refused: gfx950 then drops results of the low half.
class PackedInstruction : public PendingInstruction {
 public:
  using PendingInstruction::PendingInstruction;
  PackedInstruction& op_sel(std::initializer_list<int> entries);
  PackedInstruction& op_sel_hi(std::initializer_list<int> entries);
  PackedInstruction& clamp();
};

// f8f6f4 formats, values of cbsz (A) and blgp (B).
enum class MatrixFormat : uint8_t {
  kFp8E4m3 = 0,
  kBf8E5m2 = 1,
  kFp6E2m3 = 2,
  kBf6E3m2 = 3,
  kFp4E2m1 = 4,
};

class MatrixInstruction : public PendingInstruction {
 public:
  using PendingInstruction::PendingInstruction;
  // f8f6f4: formats of A and B. Sizes: 8-bit 8 registers, 6-bit 6, 4-bit 4.
  MatrixInstruction& formats(MatrixFormat a, MatrixFormat b);
  // Not f8f6f4: broadcast of A blocks and permutation of B lanes (ISA 7.1).
  MatrixInstruction& cbsz(int n);
  MatrixInstruction& abid(int n);
  MatrixInstruction& blgp(int n);
  // v_mfma_scale_*: bytes 0..3 of the scale registers of A and B.
  MatrixInstruction& scale_bytes(int a, int b);
};

class MemoryInstruction : public PendingInstruction {
 public:
  using PendingInstruction::PendingInstruction;
  MemoryInstruction& sc0();
  MemoryInstruction& sc1();
  MemoryInstruction& nt();
};

// Writes one gfx950 kernel. Every instruction is a method named as its
// mnemonic, destination first. Mistakes are recorded, not thrown: the first
// one, with the instruction's text, number and section, is what status() and
// Finish() return; what follows it is ignored.
//
//   Assembler a(spec);
//   VReg x = a.vgprs().Alloc("x");
//   a.Section("Scale");
//   a.Comment("x * log2(e)");
//   a.v_mul_f32(x, F32(1.4426950f), x);
//   absl::StatusOr<std::string> text = a.Finish();
//
// Finish() lays the waits for loaded registers and the wait states that gfx950
// does not interlock. What stays with the kernel: s_waitcnt for data that goes
// through LDS (direct-to-LDS loads, and LDS writes before a barrier), and
// s_waitcnt at a better place than just before the first use. It writes no
// s_nop.
class Assembler {
 public:
  explicit Assembler(KernelSpec spec);
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  const KernelSpec& spec() const { return spec_; }
  const absl::Status& status() const { return status_; }
  // For checks of the generator's own; keeps the first error.
  void Fail(const std::string& message);

  // ---- Registers ----
  SgprPool& sgprs() { return sgprs_; }
  VgprPool& vgprs() { return vgprs_; }
  AgprPool& agprs() { return agprs_; }
  // Registers that the hardware fills at entry. They are allocated from the
  // start under these names and may be freed.
  SReg kernarg() const { return kernarg_; }  // pair, address
  SReg workgroup_id_x() const { return workgroup_id_[0]; }
  SReg workgroup_id_y() const { return workgroup_id_[1]; }
  SReg workgroup_id_z() const { return workgroup_id_[2]; }
  VReg workitem_id() const { return workitem_id_; }  // v0, packed ids

  // ---- Structure ----
  // Banner in front of what follows.
  void Section(const std::string& title);
  // Starts a phase, which lasts until the next one: a symbol "phase.NAME" in
  // the code object, for tools that tell where clocks go. It is no place to
  // jump to and changes no byte of the code. Names: letters, digits, '_' and
  // '.', each once. Not inside of Capture.
  void Phase(const std::string& name);
  // Printed behind the next instruction.
  void Comment(const std::string& text);
  // The name shows in the text; a repeated name gets a number.
  Label NewLabel(const std::string& name);
  void Bind(Label label);

  // Instructions that `emit` writes, kept apart from the kernel.
  Stream Capture(const std::function<void()>& emit);
  void Append(const Stream& stream);
  // See InterleaveStreams; an error becomes the assembler's.
  Stream Interleave(const Stream& main, const std::vector<Filler>& fillers,
                    const InterleaveOptions& options = {});

  // ---- Waits for memory ----
  // At most n vector memory operations (loads, stores, direct-to-LDS loads)
  // outstanding.
  void WaitVmcnt(int n);
  // At most n LDS operations outstanding; only 0 says anything about s_load.
  void WaitLgkmcnt(int n);
  void s_waitcnt(const WaitCounts& counts);

  // The complete text, or the first error. Call once.
  absl::StatusOr<std::string> Finish();

  // Labels' printed names, by id.
  const std::vector<std::string>& label_names() const { return label_names_; }

  // ---- Instructions that fit no pattern ----
  void s_setreg_imm32_b32(HwReg reg, int first_bit, int bits, uint32_t value);
  void s_getreg_b32(SReg d, HwReg reg, int first_bit, int bits);
  VectorInstruction v_readfirstlane_b32(SReg d, VReg s) {
    return {this, Opcode::v_readfirstlane_b32, {Op(d), Op(s)}};
  }
  VectorInstruction v_readlane_b32(SReg d, VReg s, SSrc lane) {
    return {this, Opcode::v_readlane_b32, {Op(d), Op(s), Op(lane)}};
  }
  VectorInstruction v_writelane_b32(VReg d, SSrc value, SSrc lane) {
    return {this, Opcode::v_writelane_b32, {Op(d), Op(value), Op(lane)}};
  }
  VectorInstruction v_accvgpr_read_b32(VReg d, AReg s) {
    return {this, Opcode::v_accvgpr_read_b32, {Op(d), Op(s)}};
  }
  VectorInstruction v_accvgpr_write_b32(AReg d, VSrc s) {
    return {this, Opcode::v_accvgpr_write_b32, {Op(d), Op(s)}};
  }
  VectorInstruction v_accvgpr_mov_b32(AReg d, AReg s) {
    return {this, Opcode::v_accvgpr_mov_b32, {Op(d), Op(s)}};
  }

  // ---- One method a line of opcodes.inc ----
#define ZYFA_SOP1(name, operands, flags) \
  void name(SReg d, SSrc s) { Emit(Opcode::name, {Op(d), Op(s)}); }
#define ZYFA_SOP2(name, operands, flags)         \
  void name(SReg d, SSrc s0, SSrc s1) {          \
    Emit(Opcode::name, {Op(d), Op(s0), Op(s1)}); \
  }
#define ZYFA_SOPC(name, operands) \
  void name(SSrc s0, SSrc s1) { Emit(Opcode::name, {Op(s0), Op(s1)}); }
#define ZYFA_SOPK(name, operands, flags) \
  void name(SReg d, int k) { Emit(Opcode::name, {Op(d), Op(Imm(k))}); }
#define ZYFA_SOPP0(name, flags) \
  void name() { Emit(Opcode::name, {}); }
#define ZYFA_SOPP1(name, operands) \
  void name(int n) { Emit(Opcode::name, {Op(Imm(n))}); }
#define ZYFA_BRANCH(name, flags) \
  void name(Label target) { Emit(Opcode::name, {Op(target)}); }
#define ZYFA_SMEM(name, operands)                      \
  void name(SReg d, SReg base, SSrc offset) {          \
    Emit(Opcode::name, {Op(d), Op(base), Op(offset)}); \
  }
#define ZYFA_SMEM_CLOCK(name, operands) \
  void name(SReg d) { Emit(Opcode::name, {Op(d)}); }
#define ZYFA_VOP1(name, operands, flags)         \
  VectorInstruction name(VReg d, VSrc s) {       \
    return {this, Opcode::name, {Op(d), Op(s)}}; \
  }
#define ZYFA_VOP2(name, operands, flags)                  \
  VectorInstruction name(VReg d, VSrc s0, VSrc s1) {      \
    return {this, Opcode::name, {Op(d), Op(s0), Op(s1)}}; \
  }
#define ZYFA_VOP2_CARRY_OUT(name, operands)                              \
  VectorInstruction name(VReg d, SReg carry_out, VSrc s0, VSrc s1) {     \
    return {this, Opcode::name, {Op(d), Op(carry_out), Op(s0), Op(s1)}}; \
  }
#define ZYFA_VOP2_CARRY(name, operands)                            \
  VectorInstruction name(VReg d, SReg carry_out, VSrc s0, VSrc s1, \
                         SReg carry_in) {                          \
    return {this,                                                  \
            Opcode::name,                                          \
            {Op(d), Op(carry_out), Op(s0), Op(s1), Op(carry_in)}}; \
  }
#define ZYFA_VOP2_MASK(name, operands)                                        \
  VectorInstruction name(VReg d, VSrc where_0, VSrc where_1, SReg mask) {     \
    return {this, Opcode::name, {Op(d), Op(where_0), Op(where_1), Op(mask)}}; \
  }
#define ZYFA_VOPC(name, operands, flags)                  \
  VectorInstruction name(SReg d, VSrc s0, VSrc s1) {      \
    return {this, Opcode::name, {Op(d), Op(s0), Op(s1)}}; \
  }
#define ZYFA_VOP3_2(name, operands, flags) ZYFA_VOP2(name, operands, flags)
#define ZYFA_VOP3_3(name, operands, flags)                        \
  VectorInstruction name(VReg d, VSrc s0, VSrc s1, VSrc s2) {     \
    return {this, Opcode::name, {Op(d), Op(s0), Op(s1), Op(s2)}}; \
  }
#define ZYFA_VOP3_CARRY_OUT(name, operands)                                   \
  VectorInstruction name(VReg d, SReg carry_out, VSrc s0, VSrc s1, VSrc s2) { \
    return {                                                                  \
        this, Opcode::name, {Op(d), Op(carry_out), Op(s0), Op(s1), Op(s2)}};  \
  }
  // Result bit = bit 4*s0 + 2*s1 + s2 of `table`.
#define ZYFA_BITOP3(name, operands)                                          \
  VectorInstruction name(VReg d, VSrc s0, VSrc s1, VSrc s2, uint8_t table) { \
    return Bitop3(Opcode::name, {Op(d), Op(s0), Op(s1), Op(s2)}, table);     \
  }
#define ZYFA_VOP3P_2(name, operands, flags)               \
  PackedInstruction name(VReg d, VSrc s0, VSrc s1) {      \
    return {this, Opcode::name, {Op(d), Op(s0), Op(s1)}}; \
  }
#define ZYFA_VOP3P_3(name, operands, flags)                       \
  PackedInstruction name(VReg d, VSrc s0, VSrc s1, VSrc s2) {     \
    return {this, Opcode::name, {Op(d), Op(s0), Op(s1), Op(s2)}}; \
  }
#define ZYFA_SWAP(name, operands, flags)         \
  VectorInstruction name(VReg d, VReg s) {       \
    return {this, Opcode::name, {Op(d), Op(s)}}; \
  }
#define ZYFA_DPP1(name, operands)               \
  void name(VReg d, VReg s, const Dpp& dpp) {   \
    EmitDpp(Opcode::name, {Op(d), Op(s)}, dpp); \
  }
#define ZYFA_DPP2(name, operands)                        \
  void name(VReg d, VReg s0, VReg s1, const Dpp& dpp) {  \
    EmitDpp(Opcode::name, {Op(d), Op(s0), Op(s1)}, dpp); \
  }
#define ZYFA_SDWA1(name, operands)                \
  void name(VReg d, VReg s, SdwaSelect part) {    \
    EmitSdwa(Opcode::name, {Op(d), Op(s)}, part); \
  }
#define ZYFA_MFMA(name, operands, flags, passes)                          \
  MatrixInstruction name(DataReg d, DataReg a, DataReg b, MfmaAddend c) { \
    return {this, Opcode::name, {Op(d), Op(a), Op(b), Op(c)}};            \
  }
#define ZYFA_MFMA_SCALE(name, operands, passes)                         \
  MatrixInstruction name(DataReg d, DataReg a, DataReg b, MfmaAddend c, \
                         VReg scale_a, VReg scale_b) {                  \
    return {this,                                                       \
            Opcode::name,                                               \
            {Op(d), Op(a), Op(b), Op(c), Op(scale_a), Op(scale_b)}};    \
  }
#define ZYFA_SMFMAC(name, operands, flags, passes)                      \
  MatrixInstruction name(DataReg d, DataReg a, DataReg b, VReg index) { \
    return {this, Opcode::name, {Op(d), Op(a), Op(b), Op(index)}};      \
  }
#define ZYFA_DS_READ(name, operands, flags)                 \
  void name(DataReg d, VReg address, int offset = 0) {      \
    EmitMemory(Opcode::name, {Op(d), Op(address)}, offset); \
  }
#define ZYFA_DS_WRITE(name, operands)                          \
  void name(VReg address, DataReg data, int offset = 0) {      \
    EmitMemory(Opcode::name, {Op(address), Op(data)}, offset); \
  }
#define ZYFA_DS_PERMUTE(name, operands)                               \
  void name(VReg d, VReg address, VReg data, int offset = 0) {        \
    EmitMemory(Opcode::name, {Op(d), Op(address), Op(data)}, offset); \
  }
#define ZYFA_BUFFER_LOAD(name, operands)                                    \
  MemoryInstruction name(DataReg d, BufferAddress address, SReg descriptor, \
                         SSrc scalar_offset, int offset = 0) {              \
    return Memory(Opcode::name,                                             \
                  {Op(d), Op(address), Op(descriptor), Op(scalar_offset)},  \
                  offset);                                                  \
  }
#define ZYFA_BUFFER_LOAD_LDS(name, mnemonic)                                 \
  MemoryInstruction name(BufferAddress address, SReg descriptor,             \
                         SSrc scalar_offset, int offset = 0) {               \
    return Memory(Opcode::name,                                              \
                  {Op(address), Op(descriptor), Op(scalar_offset)}, offset); \
  }
#define ZYFA_BUFFER_STORE(name, operands)                                      \
  MemoryInstruction name(DataReg data, BufferAddress address, SReg descriptor, \
                         SSrc scalar_offset, int offset = 0) {                 \
    return Memory(Opcode::name,                                                \
                  {Op(data), Op(address), Op(descriptor), Op(scalar_offset)},  \
                  offset);                                                     \
  }
#define ZYFA_GLOBAL_LOAD(name, operands)                                 \
  MemoryInstruction name(DataReg d, VReg address, GlobalBase base,       \
                         int offset = 0) {                               \
    return Memory(Opcode::name, {Op(d), Op(address), Op(base)}, offset); \
  }
#define ZYFA_GLOBAL_LOAD_LDS(name)                                        \
  MemoryInstruction name(VReg address, GlobalBase base, int offset = 0) { \
    return Memory(Opcode::name, {Op(address), Op(base)}, offset);         \
  }
#define ZYFA_GLOBAL_STORE(name, operands)                                   \
  MemoryInstruction name(VReg address, DataReg data, GlobalBase base,       \
                         int offset = 0) {                                  \
    return Memory(Opcode::name, {Op(address), Op(data), Op(base)}, offset); \
  }
#define ZYFA_CACHE_CONTROL(name) \
  MemoryInstruction name() { return Memory(Opcode::name, {}, 0); }
#include "zyfa/gen/asm/opcodes.inc"

 private:
  friend class PendingInstruction;

  template <RegisterFile kFile>
  static Operand Op(const RegisterRange<kFile>& r) {
    return Operand::Of(r);
  }
  static Operand Op(const Imm& imm) { return Operand::Of(imm); }
  static Operand Op(Label label) { return Operand::Of(label); }
  template <typename T>
    requires requires(const T& t) { t.operand(); }
  static Operand Op(const T& source) {
    return source.operand();
  }

  // Out of line and with plain arguments, so that a kernel's many calls stay
  // small in compile time.
  using Operands = std::initializer_list<Operand>;
  void Emit(Opcode opcode, Operands operands);
  void EmitDpp(Opcode opcode, Operands operands, const Dpp& dpp);
  void EmitSdwa(Opcode opcode, Operands operands, SdwaSelect part);
  void EmitMemory(Opcode opcode, Operands operands, int offset);
  MemoryInstruction Memory(Opcode opcode, Operands operands, int offset);
  VectorInstruction Bitop3(Opcode opcode, Operands operands, uint8_t table);
  void Commit(Instruction inst);
  void Push(Instruction inst);
  // Registers of freed or foreign allocations.
  std::string OwnershipProblem(const Instruction& inst) const;

  KernelSpec spec_;
  absl::Status status_;
  AllocationTable allocations_;
  SgprPool sgprs_;
  VgprPool vgprs_;
  AgprPool agprs_;
  SReg kernarg_;
  SReg workgroup_id_[3];
  VReg workitem_id_;

  std::vector<Instruction> program_;
  std::vector<std::vector<Instruction>*> targets_;  // where Commit writes
  std::string section_;
  std::string pending_comment_;
  std::vector<std::string> label_names_;
  std::vector<bool> label_bound_;
  std::set<std::string> phases_;
  int next_number_ = 0;
};

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_ASSEMBLER_H_
