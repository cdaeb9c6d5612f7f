#include "zyfa/gen/clock/clock_loop.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {
namespace {

constexpr int kPairs = 4;
constexpr int kAccumulators = 2;
constexpr int kInstructions = 8;  // of a trip
constexpr int kLanes = 512;
constexpr int kPieceBytes = 16 * kLanes;

KernelSpec Spec(absl::string_view name) {
  KernelSpec spec;
  spec.name = absl::StrCat("zyfa_", name);
  spec.description = {
      "Matrix instructions and nothing else, two waves a SIMD; no two in",
      "succession have the same operands."};
  spec.args = {
      {"operands", 0, 8, KernelArg::Kind::kGlobalBuffer},
      {"sums", 8, 8, KernelArg::Kind::kGlobalBuffer},
      {"trips", 16, 4, KernelArg::Kind::kByValue},
  };
  spec.kernarg_bytes = 24;
  spec.workgroup_size = kLanes;
  // More than half: a compute unit takes one group.
  spec.lds_bytes = 96 * 1024;
  spec.max_vgprs = 256;
  return spec;
}

}  // namespace

absl::StatusOr<std::string> ClockLoop(absl::string_view name) {
  if (name != "clock_bf16" && name != "clock_fp8") {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel '", name, "'; allowed are clock_bf16 and clock_fp8"));
  }
  const bool fp8 = name == "clock_fp8";
  const int registers = fp8 ? 8 : 4;  // of an operand
  Assembler a(Spec(name));

  a.Section("Arguments");
  SReg pointers = a.sgprs().Alloc("operands, sums", 4);
  SReg trips = a.sgprs().Alloc("trips");
  a.s_load_dwordx4(pointers, a.kernarg(), 0);
  a.s_load_dword(trips, a.kernarg(), 16);
  SReg operands = pointers.sub(0, 2);
  SReg sums = pointers.sub(2, 2);
  VReg lane = a.vgprs().Alloc("byte of the lane");
  a.v_and_b32(lane, 0x3ff, a.workitem_id());
  a.v_lshlrev_b32(lane, 4, lane);

  a.Section("Operands");
  std::vector<VReg> sides[2];
  VReg address = a.vgprs().Alloc("address");
  a.v_mov_b32(address, lane);
  for (int pair = 0; pair < kPairs; ++pair) {
    for (std::vector<VReg>& side : sides) {
      side.push_back(a.vgprs().Alloc(
          absl::StrCat(&side == &sides[0] ? "A" : "B", pair), registers));
      for (int piece = 0; piece < registers / 4; ++piece) {
        a.global_load_dwordx4(side.back().sub(4 * piece, 4), address, operands);
        a.v_add_u32(address, kPieceBytes, address);
      }
    }
  }
  std::vector<VReg> accumulators;
  for (int i = 0; i < kAccumulators; ++i) {
    accumulators.push_back(a.vgprs().Alloc(absl::StrCat("sum", i), 16));
    for (int r = 0; r < 16; ++r) {
      a.v_mov_b32(accumulators.back().sub(r, 1), 0);
    }
  }
  a.WaitVmcnt(0);

  a.Section("Loop");
  Label loop = a.NewLabel("loop");
  a.Bind(loop);
  for (int i = 0; i < kInstructions; ++i) {
    const VReg& sum = accumulators[static_cast<size_t>(i % kAccumulators)];
    const VReg& left = sides[0][static_cast<size_t>(i % kPairs)];
    const VReg& right = sides[1][static_cast<size_t>(i % kPairs)];
    if (fp8) {
      a.v_mfma_f32_32x32x64_f8f6f4(sum, left, right, sum)
          .formats(MatrixFormat::kFp8E4m3, MatrixFormat::kFp8E4m3);
    } else {
      a.v_mfma_f32_32x32x16_bf16(sum, left, right, sum);
    }
  }
  a.s_sub_u32(trips, trips, 1);
  a.s_cmp_lg_u32(trips, 0);
  a.s_cbranch_scc1(loop);

  a.Section("Sums");
  SReg group = a.sgprs().Alloc("byte of the group");
  a.s_mul_i32(group, a.workgroup_id_x(), kAccumulators * kPieceBytes);
  a.v_add_u32(address, group, lane);
  for (const VReg& sum : accumulators) {
    a.global_store_dwordx4(address, sum.sub(0, 4), sums);
    a.v_add_u32(address, kPieceBytes, address);
  }
  a.s_endpgm();
  return a.Finish();
}

}  // namespace zyfa::gen
