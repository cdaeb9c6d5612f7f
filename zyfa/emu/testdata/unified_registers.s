// Kernels that allocate 40 vector registers with AGPRs from 32 on, but use no
// AGPR. Arguments: [0] out pointer.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        .macro begin name
        .text
        .globl \name
        .p2align 8
        .type \name,@function
\name:
        .endm

        .macro finish name
        .size \name, . - \name
        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel \name
          .amdhsa_group_segment_fixed_size 0
          .amdhsa_kernarg_size 8
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_next_free_vgpr 40
          .amdhsa_next_free_sgpr 16
          .amdhsa_accum_offset 32
        .end_amdhsa_kernel
        .endm

// out[x] = x + 7 through v32 and v39
begin beyond_accum_offset
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_and_b32 v32, 0x3ff, v0
        v_lshlrev_b32 v1, 2, v32
        v_add_u32 v39, 7, v32
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v39, s[4:5]
        s_endpgm
finish beyond_accum_offset

begin beyond_allocation
        v_mov_b32 v40, 0
        s_endpgm
finish beyond_allocation

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: beyond_accum_offset, .symbol: beyond_accum_offset.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 22, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: beyond_allocation, .symbol: beyond_allocation.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 22, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
...
        .end_amdgpu_metadata
