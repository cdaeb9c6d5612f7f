#include "zyfa/gen/asm/example_kernel.h"

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

absl::StatusOr<std::string> AddOneKernel() {
  KernelSpec spec;
  spec.name = "add_one";
  spec.description = {"out[i] = in[i] + 1 for i < n; 256 work-items a group."};
  spec.args = {
      {"out", 0, 8, KernelArg::Kind::kGlobalBuffer},
      {"in", 8, 8, KernelArg::Kind::kGlobalBuffer},
      {"n", 16, 4, KernelArg::Kind::kByValue},
  };
  spec.kernarg_bytes = 24;
  spec.workgroup_size = 256;
  Assembler a(spec);

  a.Phase("load");
  a.Section("Arguments");
  SReg pointers = a.sgprs().Alloc("out, in", 4);
  SReg n = a.sgprs().Alloc("n");
  a.s_load_dwordx4(pointers, a.kernarg(), 0);
  a.s_load_dword(n, a.kernarg(), 16);
  SReg out = pointers.sub(0, 2);
  SReg in = pointers.sub(2, 2);

  a.Section("Element of this lane");
  VReg index = a.vgprs().Alloc("index");
  {
    ScopedSReg group_begin = a.sgprs().Scoped("group begin");
    a.v_and_b32(index, 0x3ff, a.workitem_id());
    a.s_lshl_b32(group_begin, a.workgroup_id_x(), 8);
    a.v_add_u32(index, group_begin, index);
  }

  Label end = a.NewLabel("end");
  ScopedSReg saved_exec = a.sgprs().Scoped("saved exec", 2);
  a.Comment("lanes with index < n");
  a.v_cmp_gt_u32(vcc, n, index);
  a.s_and_saveexec_b64(saved_exec, vcc);
  a.s_cbranch_execz(end);

  a.Phase("add");
  a.Section("Add");
  VReg offset = a.vgprs().Alloc("byte offset");
  VReg x = a.vgprs().Alloc("x");
  a.v_lshlrev_b32(offset, 2, index);
  a.global_load_dword(x, offset, in);
  a.v_add_f32(x, F32(1.0f), x);
  a.global_store_dword(offset, x, out);
  a.Bind(end);
  a.s_endpgm();
  return a.Finish();
}

}  // namespace zyfa::gen
