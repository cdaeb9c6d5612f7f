// One wave and its own loads into LDS; tests drop or loosen the waits.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        .text
        .globl own_dma
        .p2align 8
        .type own_dma,@function
// out[lane] = in[lane] + in[64 + lane], both brought to the same bytes of LDS.
own_dma:
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_and_b32 v0, 0x3ff, v0
        v_lshlrev_b32 v1, 2, v0
        s_mov_b32 m0, 0
        s_waitcnt lgkmcnt(0)
        global_load_lds_dword v1, s[6:7]
        s_waitcnt vmcnt(0)                   // the data are there
        ds_read_b32 v2, v1
        v_add_u32 v4, 0x100, v1
        s_waitcnt lgkmcnt(0)                 // and read
        global_load_lds_dword v4, s[6:7]
        s_waitcnt vmcnt(0)
        ds_read_b32 v3, v1
        s_waitcnt lgkmcnt(0)
        v_add_u32 v2, v2, v3
        global_load_lds_dword v4, s[6:7]
        global_store_dword v1, v2, s[4:5]
        s_waitcnt vmcnt(0)                   // nothing lands after the end
        s_endpgm
        .size own_dma, . - own_dma

        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel own_dma
          .amdhsa_group_segment_fixed_size 256
          .amdhsa_kernarg_size 16
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_next_free_vgpr 8
          .amdhsa_next_free_sgpr 16
          .amdhsa_accum_offset 8
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: own_dma, .symbol: own_dma.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 256, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 22, .vgpr_count: 8, .agpr_count: 0, .max_flat_workgroup_size: 64 }
...
        .end_amdgpu_metadata
