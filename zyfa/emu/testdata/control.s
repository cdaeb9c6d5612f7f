// Hand-written kernels for what compilers do not write: missing waits, races,
// endless loops, words that are no instructions.
// Arguments of all: [0] out pointer, [8] in pointer, [16] u32 n.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
        .amdhsa_code_object_version 6

        .macro begin name
        .text
        .globl \name
        .p2align 8
        .type \name,@function
\name:
        .endm

        // lds: bytes; registers: architectural VGPRs, eight AGPRs follow
        .macro finish name, lds=0, registers=32, denormals=3
        .size \name, . - \name
        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel \name
          .amdhsa_group_segment_fixed_size \lds
          .amdhsa_kernarg_size 24
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 2
          .amdhsa_system_sgpr_workgroup_id_x 1
          .amdhsa_system_sgpr_workgroup_id_y 1
          .amdhsa_system_sgpr_workgroup_id_z 1
          .amdhsa_system_vgpr_workitem_id 1
          .amdhsa_next_free_vgpr \registers + 8
          .amdhsa_next_free_sgpr 32
          .amdhsa_accum_offset \registers
          .amdhsa_float_denorm_mode_32 \denormals
          .amdhsa_float_denorm_mode_16_64 3
          .amdhsa_fp16_overflow 1
          .amdhsa_ieee_mode 0
          .amdhsa_dx10_clamp 1
        .end_amdhsa_kernel
        .endm

        // s[4:7] = out, in; s8 = n; v0 = x; v1 = 4 * (256 * group + x)
        .macro arguments
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        s_load_dword s8, s[0:1], 0x10
        v_and_b32 v0, 0x3ff, v0
        s_lshl_b32 s9, s2, 8
        v_add_u32 v1, s9, v0
        v_lshlrev_b32 v1, 2, v1
        s_waitcnt lgkmcnt(0)
        .endm

// out[i] = in[i] + 1 for i < n
begin add_one
        arguments
        v_lshrrev_b32 v2, 2, v1
        v_cmp_gt_u32 vcc, s8, v2
        s_and_saveexec_b64 s[10:11], vcc
        s_cbranch_execz .Ladd_one_end
        global_load_dword v3, v1, s[6:7]
        s_waitcnt vmcnt(0)
        v_add_f32 v3, 1.0, v3
        global_store_dword v1, v3, s[4:5]
.Ladd_one_end:
        s_endpgm
finish add_one

begin vmcnt_missing
        arguments
        global_load_dword v3, v1, s[6:7]
        v_add_f32 v3, 1.0, v3
        global_store_dword v1, v3, s[4:5]
        s_endpgm
finish vmcnt_missing

// Two loads; a wait that retires the first alone, which alone is used.
begin vmcnt_enough
        arguments
        global_load_dword v3, v1, s[6:7]
        global_load_dword v4, v1, s[6:7]
        s_waitcnt vmcnt(1)
        global_store_dword v1, v3, s[4:5]
        s_endpgm
finish vmcnt_enough

begin vmcnt_one_short
        arguments
        global_load_dword v3, v1, s[6:7]
        global_load_dword v4, v1, s[6:7]
        s_waitcnt vmcnt(1)
        global_store_dword v1, v4, s[4:5]
        s_endpgm
finish vmcnt_one_short

// Scalar loads come back in any order: only 0 retires one.
begin smem_counted
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        s_load_dword s8, s[0:1], 0x10
        s_waitcnt lgkmcnt(1)
        s_add_u32 s4, s4, 4
        s_endpgm
finish smem_counted

begin lds_overwritten
        arguments
        v_mov_b32 v2, 0
        ds_read_b64 v[4:5], v2
        v_mov_b32 v5, 1.0
        s_endpgm
finish lds_overwritten, 256

// LDS reads are in order, so a count retires the oldest.
begin lds_counted
        arguments
        v_mov_b32 v2, 0
        ds_write_b32 v2, v0
        ds_write_b32 v2, v0 offset:4
        ds_read_b32 v4, v2
        ds_read_b32 v5, v2 offset:4
        s_waitcnt lgkmcnt(1)
        global_store_dword v1, v4, s[4:5]
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v5, s[4:5]
        s_endpgm
finish lds_counted, 256

// Odd waves end at once; the others hand a value round at n barriers. Each wave
// w writes to LDS word w, then reads its right neighbour's.
begin barriers
        arguments
        v_lshrrev_b32 v2, 6, v0
        s_nop 4
        v_readfirstlane_b32 s12, v2          // wave
        s_bitcmp1_b32 s12, 0
        s_cbranch_scc1 .Lbarriers_end
        s_lshl_b32 s13, s12, 2
        v_mov_b32 v3, s13                    // own word
        s_add_u32 s14, s13, 8
        s_and_b32 s14, s14, 31
        v_mov_b32 v4, s14                    // next even wave's
        v_mov_b32 v5, s12
.Lbarriers_loop:
        ds_write_b32 v3, v5
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b32 v5, v4
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_mul_u32_u24 v5, 3, v5
        v_add_u32 v5, 1, v5
        s_sub_u32 s8, s8, 1
        s_cmp_lg_u32 s8, 0
        s_cbranch_scc1 .Lbarriers_loop
        global_store_dword v1, v5, s[4:5]
.Lbarriers_end:
        s_endpgm
finish barriers, 64

// Each wave brings 1 KiB a round straight into LDS, double-buffered, and sums
// what the next wave brought. Four waves; in: n rounds of 4 KiB. `sync` is what
// stands between the wait and the reads.
        .macro dma_sum name, sync:vararg
begin \name
        arguments
        v_lshrrev_b32 v2, 6, v0
        s_nop 4
        v_readfirstlane_b32 s12, v2          // wave
        v_and_b32 v3, 63, v0
        v_lshlrev_b32 v4, 4, v3              // 16 bytes a lane
        s_lshl_b32 s13, s12, 10
        v_add_u32 v5, s13, v4                // memory offset
        s_add_u32 s14, s12, 1
        s_and_b32 s14, s14, 3
        s_lshl_b32 s14, s14, 10
        v_add_u32 v6, s14, v4                // LDS address: the next wave's
        v_mov_b32 v7, 0
        s_mov_b32 s15, 0                     // buffer
        s_mov_b32 m0, s13
        s_nop 0
        global_load_lds_dwordx4 v5, s[6:7]
.Lloop\@:
        v_add_u32 v5, 0x1000, v5
        s_xor_b32 s15, s15, 0x1000
        s_add_u32 s16, s13, s15
        s_cmp_eq_u32 s8, 1
        s_cbranch_scc1 .Llast\@
        s_mov_b32 m0, s16
        s_nop 0
        global_load_lds_dwordx4 v5, s[6:7]
        s_waitcnt vmcnt(1)
        s_branch .Lread\@
.Llast\@:
        s_waitcnt vmcnt(0)
.Lread\@:
        \sync
        ds_read_b128 v[8:11], v6
        s_waitcnt lgkmcnt(0)
        v_lshl_add_u32 v7, v7, 1, v8
        v_add3_u32 v7, v7, v9, v10
        v_add_u32 v7, v7, v11
        v_xor_b32 v6, 0x1000, v6
        s_barrier
        s_sub_u32 s8, s8, 1
        s_cmp_lg_u32 s8, 0
        s_cbranch_scc1 .Lloop\@
        global_store_dword v1, v7, s[4:5]
        s_endpgm
finish \name, 8192
        .endm
        dma_sum dma_synchronised, s_barrier
        dma_sum dma_racing, s_nop 0

begin endless
.Lendless:
        s_nop 0
        s_branch .Lendless
        s_endpgm
finish endless

// Reached by work-groups from n on alone.
begin unsupported
        arguments
        s_cmp_lt_u32 s2, s8
        s_cbranch_scc1 .Lunsupported_end
        s_sethalt 1
.Lunsupported_end:
        s_endpgm
        .long 0xffffffff
finish unsupported

begin jump_away
        s_getpc_b64 s[4:5]
        s_add_u32 s4, s4, 0x100000
        s_addc_u32 s5, s5, 0
        s_setpc_b64 s[4:5]
        s_endpgm
finish jump_away

begin trapping
        s_trap 2
        s_endpgm
finish trapping

begin beyond_registers
        v_mov_b32 v31, 0
        v_accvgpr_write_b32 a7, v31
        v_mov_b32 v32, 0
        s_endpgm
finish beyond_registers

// What a wave starts with: v0, v5, an AGPR, LDS, MODE, group ids.
begin initial_state
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_and_b32 v1, 0x3ff, v0
        v_bfe_u32 v2, v0, 10, 10
        v_lshl_add_u32 v1, v2, 5, v1         // 32 items along x
        v_lshlrev_b32 v1, 5, v1
        v_mov_b32 v2, 0
        s_getreg_b32 s10, hwreg(HW_REG_MODE)
        v_mov_b32 v10, s10
        v_mov_b32 v11, s3
        v_accvgpr_read_b32 v12, a3
        ds_read_b32 v13, v2 offset:128
        v_mov_b32 v14, s20
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v0, s[4:5]
        global_store_dword v1, v5, s[4:5] offset:4
        global_store_dwordx4 v1, v[10:13], s[4:5] offset:8
        global_store_dword v1, v14, s[4:5] offset:24
        s_endpgm
finish initial_state, 256, 32, 0

        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - { .name: add_one, .symbol: add_one.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: vmcnt_missing, .symbol: vmcnt_missing.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: vmcnt_enough, .symbol: vmcnt_enough.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: vmcnt_one_short, .symbol: vmcnt_one_short.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: smem_counted, .symbol: smem_counted.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: lds_overwritten, .symbol: lds_overwritten.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 256, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: lds_counted, .symbol: lds_counted.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 256, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: barriers, .symbol: barriers.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 64, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: dma_synchronised, .symbol: dma_synchronised.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 8192, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: dma_racing, .symbol: dma_racing.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 8192, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: endless, .symbol: endless.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: unsupported, .symbol: unsupported.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: jump_away, .symbol: jump_away.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: trapping, .symbol: trapping.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: beyond_registers, .symbol: beyond_registers.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
  - { .name: initial_state, .symbol: initial_state.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 256, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 38, .vgpr_count: 40, .agpr_count: 8, .max_flat_workgroup_size: 512 }
...
        .end_amdgpu_metadata
