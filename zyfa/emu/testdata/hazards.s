// Pairs of instructions that want wait states between them (ISA 5.1, 5.2): each
// once with one too few (or with `few` of them) and once with enough, all in one straight line. The
// numbers are the tables' own. s90 says which: 2 * row, plus 1 with enough. A row
// that wants none has only the second form. Rule and level of the finding are for
// strict/hazards_test.cc, which reads them here.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        .macro row id, states, first, second, rule, level, few=-1
        .if \states > 0
        .p2align 2
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_nop 15
        s_nop 15
        s_movk_i32 s90, 2 * \id
        \first
        .if \few < 0
        .rept \states - 1
        s_nop 0
        .endr
        .else
        .rept \few
        s_nop 0
        .endr
        .endif
        \second
        .endif
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_nop 15
        s_nop 15
        s_movk_i32 s90, 2 * \id + 1
        \first
        .rept \states
        s_nop 0
        .endr
        \second
        .endm

        // The second product waits for the pipe until the first has left it.
        .macro two_products
        v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0
        v_mfma_f32_32x32x16_bf16 v[64:79], v[20:23], v[24:27], 0
        .endm

        // A barrier takes nobody knows how long.
        .macro product_and_barrier
        v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0
        s_nop 0
        s_barrier
        .endm

        .text
        .globl hazards
        .p2align 8
        .type hazards,@function
hazards:
        s_load_dwordx4 s[4:7], s[0:1], 0x0   // out pointer, unused
        v_mov_b32 v60, 0
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v61, s4
        s_mov_b32 s12, s4
        s_mov_b32 s13, s5
        s_mov_b32 s14, 1024
        s_mov_b32 s15, 0x00020000
        v_mov_b32 v63, s14
        s_mov_b32 s23, 0
        row 0, 5, "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], 0", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 1, 5, "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], 0", "v_mov_b32 v1, 0", "hazard-matrix-result-overwritten", error
        row 2, 5, "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[24:27], 0", "hazard-matrix-source", error
        row 3, 5, "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[24:27], v[0:3], 0", "hazard-matrix-source", error
        row 4, 8, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 5, 8, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_mov_b32 v1, 0", "hazard-matrix-result-overwritten", error
        row 6, 8, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[24:27], 0", "hazard-matrix-source", error
        row 7, 8, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[24:27], v[0:3], 0", "hazard-matrix-source", error
        row 8, 12, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 9, 12, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "v_mov_b32 v1, 0", "hazard-matrix-result-overwritten", error
        row 10, 12, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[24:27], 0", "hazard-matrix-source", error
        row 11, 12, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[24:27], v[0:3], 0", "hazard-matrix-source", error
        row 12, 20, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 13, 20, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "v_mov_b32 v1, 0", "hazard-matrix-result-overwritten", error
        row 14, 20, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[24:27], 0", "hazard-matrix-source", error
        row 15, 20, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[24:27], v[0:3], 0", "hazard-matrix-source", error
        row 16, 8, "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[20:23], v[24:27], 0 cbsz:4 blgp:4", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 17, 12, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:23], v[24:27], 0 cbsz:4 blgp:4", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 18, 20, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:31], 0 blgp:4", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 19, 12, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "global_store_dword v60, v0, s[4:5]", "hazard-matrix-result", error
        row 20, 8, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "ds_write_b32 v60, v0", "hazard-matrix-result", error
        row 21, 12, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "global_load_dword v0, v60, s[4:5]", "hazard-matrix-result-overwritten", error
        row 22, 20, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "ds_read_b32 v15, v60", "hazard-matrix-result-overwritten", error
        row 23, 2, "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], v[0:3]", "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], v[0:3]", "hazard-matrix-addend", error
        row 24, 0, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], v[0:3]"
        row 25, 0, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], v[0:15]"
        row 26, 0, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], v[0:15]"
        row 27, 4, "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[20:23], v[24:27], v[2:5]", "hazard-matrix-addend", error
        row 28, 6, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[20:23], v[24:27], v[2:5]", "hazard-matrix-addend", error
        row 29, 10, "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[20:23], v[24:27], v[2:5]", "hazard-matrix-addend", error
        row 30, 18, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[20:23], v[24:27], v[2:5]", "hazard-matrix-addend", error
        row 31, 1, "v_mfma_f32_4x4x4_16b_f16 v[64:67], v[20:21], v[22:23], v[0:3]", "v_mov_b32 v0, 0", "hazard-matrix-addend-overwritten", error
        row 32, 3, "v_mfma_f32_16x16x32_bf16 v[64:67], v[20:23], v[24:27], v[0:3]", "v_mov_b32 v0, 0", "hazard-matrix-addend-overwritten", error
        row 33, 7, "v_mfma_f32_32x32x16_bf16 v[64:79], v[20:23], v[24:27], v[0:15]", "v_mov_b32 v0, 0", "hazard-matrix-addend-overwritten", error
        row 34, 15, "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[20:27], v[28:35], v[0:15]", "v_mov_b32 v0, 0", "hazard-matrix-addend-overwritten", error
        row 35, 7, "v_mfma_f32_32x32x16_bf16 v[64:79], v[20:23], v[24:27], v[0:15]", "global_load_dword v3, v60, s[4:5]", "hazard-matrix-addend-overwritten", error
        row 36, 18, "v_mfma_f32_32x32x2_f32 v[0:15], v20, v21, 0", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 37, 10, "v_mfma_f32_16x16x4_f32 v[0:3], v20, v21, 0", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 38, 16, "v_mfma_f32_32x32x2_f32 v[0:15], v20, v21, 0", "v_mfma_f32_16x16x32_bf16 v[40:43], v[20:23], v[24:27], v[2:5]", "hazard-matrix-addend", error
        row 39, 0, "v_mfma_f32_32x32x2_f32 v[64:79], v20, v21, v[0:15]", "v_mov_b32 v0, 0"
        row 40, 19, "v_mfma_f64_16x16x4_f64 v[0:7], v[20:21], v[22:23], 0", "v_add_f64 v[50:51], v[0:1], v[52:53]", "hazard-matrix-result", error
        row 41, 18, "v_mfma_f64_16x16x4_f64 v[0:7], v[20:21], v[22:23], 0", "global_store_dword v60, v0, s[4:5]", "hazard-matrix-result", error
        row 42, 6, "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[20:21], v[22:23], 0", "v_add_f64 v[50:51], v[0:1], v[52:53]", "hazard-matrix-result", error
        row 43, 4, "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[20:21], v[22:23], 0", "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[20:21], v[22:23], v[0:1]", "hazard-matrix-addend", error
        row 44, 8, "v_smfmac_f32_16x16x64_bf16 v[0:3], v[20:23], v[24:31], v36", "v_add_f32 v50, v0, v51", "hazard-matrix-result", error
        row 45, 0, "v_smfmac_f32_16x16x64_bf16 v[0:3], v[20:23], v[24:31], v36", "v_smfmac_f32_16x16x64_bf16 v[0:3], v[20:23], v[24:31], v36"
        row 46, 8, "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "v_smfmac_f32_16x16x64_bf16 v[40:43], v[20:23], v[24:31], v0", "hazard-matrix-source", error
        row 47, 2, "v_add_f32 v20, v51, v51", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "hazard-valu-matrix-source", warning
        row 48, 2, "v_add_f32 v20, v51, v51", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "hazard-valu-matrix-source", error, 0
        row 49, 2, "v_add_f32 v27, v51, v51", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "hazard-valu-matrix-source", warning
        row 50, 2, "v_add_f32 v27, v51, v51", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "hazard-valu-matrix-source", error, 0
        row 51, 2, "v_exp_f32 v27, v51", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "hazard-valu-matrix-source", warning
        row 52, 2, "v_exp_f32 v27, v51", "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", "hazard-valu-matrix-source", error, 0
        row 53, 2, "v_cvt_pk_fp8_f32 v24, v51, v51", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", "hazard-valu-matrix-source", warning
        row 54, 2, "v_mov_b32 v3, 0", "v_mfma_f32_32x32x16_bf16 v[64:79], v[20:23], v[24:27], v[0:15]", "hazard-valu-matrix-source", warning
        row 55, 2, "v_mov_b32 v3, 0", "v_mfma_f32_32x32x16_bf16 v[64:79], v[20:23], v[24:27], v[0:15]", "hazard-valu-matrix-source", error, 0
        row 56, 2, "v_mov_b32 v50, 0", "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0, v50, v51", "hazard-valu-matrix-source", warning
        row 57, 2, "v_mov_b32 v50, 0", "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0, v50, v51", "hazard-valu-matrix-source", error, 0
        row 58, 4, "v_cmpx_eq_u32 v60, v60", "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", "hazard-exec", error
        row 59, 3, "v_dot2_f32_f16 v0, v1, v2, v3", "v_add_f32 v50, v0, v51", "hazard-dot-result", error
        row 60, 3, "v_dot2_f32_f16 v0, v1, v2, v3", "v_dot2_f32_f16 v50, v0, v2, v3", "hazard-dot-result", error
        row 61, 0, "v_dot2_f32_f16 v0, v1, v2, v3", "v_dot2_f32_f16 v0, v1, v2, v0"
        row 62, 3, "v_dot2_f32_f16 v0, v1, v2, v3", "v_mov_b32 v0, 0", "hazard-dot-result", error
        row 63, 1, "v_exp_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 64, 1, "v_log_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 65, 1, "v_rcp_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 66, 1, "v_rcp_iflag_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 67, 1, "v_rsq_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 68, 1, "v_sqrt_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 69, 1, "v_sin_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 70, 1, "v_cos_f32 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 71, 1, "v_exp_f16 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 72, 1, "v_rcp_f16 v0, v1", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 73, 1, "v_rcp_f64 v[0:1], v[2:3]", "v_add_f32 v50, v0, v51", "hazard-trans-result", error
        row 74, 0, "v_exp_f32 v0, v1", "v_log_f32 v50, v0"
        row 75, 0, "v_exp_f32 v0, v1", "global_store_dword v60, v0, s[4:5]"
        row 76, 1, "v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]", "v_mov_b32 v50, v0", "hazard-placed-result", error
        row 77, 0, "v_cvt_pk_fp8_f32 v0, v1, v2", "v_mov_b32 v50, v0"
        row 78, 1, "v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,0]", "v_mov_b32 v50, v0", "hazard-placed-result", error
        row 79, 1, "v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD", "v_mov_b32 v50, v0", "hazard-placed-result", error
        row 80, 0, "v_cvt_pk_fp8_f32 v0, v1, v2", "v_cvt_pk_fp8_f32 v0, v3, v4 op_sel:[0,0,1]"
        row 81, 1, "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3", "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]", "hazard-partial-write", warning
        row 82, 2, "v_mov_b32 v0, 0", "v_permlane32_swap_b32 v0, v1", "hazard-permlane", error
        row 83, 2, "v_mov_b32 v1, 0", "v_permlane16_swap_b32 v0, v1", "hazard-permlane", error
        row 84, 2, "v_permlane32_swap_b32 v0, v1", "v_permlane16_swap_b32 v1, v2", "hazard-permlane", warning
        row 85, 4, "v_cmpx_eq_u32 v60, v60", "v_permlane32_swap_b32 v0, v1", "hazard-exec", error
        row 86, 2, "v_mov_b32 v0, 0", "v_mov_b32_dpp v50, v0 row_shr:1 row_mask:0xf bank_mask:0xf", "hazard-dpp", error
        row 87, 5, "v_cmpx_eq_u32 v60, v60", "v_mov_b32_dpp v50, v0 row_shr:1 row_mask:0xf bank_mask:0xf", "hazard-exec", error
        row 88, 1, "v_mov_b32 v0, 0", "v_readfirstlane_b32 s20, v0", "hazard-readlane", error
        row 89, 1, "v_mov_b32 v0, 0", "v_readlane_b32 s20, v0, 3", "hazard-readlane", error
        row 90, 2, "v_cmp_eq_u32 s[20:21], v60, v60", "v_mov_b32 v50, s21", "hazard-scalar-constant", error
        row 91, 2, "v_cmp_eq_u32 vcc, v60, v60", "v_mov_b32 v50, vcc_lo", "hazard-scalar-constant", error
        row 92, 2, "v_readfirstlane_b32 s20, v60", "v_add_u32 v50, s20, v51", "hazard-scalar-constant", error
        row 93, 0, "v_cmp_eq_u32 vcc, v60, v60", "v_cndmask_b32 v50, v51, v52, vcc"
        row 94, 0, "v_cmp_eq_u32 s[20:21], v60, v60", "v_cndmask_b32 v50, v51, v52, s[20:21]"
        row 95, 0, "v_add_co_u32 v50, vcc, v51, v52", "v_addc_co_u32 v53, vcc, v51, v52, vcc"
        row 96, 4, "v_readfirstlane_b32 s20, v60", "v_readlane_b32 s22, v1, s20", "hazard-lane-select", error
        row 97, 4, "v_readfirstlane_b32 s20, v60", "v_writelane_b32 v50, 3, s20", "hazard-lane-select", error
        row 98, 4, "v_cmp_eq_u32 vcc, v60, v60", "v_div_fmas_f32 v50, v51, v52, v53", "hazard-div-fmas", error
        row 99, 2, "v_cmpx_eq_u32 v60, v60", "v_mov_b32 v50, exec_lo", "hazard-scalar-constant", error
        row 100, 4, "v_cmpx_eq_u32 v60, v60", "v_readlane_b32 s22, v1, 0", "hazard-exec", error
        row 101, 4, "v_cmpx_eq_u32 v60, v60", "v_writelane_b32 v50, 3, 0", "hazard-exec", error
        row 102, 0, "v_cmpx_eq_u32 v60, v60", "v_add_f32 v50, v0, v51"
        row 103, 5, "v_readfirstlane_b32 s20, v60", "buffer_load_dword v50, v60, s[12:15], s20 offen", "hazard-scalar-address", error
        row 104, 5, "v_readfirstlane_b32 s14, v63", "buffer_load_dword v50, v60, s[12:15], 0 offen", "hazard-scalar-address", error
        row 105, 5, "v_readfirstlane_b32 s4, v61", "global_load_dword v50, v60, s[4:5]", "hazard-scalar-address", error
        row 106, 5, "v_cmp_eq_u32 vcc, v60, v60", "v_mov_b32 v50, src_vccz", "hazard-vccz", error
        row 107, 5, "v_cmpx_eq_u32 v60, v60", "v_mov_b32 v50, src_execz", "hazard-execz", error
        row 108, 1, "s_mov_b32 m0, 0", "global_load_lds_dword v60, s[4:5]", "hazard-m0", warning
        row 109, 1, "s_mov_b32 m0, 0", "buffer_load_dword v60, s[12:15], 0 offen lds", "hazard-m0", warning
        row 110, 2, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s20, hwreg(HW_REG_MODE)", "hazard-setreg", error
        row 111, 2, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "hazard-setreg", error
        row 112, 2, "global_store_dwordx4 v60, v[0:3], s[4:5]", "v_mov_b32 v2, 0", "hazard-store-data-overwritten", error
        row 113, 1, "global_store_dwordx3 v60, v[0:2], s[4:5]", "ds_read_b32 v0, v60", "hazard-store-data-overwritten", warning
        row 114, 2, "buffer_store_dwordx4 v[0:3], v60, s[12:15], 0 offen", "v_mov_b32 v2, 0", "hazard-store-data-overwritten", error
        row 115, 0, "buffer_store_dwordx4 v[0:3], v60, s[12:15], s23 offen", "v_mov_b32 v2, 0"
        row 116, 0, "global_store_dwordx2 v60, v[0:1], s[4:5]", "v_mov_b32 v1, 0"
        row 117, 0, "ds_write_b128 v60, v[0:3]", "v_mov_b32 v1, 0"
        row 118, 0, "v_mov_b32 v0, 0", "v_add_f32 v50, v0, v51"
        row 119, 0, "v_mov_b32 v0, 0", "global_store_dword v60, v0, s[4:5]"
        row 120, 0, "s_mov_b32 s20, 0", "v_mov_b32 v50, s20"
        row 121, 0, "v_readfirstlane_b32 s20, v60", "s_mov_b32 m0, s20"
        row 122, 0, "s_mov_b64 exec, -1", "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0"
        row 123, 11, "two_products", "v_add_f32 v50, v0, v51", "hazard-matrix-result", warning
        row 124, 10, "product_and_barrier", "v_add_f32 v50, v0, v51", "hazard-matrix-result", warning
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_nop 15
        s_nop 15
// Not about distance. Both results from the high half of a source, then not.
        s_movk_i32 s90, 1000
        v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel:[0,1,0]
        s_movk_i32 s90, 1001
        v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel:[0,1,0] op_sel_hi:[1,0,1]
        v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]
// A product with one lane off, then with all on.
        s_movk_i32 s90, 1002
        s_mov_b64 exec, -2
        v_mfma_f32_16x16x32_bf16 v[8:11], v[20:23], v[24:27], 0
        s_movk_i32 s90, 1003
        s_mov_b64 exec, -1
        v_mfma_f32_16x16x32_bf16 v[8:11], v[20:23], v[24:27], 0
        s_endpgm
        .size hazards, . - hazards

        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel hazards
          .amdhsa_group_segment_fixed_size 1024
          .amdhsa_kernarg_size 16
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_next_free_vgpr 128
          .amdhsa_next_free_sgpr 96
          .amdhsa_accum_offset 128
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: hazards, .symbol: hazards.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 102, .vgpr_count: 128, .agpr_count: 0, .max_flat_workgroup_size: 64 }
...
        .end_amdgpu_metadata
