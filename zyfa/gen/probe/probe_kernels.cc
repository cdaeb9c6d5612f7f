#include "zyfa/gen/probe/probe_kernels.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/assembler.h"
#include "zyfa/probe/layout.h"

namespace zyfa::gen {
namespace {

using probe::Int8Input;
using probe::Int8Result;
using probe::MatrixInput;
using probe::MatrixResult;
using probe::ProbeArgs;
using probe::SparseInput;
using probe::SparseResult;
using probe::VectorInput;
using probe::VectorResult;

KernelSpec Spec(absl::string_view name, const char* description) {
  KernelSpec spec;
  spec.name = absl::StrCat("zyfa_", name);
  spec.description = {description};
  spec.args = {
      {"inputs", offsetof(ProbeArgs, inputs), 8,
       KernelArg::Kind::kGlobalBuffer},
      {"results", offsetof(ProbeArgs, results), 8,
       KernelArg::Kind::kGlobalBuffer},
  };
  spec.kernarg_bytes = sizeof(ProbeArgs);
  spec.workgroup_size = 64;
  spec.denorm_mode_32 = 3;
  return spec;
}

// The addresses of a kernel.
struct Places {
  SReg inputs, results;
  VReg input, result;  // byte offsets of the lane
};

Places EmitPlaces(Assembler& a, int input_bytes, int result_bytes) {
  a.Section("Arguments");
  SReg pointers = a.sgprs().Alloc("inputs, results", 4);
  a.s_load_dwordx4(pointers, a.kernarg(), 0);
  Places p = {pointers.sub(0, 2), pointers.sub(2, 2), a.vgprs().Alloc("input"),
              a.vgprs().Alloc("result")};
  ScopedSReg first = a.sgprs().Scoped("first lane");
  ScopedVReg index = a.vgprs().Scoped("index");
  a.s_lshl_b32(first, a.workgroup_id_x(), 6);
  a.v_and_b32(index, 63, a.workitem_id());
  a.v_add_u32(index, first, index);
  a.v_mul_u32_u24(p.input, input_bytes, index);
  a.v_mul_u32_u24(p.result, result_bytes, index);
  return p;
}

// The input of the lane.
VReg EmitLoads(Assembler& a, const Places& p, size_t bytes) {
  VReg in = a.vgprs().Alloc("operands", static_cast<int>(bytes / 4));
  for (int i = 0; i < in.count(); i += 4) {
    a.global_load_dwordx4(in.sub(i, 4), p.input, p.inputs, 4 * i);
  }
  return in;
}

// The member of `count` dwords at `offset` of what is in `registers`.
VReg Member(VReg registers, size_t offset, int count) {
  return registers.sub(static_cast<int>(offset / 4), count);
}

void EmitStores(Assembler& a, const Places& p, VReg out) {
  a.Section("Results");
  for (int i = 0; i < out.count(); i += 4) {
    a.global_store_dwordx4(p.result, out.sub(i, 4), p.results, 4 * i);
  }
}

absl::StatusOr<std::string> VectorKernel(absl::string_view name) {
  Assembler a(Spec(name, "Vector instructions on operands from memory."));
  const Places p = EmitPlaces(a, sizeof(VectorInput), sizeof(VectorResult));
  const VReg in = EmitLoads(a, p, sizeof(VectorInput));
  VReg x = in[0], y = in[1], z = in[2], old = in[3];
  VReg out = a.vgprs().Alloc("results", sizeof(VectorResult) / 4);
  const auto result = [&](size_t offset) {
    return out[static_cast<int>(offset / 4)];
  };

  a.Section("Instructions");
  for (int i = 0; i < out.count(); ++i) a.v_mov_b32(out[i], old);
  a.v_ashr_pk_u8_i32(result(offsetof(VectorResult, ashr_low)), x, y, 8);
  a.v_ashr_pk_u8_i32(result(offsetof(VectorResult, ashr_high)), x, y, 8)
      .dst_high();
  a.v_ashr_pk_u8_i32(result(offsetof(VectorResult, ashr_both)), x, y, 8);
  a.v_ashr_pk_u8_i32(result(offsetof(VectorResult, ashr_both)), y, x, 8)
      .dst_high();
  a.v_cvt_pk_u8_f32(result(offsetof(VectorResult, byte_1)), x, 1, old);
  a.v_exp_f32(result(offsetof(VectorResult, exp)), x);
  const VReg fma = result(offsetof(VectorResult, fma));
  const VReg code = result(offsetof(VectorResult, code));
  a.v_fma_f32(fma, x, y, z);
  a.v_mov_b32(code, 0);
  a.v_ashr_pk_u8_i32(code, fma, fma, 8);
  a.v_cvt_scalef32_pk_fp8_f32(result(offsetof(VectorResult, scaled_low)), x, y,
                              z);
  a.v_cvt_scalef32_pk_fp8_f32(result(offsetof(VectorResult, scaled_high)), x, y,
                              z)
      .dst_high();
  const VReg both = result(offsetof(VectorResult, shifted_both));
  a.v_ashr_pk_u8_i32(both, x, y, z);
  a.v_ashr_pk_u8_i32(result(offsetof(VectorResult, shifted_low)), x, y, z);
  a.v_ashr_pk_u8_i32(both, y, x, z).dst_high();
  a.v_ashr_pk_u8_i32(result(offsetof(VectorResult, shifted_high)), x, y, z)
      .dst_high();
  a.v_mad_i32_i24(result(offsetof(VectorResult, mad)), x, y, z);
  a.v_mul_i32_i24(result(offsetof(VectorResult, mul)), x, y);
  a.Comment("FP16_OVFL");
  a.s_setreg_imm32_b32(HwReg::kMode, 23, 1, 1);
  a.v_cvt_scalef32_pk_fp8_f32(result(offsetof(VectorResult, scaled_clamped)), x,
                              y, z);
  a.v_cvt_pk_fp8_f32(result(offsetof(VectorResult, fp8_clamped)), x, y);
  EmitStores(a, p, out);
  a.s_endpgm();
  return a.Finish();
}

absl::StatusOr<std::string> MatrixKernel(absl::string_view name) {
  Assembler a(Spec(name, "A matrix instruction on operands from memory."));
  const Places p = EmitPlaces(a, sizeof(MatrixInput), sizeof(MatrixResult));
  const VReg in = EmitLoads(a, p, sizeof(MatrixInput));
  const VReg sum = Member(in, offsetof(MatrixInput, c), 16);
  a.v_mfma_scale_f32_32x32x64_f8f6f4(
       sum, Member(in, offsetof(MatrixInput, a), 8),
       Member(in, offsetof(MatrixInput, b), 8), sum,
       Member(in, offsetof(MatrixInput, scale_a), 1),
       Member(in, offsetof(MatrixInput, scale_b), 1))
      .formats(MatrixFormat::kFp8E4m3, MatrixFormat::kFp8E4m3);
  EmitStores(a, p, sum);
  a.s_endpgm();
  return a.Finish();
}

absl::StatusOr<std::string> Int8Kernel(absl::string_view name) {
  Assembler a(Spec(name, "Products of int8 with their addends."));
  const Places p = EmitPlaces(a, sizeof(Int8Input), sizeof(Int8Result));
  const VReg in = EmitLoads(a, p, sizeof(Int8Input));
  const VReg x = Member(in, offsetof(Int8Input, a), 4);
  const VReg y = Member(in, offsetof(Int8Input, b), 4);
  const VReg c = Member(in, offsetof(Int8Input, c), 16);
  VReg out = a.vgprs().Alloc("results", sizeof(Int8Result) / 4);
  a.v_mfma_i32_32x32x32_i8(Member(out, offsetof(Int8Result, apart), 16), x, y,
                           c);
  a.v_mfma_i32_32x32x32_i8(Member(out, offsetof(Int8Result, bare), 16), x, y,
                           0);
  const VReg sum = Member(out, offsetof(Int8Result, in_place), 16);
  for (int i = 0; i < sum.count(); ++i) a.v_mov_b32(sum[i], c[i]);
  a.v_mfma_i32_32x32x32_i8(sum, x, y, sum);
  a.Comment("FP16_OVFL, once the sums so far are there");
  a.v_mov_b32(sum[0], sum[0]);
  a.s_setreg_imm32_b32(HwReg::kMode, 23, 1, 1);
  const VReg clamped = Member(out, offsetof(Int8Result, clamped), 16);
  a.v_mfma_i32_32x32x32_i8(clamped, x, y, c);
  EmitStores(a, p, out);
  a.s_endpgm();
  return a.Finish();
}

absl::StatusOr<std::string> SparseKernel(absl::string_view name) {
  Assembler a(Spec(name, "A sparse product of e4m3 numbers."));
  const Places p = EmitPlaces(a, sizeof(SparseInput), sizeof(SparseResult));
  const VReg in = EmitLoads(a, p, sizeof(SparseInput));
  const VReg sum = Member(in, offsetof(SparseInput, d), 4);
  a.v_smfmac_f32_16x16x128_fp8_fp8(
      sum, Member(in, offsetof(SparseInput, a), 4),
      Member(in, offsetof(SparseInput, b), 8),
      Member(in, offsetof(SparseInput, places), 1));
  EmitStores(a, p, sum);
  a.s_endpgm();
  return a.Finish();
}

}  // namespace

absl::StatusOr<std::string> ProbeKernel(absl::string_view name) {
  if (name == "probe_vector") return VectorKernel(name);
  if (name == "probe_matrix") return MatrixKernel(name);
  if (name == "probe_int8") return Int8Kernel(name);
  if (name == "probe_sparse") return SparseKernel(name);
  return absl::InvalidArgumentError(
      absl::StrCat("kernel '", name,
                   "'; allowed are probe_vector, probe_matrix, probe_int8 and "
                   "probe_sparse"));
}

}  // namespace zyfa::gen
