// Accesses and matrix instructions of which the cycle model's recorder has to
// find what they cost. One wave; arguments: [0] out, [8] in pointer.
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
        s_endpgm
        .size \name, . - \name
        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel \name
          .amdhsa_group_segment_fixed_size 65536
          .amdhsa_kernarg_size 16
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_next_free_vgpr 64
          .amdhsa_next_free_sgpr 32
          .amdhsa_accum_offset 64
        .end_amdhsa_kernel
        .endm

// v1..v5 = lane * 4, 8, 16, 128, 256; v6 = 0; s[4:7] = out, in; LDS is zero.
begin accesses
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_and_b32 v0, 0x3ff, v0
        v_lshlrev_b32 v1, 2, v0
        v_lshlrev_b32 v2, 3, v0
        v_lshlrev_b32 v3, 4, v0
        v_lshlrev_b32 v4, 7, v0
        v_lshlrev_b32 v5, 8, v0
        v_mov_b32 v6, 0
        v_mov_b32 v8, 0
        v_mov_b32 v9, 0
        v_mov_b32 v10, 0
        v_mov_b32 v11, 0
        s_waitcnt lgkmcnt(0)
        // LDS
        ds_write_b64 v2, v[8:9]
        ds_write_b128 v3, v[8:11]
        ds_write_b64 v3, v[8:9]                 // two of 16 lanes a bank
        ds_write_b128 v5, v[8:11]
        s_waitcnt lgkmcnt(0)
        ds_read_b32 v16, v1
        ds_read_b64 v[16:17], v2
        ds_read_b64_tr_b16 v[16:17], v2
        ds_read_b128 v[16:19], v3
        ds_read_b128 v[16:19], v3 offset:1024   // the same elsewhere
        ds_read_b128 v[16:19], v5               // all in the same banks
        ds_read_b128 v[16:19], v3 offset:4      // not aligned
        ds_read2_b64 v[16:19], v2 offset1:64
        ds_read_b32 v16, v6                     // all the same
        s_waitcnt lgkmcnt(0)
        // Global memory
        global_load_dwordx4 v[16:19], v3, s[6:7]
        global_load_dwordx2 v[16:17], v2, s[6:7]
        global_load_dword v16, v1, s[6:7]
        global_load_dword v16, v1, s[6:7] offset:64
        global_load_dword v16, v4, s[6:7]
        global_load_dword v16, v6, s[6:7]
        global_load_dwordx4 v[16:19], v4, s[6:7] offset:120 // two lines a lane
        s_mov_b32 m0, 0
        global_load_lds_dwordx4 v3, s[6:7]
        s_mov_b32 exec_hi, 0
        global_load_dword v16, v1, s[6:7]
        ds_read_b64 v[16:17], v2
        s_mov_b32 exec_lo, 0
        global_load_dword v16, v1, s[6:7]
        s_mov_b64 exec, -1
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_store_dwordx4 v3, v[8:11], s[4:5]
finish accesses

// Rows of A in v[16:19], of B in v[20:23], differing from lane to lane; ones in
// v[24:27]; v[28:31] zero in half of the lanes.
begin matrices
        v_and_b32 v0, 0x3ff, v0
        v_add_u32 v0, 1, v0
        v_mov_b32 v16, v0
        v_mov_b32 v17, v0
        v_mov_b32 v18, v0
        v_mov_b32 v19, v0
        v_mov_b32 v20, v0
        v_mov_b32 v21, v0
        v_mov_b32 v22, v0
        v_mov_b32 v23, v0
        v_mov_b32 v24, 0x3f803f80
        v_mov_b32 v25, 0x3f803f80
        v_mov_b32 v26, 0x3f803f80
        v_mov_b32 v27, 0x3f803f80
        v_cmp_gt_u32 vcc, 33, v0
        s_nop 4
        v_cndmask_b32 v28, 0, v0, vcc
        v_cndmask_b32 v29, 0, v0, vcc
        v_cndmask_b32 v30, 0, v0, vcc
        v_cndmask_b32 v31, 0, v0, vcc
        // Ones in v32, v33 of lanes 0..31 and in v34, v35 of the others.
        v_cndmask_b32 v32, 0, v25, vcc
        v_cndmask_b32 v33, 0, v25, vcc
        v_cndmask_b32 v34, v25, 0, vcc
        v_cndmask_b32 v35, v25, 0, vcc
        s_mov_b32 s8, 2
        s_nop 4
        v_mfma_f32_16x16x32_bf16 v[40:43], v[16:19], v[20:23], 0 // a product
        v_mfma_f32_16x16x32_bf16 v[40:43], v[32:35], v[20:23], 0 // sums of rows
        v_mfma_f32_16x16x32_bf16 v[40:43], v[24:27], v[20:23], 0 // ones
        v_mfma_f32_16x16x32_bf16 v[40:43], v[16:19], v[28:31], 0 // half zero
.Lagain:
        // Ones in the first pass, rows in the second.
        v_mfma_f32_16x16x32_bf16 v[40:43], v[24:27], v[20:23], 0
        s_nop 15
        v_mov_b32 v24, v0
        s_nop 4
        s_sub_u32 s8, s8, 1
        s_cmp_lg_u32 s8, 0
        s_cbranch_scc1 .Lagain
finish matrices

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: accesses, .symbol: accesses.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 65536, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 64, .agpr_count: 0, .max_flat_workgroup_size: 64 }
  - { .name: matrices, .symbol: matrices.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 65536, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 64, .agpr_count: 0, .max_flat_workgroup_size: 64 }
...
        .end_amdgpu_metadata
