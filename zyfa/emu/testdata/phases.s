// Kernels for the views of the cycle model: loops whose phases have names.
// Arguments: [0] and [8] pointers, unused; [16] u32 passes.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        // A number with a name, as large as an address in .text: no code.
        .set a_number, 0x1640

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
          .amdhsa_group_segment_fixed_size 1024
          .amdhsa_kernarg_size 24
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_system_sgpr_workgroup_id_x 1
          .amdhsa_system_vgpr_workitem_id 0
          .amdhsa_next_free_vgpr 64
          .amdhsa_next_free_sgpr 32
          .amdhsa_accum_offset 64
        .end_amdhsa_kernel
        .endm

        // s8 = passes; v[0:3] and v[4:7] differ by lane, v[8:11] and v12 do not;
        // v[16:47] = 0
        .macro start
        s_load_dword s8, s[0:1], 0x10
        .irp r, 1,2,3,4,5,6,7
        v_add_u32 v\r, \r, v0
        .endr
        .irp r, 8,9,10,11,12
        v_mov_b32 v\r, 1.0
        .endr
        .irp r, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47
        v_mov_b32 v\r, 0
        .endr
        s_waitcnt lgkmcnt(0)
        s_nop 1
        .endm

        .macro multiply_block
        .rept 8
        v_mfma_f32_32x32x16_bf16 v[16:31], v[0:3], v[4:7], v[16:31]
        .endr
        .endm

        .macro soften_block
        .rept 12
        v_exp_f32 v13, v12
        .endr
        .endm

        .macro again label
        s_sub_u32 s8, s8, 1
        s_cmp_lg_u32 s8, 0
        s_cbranch_scc1 \label
        .endm

// A pass: 8 matrix instructions, 1 that is auxiliary, 12 exponentials, a barrier.
begin phased
        start
multiply:
        multiply_block
row_sums:
        v_mfma_f32_32x32x16_bf16 v[32:47], v[8:11], v[4:7], v[32:47]
phase.soften:
        soften_block
        s_barrier
next_pass:
        again multiply
ending:
        s_endpgm
finish phased

// The same without names and barrier.
begin unnamed
        start
.Lunnamed_loop:
        multiply_block
        soften_block
        again .Lunnamed_loop
        s_endpgm
finish unnamed

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: phased, .symbol: phased.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 64, .agpr_count: 0, .max_flat_workgroup_size: 512 }
  - { .name: unnamed, .symbol: unnamed.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 64, .agpr_count: 0, .max_flat_workgroup_size: 512 }
...
        .end_amdgpu_metadata
