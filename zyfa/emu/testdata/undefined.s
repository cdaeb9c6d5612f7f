// Kernels of a few instructions for the tracking of values that nothing has
// written. Arguments of all: [0] out pointer, [8] in pointer, [16] u32 n.
//
// Each starts with: s[4:5] = out, s[6:7] = in, v1 = 4 * lane, v2 = lane,
// v4 = 0x0000ff00, v5 = 0x000000ff, s11 = 0x7f, EXEC all ones. v8 is written in
// the even lanes only, with 0. v20..v31, s20..s31, a0..a7, VCC and M0 are never
// written by the start. Each ends with a store of v3. The build adds the metadata
// of everything that a line of "begin", "kernel" or "use" names.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        .macro begin name
        .text
        .globl \name
        .p2align 8
        .type \name,@function
\name:
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_and_b32 v2, 0x3ff, v0
        v_lshlrev_b32 v1, 2, v2
        v_mov_b32 v4, 0xff00
        v_mov_b32 v5, 0xff
        s_movk_i32 s11, 0x7f
        s_mov_b32 s12, 0x55555555
        s_mov_b32 s13, s12
        s_mov_b64 exec, s[12:13]
        v_mov_b32 v8, 0
        s_mov_b64 exec, -1
        s_waitcnt lgkmcnt(0)
        .endm

        .macro finish name
        s_nop 15
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_store_dword v1, v3, s[4:5]
        s_endpgm
        .size \name, . - \name
        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel \name
          .amdhsa_group_segment_fixed_size 4096
          .amdhsa_private_segment_fixed_size 64
          .amdhsa_kernarg_size 24
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_next_free_vgpr 40
          .amdhsa_next_free_sgpr 64
          .amdhsa_accum_offset 32
        .end_amdhsa_kernel
        .endm

        .macro kernel name, line1, line2, line3, line4, line5, line6
        begin \name
        \line1
        \line2
        \line3
        \line4
        \line5
        \line6
        finish \name
        .endm

// --- moves of bits
kernel mov_defined, "v_mov_b32 v3, v4"
kernel mov_undefined, "v_mov_b32 v3, v20"
kernel mov_sgpr, "v_mov_b32 v3, s20"
kernel mov_accvgpr, "v_accvgpr_read_b32 v3, a1"
kernel mov_accvgpr_written, "v_accvgpr_write_b32 a1, v4", "s_nop 3", "v_accvgpr_read_b32 v3, a1"
kernel mov_pair, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_mov_b64 v[10:11], v[6:7]", "v_mov_b32 v3, v10"
kernel mov_pair_high, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_mov_b64 v[10:11], v[6:7]", "v_mov_b32 v3, v11"
kernel pk_mov, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_pk_mov_b32 v[10:11], v[6:7], v[6:7] op_sel:[1,0]", "v_mov_b32 v3, v11"
kernel pk_mov_low, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_pk_mov_b32 v[10:11], v[6:7], v[6:7] op_sel:[1,0]", "v_mov_b32 v3, v10"
kernel swap, "v_mov_b32 v3, v20", "v_mov_b32 v6, 0", "v_swap_b32 v3, v6"
kernel swap_other, "v_mov_b32 v3, 0", "v_mov_b32 v6, v20", "v_swap_b32 v3, v6"
kernel odd_lanes, "v_mov_b32 v3, v8"
kernel quad_perm, "s_nop 1", "v_mov_b32_dpp v3, v8 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"
kernel row_shr_kept, "s_nop 1", "v_mov_b32_dpp v3, v4 row_shr:1 row_mask:0xf bank_mask:0xf"
kernel row_shr_zero, "s_nop 1", "v_mov_b32_dpp v3, v4 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"
kernel readlane_even, "v_readlane_b32 s14, v8, 2", "v_mov_b32 v3, s14"
kernel readlane_odd, "v_readlane_b32 s14, v8, 3", "v_mov_b32 v3, s14"
kernel readfirstlane, "v_readfirstlane_b32 s14, v8", "v_mov_b32 v3, s14"
kernel writelane, "v_mov_b32 v3, 0", "v_writelane_b32 v3, s20, 7"
kernel writelane_defined, "v_mov_b32 v3, v8", "v_writelane_b32 v3, s11, 1"
kernel permlane32, "v_mov_b32 v3, 0", "v_mov_b32 v6, v8", "s_nop 1", "v_permlane32_swap_b32 v3, v6"
kernel partial_exec, "s_mov_b64 exec, 15", "v_mov_b32 v3, 0", "s_mov_b64 exec, -1"

// --- logic, shifts, fields
kernel and_mask, "v_and_b32 v3, 0xff, v20"
kernel or_mask, "v_or_b32 v3, 0xffff0000, v20"
kernel xor_self, "v_xor_b32 v3, v20, v20"
kernel xor_two, "v_xor_b32 v3, v20, v21"
kernel and_or, "v_and_or_b32 v3, v20, v5, v4"
kernel or3, "v_or3_b32 v3, v20, -1, v21"
kernel bitop3_majority, "v_bitop3_b32 v3, v20, v21, v22 bitop3:0xe8"
kernel bitop3_b_alone, "v_bitop3_b32 v3, v20, v4, v22 bitop3:0xcc"
kernel shift, "v_lshlrev_b32 v3, 8, v20"
kernel shift_right_signed, "v_ashrrev_i32 v3, 8, v20"
kernel shift_amount, "v_lshlrev_b32 v3, v20, v4"
kernel shift_amount_high_bits, "v_lshlrev_b32 v6, 5, v20", "v_lshlrev_b32 v3, v6, v4"
kernel shift64, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_lshrrev_b64 v[10:11], 8, v[6:7]", "v_mov_b32 v3, v10"
kernel bfe, "v_bfe_u32 v3, v20, 4, 8"
kernel bfi, "v_bfi_b32 v3, v5, v4, v20"
kernel perm, "v_mov_b32 v6, 0x07060100", "v_perm_b32 v3, v20, v4, v6"
kernel perm_constant, "v_mov_b32 v6, 0x0c0c0c0d", "v_perm_b32 v3, v20, v21, v6"
kernel perm_selector, "v_mov_b32 v6, v20", "v_perm_b32 v3, v4, v5, v6"
kernel alignbit, "v_alignbit_b32 v3, v20, v4, 8"
kernel cndmask_first, "s_mov_b64 vcc, 0", "v_cndmask_b32 v3, v4, v20, vcc"
kernel cndmask_second, "s_mov_b64 vcc, -1", "v_cndmask_b32 v3, v4, v20, vcc"
kernel cndmask_select, "v_cndmask_b32 v3, v4, v5, vcc"

// --- integers
kernel add_upward, "v_and_b32 v6, 0xff00, v20", "v_add_u32 v3, v6, v4"
kernel add_low_bits, "v_and_b32 v6, 0xff00, v20", "v_add_u32 v6, v6, v4", "v_and_b32 v3, 0xff, v6"
kernel mul_by_zero, "v_mul_lo_u32 v3, v20, 0"
kernel add_carry, "v_add_co_u32 v6, vcc, v20, v4", "v_mov_b32 v6, 0", "v_addc_co_u32 v3, vcc, v6, v6, vcc"
kernel mad64_low, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_mad_u64_u32 v[10:11], s[14:15], v4, v5, v[6:7]", "v_mov_b32 v3, v10"
kernel mad64_high, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_mad_u64_u32 v[10:11], s[14:15], v4, v5, v[6:7]", "v_mov_b32 v3, v11"
kernel add_u16, "v_and_b32 v6, 0xffff0000, v20", "v_add_u16 v3, v6, v4"
kernel cmp, "v_cmp_eq_u32 vcc, v20, v4", "v_cndmask_b32 v3, 0, 1, vcc"
kernel cmp_defined, "v_cmp_eq_u32 vcc, v4, v5", "v_cndmask_b32 v3, 0, 1, vcc"
kernel cmp_low_half, "v_and_b32 v6, 0xffff0000, v20", "v_cmp_eq_u16 vcc, v6, v4", "v_cndmask_b32 v3, 0, 1, vcc"
kernel cmp_inactive, "s_mov_b64 exec, s[12:13]", "v_cmp_eq_u32 vcc, v8, v4", "s_mov_b64 exec, -1", "v_cndmask_b32 v3, 0, 1, vcc"
kernel mbcnt, "v_mbcnt_lo_u32_b32 v3, -1, 0", "v_mbcnt_hi_u32_b32 v3, -1, v3"

// --- floats, conversions, partial writes
kernel add_f32, "v_add_f32 v3, v20, v4"
kernel add_f32_few_bits, "v_and_b32 v6, 0xff, v20", "v_or_b32 v6, 0x3f800000, v6", "v_add_f32 v3, 1.0, v6"
kernel exp, "v_exp_f32 v3, v20"
kernel fmac_accumulator, "v_fmac_f32 v3, v4, v5"
kernel fmac_defined, "v_mov_b32 v3, 0", "v_fmac_f32 v3, v4, v5"
kernel pk_mul_f32, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "v_pk_mul_f32 v[10:11], v[4:5], v[6:7]", "v_mov_b32 v3, v10"
kernel pk_mul_f32_high, "v_mov_b32 v6, 1.0", "v_mov_b32 v7, v20", "v_pk_mul_f32 v[10:11], v[4:5], v[6:7]", "v_mov_b32 v3, v11"
kernel pk_mul_f32_broadcast, "v_mov_b32 v6, 1.0", "v_mov_b32 v7, v20", "v_pk_mul_f32 v[10:11], v[4:5], v[6:7] op_sel_hi:[1,0]", "v_mov_b32 v3, v11"
kernel cvt_pk_bf16, "v_cvt_pk_bf16_f32 v3, v4, v20"
kernel cvt_pk_bf16_low, "v_cvt_pk_bf16_f32 v3, v20, v4"
kernel cvt_pk_fp8, "v_mov_b32 v3, 0", "v_cvt_pk_fp8_f32 v3, v4, v20"
kernel cvt_pk_fp8_keeps, "v_cvt_pk_fp8_f32 v3, v4, v5 op_sel:[0,0,1]"
kernel cvt_pk_fp8_both, "v_cvt_pk_fp8_f32 v3, v4, v5 op_sel:[0,0,1]", "v_cvt_pk_fp8_f32 v3, v4, v5"
kernel cvt_sr_fp8_keeps, "v_cvt_sr_fp8_f32 v3, v4, v5 op_sel:[0,0,1,0]"
kernel cvt_pk_u8_keeps, "v_cvt_pk_u8_f32 v3, v4, 2, v20"
kernel cvt_scalef32_half, "v_mov_b32 v6, 1.0", "v_cvt_scalef32_pk_fp8_f32 v3, v4, v5, v6 op_sel:[0,0,0,1]"
kernel pk_add_f16, "v_and_b32 v6, 0xffff0000, v20", "v_pk_add_f16 v3, v6, v4"
kernel pk_add_f16_low, "v_and_b32 v6, 0xffff0000, v20", "v_pk_add_f16 v3, v6, v4 op_sel_hi:[0,1]"
kernel mad_f16_keeps, "v_and_b32 v6, 0xffff0000, v20", "v_mov_b32 v3, v20", "v_fma_mixlo_f16 v3, v4, v5, v4"
kernel sdwa_preserve, "v_mov_b32_sdwa v3, v4 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0"
kernel sdwa_pad, "v_mov_b32_sdwa v3, v20 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0"
kernel sdwa_add_preserve, "v_add_u32_sdwa v3, v4, v5 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0"
kernel pack_f16, "v_pack_b32_f16 v3, v20, v4"

// --- matrices: one operand has one undefined lane
        .macro mfma_start
        .irp r, 10,11,12,13,14,15,16,17
        v_mov_b32 v\r, 1.0
        .endr
        .irp r, 24,25,26,27
        v_mov_b32 v\r, 0
        .endr
        .endm
begin mfma_a_row_5
        mfma_start
        v_writelane_b32 v11, s20, 5
        s_nop 1
        v_mfma_f32_16x16x32_bf16 v[24:27], v[10:13], v[14:17], v[24:27]
        s_nop 15
        v_mov_b32 v3, v25
finish mfma_a_row_5
begin mfma_a_row_5_other
        mfma_start
        v_writelane_b32 v11, s20, 5
        s_nop 1
        v_mfma_f32_16x16x32_bf16 v[24:27], v[10:13], v[14:17], v[24:27]
        s_nop 15
        v_mov_b32 v3, v24
finish mfma_a_row_5_other
begin mfma_b_column_5
        mfma_start
        v_writelane_b32 v15, s20, 5
        s_nop 1
        v_mfma_f32_16x16x32_bf16 v[24:27], v[10:13], v[14:17], v[24:27]
        s_nop 15
        v_mov_b32 v3, v24
finish mfma_b_column_5
begin mfma_c_element
        mfma_start
        v_writelane_b32 v26, s20, 40
        s_nop 1
        v_mfma_f32_16x16x32_bf16 v[24:27], v[10:13], v[14:17], v[24:27]
        s_nop 15
        v_mov_b32 v3, v26
finish mfma_c_element
begin mfma_overwrites
        mfma_start
        v_mfma_f32_16x16x32_bf16 v[28:31], v[10:13], v[14:17], 0
        s_nop 15
        v_mov_b32 v3, v30
finish mfma_overwrites

// --- scalars
kernel s_add, "s_add_u32 s14, s20, 1", "v_mov_b32 v3, s14"
kernel s_and_mask, "s_and_b32 s14, s20, 0xff", "v_mov_b32 v3, s14"
kernel s_bfe, "s_bfe_u32 s14, s20, 0x80004", "v_mov_b32 v3, s14"
kernel s_lshl64, "s_mov_b32 s14, 0", "s_mov_b32 s15, s20", "s_lshr_b64 s[16:17], s[14:15], 4", "v_mov_b32 v3, s16"
kernel s_cselect, "s_cmp_eq_u32 s20, 0", "s_cselect_b32 s14, 1, 2", "v_mov_b32 v3, s14"
kernel s_cselect_defined, "s_cmp_eq_u32 s11, 0", "s_cselect_b32 s14, 1, 2", "v_mov_b32 v3, s14"
kernel s_addc, "s_add_u32 s14, s20, 1", "s_addc_u32 s14, 0, 0", "v_mov_b32 v3, s14"
kernel s_scc_at_start, "s_cselect_b32 s14, 1, 2", "v_mov_b32 v3, s14"
kernel s_bitcmp, "s_and_b32 s14, s20, 0xff", "s_bitcmp1_b32 s14, 9", "s_cselect_b32 s14, 1, 2", "v_mov_b32 v3, s14"
kernel s_nonzero, "s_or_b32 s14, s20, 1", "s_cselect_b32 s14, 1, 2", "v_mov_b32 v3, s14"
kernel s_getreg, "s_getreg_b32 s20, hwreg(HW_REG_MODE)", "v_mov_b32 v3, s20"
kernel s_load, "s_load_dword s20, s[4:5], 0x0", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v3, s20"

// --- LDS
kernel lds_unwritten, "ds_read_b32 v3, v1"
kernel lds_written, "ds_write_b32 v1, v4", "ds_read_b32 v3, v1"
kernel lds_undefined_data, "ds_write_b32 v1, v20", "ds_read_b32 v3, v1"
kernel lds_one_byte, "ds_write_b8 v1, v4", "ds_read_b32 v3, v1"
kernel lds_byte_read, "ds_write_b8 v1, v4", "ds_read_u8 v3, v1"
kernel lds_signed_byte, "ds_write_b8 v1, v4", "ds_read_i8 v3, v1 offset:1"
kernel lds_read2, "ds_write_b32 v1, v4 offset:512", "ds_read2_b32 v[10:11], v1 offset0:64 offset1:128", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v3, v11"
kernel lds_read2_first, "ds_write_b32 v1, v4 offset:512", "ds_read2_b32 v[10:11], v1 offset0:64 offset1:128", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v3, v10"
kernel lds_atomic_unwritten, "ds_add_u32 v1, v4", "ds_read_b32 v3, v1"
kernel lds_atomic, "ds_write_b32 v1, v4", "ds_add_u32 v1, v5", "ds_read_b32 v3, v1"
kernel lds_atomic_data, "ds_write_b32 v1, v4", "ds_add_u32 v1, v20", "ds_read_b32 v3, v1"
kernel lds_atomic_old, "ds_add_rtn_u32 v3, v1, v4"
kernel lds_atomic_old_defined, "ds_write_b32 v1, v4", "ds_add_rtn_u32 v3, v1, v20"
kernel bpermute, "v_xor_b32 v6, 4, v1", "ds_bpermute_b32 v3, v6, v8"
kernel swizzle, "ds_swizzle_b32 v3, v8 offset:swizzle(QUAD_PERM,0,0,2,2)"
begin lds_transposed
        v_lshlrev_b32 v6, 3, v2
        v_mov_b32 v10, 0
        v_mov_b32 v11, 0
        v_writelane_b32 v10, s20, 1
        ds_write_b64 v6, v[10:11]
        ds_read_b64_tr_b16 v[12:13], v6
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v3, v12
finish lds_transposed
begin lds_dma
        s_mov_b32 m0, 0
        s_nop 0
        global_load_lds_dword v1, s[6:7]
        s_waitcnt vmcnt(0)
        ds_read_b32 v3, v1
finish lds_dma
begin flat_lds
        s_mov_b64 s[14:15], src_shared_base
        v_mov_b32 v7, s15
        v_mov_b32 v6, v1
        flat_store_byte v[6:7], v4
        s_waitcnt vmcnt(0) lgkmcnt(0)
        flat_load_dword v3, v[6:7]
finish flat_lds
begin scratch
        scratch_store_dword off, v4, off offset:16
        scratch_store_byte off, v4, off offset:20
        scratch_load_dwordx2 v[10:11], off, off offset:16
        s_waitcnt vmcnt(0)
        v_mov_b32 v3, v11
finish scratch
begin scratch_first
        scratch_store_dword off, v4, off offset:16
        scratch_load_dwordx2 v[10:11], off, off offset:16
        s_waitcnt vmcnt(0)
        v_mov_b32 v3, v10
finish scratch_first

// --- uses
        .macro use name, line1, line2, line3, line4
        begin \name
        v_mov_b32 v3, 0
        \line1
        \line2
        \line3
        \line4
        finish \name
        .endm
use branch_scc, "s_cmp_eq_u32 s20, 0", "s_cbranch_scc1 .Lscc", ".Lscc:"
use branch_vcc, "v_cmp_eq_u32 vcc, v20, v4", "s_cbranch_vccnz .Lvcc", ".Lvcc:"
use branch_vcc_known, "s_mov_b32 vcc_lo, s20", "s_mov_b32 vcc_hi, 1", "s_cbranch_vccnz .Lknown", ".Lknown:"
use exec_written, "s_or_b64 exec, s[20:21], exec", "s_and_saveexec_b64 s[14:15], s[20:21]", "s_mov_b64 exec, -1"
use cmpx, "v_cmpx_eq_u32 vcc, v20, v4", "s_mov_b64 exec, -1"
use load_address, "v_and_b32 v6, 12, v20", "global_load_dword v3, v6, s[6:7]"
use load_base, "s_mov_b32 s14, s6", "s_and_b32 s15, s20, 0", "s_or_b32 s15, s15, s7", "global_load_dword v3, v1, s[14:15]"
use load_base_undefined, "s_and_b32 s14, s20, 4", "s_add_u32 s14, s14, s6", "s_addc_u32 s15, 0, s7", "global_load_dword v3, v1, s[14:15]"
use scalar_address, "s_and_b32 s14, s20, 4", "s_load_dword s16, s[6:7], s14"
use lds_address, "v_and_b32 v6, 12, v20", "ds_read_b32 v7, v6"
use lds_address_inactive, "s_mov_b64 exec, s[12:13]", "ds_read_b32 v7, v8", "s_mov_b64 exec, -1"
use m0_undefined, "s_and_b32 m0, s20, 4", "s_nop 0", "global_load_lds_dword v1, s[6:7]"
use lane_number, "v_readlane_b32 s14, v4, s20"
use mode, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s20"
use store_byte, "v_lshlrev_b32 v6, 8, v20", "global_store_byte v1, v6, s[4:5]"
use store_short, "v_lshlrev_b32 v6, 8, v20", "global_store_short v1, v6, s[4:5]"
use store_high, "v_and_b32 v6, 0xffff, v20", "global_store_short_d16_hi v1, v6, s[4:5]"
use store_twice, "global_store_dword v1, v20, s[4:5]", "global_store_dword v1, v20, s[4:5]"
use store_pair, "v_mov_b32 v6, 0", "v_mov_b32 v7, v20", "global_store_dwordx2 v1, v[6:7], s[4:5] offset:64"
use atomic_data, "global_atomic_add v1, v20, s[4:5]"
use atomic_old, "global_atomic_add v3, v1, v4, s[4:5] sc0"
begin jump
        v_mov_b32 v3, 0
        s_getpc_b64 s[14:15]
        s_and_b32 s16, s20, 0
        s_add_u32 s14, s14, 28
        s_addc_u32 s15, s15, 0
        s_or_b32 s14, s14, s16
        s_setpc_b64 s[14:15]
        s_nop 0
finish jump
begin buffer_store_clipped
        s_mov_b32 s16, s4
        s_mov_b32 s17, s5
        s_mov_b32 s18, 4
        s_mov_b32 s19, 0x20000
        v_mov_b32 v3, 0
        v_mov_b32 v6, 0
        v_mov_b32 v7, v20
        buffer_store_dwordx2 v[6:7], v1, s[16:19], 0 offen
finish buffer_store_clipped
begin buffer_descriptor
        s_mov_b32 s16, s4
        s_mov_b32 s17, s5
        s_mov_b32 s19, 0x20000
        s_or_b32 s18, s20, 0x1000
        v_mov_b32 v3, 0
        buffer_load_dword v6, v1, s[16:19], 0 offen
finish buffer_descriptor
