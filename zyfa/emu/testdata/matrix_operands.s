// Matrix instructions on operands that are known by heart; two waves.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        .text
        .globl matrix_operands
        .p2align 8
        .type matrix_operands,@function
matrix_operands:
        v_lshrrev_b32 v40, 6, v0             // number of the wave
        v_lshlrev_b32 v41, 20, v40
        v_mov_b32 v0, 0x3f803f80             // A: 1.0 in BF16
        v_mov_b32 v1, 0x3f803f80
        v_mov_b32 v2, 0x3f803f80
        v_mov_b32 v3, 0x3f803f80
        v_mov_b32 v4, 0x40004000             // B: 2.0
        v_mov_b32 v5, 0x40004000
        v_mov_b32 v6, 0x40004000
        v_mov_b32 v7, 0x40004000
        v_mov_b32 v8, 0x40004000
        v_mov_b32 v9, 0x40004000
        v_mov_b32 v10, 0x40004000
        v_mov_b32 v11, 0x40004000
        v_mov_b32 v12, v41                   // index of the sparse instruction
        s_nop 4
        v_mfma_f32_32x32x16_bf16 v[16:31], v[0:3], v[4:7], 1.0
        s_nop 15
        s_nop 15
        v_mfma_f32_32x32x16_bf16 v[16:31], v[4:7], v[0:3], v[16:31]
        s_nop 15
        s_nop 15
        v_smfmac_f32_16x16x64_bf16 v[16:19], v[0:3], v[4:11], v12
        s_nop 15
        s_nop 15
        s_endpgm
        .size matrix_operands, . - matrix_operands

        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel matrix_operands
          .amdhsa_kernarg_size 0
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_next_free_vgpr 48
          .amdhsa_next_free_sgpr 16
          .amdhsa_accum_offset 48
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: matrix_operands, .symbol: matrix_operands.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 22, .vgpr_count: 48, .agpr_count: 0, .max_flat_workgroup_size: 128 }
...
        .end_amdgpu_metadata
