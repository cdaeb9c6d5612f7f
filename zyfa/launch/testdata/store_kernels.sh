#!/bin/sh
# Generator for emulator_device_test: kernels of one work-group dimension that
# store a number for each work-item.
#   store_kernels.sh --variant NAME --out FILE
# Arguments: out (u64), value (u32). "store" writes value + id to out[id];
# "wild" does so 1 MiB further on, outside of what it was given.
set -eu

kernel() { # name offset
    cat <<END
  .text
  .globl $1
  .p2align 8
  .type $1,@function
$1:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_lshl_b32 s7, s2, 6
  v_and_b32 v0, 0x3ff, v0
  v_add_u32 v0, s7, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, $2
  s_addc_u32 s5, s5, 0
  v_add_u32 v2, s6, v0
  global_store_dword v1, v2, s[4:5]
  s_endpgm
  .size $1, .-$1
  .rodata
  .p2align 6
  .amdhsa_kernel $1
    .amdhsa_kernarg_size 12
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_count 2
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_next_free_vgpr 8
    .amdhsa_accum_offset 8
    .amdhsa_next_free_sgpr 16
  .end_amdhsa_kernel
END
}

metadata() { # name
    cat <<END
  - .name: $1
    .symbol: $1.kd
    .kernarg_segment_size: 12
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 22
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 4, .value_kind: by_value }
END
}

{
    echo '  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"'
    echo '  .amdhsa_code_object_version 6'
    kernel store 0
    kernel wild 0x100000
    echo '  .amdgpu_metadata'
    echo '---'
    echo 'amdhsa.version: [1, 2]'
    echo 'amdhsa.target: amdgcn-amd-amdhsa--gfx950'
    echo 'amdhsa.kernels:'
    metadata store
    metadata wild
    echo '...'
    echo '  .end_amdgpu_metadata'
} > "$4"
