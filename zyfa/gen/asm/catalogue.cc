#include "zyfa/gen/asm/catalogue.h"

#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/asm/printer.h"

namespace zyfa::gen {
namespace {

// Registers of the size that operand `i` of an opcode wants. Different bases
// keep the operands apart, so that a mix-up of their order shows.
VReg V(Opcode opcode, int i, int base) {
  return VReg(base, InfoOf(opcode).operands[i].count);
}
SReg S(Opcode opcode, int i, int base) {
  return SReg(base, InfoOf(opcode).operands[i].count);
}
AReg A(Opcode opcode, int i, int base) {
  return AReg(base, InfoOf(opcode).operands[i].count);
}
OperandClass ClassAt(Opcode opcode, int i) {
  return InfoOf(opcode).operands[i].klass;
}
bool IsFloat(Opcode opcode, int i) {
  return ClassAt(opcode, i) == OperandClass::kF32 ||
         ClassAt(opcode, i) == OperandClass::kF16;
}
int CountOf(Opcode opcode, int i) { return InfoOf(opcode).operands[i].count; }

// Constants of a source's type: inline and, where unambiguous, literal.
Imm InlineOf(Opcode opcode, int i) {
  if (ClassAt(opcode, i) == OperandClass::kF32) return F32(-2.0f);
  if (ClassAt(opcode, i) == OperandClass::kF16) return 0;
  return -7;
}
Imm LiteralOf(Opcode opcode, int i) {
  return ClassAt(opcode, i) == OperandClass::kF32 ? F32(1.4426950f)
                                                  : Imm(0x1234);
}
bool TakesLiteral(Opcode opcode, int i) {
  return ClassAt(opcode, i) != OperandClass::kF16;
}

// Result modifiers that an opcode allows.
template <typename Emit>
void ResultForms(Opcode opcode, const Emit& emit) {
  const OpcodeInfo& info = InfoOf(opcode);
  if (info.Has(kCommonF32) || info.Has(kClampInt)) emit().clamp();
  if (info.Has(kCommonF32)) {
    emit().mul2();
    emit().mul4();
    emit().div2();
    emit().clamp().mul4();
  }
  if (info.Has(kDstHigh)) emit().dst_high();
  if (info.Has(kDstByte)) {
    for (int byte = 0; byte < 4; ++byte) emit().dst_byte(byte);
  }
  if (info.Has(kSrcHigh)) emit().src_high();
  if (info.Has(kSrcByte)) {
    for (int byte = 0; byte < 4; ++byte) emit().src_byte(byte);
  }
}

std::vector<Dpp> DppForms() {
  return {Dpp::QuadPerm(1, 0, 3, 2),
          Dpp::RowShl(1),
          Dpp::RowShr(15),
          Dpp::RowRor(8),
          Dpp::RowMirror(),
          Dpp::RowHalfMirror(),
          Dpp::RowBcast15().row_mask(0xa),
          Dpp::RowBcast31().row_mask(0xc).bank_mask(0x5),
          Dpp::RowNewBcast(3),
          Dpp::WaveShl1(),
          Dpp::WaveRol1(),
          Dpp::WaveShr1(),
          Dpp::WaveRor1(),
          Dpp::RowShr(1).zero_invalid()};
}

// ---- The forms of each shape of instruction ----

void Sop1Forms(Assembler& a, Opcode op, void (Assembler::*emit)(SReg, SSrc)) {
  (a.*emit)(S(op, 0, 8), S(op, 1, 20));
  (a.*emit)(CountOf(op, 0) == 2 ? vcc : vcc_hi, S(op, 1, 20));
  (a.*emit)(S(op, 0, 8), CountOf(op, 1) == 2 ? exec : m0);
  (a.*emit)(S(op, 0, 8), -16);
  (a.*emit)(S(op, 0, 8), 0x12345);
  if (CountOf(op, 1) == 1) (a.*emit)(S(op, 0, 8), F32(0.5f));
}

void Sop2Forms(Assembler& a, Opcode op,
               void (Assembler::*emit)(SReg, SSrc, SSrc)) {
  (a.*emit)(S(op, 0, 8), S(op, 1, 20), S(op, 2, 24));
  (a.*emit)(S(op, 0, 8), S(op, 1, 20), 64);
  (a.*emit)(S(op, 0, 8), 0x12345, S(op, 2, 24));
  (a.*emit)(S(op, 0, 8), S(op, 1, 20), 0x7fff);
  (a.*emit)(CountOf(op, 0) == 2 ? exec : m0, S(op, 1, 20), S(op, 2, 24));
}

void SopcForms(Assembler& a, Opcode op, void (Assembler::*emit)(SSrc, SSrc)) {
  (a.*emit)(S(op, 0, 8), S(op, 1, 20));
  (a.*emit)(S(op, 0, 8), 5);
  (a.*emit)(S(op, 0, 8), 0x12345);
}

void SmemForms(Assembler& a, Opcode op,
               void (Assembler::*emit)(SReg, SReg, SSrc)) {
  (a.*emit)(S(op, 0, 8), SReg(2, 2), 0x10);
  (a.*emit)(S(op, 0, 8), SReg(2, 2), -1000);
  (a.*emit)(S(op, 0, 8), SReg(2, 2), 0xfffff);
  (a.*emit)(S(op, 0, 8), SReg(2, 2), SReg(30));
}

void Vop1Forms(Assembler& a, Opcode op,
               VectorInstruction (Assembler::*emit)(VReg, VSrc)) {
  const VReg d = V(op, 0, 2), s = V(op, 1, 10);
  (a.*emit)(d, s);
  (a.*emit)(d, s).e64();
  (a.*emit)(d, S(op, 1, 20));
  (a.*emit)(d, InlineOf(op, 1));
  if (TakesLiteral(op, 1)) (a.*emit)(d, LiteralOf(op, 1));
  if (IsFloat(op, 1)) (a.*emit)(d, -abs(s));
  ResultForms(op, [&]() -> VectorInstruction { return (a.*emit)(d, s); });
}

using TwoSources = VectorInstruction (Assembler::*)(VReg, VSrc, VSrc);

void Vop2Forms(Assembler& a, Opcode op, TwoSources emit) {
  const VReg d = V(op, 0, 2), s0 = V(op, 1, 10), s1 = V(op, 2, 14);
  (a.*emit)(d, s0, s1);
  (a.*emit)(d, s0, s1).e64();
  (a.*emit)(d, S(op, 1, 20), s1);
  (a.*emit)(d, InlineOf(op, 1), s1);
  (a.*emit)(d, LiteralOf(op, 1), s1);
  (a.*emit)(d, s0, S(op, 2, 20));
  (a.*emit)(d, s0, InlineOf(op, 2));
  if (IsFloat(op, 1)) (a.*emit)(d, -s0, abs(s1));
  ResultForms(op, [&]() -> VectorInstruction { return (a.*emit)(d, s0, s1); });
}

void CarryOutForms(Assembler& a,
                   VectorInstruction (Assembler::*emit)(VReg, SReg, VSrc,
                                                        VSrc)) {
  (a.*emit)(VReg(2), vcc, VReg(10), VReg(14));
  (a.*emit)(VReg(2), vcc, SReg(20), VReg(14));
  (a.*emit)(VReg(2), vcc, 0x1234, VReg(14));
  (a.*emit)(VReg(2), SReg(30, 2), VReg(10), VReg(14));
  (a.*emit)(VReg(2), SReg(30, 2), VReg(10), SReg(20));
  (a.*emit)(VReg(2), vcc, VReg(10), VReg(14)).clamp();
}

void CarryForms(Assembler& a,
                VectorInstruction (Assembler::*emit)(VReg, SReg, VSrc, VSrc,
                                                     SReg)) {
  (a.*emit)(VReg(2), vcc, VReg(10), VReg(14), vcc);
  (a.*emit)(VReg(2), vcc, -5, VReg(14), vcc);
  (a.*emit)(VReg(2), SReg(30, 2), VReg(10), VReg(14), SReg(40, 2));
  (a.*emit)(VReg(2), SReg(30, 2), VReg(10), 7, SReg(40, 2)).clamp();
}

void MaskForms(Assembler& a,
               VectorInstruction (Assembler::*emit)(VReg, VSrc, VSrc, SReg)) {
  (a.*emit)(VReg(2), VReg(10), VReg(14), vcc);
  (a.*emit)(VReg(2), F32(1.0f), VReg(14), vcc);
  (a.*emit)(VReg(2), VReg(10), VReg(14), vcc).e64();
  (a.*emit)(VReg(2), VReg(10), VReg(14), SReg(30, 2));
  (a.*emit)(VReg(2), 0, F32(-4.0f), SReg(30, 2));
}

void VopcForms(Assembler& a, Opcode op,
               VectorInstruction (Assembler::*emit)(SReg, VSrc, VSrc)) {
  const VReg s0 = V(op, 1, 10), s1 = V(op, 2, 14);
  (a.*emit)(vcc, s0, s1);
  (a.*emit)(vcc, s0, s1).e64();
  (a.*emit)(vcc, S(op, 1, 20), s1);
  (a.*emit)(vcc, InlineOf(op, 1), s1);
  (a.*emit)(vcc, LiteralOf(op, 1), s1);
  (a.*emit)(vcc, s0, S(op, 2, 20));
  (a.*emit)(SReg(30, 2), s0, s1);
  (a.*emit)(SReg(30, 2), S(op, 1, 20), InlineOf(op, 2));
  if (IsFloat(op, 1)) (a.*emit)(vcc, -s0, s1);
}

void Vop3Forms(Assembler& a, Opcode op, TwoSources emit) {
  const VReg d = V(op, 0, 2), s0 = V(op, 1, 10), s1 = V(op, 2, 14);
  (a.*emit)(d, s0, s1);
  (a.*emit)(d, S(op, 1, 20), s1);
  (a.*emit)(d, s0, S(op, 2, 20));
  (a.*emit)(d, InlineOf(op, 1), s1);
  (a.*emit)(d, s0, InlineOf(op, 2));
  if (IsFloat(op, 1)) (a.*emit)(d, -abs(s0), s1);
  if (IsFloat(op, 2)) (a.*emit)(d, s0, -s1);
  ResultForms(op, [&]() -> VectorInstruction { return (a.*emit)(d, s0, s1); });
}

void Vop3Forms(Assembler& a, Opcode op,
               VectorInstruction (Assembler::*emit)(VReg, VSrc, VSrc, VSrc)) {
  const VReg d = V(op, 0, 2), s0 = V(op, 1, 10), s1 = V(op, 2, 14),
             s2 = V(op, 3, 18);
  (a.*emit)(d, s0, s1, s2);
  (a.*emit)(d, S(op, 1, 20), s1, s2);
  (a.*emit)(d, s0, S(op, 2, 20), s2);
  (a.*emit)(d, s0, s1, S(op, 3, 20));
  (a.*emit)(d, s0, InlineOf(op, 2), InlineOf(op, 3));
  if (IsFloat(op, 1)) (a.*emit)(d, -abs(s0), s1, s2);
  if (IsFloat(op, 2)) (a.*emit)(d, s0, -s1, s2);
  if (IsFloat(op, 3)) (a.*emit)(d, s0, s1, abs(s2));
  ResultForms(op,
              [&]() -> VectorInstruction { return (a.*emit)(d, s0, s1, s2); });
}

void PackedForms(Assembler& a, Opcode op,
                 PackedInstruction (Assembler::*emit)(VReg, VSrc, VSrc)) {
  const VReg d = V(op, 0, 2), s0 = V(op, 1, 10), s1 = V(op, 2, 14);
  (a.*emit)(d, s0, s1);
  (a.*emit)(d, s0, S(op, 2, 20));
  (a.*emit)(d, s0, s1).op_sel({1, 0});
  if (!InfoOf(op).Has(kOpSel3p)) return;
  (a.*emit)(d, s0, s1).op_sel_hi({1, 0});
  (a.*emit)(d, s0, s1).op_sel({0, 1}).op_sel_hi({0, 0});
  (a.*emit)(d, -s0, s1);
  (a.*emit)(d, s0, -s1).op_sel_hi({0, 1});
}

void PackedForms(Assembler& a, Opcode op,
                 PackedInstruction (Assembler::*emit)(VReg, VSrc, VSrc, VSrc)) {
  const VReg d = V(op, 0, 2), s0 = V(op, 1, 10), s1 = V(op, 2, 14),
             s2 = V(op, 3, 18);
  (a.*emit)(d, s0, s1, s2);
  (a.*emit)(d, s0, S(op, 2, 20), s2);
  if (InfoOf(op).Has(kDot)) (a.*emit)(d, s0, s1, s2).clamp();
  if (!InfoOf(op).Has(kOpSel3p)) return;
  (a.*emit)(d, s0, s1, s2).op_sel_hi({1, 0, 1});
  (a.*emit)(d, s0, s1, s2).op_sel({1, 0, 0}).op_sel_hi({0, 1, 1});
  (a.*emit)(d, s0, s1, -s2);
}

void SdwaForms(Assembler& a, Opcode op,
               void (Assembler::*emit)(VReg, VReg, SdwaSelect)) {
  using enum SdwaSelect;
  for (SdwaSelect s : {kByte0, kByte1, kByte2, kByte3, kWord0, kWord1}) {
    (a.*emit)(V(op, 0, 2), VReg(10), s);
  }
}

constexpr MatrixFormat kFormats[] = {
    MatrixFormat::kFp8E4m3, MatrixFormat::kBf8E5m2, MatrixFormat::kFp6E2m3,
    MatrixFormat::kBf6E3m2, MatrixFormat::kFp4E2m1};

VReg FormatTuple(int base, MatrixFormat f) {
  return VReg(base, MatrixFormatRegisters(static_cast<int>(f)));
}

void MfmaForms(Assembler& a, Opcode op,
               MatrixInstruction (Assembler::*emit)(DataReg, DataReg, DataReg,
                                                    MfmaAddend)) {
  const VReg d = V(op, 0, 64), x = V(op, 1, 100), y = V(op, 2, 120);
  const bool integer = InfoOf(op).Has(kIntegerMatrix);
  (a.*emit)(d, x, y, d);
  (a.*emit)(d, x, y, V(op, 3, 140));
  (a.*emit)(d, x, y, 0);
  (a.*emit)(d, x, y, integer ? Imm(1) : F32(1.0f));
  (a.*emit)(A(op, 0, 64), x, y, A(op, 0, 64));
  (a.*emit)(A(op, 0, 64), A(op, 1, 100), y, A(op, 0, 0));
  (a.*emit)(d, x, A(op, 2, 120), 0);
  if (!InfoOf(op).Has(kF8F6F4)) return;
  for (MatrixFormat fa : kFormats) {
    for (MatrixFormat fb : kFormats) {
      (a.*emit)(d, FormatTuple(100, fa), FormatTuple(120, fb), d)
          .formats(fa, fb);
    }
  }
}

void MfmaScaleForms(Assembler& a, Opcode op,
                    MatrixInstruction (Assembler::*emit)(DataReg, DataReg,
                                                         DataReg, MfmaAddend,
                                                         VReg, VReg)) {
  const VReg d = V(op, 0, 64), x = V(op, 1, 100), y = V(op, 2, 120);
  const VReg sx(10), sy(14);
  (a.*emit)(d, x, y, d, sx, sy);
  (a.*emit)(d, x, y, 0, sx, sy);
  (a.*emit)(A(op, 0, 64), x, y, A(op, 0, 64), sx, sy);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      (a.*emit)(d, x, y, d, sx, sy).scale_bytes(i, j);
    }
  }
  for (MatrixFormat fa : kFormats) {
    for (MatrixFormat fb : kFormats) {
      (a.*emit)(d, FormatTuple(100, fa), FormatTuple(120, fb), d, sx, sy)
          .formats(fa, fb);
    }
  }
}

void SmfmacForms(Assembler& a, Opcode op,
                 MatrixInstruction (Assembler::*emit)(DataReg, DataReg, DataReg,
                                                      VReg)) {
  const VReg d = V(op, 0, 64), x = V(op, 1, 100), y = V(op, 2, 120);
  (a.*emit)(d, x, y, VReg(10));
  (a.*emit)(A(op, 0, 64), x, A(op, 2, 120), VReg(10));
  (a.*emit)(d, x, y, VReg(10)).abid(1);
  (a.*emit)(d, x, y, VReg(10)).cbsz(1);
}

void DsReadForms(Assembler& a, Opcode op,
                 void (Assembler::*emit)(DataReg, VReg, int)) {
  (a.*emit)(V(op, 0, 2), VReg(10), 0);
  (a.*emit)(A(op, 0, 2), VReg(10), 0);
  (a.*emit)(V(op, 0, 2), VReg(10), 65535);
}

void DsWriteForms(Assembler& a, Opcode op,
                  void (Assembler::*emit)(VReg, DataReg, int)) {
  (a.*emit)(VReg(10), V(op, 1, 2), 0);
  (a.*emit)(VReg(10), A(op, 1, 2), 0);
  (a.*emit)(VReg(10), V(op, 1, 2), 65535);
}

void BufferForms(Assembler& a, Opcode op,
                 MemoryInstruction (Assembler::*emit)(DataReg, BufferAddress,
                                                      SReg, SSrc, int)) {
  const SReg descriptor(20, 4);
  (a.*emit)(V(op, 0, 2), VReg(10), descriptor, 0, 0);
  (a.*emit)(A(op, 0, 2), VReg(10), descriptor, SReg(30), 4095);
  (a.*emit)(V(op, 0, 2), off, descriptor, SReg(30), 16);
  (a.*emit)(V(op, 0, 2), off, descriptor, 64, 0);
  (a.*emit)(V(op, 0, 2), VReg(10), descriptor, m0, 0).sc0();
  (a.*emit)(V(op, 0, 2), VReg(10), descriptor, 0, 8).sc0().nt().sc1();
}

void BufferLdsForms(Assembler& a,
                    MemoryInstruction (Assembler::*emit)(BufferAddress, SReg,
                                                         SSrc, int)) {
  const SReg descriptor(20, 4);
  (a.*emit)(VReg(10), descriptor, 0, 0);
  (a.*emit)(VReg(10), descriptor, SReg(30), 64);
  (a.*emit)(off, descriptor, SReg(30), 4095);
  (a.*emit)(VReg(10), descriptor, 0, 16).sc0().nt();
}

void GlobalLoadForms(Assembler& a, Opcode op,
                     MemoryInstruction (Assembler::*emit)(DataReg, VReg,
                                                          GlobalBase, int)) {
  (a.*emit)(V(op, 0, 2), VReg(10, 2), off, 0);
  (a.*emit)(V(op, 0, 2), VReg(10, 2), off, -4096);
  (a.*emit)(V(op, 0, 2), VReg(10), SReg(20, 2), 4095);
  (a.*emit)(A(op, 0, 2), VReg(10), vcc, 0).sc0().nt().sc1();
}

void GlobalStoreForms(Assembler& a, Opcode op,
                      MemoryInstruction (Assembler::*emit)(VReg, DataReg,
                                                           GlobalBase, int)) {
  (a.*emit)(VReg(10, 2), V(op, 1, 2), off, 0);
  (a.*emit)(VReg(10, 2), V(op, 1, 2), off, -4096);
  (a.*emit)(VReg(10), V(op, 1, 2), SReg(20, 2), 4095);
  (a.*emit)(VReg(10), A(op, 1, 2), SReg(20, 2), 0).nt();
}

void GlobalLdsForms(Assembler& a,
                    MemoryInstruction (Assembler::*emit)(VReg, GlobalBase,
                                                         int)) {
  (a.*emit)(VReg(10, 2), off, 0);
  (a.*emit)(VReg(10, 2), off, -16);
  (a.*emit)(VReg(10), SReg(20, 2), 16).nt();
}

// ---- Every line of opcodes.inc, then what it leaves to special methods ----

void EmitTable(Assembler& a, Label label) {
#define ZYFA_SOP1(name, operands, flags) \
  Sop1Forms(a, Opcode::name, &Assembler::name);
#define ZYFA_SOP2(name, operands, flags) \
  Sop2Forms(a, Opcode::name, &Assembler::name);
#define ZYFA_SOPC(name, operands) SopcForms(a, Opcode::name, &Assembler::name);
#define ZYFA_SOPK(name, operands, flags) \
  a.name(SReg(8), -100);                 \
  a.name(SReg(8), 32767);
#define ZYFA_SOPP0(name, flags) a.name();
#define ZYFA_SOPP1(name, operands) \
  a.name(0);                       \
  a.name((1 << CountOf(Opcode::name, 0)) - 1);
#define ZYFA_BRANCH(name, flags) a.name(label);
#define ZYFA_SMEM(name, operands) SmemForms(a, Opcode::name, &Assembler::name);
#define ZYFA_SMEM_CLOCK(name, operands) a.name(SReg(8, 2));
#define ZYFA_VOP1(name, operands, flags) \
  Vop1Forms(a, Opcode::name, &Assembler::name);
#define ZYFA_VOP2(name, operands, flags) \
  Vop2Forms(a, Opcode::name, &Assembler::name);
#define ZYFA_VOP2_CARRY_OUT(name, operands) CarryOutForms(a, &Assembler::name);
#define ZYFA_VOP2_CARRY(name, operands) CarryForms(a, &Assembler::name);
#define ZYFA_VOP2_MASK(name, operands) MaskForms(a, &Assembler::name);
#define ZYFA_VOPC(name, operands, flags) \
  VopcForms(a, Opcode::name, &Assembler::name);
#define ZYFA_VOP3_2(name, operands, flags) \
  Vop3Forms(a, Opcode::name, &Assembler::name);
#define ZYFA_VOP3_3(name, operands, flags) \
  Vop3Forms(a, Opcode::name, &Assembler::name);
#define ZYFA_VOP3_CARRY_OUT(name, operands)                        \
  a.name(VReg(2, 2), vcc, VReg(10), VReg(14), VReg(18, 2));        \
  a.name(VReg(2, 2), SReg(30, 2), VReg(10), SReg(20), VReg(2, 2)); \
  a.name(VReg(2, 2), vcc, VReg(10), VReg(14), 0).clamp();
#define ZYFA_BITOP3(name, operands)                    \
  a.name(VReg(2), VReg(10), VReg(14), VReg(18), 0x6c); \
  a.name(VReg(2), VReg(10), SReg(20), -1, 0xff);
#define ZYFA_VOP3P_2(name, operands, flags) \
  PackedForms(a, Opcode::name, &Assembler::name);
#define ZYFA_VOP3P_3(name, operands, flags) \
  PackedForms(a, Opcode::name, &Assembler::name);
#define ZYFA_SWAP(name, operands, flags) a.name(VReg(2), VReg(10));
#define ZYFA_DPP1(name, operands) \
  for (const Dpp& dpp : DppForms()) a.name(VReg(2), VReg(10), dpp);
#define ZYFA_DPP2(name, operands) \
  for (const Dpp& dpp : DppForms()) a.name(VReg(2), VReg(10), VReg(14), dpp);
#define ZYFA_SDWA1(name, operands) SdwaForms(a, Opcode::name, &Assembler::name);
#define ZYFA_MFMA(name, operands, flags, passes) \
  MfmaForms(a, Opcode::name, &Assembler::name);
#define ZYFA_MFMA_SCALE(name, operands, passes) \
  MfmaScaleForms(a, Opcode::name, &Assembler::name);
#define ZYFA_SMFMAC(name, operands, flags, passes) \
  SmfmacForms(a, Opcode::name, &Assembler::name);
#define ZYFA_DS_READ(name, operands, flags) \
  DsReadForms(a, Opcode::name, &Assembler::name);
#define ZYFA_DS_WRITE(name, operands) \
  DsWriteForms(a, Opcode::name, &Assembler::name);
#define ZYFA_DS_PERMUTE(name, operands) \
  a.name(VReg(2), VReg(10), VReg(14));  \
  a.name(VReg(2), VReg(10), VReg(14), 256);
#define ZYFA_BUFFER_LOAD(name, operands) \
  BufferForms(a, Opcode::name, &Assembler::name);
#define ZYFA_BUFFER_STORE(name, operands) \
  BufferForms(a, Opcode::name, &Assembler::name);
#define ZYFA_BUFFER_LOAD_LDS(name, mnemonic) \
  BufferLdsForms(a, &Assembler::name);
#define ZYFA_GLOBAL_LOAD(name, operands) \
  GlobalLoadForms(a, Opcode::name, &Assembler::name);
#define ZYFA_GLOBAL_STORE(name, operands) \
  GlobalStoreForms(a, Opcode::name, &Assembler::name);
#define ZYFA_GLOBAL_LOAD_LDS(name) GlobalLdsForms(a, &Assembler::name);
#define ZYFA_CACHE_CONTROL(name) \
  a.name().sc1();                \
  a.name().sc0().sc1();
#include "zyfa/gen/asm/opcodes.inc"
}

void EmitSpecial(Assembler& a) {
  a.s_waitcnt({});
  a.WaitVmcnt(0);
  a.WaitVmcnt(62);
  a.WaitLgkmcnt(0);
  a.s_waitcnt({.vmcnt = 17, .lgkmcnt = 3, .expcnt = 5});
  a.s_setreg_imm32_b32(HwReg::kMode, 23, 1, 1);
  a.s_setreg_imm32_b32(HwReg::kMode, 4, 4, 0xf);
  a.s_getreg_b32(SReg(8), HwReg::kMode, 0, 32);
  a.s_getreg_b32(SReg(8), HwReg::kStatus, 3, 5);
  a.s_getreg_b32(SReg(8), HwReg::kHwId, 0, 32);
  a.s_getreg_b32(SReg(8), HwReg::kXccId, 0, 4);
  a.v_permlane32_swap_b32(VReg(2), VReg(10)).e64();
  a.v_readfirstlane_b32(SReg(8), VReg(10));
  a.v_readfirstlane_b32(vcc_lo, VReg(10));
  a.v_readlane_b32(SReg(8), VReg(10), SReg(20));
  a.v_readlane_b32(SReg(8), VReg(10), 63);
  a.v_readlane_b32(SReg(8), VReg(10), m0);
  a.v_writelane_b32(VReg(2), SReg(20), 5);
  a.v_writelane_b32(VReg(2), 17, SReg(20));
  a.v_accvgpr_read_b32(VReg(2), AReg(10));
  a.v_accvgpr_write_b32(AReg(2), VReg(10));
  a.v_accvgpr_write_b32(AReg(2), F32(1.0f));
  a.v_accvgpr_write_b32(AReg(2), SReg(20));
  a.v_accvgpr_mov_b32(AReg(2), AReg(10));
  const VReg d(64, 16), x(100, 4), y(120, 4);
  a.v_mfma_f32_32x32x16_bf16(d, x, y, d).cbsz(1).abid(1).blgp(2);
}

}  // namespace

absl::StatusOr<Catalogue> BuildCatalogue() {
  KernelSpec spec;
  spec.name = "catalogue";
  Assembler a(spec);
  // Registers are used by number here, those of the entry too.
  a.sgprs().Free(a.kernarg());
  a.sgprs().Free(a.workgroup_id_x());
  a.vgprs().Free(a.workitem_id());
  const Label label = a.NewLabel("start");
  Catalogue catalogue;
  catalogue.stream = a.Capture([&] {
    a.Bind(label);
    EmitTable(a, label);
    EmitSpecial(a);
  });
  if (!a.status().ok()) return a.status();
  catalogue.text = absl::StrCat(
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n.text\n",
      PrintProgram(catalogue.stream.instructions(), a.label_names()));
  return catalogue;
}

}  // namespace zyfa::gen
