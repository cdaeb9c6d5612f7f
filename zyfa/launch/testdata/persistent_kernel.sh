#!/bin/sh
# Generator for persistent_time_test: a causal kernel with the arguments, the
# items and the loops of an FP8 attention kernel and without its numbers.
#   persistent_kernel.sh --variant NAME --out FILE
# Each wave does 4 matrix instructions for each 64 keys that the last row of an
# item sees, and some vector work before them.
set -eu

cat > "$4" <<'END'
  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
  .amdhsa_code_object_version 6
  .text
  .globl persistent_kernel
  .p2align 8
  .type persistent_kernel,@function
persistent_kernel:
  s_load_dwordx4 s[8:11], s[0:1], 0x100   // columns, items, groups
  s_load_dwordx4 s[12:15], s[0:1], 0x88   // seqlen_q, seqlen_kv, query_tiles
  .set i, 0
  .rept 20
    v_mov_b32 v[i], 0
    .set i, i + 1
  .endr
  s_mov_b32 s3, 0                         // round * groups
  s_mov_b32 s16, 0                        // round is odd
  s_waitcnt lgkmcnt(0)
.Lround:
  s_cmp_ge_u32 s3, s9
  s_cbranch_scc1 .Ldone
  s_mov_b32 s17, s2
  s_cmp_eq_u32 s16, 0
  s_cbranch_scc1 .Lplace
  s_and_b32 s18, s2, 7                    // eights from the last on
  s_sub_u32 s17, s10, 8
  s_sub_u32 s17, s17, s2
  s_add_u32 s17, s17, s18
  s_add_u32 s17, s17, s18
.Lplace:
  s_add_u32 s17, s17, s3                  // item
  s_cmp_ge_u32 s17, s9
  s_cbranch_scc1 .Lnext
  s_mov_b32 s19, s14                      // tile + 1, from the last down
.Ltile:
  s_cmp_lt_u32 s17, s8
  s_cbranch_scc1 .Ltiled
  s_sub_u32 s17, s17, s8
  s_sub_u32 s19, s19, 1
  s_branch .Ltile
.Ltiled:
  s_lshl_b32 s20, s19, 8
  s_min_u32 s20, s20, s12
  s_add_u32 s20, s20, s13
  s_sub_u32 s20, s20, s12
  s_max_i32 s20, s20, 0
  s_min_i32 s20, s20, s13
  s_add_u32 s20, s20, 63
  s_lshr_b32 s20, s20, 6                  // key tiles
  .rept 64
    v_exp_f32 v20, v16
  .endr
  s_barrier
.Lkeys:
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 .Lnext
  .rept 4
    v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]
    v_exp_f32 v20, v16
  .endr
  s_sub_u32 s20, s20, 1
  s_branch .Lkeys
.Lnext:
  s_add_u32 s3, s3, s10
  s_xor_b32 s16, s16, 1
  s_branch .Lround
.Ldone:
  s_endpgm
  .size persistent_kernel, .-persistent_kernel
  .rodata
  .p2align 6
  .amdhsa_kernel persistent_kernel
    .amdhsa_kernarg_size 336
    .amdhsa_group_segment_fixed_size 163840
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_count 2
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_next_free_vgpr 24
    .amdhsa_accum_offset 24
    .amdhsa_next_free_sgpr 32
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: persistent_kernel
    .symbol: persistent_kernel.kd
    .kernarg_segment_size: 336
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 163840
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 24
    .max_flat_workgroup_size: 512
    .args:
      - { .offset: 0, .size: 336, .value_kind: by_value }
...
  .end_amdgpu_metadata
END
